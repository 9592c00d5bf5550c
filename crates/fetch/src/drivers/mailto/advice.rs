//! What a person can do with an address.

use fetch_url_core::{Escaped, MailtoUrl};
use fetch_url_proto::text::printable;

use crate::{Advice, Fact};

/// Fields that a stranger may suggest (RFC 6068 §4 and §7): the others could send what nobody has read, or lie about
/// who writes.
const HARMLESS: &[&str] = &["body", "cc", "in-reply-to", "keywords", "references", "subject", "to"];

/// The address, and what the message would be; fields that are not harmless are marked.
pub(super) fn of(url: &MailtoUrl<'_>) -> Advice {
    let address = String::from_utf8_lossy(&url.address().decode()).into_owned();
    let mut text = "This is an address for mail, not an object that can be fetched.\n".to_owned();
    if !address.is_empty() {
        text.push_str(&format!("  To: {}\n", printable(address.as_bytes())));
    }
    let fields = url.headers().as_ref().map(fields).unwrap_or_default();
    let is_safe = |index: usize, name: &str| is_harmless(name) && !is_second_to(&fields, index);
    for (index, (name, value)) in fields.iter().enumerate() {
        let mark = if is_safe(index, name) { "" } else { "  (unsafe: no mail program should take it over)" };
        let (name, value) = (printable(name.as_bytes()), printable(value.as_bytes()));
        text.push_str(&format!("  {name}: {value}{mark}\n"));
    }
    let names = fields.iter().map(|(name, _)| name.clone()).enumerate();
    let unsafe_fields: Vec<_> =
        names.filter(|(index, name)| !is_safe(*index, name)).map(|(_, name)| name).collect();
    let advice = Advice::new(text).with("address", address).with("fields", Fact::Pairs(fields));
    advice.with("unsafe_fields", Fact::Words(unsafe_fields))
}

/// `name=value` with `&` between them (RFC 6068 §2); `+` is a plus.
fn fields(headers: &Escaped<'_>) -> Vec<(String, String)> {
    let fields = headers.split('&').filter(|field| !field.is_empty());
    let decoded = |part: &Escaped<'_>| String::from_utf8_lossy(&part.decode()).into_owned();
    fields
        .map(|field| match field.split_once('=') {
            Some((name, value)) => (decoded(&name), decoded(&value)),
            None => (decoded(&field), String::new()),
        })
        .collect()
}

/// A second list of recipients is one that nobody looks at.
fn is_second_to(fields: &[(String, String)], index: usize) -> bool {
    let is_to = |name: &str| name.eq_ignore_ascii_case("to");
    is_to(&fields[index].0) && fields[..index].iter().any(|(name, _)| is_to(name))
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| name.eq_ignore_ascii_case(harmless))
}
