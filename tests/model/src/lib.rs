// SPDX-License-Identifier: MIT
//! The library's own C code under the loom model checker. See README.md.

pub mod child;
pub mod clock;
pub mod fault;
pub mod hang;
pub mod hooks;
pub mod interrupts;
pub mod junit;
pub mod library;
pub mod memory;
pub mod model;
pub mod mortal;
pub mod mutants;
pub mod notes;
pub mod places;
pub mod plain;
pub mod record;
pub mod scene;
pub mod script;
pub mod sites;
pub mod sleep;
pub mod subject;
pub mod suite;
pub mod suite_locks;
pub mod threads;
pub mod unordered;
