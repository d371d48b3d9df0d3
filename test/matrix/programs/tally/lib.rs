//! tally: accounts and what happens to them: the library of the program. Its second version renames,
//! moves and changes functions, as releases do.

mod parse;
pub mod report;

pub use parse::{parse, Problem};

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = Cell::new(0);
}

/// Counts a step of this thread.
#[inline(never)]
pub fn step() -> u64 {
    STEPS.with(|steps| {
        steps.set(steps.get() + 1);
        steps.get()
    })
}

/// The sum of what a closure makes of items: generic over both, and used by both crates. Manglings
/// set a name apart that begins like this one, and the number in its end is no length.
#[inline(never)]
pub fn _sum9<T, F: FnMut(&T) -> i64>(items: &[T], mut amount: F) -> i64 {
    let mut total = 0;
    for item in items {
        step();
        total += amount(item);
    }
    total
}

pub struct Account {
    pub name: &'static str,
    pub balance: i64,
}

impl Account {
    #[inline(never)]
    pub fn add(&mut self, amount: i64) {
        self.balance += amount;
    }

    #[inline(never)]
    pub fn clear(&mut self) {
        self.balance = 0;
    }
}

impl Drop for Account {
    #[inline(never)]
    fn drop(&mut self) {
        step();
    }
}
