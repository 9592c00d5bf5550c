//! What a person can do with a telnet URL.

use fetch_url_core::TelnetUrl;
use fetch_url_proto::text::printable;

use crate::Advice;

/// Host, port, who to log in as, and the command. User and password are advice (RFC 1738 §3.8); the password is not
/// shown.
pub(super) fn of(url: &TelnetUrl<'_>, port: u16) -> Advice {
    // Programs want an IPv6 address without the brackets that a URL has.
    let host = url.login().at().host().to_string().trim_matches(['[', ']']).to_owned();
    let user = url.login().user().map(|user| printable(&user.decode()));
    let named = user.as_deref().filter(|user| !user.is_empty());
    let as_user = named.map(|user| format!("-l {} ", quoted(user))).unwrap_or_default();
    let command = format!("telnet {as_user}{host} {port}");
    let mut text = format!("This is a telnet session, not an object that can be fetched.\n  {command}\n");
    if let Some(user) = named {
        text.push_str(&format!("Log in as: {user}\n"));
    }
    let has_password = url.login().password().is_some();
    if has_password {
        text.push_str("The URL holds a password, which is not shown.\n");
    }
    text.push_str("fetch-url --connect opens the session here.\n");
    let advice = Advice::new(text).with("host", host).with("port", port).with("user", user);
    advice.with("has_password", has_password).with("command", command)
}

/// For a shell: as it is where that cannot be mistaken, else between apostrophes.
fn quoted(word: &str) -> String {
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"._-@+".contains(&octet);
    if word.bytes().all(is_plain) && !word.starts_with('-') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
