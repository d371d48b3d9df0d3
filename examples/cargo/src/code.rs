//! Letters and their signs.

use std::collections::BTreeMap;

const SIGNS: &str = "A .- B -... C -.-. D -.. E . F ..-. G --. H .... I .. J .--- K -.- L .-.. M -- \
    N -. O --- P .--. Q --.- R .-. S ... T - U ..- V ...- W .-- X -..- Y -.-- Z --..";

/// The letters, each with its sign.
pub fn letters() -> BTreeMap<char, &'static str> {
    let words: Vec<_> = SIGNS.split_whitespace().collect();
    words.chunks(2).map(|pair| (pair[0].as_bytes()[0] as char, pair[1])).collect()
}

pub fn write(word: &str) -> Result<String, String> {
    let letters = letters();
    let sign = |letter: char| letters.get(&letter.to_ascii_uppercase()).copied();
    let signs: Option<Vec<_>> = word.chars().map(sign).collect();
    signs.map(|signs| signs.join(" ")).ok_or_else(|| format!("{}: has what is no letter", word))
}

pub fn read(sign: &str) -> Result<String, String> {
    let found = letters().into_iter().find(|(_, other)| *other == sign);
    found.map(|(letter, _)| letter.to_string()).ok_or_else(|| format!("{}: is no sign", sign))
}
