# SPDX-License-Identifier: MIT
"""`pawl bench latency`: a lock that handlers read."""
