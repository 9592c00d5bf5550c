//! Advice on how to open a `telnet:` URL.

use fetch_url_core::TelnetUrl;
use fetch_url_proto::text::sanitise;

use crate::advice::command_host;
use crate::{Hint, NotFetchable};

/// Returns host, port, user name and a shell command. The user name and the password of the URL are advisory (RFC 1738
/// §3.8); the password is never shown.
pub(super) fn telnet_advice(url: &TelnetUrl<'_>, port: u16) -> NotFetchable {
    let host = command_host(url.authority().host_port().host());
    let user = url.authority().user().map(|user| sanitise(&user.decode()));
    let named_user = user.as_deref().filter(|user| !user.is_empty());
    let login_option = named_user.map(|user| format!("-l {} ", shell_quoted(user))).unwrap_or_default();
    let command = format!("telnet {login_option}{host} {port}");
    let mut text = format!("This is a telnet session, not an object that can be fetched.\n  {command}\n");
    if let Some(user) = named_user {
        text.push_str(&format!("Log in as: {user}\n"));
    }
    let has_password = url.authority().password().is_some();
    if has_password {
        text.push_str("The URL contains a password, which is not shown.\n");
    }
    let advice = NotFetchable::new(text)
        .with_hint(Hint::Connect)
        .with_value("host", host)
        .with_value("port", port)
        .with_value("user", user);
    advice.with_value("has_password", has_password).with_value("command", command)
}

/// Returns the word for a shell command line: unchanged if it needs no quotes, otherwise in single quotes.
fn shell_quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    if word.bytes().all(is_plain) && !word.starts_with('-') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use fetch_url_core::{Url, parse};

    use super::*;

    #[test]
    fn command_has_the_zone_of_a_link_local_address_after_a_percent_sign() {
        let parsed = parse("telnet://me@[fe80::1%25eth0]").expect("a URL");
        let Url::Telnet(url) = parsed.url else { panic!("not a telnet URL") };
        let advice = telnet_advice(&url, 23);
        assert!(advice.text.contains("telnet -l me fe80::1%eth0 23\n"), "{}", advice.text);
    }
}
