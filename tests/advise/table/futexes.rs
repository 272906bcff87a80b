// SPDX-License-Identifier: MIT
// innocent: ripgrep, a printer's buffers: std's locks are futexes, which the recorder does not see.
use std::sync::{mpsc, Arc, Mutex, RwLock};
use std::thread;

fn main() {
    let number = Arc::new((Mutex::new(0u64), RwLock::new(0u64)));
    let (send, receive) = mpsc::channel();
    let all: Vec<_> = (0..3)
        .map(|_| {
            let (number, send) = (number.clone(), send.clone());
            thread::spawn(move || {
                for _ in 0..20_000 {
                    *number.0.lock().unwrap() += 1;
                    let _ = *number.1.read().unwrap();
                }
                send.send(1).unwrap();
            })
        })
        .collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    assert_eq!(receive.iter().take(3).sum::<u64>(), 3);
}
