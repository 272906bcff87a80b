# SPDX-License-Identifier: MIT
"""`pawl bench lru`: a cache under each lock."""
