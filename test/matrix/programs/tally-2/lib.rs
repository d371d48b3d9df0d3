//! tally: accounts, what happens to them, and reports of that. The library of the program.

mod account;
mod parse;
mod report;
mod shorten;

pub use account::{Account, Book, Kind};
pub use parse::{parse, Entry, Problem};
pub use report::{reports, Report};

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = Cell::new(0);
}

/// Counts a step of this thread.
pub fn step() {
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

pub fn steps() -> u64 {
    STEPS.with(Cell::get)
}

/// The sum of what a closure makes of items: generic over both, and used by both crates.
pub fn sum_by<T, F: FnMut(&T) -> i64>(items: &[T], mut amount: F) -> i64 {
    let mut total = 0;
    for item in items {
        step();
        total += amount(item);
    }
    total
}

/// The items in order of a key.
pub fn sorted_by_key<T: Clone, K: Ord>(items: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    let mut result = items.to_vec();
    result.sort_by_key(|item| key(item));
    result
}
