# SPDX-License-Identifier: MIT
"""`pawl bench pairs`: what each lock costs one thread alone."""
