//! Advice on how to use a `mailto:` URL.

use fetch_url_core::{MailtoUrl, PercentEncoded};
use fetch_url_proto::text::sanitise;

use crate::{AdviceValue, NotFetchable};

/// Header fields that an untrusted URL may set (RFC 6068 §4 and §7). Other fields could send a message that the user
/// has not read, or forge the sender.
const SAFE_FIELDS: &[&str] = &["body", "cc", "in-reply-to", "keywords", "references", "subject", "to"];

/// Returns the address and the header fields of the message; unsafe fields are marked.
pub(super) fn mailto_advice(url: &MailtoUrl<'_>) -> NotFetchable {
    let address = String::from_utf8_lossy(&url.address().decode()).into_owned();
    let mut text = "This is a mail address, not an object that can be fetched.\n".to_owned();
    if !address.is_empty() {
        text.push_str(&format!("  To: {}\n", sanitise(address.as_bytes())));
    }
    let fields = url.headers().as_ref().map(parse_fields).unwrap_or_default();
    let is_safe = |index: usize, name: &str| is_safe_field(name) && !is_repeated_to(&fields, index);
    for (index, (name, value)) in fields.iter().enumerate() {
        let warning =
            if is_safe(index, name) { "" } else { "  (unsafe: mail programs should ignore this field)" };
        let name = sanitise(name.as_bytes());
        // The lines of a body are indented, so that none looks like a field.
        let lines: Vec<String> = value.split("\r\n").map(|line| sanitise(line.as_bytes())).collect();
        text.push_str(&format!("  {name}: {}{warning}\n", lines.join("\n        ")));
    }
    let names = fields.iter().map(|(name, _)| name.clone()).enumerate();
    let unsafe_fields: Vec<_> =
        names.filter(|(index, name)| !is_safe(*index, name)).map(|(_, name)| name).collect();
    let advice = NotFetchable::new(text)
        .with_value("address", address)
        .with_value("fields", AdviceValue::Pairs(fields));
    advice.with_value("unsafe_fields", AdviceValue::Words(unsafe_fields))
}

/// Parses `name=value` pairs separated by `&` (RFC 6068 §2). A `+` is a plus sign, not a space.
fn parse_fields(headers: &PercentEncoded<'_>) -> Vec<(String, String)> {
    let fields = headers.split('&').filter(|field| !field.is_empty());
    let decoded = |part: &PercentEncoded<'_>| String::from_utf8_lossy(&part.decode()).into_owned();
    fields
        .map(|field| match field.split_once('=') {
            Some((name, value)) => (decoded(&name), decoded(&value)),
            None => (decoded(&field), String::new()),
        })
        .collect()
}

/// Returns `true` for every `to` field after the first: mail programs may hide the additional recipients.
fn is_repeated_to(fields: &[(String, String)], index: usize) -> bool {
    let is_to = |name: &str| name.eq_ignore_ascii_case("to");
    is_to(&fields[index].0) && fields[..index].iter().any(|(name, _)| is_to(name))
}

fn is_safe_field(name: &str) -> bool {
    SAFE_FIELDS.iter().any(|safe| name.eq_ignore_ascii_case(safe))
}
