//! The style sheet of all pages. It is a part of each page, so that pages need no second request and look the same for
//! a proxy's client; the Content-Security-Policy allows it by its hash.

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");
/// The SHA-256 of [`STYLE`], as Content-Security-Policy names it.
pub(crate) const STYLE_HASH: &str = "sha256-JewmyYzhvrJLOPh2mk+OeGTbOOLxHNkbsDbsyJ60Aos=";

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    #[test]
    fn hash_is_that_of_the_style_sheet() {
        let hex = fetch_url_tests::sha256(STYLE.as_bytes());
        let digit =
            |index: usize| u8::from_str_radix(&hex[index..index + 2], 16).expect("two hexadecimal digits");
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digit).collect();
        let expected = format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(bytes));
        assert_eq!(STYLE_HASH, expected, "write this value to STYLE_HASH");
    }
}
