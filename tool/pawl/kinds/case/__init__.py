# SPDX-License-Identifier: MIT
"""Real uses of well-known libraries, unmodified, on the preload library."""
