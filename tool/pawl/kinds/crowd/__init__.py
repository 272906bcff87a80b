# SPDX-License-Identifier: MIT
"""`pawl bench crowd`: locks under more threads than CPUs."""
