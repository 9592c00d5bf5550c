//! Fields of a line of JSON output.

/// Returns a string field, or `None` if it is null or missing.
pub(super) fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    let mut text = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                't' => text.push('\t'),
                'u' => {
                    let digits: String = letters.by_ref().take(4).collect();
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                letter => text.push(letter),
            },
            letter => text.push(letter),
        }
    }
}

/// Returns the JSON text of a field that is not a string.
#[track_caller]
pub(super) fn value(line: &str, name: &str) -> String {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("no {name}: {line}"));
    rest.split([',', '}']).next().unwrap_or_default().to_owned()
}

#[test]
fn field_and_value_return_members_of_a_line() {
    let line = r#"{"a":1,"b":"x \"y\" <\u00e9>","c":null,"d":""}"#;
    assert_eq!(
        ["b", "c", "d", "e"].map(|name| field(line, name)),
        [Some("x \"y\" <\u{e9}>".to_owned()), None, Some(String::new()), None]
    );
    assert_eq!(["a", "c"].map(|name| value(line, name)), ["1", "null"]);
}
