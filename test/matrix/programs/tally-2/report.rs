//! Reports: objects of a trait.

use crate::shorten::shortened;
use crate::{sorted_by_key, sum_by, Account, Book, Kind};
use std::fmt::Write;

pub trait Report {
    fn name(&self) -> &'static str;
    fn write(&self, book: &Book, out: &mut String);
}

struct Balances;
struct Purposes;
struct Extremes {
    kinds: Vec<Kind>,
}

impl Report for Balances {
    fn name(&self) -> &'static str {
        "balances"
    }

    fn write(&self, book: &Book, out: &mut String) {
        for account in sorted_by_key(&book.accounts(), |account| (account.kind, account.balance())) {
            writeln!(out, "{}", account).unwrap();
        }
        let total = sum_by(&book.accounts(), Account::balance);
        writeln!(out, "total {}", total).unwrap();
    }
}

impl Report for Purposes {
    fn name(&self) -> &'static str {
        "purposes"
    }

    fn write(&self, book: &Book, out: &mut String) {
        for entry in sorted_by_key(book.entries(), |entry| entry.purpose.clone()) {
            writeln!(out, "{}: {}", shortened(&entry.purpose, 12), entry.amount).unwrap();
        }
    }
}

impl Report for Extremes {
    fn name(&self) -> &'static str {
        "extremes"
    }

    fn write(&self, book: &Book, out: &mut String) {
        let wanted = |account: &&Account| self.kinds.contains(&account.kind);
        for account in book.accounts().iter().filter(wanted) {
            writeln!(out, "{} {:?} of {}", account.name, account.largest(), account.turnover()).unwrap();
        }
    }
}

/// All reports.
pub fn reports() -> Vec<Box<dyn Report>> {
    vec![
        Box::new(Balances),
        Box::new(Purposes),
        Box::new(Extremes { kinds: vec![Kind::Asset, Kind::Expense] }),
    ]
}
