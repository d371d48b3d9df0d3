//! Accounts, and the book that has them all.

use crate::{step, sum_by, Entry, Problem};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Asset,
    Debt,
    Expense,
}

#[derive(Clone, Debug)]
pub struct Account {
    pub name: String,
    pub kind: Kind,
    amounts: Vec<i64>,
}

impl Account {
    pub fn new(name: &str, kind: Kind) -> Account {
        step();
        Account { name: name.to_string(), kind, amounts: Vec::new() }
    }

    pub fn balance(&self) -> i64 {
        sum_by(&self.amounts, |amount| *amount)
    }

    pub fn turnover(&self) -> i64 {
        sum_by(&self.amounts, |amount| amount.abs())
    }

    #[inline(never)]
    pub fn add(&mut self, amount: i64) {
        self.amounts.push(amount);
    }

    #[inline(never)]
    pub fn largest(&self) -> Option<i64> {
        self.amounts.iter().copied().max_by_key(|amount| amount.abs())
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<10} {:>7} {:?}", self.name, self.balance(), self.kind)
    }
}

#[derive(Default)]
pub struct Book {
    accounts: BTreeMap<String, Account>,
    entries: Vec<Entry>,
}

impl Book {
    #[inline(never)]
    pub fn open(&mut self, name: &str, kind: Kind) {
        self.accounts.insert(name.to_string(), Account::new(name, kind));
    }

    #[inline(never)]
    pub fn enter(&mut self, entry: Entry) -> Result<(), Problem> {
        self.account(&entry.to)?;
        self.account(&entry.from)?.add(-entry.amount);
        self.account(&entry.to)?.add(entry.amount);
        self.entries.push(entry);
        Ok(())
    }

    #[inline(never)]
    fn account(&mut self, name: &str) -> Result<&mut Account, Problem> {
        self.accounts.get_mut(name).ok_or_else(|| Problem::Unknown(name.to_string()))
    }

    pub fn accounts(&self) -> Vec<Account> {
        self.accounts.values().cloned().collect()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        self.entries.clear();
        step();
    }
}
