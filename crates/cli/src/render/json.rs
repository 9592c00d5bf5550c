//! JSON that does nothing to a terminal: what is no plain character stands there as `\uHHHH`, and means
//! the same.

use fetch_url::proto::text::printable;
use serde_json::Value;

/// A value on one line.
pub(crate) fn line(value: &Value) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        if is_plain(character) {
            text.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

fn is_plain(character: char) -> bool {
    match character {
        ' '..='~' => true,
        _ => printable(character.encode_utf8(&mut [0; 4]).as_bytes()).chars().eq([character]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_means_the_same_and_does_nothing() {
        let value = json!({ "a": "x\u{1b}[2J\u{9b}\u{202e}\u{7f}\u{e0001}\u{e9}\\\"" });
        let text = line(&value);
        assert!(
            text.chars().all(|character| (' '..='~').contains(&character) || character == '\u{e9}'),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
