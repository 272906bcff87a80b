# SPDX-License-Identifier: MIT
"""`pawl bench rcu`: readers, grace periods and callbacks."""
