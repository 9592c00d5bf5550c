//! Hiding a password in text that may not even be a URL.

use crate::{Url, parse};

/// `text` with what looks like the password of `user:password@` overwritten by `*`, one for each
/// character, so that columns stay where they were.
///
/// For text that did not parse: it hides rather too much (up to the last `@`) than too little. Only in mailto and news
/// URLs an `@` is known to be that of an address or a message-id.
pub fn mask_password(text: &str) -> String {
    if parse(text).is_ok_and(|parsed| matches!(parsed.url, Url::News(_))) {
        return text.to_owned();
    }
    let Some(secret) = password_span(text) else { return text.to_owned() };
    let stars = "*".repeat(text[secret.clone()].chars().count());
    format!("{}{stars}{}", &text[..secret.start], &text[secret.end..])
}

/// From the first colon behind the slashes (without slashes: the first of all) to the last `@`.
fn password_span(text: &str) -> Option<std::ops::Range<usize>> {
    // Addresses have no passwords.
    let is_mail = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    let at = text.rfind('@').filter(|_| !is_mail)?;
    let start = text[..at].find("//").map_or(0, |slashes| slashes + 2);
    let colon = start + text[start..at].find(':')? + 1;
    (colon < at).then_some(colon..at)
}

#[cfg(test)]
mod tests {
    use super::mask_password;

    #[test]
    fn whatever_may_be_a_password_is_hidden() {
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
