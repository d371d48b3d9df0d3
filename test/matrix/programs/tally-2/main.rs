//! tally: keeps a small book. Without arguments it writes balances and purposes; with `--all` it goes
//! on to what a start does not need.

use std::collections::HashMap;
use tally::{parse, reports, steps, sum_by, Book, Kind};

const ENTRIES: &str = "\
bank rent 900 a flat for a month
bank food 62 market
bank food 48 market
loan bank 5000 money for a boat
bank boat 4700 the boat itself
bank
bank food many
";

const LATE: &str = "\
bank books 35 a book on linkers
pocket bank 20 found in the street
boat bank 4100 sold again
";

#[inline(never)]
fn open() -> Book {
    let mut book = Book::default();
    for (name, kind) in [
        ("bank", Kind::Asset),
        ("boat", Kind::Asset),
        ("loan", Kind::Debt),
        ("rent", Kind::Expense),
        ("food", Kind::Expense),
    ] {
        book.open(name, kind);
    }
    book
}

#[inline(never)]
fn enter(book: &mut Book, text: &str, out: &mut String) {
    let (entries, problems) = parse(text);
    for problem in problems {
        out.push_str(&format!("{}\n", problem));
    }
    for entry in entries {
        if let Err(problem) = book.enter(entry) {
            out.push_str(&format!("{}\n", problem));
        }
    }
}

#[inline(never)]
fn entered_most(book: &Book, least: i64) -> i64 {
    let mut most: HashMap<String, i64> = HashMap::new();
    for entry in book.entries() {
        *most.entry(entry.to.clone()).or_insert(0) += entry.amount;
    }
    most.values().copied().max().unwrap_or(least)
}

fn main() {
    let all = std::env::args().nth(1).map_or(false, |argument| argument == "--all");
    let mut book = open();
    let mut out = String::new();
    enter(&mut book, ENTRIES, &mut out);
    for report in reports().iter().filter(|report| all || report.name() != "extremes") {
        out.push_str(&format!("== {}\n", report.name()));
        report.write(&book, &mut out);
    }
    out.push_str(&format!("most {}\n", entered_most(&book, 0)));
    if all {
        enter(&mut book, LATE, &mut out);
        let square = sum_by(book.entries(), |entry| entry.amount * entry.amount);
        out.push_str(&format!("squares {}\n", square));
        let caught = std::panic::catch_unwind(|| steps() / u64::from(std::env::args().count() == 7));
        out.push_str(&format!("caught {}\n", caught.is_err()));
    }
    print!("{}", out);
}
