//! Keeps a small book; with `--all` it goes on to what a start does not need.

use tally::report::reports;
use tally::{_sum9, parse, step, Account};

#[inline(never)]
fn open() -> Vec<Account> {
    ["bank", "boat", "rent"].iter().map(|name| Account { name, balance: 10 }).collect()
}

#[cfg(version1)]
#[inline(never)]
fn enter(accounts: &mut [Account], lines: &[&str]) {
    enter_some(accounts, lines, lines.len())
}

#[inline(never)]
fn enter_some(accounts: &mut [Account], lines: &[&str], most: usize) {
    for (i, line) in lines.iter().take(most).enumerate() {
        match parse(line) {
            Ok(amount) => accounts[i % 3].add(amount),
            Err(problem) => println!("{}", problem),
        }
    }
}

#[inline(never)]
fn squares(numbers: &[i32]) -> i64 {
    _sum9(numbers, |number| i64::from(number * number))
}

#[inline(never)]
fn rest(accounts: &mut [Account]) {
    println!("{} {}", squares(&[1, 2, 3]), reports()[1].text(accounts));
    accounts[0].clear();
    let caught = std::panic::catch_unwind(|| step() / u64::from(std::env::args().count() == 7));
    println!("caught {}", caught.is_err());
}

fn main() {
    let mut accounts = open();
    let lines = ["5000", "", "-300", "many", "62"];
    #[cfg(version1)]
    enter(&mut accounts, &lines);
    #[cfg(version2)]
    enter_some(&mut accounts, &lines, 9);
    println!("{} {}", reports()[0].text(&accounts), _sum9(&lines, |line| line.len() as i64));
    if std::env::args().nth(1).map_or(false, |argument| argument == "--all") {
        rest(&mut accounts);
    }
}
