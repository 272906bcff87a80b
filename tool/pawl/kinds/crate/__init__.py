# SPDX-License-Identifier: MIT
"""`pawl bench crate`: the locks of the Rust crate beside parking_lot's."""
