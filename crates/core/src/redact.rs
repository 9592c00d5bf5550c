//! Masks passwords in text that may not be a URL.

use crate::password_span::mask_password_span;
use crate::{Url, parse};

/// Returns `text` with the password of `user:password@` replaced by `*`, one for each character, so that the columns
/// of the text do not move.
///
/// Use it for text that is not a valid URL; for a [`Url`], use [`Url::redacted`]. It masks everything between the first
/// `:` of the authority and the last `@`, which may be more than the password. Mailto and news URLs are not masked:
/// their `@` belongs to an address or a message-id.
///
/// ```
/// assert_eq!(fetch_url_core::mask_password("ftp://me:secret@h/a b"), "ftp://me:******@h/a b");
/// ```
pub fn mask_password(text: &str) -> String {
    // Most URLs have no password, and need not be parsed.
    if !text.contains('@') {
        return text.to_owned();
    }
    if parse(text).is_ok_and(|parsed| matches!(parsed.url, Url::News(_))) {
        return text.to_owned();
    }
    mask_password_span(text)
}

#[cfg(test)]
mod tests {
    use super::mask_password;

    #[test]
    fn text_between_the_first_colon_and_the_last_at_sign_is_masked() {
        for (text, masked) in [
            ("ftp://u:canary@h/", "ftp://u:******@h/"),
            ("ftp://u:can/ary@h/x y", "ftp://u:*******@h/x y"),
            ("ftp://u:c@n@h/", "ftp://u:***@h/"),
            ("ftp://u:é@h/", "ftp://u:*@h/"),
            ("http://h:80/", "http://h:80/"),
            ("u:p@h", "u:*@h"),
            ("http:/u:p@h", "http:****@h"),
            ("mid:a@b", "mid:*@b"),
            ("news:a@b", "news:a@b"),
            ("news://h:119/a@b", "news://h:119/a@b"),
            ("news://u:canary@h/a@b", "news://u:**********@b"),
            ("a@b", "a@b"),
            ("mailto:a@b?subject=x", "mailto:a@b?subject=x"),
            ("mailto:a%b@c", "mailto:a%b@c"),
            ("ftp://u:@h", "ftp://u:@h"),
        ] {
            assert_eq!(mask_password(text), masked);
        }
    }
}
