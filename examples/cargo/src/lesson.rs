//! A lesson, which few starts need.

use crate::code;

/// All signs, the short ones first.
pub fn text() -> String {
    let mut letters: Vec<_> = code::letters().into_iter().collect();
    letters.sort_by_key(|(letter, sign)| (sign.len(), *letter));
    let lines = letters.iter().map(|(letter, sign)| format!("{:<5}{}", sign, letter));
    lines.collect::<Vec<_>>().join("\n")
}
