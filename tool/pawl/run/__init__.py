# SPDX-License-Identifier: MIT
"""`pawl run`: other people's programs on our locks."""
