//! Reports: objects of a trait.

use crate::{_sum9, Account};

pub trait Report {
    fn text(&self, accounts: &[Account]) -> String;
}

struct Total;
struct Extremes {
    least: i64,
}

impl Report for Total {
    #[inline(never)]
    fn text(&self, accounts: &[Account]) -> String {
        format!("total {}", _sum9(accounts, |account| account.balance))
    }
}

impl Report for Extremes {
    #[inline(never)]
    fn text(&self, accounts: &[Account]) -> String {
        let wanted = |account: &&Account| account.balance.abs() >= self.least;
        accounts.iter().filter(wanted).map(|account| check(account.name)).collect()
    }
}

#[inline(never)]
fn check(name: &str) -> &str {
    &name[..3]
}

/// All reports, the usual one first.
#[inline(never)]
pub fn reports() -> Vec<Box<dyn Report>> {
    vec![Box::new(Total), Box::new(Extremes { least: 100 })]
}
