# SPDX-License-Identifier: MIT
"""`pawl bench functions`: what one call of each function costs."""
