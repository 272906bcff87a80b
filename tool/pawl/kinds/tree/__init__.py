# SPDX-License-Identifier: MIT
"""`pawl bench tree`: a large ordered tree under each lock."""
