//! What a person can do with an address.

use fetch_url_core::{Escaped, MailtoUrl};
use fetch_url_proto::text::printable;

use crate::{Advice, Fact};

/// Fields that a stranger may suggest (RFC 6068 §4 and §7): the others could send what nobody has read, or lie about
/// who writes.
const HARMLESS: &[&str] = &["body", "cc", "in-reply-to", "keywords", "references", "subject", "to"];

/// The address, and what the message would be; fields that are not harmless are marked.
pub(super) fn of(url: &MailtoUrl<'_>) -> Advice {
    let address = printable(&url.address().decode());
    let mut text = "This is an address for mail, not an object that can be fetched.\n".to_owned();
    if !address.is_empty() {
        text.push_str(&format!("  To: {address}\n"));
    }
    let fields = url.headers().as_ref().map(fields).unwrap_or_default();
    for (name, value) in &fields {
        let mark = if is_harmless(name) { "" } else { "  (unsafe: no mail program should take it over)" };
        text.push_str(&format!("  {name}: {value}{mark}\n"));
    }
    let unsafe_fields: Vec<_> =
        fields.iter().map(|(name, _)| name.clone()).filter(|name| !is_harmless(name)).collect();
    let advice = Advice::new(text).with("address", address).with("fields", Fact::Pairs(fields));
    advice.with("unsafe_fields", Fact::Words(unsafe_fields))
}

/// `name=value` with `&` between them (RFC 6068 §2); `+` is a plus.
fn fields(headers: &Escaped<'_>) -> Vec<(String, String)> {
    let fields = headers.split('&').filter(|field| !field.is_empty());
    let decoded = |part: &Escaped<'_>| printable(&part.decode());
    fields
        .map(|field| match field.split_once('=') {
            Some((name, value)) => (decoded(&name), decoded(&value)),
            None => (decoded(&field), String::new()),
        })
        .collect()
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| name.eq_ignore_ascii_case(harmless))
}
