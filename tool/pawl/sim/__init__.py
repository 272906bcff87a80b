# SPDX-License-Identifier: MIT
"""The simulator: locks on machines that are not at hand (doc/sim.md)."""
