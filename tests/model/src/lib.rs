// SPDX-License-Identifier: MIT
//! The library's own C code under the loom model checker. See README.md.

pub mod child;
pub mod fault;
pub mod hooks;
pub mod interrupts;
pub mod library;
pub mod model;
pub mod places;
pub mod scene;
pub mod script;
pub mod sleep;
pub mod subject;
pub mod suite;
