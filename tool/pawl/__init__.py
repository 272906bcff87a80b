# SPDX-License-Identifier: MIT
"""The command `pawl`: runs the drivers of the library and explains what they measured."""

__version__ = "0.2.0"
