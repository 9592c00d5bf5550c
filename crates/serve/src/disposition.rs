//! The name under which a browser saves an object.

/// Returns the value of `Content-Disposition` for a file with this name (RFC 6266).
pub(crate) fn attachment(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| match character {
            '"' | '\\' | '%' => '_',
            ' '..='~' => character,
            _ => '_',
        })
        .collect();
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded: String = name
        .bytes()
        .map(|byte| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachment_name_cannot_end_the_value() {
        assert_eq!(attachment("a b.zip"), "attachment; filename=\"a b.zip\"; filename*=UTF-8''a%20b.zip");
        let hostile = attachment("a\"; x=\"\u{e9}%41.exe");
        assert_eq!(
            hostile,
            "attachment; filename=\"a_; x=___41.exe\"; filename*=UTF-8''a%22%3B%20x%3D%22%C3%A9%2541.exe"
        );
    }
}
