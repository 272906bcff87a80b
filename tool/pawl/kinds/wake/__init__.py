# SPDX-License-Identifier: MIT
"""`pawl bench wake`: from the signal to the woken thread."""
