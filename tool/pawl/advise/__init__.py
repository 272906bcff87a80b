# SPDX-License-Identifier: MIT
"""`pawl advise`: what would be better than the locks of a traced program, and why."""
