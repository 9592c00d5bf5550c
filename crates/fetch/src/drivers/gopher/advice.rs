//! Advice for menu items that are not data objects: a telnet session or a phone book (RFC 1436 §3.8, types
//! 2, 8 and T).

use fetch_url_core::GopherUrl;
use fetch_url_proto::text::sanitise;

use crate::NotFetchable;
use crate::advice::command_host;

/// Returns host, port and a shell command for the item.
pub(super) fn item_advice(url: &GopherUrl<'_>, port: u16) -> NotFetchable {
    let host = url.host_port().host();
    let login = sanitise(&url.selector().decode());
    let (kind, program) = match url.gtype() {
        b'2' => ("a CSO phone book", "ph -s"),
        b'T' => ("a tn3270 session", "tn3270"),
        _ => ("a telnet session", "telnet"),
    };
    let command = match url.gtype() {
        b'2' => format!("{program} {} -p {port}", command_host(host)),
        _ => format!("{program} {} {port}", command_host(host)),
    };
    let mut text = format!("This item is {kind}, not an object that can be fetched.\n  {command}\n");
    if url.gtype() != b'2' && !login.is_empty() {
        text.push_str(&format!("Log in as: {login}\n"));
    }
    NotFetchable::new(text)
        .with_value("host", host.to_string())
        .with_value("port", port)
        .with_value("command", command)
}
