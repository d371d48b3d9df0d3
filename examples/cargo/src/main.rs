//! morse: writes words in Morse code, and reads it. What every start needs is here and in `code`.

mod code;
mod lesson;

use std::env;
use std::process::ExitCode;

fn run(words: &[String]) -> Result<String, String> {
    match words.first().map(String::as_str) {
        None => Err("usage: morse WORD... | --read CODE... | --lesson".to_string()),
        Some("--lesson") => Ok(lesson::text()),
        Some("--read") => words[1..].iter().map(|word| code::read(word)).collect(),
        Some(_) => {
            let written: Result<Vec<_>, _> = words.iter().map(|word| code::write(word)).collect();
            Ok(written?.join(" / "))
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words) {
        Ok(text) => {
            println!("{}", text);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("morse: error: {}", problem);
            ExitCode::FAILURE
        }
    }
}
