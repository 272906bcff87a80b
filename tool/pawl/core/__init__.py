# SPDX-License-Identifier: MIT
"""The hosts of the command: they know no kind; each gets the kind that it works on."""
