# SPDX-License-Identifier: MIT
"""`pawl bench readers`: locks that are mostly read."""
