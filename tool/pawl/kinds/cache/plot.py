# SPDX-License-Identifier: MIT
"""Plots of `pawl bench cache`: those of `pawl bench lru`."""

from pawl.kinds.lru.plot import figures as figures
