# SPDX-License-Identifier: MIT
"""`pawl choose`: a walk through the decision trees; it measures nothing."""
