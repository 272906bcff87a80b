# SPDX-License-Identifier: MIT
"""`pawl replay`: what the threads of a traced program did, done again with other locks."""
