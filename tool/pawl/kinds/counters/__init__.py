# SPDX-License-Identifier: MIT
"""`pawl bench counters`: counting, and the light locks beside it."""
