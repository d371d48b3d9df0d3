//! Text for columns of some width.

#[inline(never)]
pub fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_string();
    }
    let mut result: String = text.chars().take(length - 1).collect();
    result.push('~');
    result
}
