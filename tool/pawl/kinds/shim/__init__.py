# SPDX-License-Identifier: MIT
"""Programs that know nothing of Pawl, on the preload library."""
