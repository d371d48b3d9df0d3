// What Rust programs commonly start with: arguments, a map, a file, a thread, output.
use std::collections::HashMap;
use std::io::Write;
fn main() {
    let mut seen = HashMap::new();
    for word in std::env::args() { *seen.entry(word).or_insert(0) += 1; }
    let text = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let thread = std::thread::spawn(move || println!("{}", text.len()));
    thread.join().unwrap();
    writeln!(std::io::stderr(), "{:?}", seen).unwrap();
}
