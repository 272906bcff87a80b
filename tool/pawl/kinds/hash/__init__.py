# SPDX-License-Identifier: MIT
"""`pawl bench hash`: one hash table under every design."""
