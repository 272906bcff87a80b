# SPDX-License-Identifier: MIT
"""`pawl bench crowd --busy`: sleeping locks on a machine that others use too."""
