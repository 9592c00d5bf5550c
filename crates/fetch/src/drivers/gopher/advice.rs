//! Items that are no objects: a session, a phone book (RFC 1436 §3.8, types 2, 8 and T).

use fetch_url_core::GopherUrl;
use fetch_url_proto::text::printable;

use crate::Advice;

/// What a person can do with the item.
pub(super) fn of(url: &GopherUrl<'_>, port: u16) -> Advice {
    let host = url.at().host();
    let login = printable(&url.selector().decode());
    let (what, program) = match url.gtype() {
        b'2' => ("a CSO phone book", "ph -s"),
        b'T' => ("a tn3270 session", "tn3270"),
        _ => ("a telnet session", "telnet"),
    };
    let command = match url.gtype() {
        b'2' => format!("{program} {host} -p {port}"),
        _ => format!("{program} {host} {port}"),
    };
    let mut text = format!("This item is {what}, not an object that can be fetched.\n  {command}\n");
    if url.gtype() != b'2' && !login.is_empty() {
        text.push_str(&format!("Log in as: {login}\n"));
    }
    Advice::new(text).with("host", host.to_string()).with("port", port).with("command", command)
}
