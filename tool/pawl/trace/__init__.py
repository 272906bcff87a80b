# SPDX-License-Identifier: MIT
"""`pawl trace`: what the locks of other people's programs cost them."""
