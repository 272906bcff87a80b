# SPDX-License-Identifier: MIT
"""`pawl costs`: what single operations cost."""
