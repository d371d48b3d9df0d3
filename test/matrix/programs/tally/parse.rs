//! Reads amounts from text.

use std::fmt;

pub enum Problem {
    Empty,
    Amount(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Empty => write!(f, "nothing"),
            Problem::Amount(text) => write!(f, "no amount: {}", text),
        }
    }
}

#[cfg(version1)]
#[inline(never)]
fn amount(text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| Problem::Amount(text.to_string()))
}

#[cfg(version2)]
#[inline(never)]
fn whole_amount(text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| Problem::Amount(text.to_string()))
}

#[inline(never)]
fn check(text: &str) -> Result<&str, Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    Ok(text)
}

#[inline(never)]
pub fn parse(text: &str) -> Result<i64, Problem> {
    #[cfg(version1)]
    return amount(check(text)?);
    #[cfg(version2)]
    return whole_amount(check(text)?);
}
