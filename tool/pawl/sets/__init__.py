# SPDX-License-Identifier: MIT
"""What `pawl bench record` measures together; registry.py lists the sets."""
