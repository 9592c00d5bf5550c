//! Finds the password in text that looks like a URL, without parsing it.

use std::ops::Range;

/// Returns `text` with each character of the password replaced by `*`.
pub(crate) fn mask_password_span(text: &str) -> String {
    let Some(span) = password_span(text) else { return text.to_owned() };
    let stars = "*".repeat(text[span.clone()].chars().count());
    format!("{}{stars}{}", &text[..span.start], &text[span.end..])
}

/// Returns the range between the first colon after `//` and the last `@`. Without `//`, the first colon of the text
/// counts. Mail addresses contain no password.
fn password_span(text: &str) -> Option<Range<usize>> {
    let is_mail = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    let at_sign = text.rfind('@').filter(|_| !is_mail)?;
    let start = text[..at_sign].find("//").map_or(0, |slashes| slashes + 2);
    let password = start + text[start..at_sign].find(':')? + 1;
    (password < at_sign).then_some(password..at_sign)
}
