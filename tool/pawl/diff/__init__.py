# SPDX-License-Identifier: MIT
"""`pawl diff`: two traces, or two results of a benchmark, beside each other."""
