# SPDX-License-Identifier: MIT
"""A folder for each kind of measurement; registry.py lists them."""
