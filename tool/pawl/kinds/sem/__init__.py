# SPDX-License-Identifier: MIT
"""`pawl bench sem`: operations on many semaphores."""
