//! JSON lines that are safe to print to a terminal: control and other unsafe characters are written as `\uHHHH`.

use fetch_url_proto::text::sanitise;
use serde_json::Value;

/// Returns a value as JSON on one line.
pub(crate) fn json_line(value: &Value) -> String {
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

/// Returns `true` for characters that are printed unchanged.
fn is_plain(character: char) -> bool {
    match character {
        ' '..='~' => true,
        _ => sanitise(character.encode_utf8(&mut [0; 4]).as_bytes()).chars().eq([character]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unsafe_characters_are_escaped_and_the_value_is_unchanged() {
        let value = json!({ "a": "x\u{1b}[2J\u{9b}\u{202e}\u{7f}\u{e0001}\u{e9}\\\"" });
        let text = json_line(&value);
        assert!(
            text.chars().all(|character| (' '..='~').contains(&character) || character == '\u{e9}'),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
