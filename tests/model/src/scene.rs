// SPDX-License-Identifier: MIT
//! Scenes: small programs in C over the primitives that are no progressive lock. See
//! scenes/scenes.h.

use loom::cell::UnsafeCell;
use std::cell::RefCell;
use std::ffi::{c_char, CStr};
use std::sync::Arc;

use crate::{hooks, interrupts, library, threads};

const CELLS: usize = 4;

type Step = Option<extern "C" fn()>;

#[repr(C)]
struct Raw {
    name: *const c_char,
    set_up: Step,
    threads: [Step; hooks::THREADS - 1],
    finish: Step,
    options: *const c_char,
}

extern "C" {
    /// The tables of all files, the last one NULL.
    static m_scenes: [*const Raw; 1];
}

#[derive(Clone)]
pub struct Scene {
    pub name: &'static str,
    pub options: &'static str,
    set_up: Step,
    threads: Vec<extern "C" fn()>,
    finish: Step,
}

struct Cells([UnsafeCell<u64>; CELLS]);

// Loom runs everything on one system thread.
unsafe impl Sync for Cells {}
unsafe impl Send for Cells {}

thread_local! {
    static NOW: RefCell<Option<Arc<Cells>>> = const { RefCell::new(None) };
}

pub fn all() -> Vec<Scene> {
    let mut found = Vec::new();
    let mut table = &raw const m_scenes as *const *const Raw;
    unsafe {
        while !(*table).is_null() {
            let mut row = *table;
            while !(*row).name.is_null() {
                found.push(Scene {
                    name: library::text((*row).name),
                    options: library::text((*row).options),
                    set_up: (*row).set_up,
                    threads: (*row).threads.iter().flatten().copied().collect(),
                    finish: (*row).finish,
                });
                row = row.add(1);
            }
            table = table.add(1);
        }
    }
    found
}

pub fn find(name: &str) -> Option<Scene> {
    all().into_iter().find(|scene| scene.name == name)
}

impl Scene {
    /// One execution.
    pub fn once(&self) {
        hooks::reset();
        threads::reset(self.threads.len());
        let cells = Arc::new(Cells(std::array::from_fn(|_| UnsafeCell::new(0))));
        NOW.with(|n| *n.borrow_mut() = Some(cells));
        hooks::i_am(0);
        interrupts::reset(0);
        if let Some(set_up) = self.set_up {
            set_up();
        }
        interrupts::reset(self.threads.len());
        hooks::threads_start();
        let others: Vec<_> = (1..self.threads.len())
            .map(|i| {
                let run = self.threads[i];
                loom::thread::spawn(move || {
                    hooks::i_am(i);
                    run();
                    interrupts::goes(i, false, true);
                })
            })
            .collect();
        (self.threads[0])();
        interrupts::goes(0, false, true);
        for other in others {
            other.join().expect("a panic ends the process");
        }
        if let Some(finish) = self.finish {
            finish();
        }
        threads::join();
        NOW.with(|n| n.borrow_mut().take());
    }
}

// ---- scenes.h -----------------------------------------------------------------------------------

fn cells() -> Arc<Cells> {
    NOW.with(|n| n.borrow().clone()).expect("a scene runs")
}

#[no_mangle]
extern "C" fn m_write(cell: u32, value: u64) {
    interrupts::arrive(hooks::me());
    cells().0[cell as usize].with_mut(|c| unsafe { *c = value });
    hooks::say(format!("cell {cell} = {value}"));
}

#[no_mangle]
extern "C" fn m_read(cell: u32) -> u64 {
    interrupts::arrive(hooks::me());
    let value = cells().0[cell as usize].with(|c| unsafe { *c });
    hooks::say(format!("cell {cell} is {value}"));
    value
}

#[no_mangle]
extern "C" fn m_demand(holds: bool, property: *const c_char, what: *const c_char) {
    let property = unsafe { CStr::from_ptr(property) }.to_string_lossy();
    let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
    assert!(holds, "{property}: {what}");
}

#[no_mangle]
extern "C" fn m_begin(what: *const c_char) {
    hooks::begin_step(library::text(what));
}

#[no_mangle]
extern "C" fn m_end() {
    hooks::end();
}
