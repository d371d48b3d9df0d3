//! Reads entries from text, a line each: `from to amount what for`.

use crate::step;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub from: String,
    pub to: String,
    pub amount: i64,
    pub purpose: String,
}

#[derive(Debug, PartialEq)]
pub enum Problem {
    Short(usize),
    Amount(String),
    Unknown(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Short(words) => write!(f, "only {} words", words),
            Problem::Amount(text) => write!(f, "no amount: {}", text),
            Problem::Unknown(name) => write!(f, "no account: {}", name),
        }
    }
}

impl std::error::Error for Problem {}

#[inline(never)]
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[inline(never)]
fn whole_amount(text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| Problem::Amount(text.to_string()))
}

#[inline(never)]
fn entry(line: &str) -> Result<Entry, Problem> {
    step();
    let words = words(line);
    if words.len() < 3 {
        return Err(Problem::Short(words.len()));
    }
    Ok(Entry {
        from: words[0].to_string(),
        to: words[1].to_string(),
        amount: whole_amount(words[2])?,
        purpose: words[3..].join(" "),
    })
}

#[inline(never)]
fn is_empty(line: &str) -> bool {
    line.trim().is_empty()
}

/// The entries of a text, and a problem for each line that is none.
#[inline(never)]
pub fn parse(text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let mut entries = Vec::new();
    let mut problems = Vec::new();
    for line in text.lines().filter(|line| !is_empty(line)) {
        match entry(line) {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(problem),
        }
    }
    (entries, problems)
}
