# SPDX-License-Identifier: MIT
"""`pawl bench crowd --flood`: a writer among readers that never pause."""
