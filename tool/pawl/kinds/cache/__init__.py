# SPDX-License-Identifier: MIT
"""`pawl bench cache`: whole caches, and the published one under each lock."""
