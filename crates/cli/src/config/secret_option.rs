//! Finds passwords and tokens in the options of a configuration file.

use std::ffi::OsString;

use fetch_url::url::mask_password;

use super::short_options::ShortOptions;

/// The kinds of values that contain a secret.
#[derive(Clone, Copy)]
enum SecretValue {
    /// `USER:PASSWORD`, but not `USER` alone.
    Login,
    /// The whole value.
    Whole,
    /// `[SCHEME://]USER:PASSWORD@HOST`.
    Proxy,
    /// `Authorization: …` and `Proxy-Authorization: …`.
    Header,
}

/// The options whose values can contain a secret: name, letter and kind. Every other value is searched for a URL with a
/// password.
const SECRET_OPTIONS: &[(&str, Option<char>, SecretValue)] = &[
    ("ftp-account", None, SecretValue::Whole),
    ("header", Some('H'), SecretValue::Header),
    ("oauth2-bearer", None, SecretValue::Whole),
    ("proxy", Some('x'), SecretValue::Proxy),
    ("proxy-user", Some('U'), SecretValue::Login),
    ("socks4", None, SecretValue::Proxy),
    ("socks4a", None, SecretValue::Proxy),
    ("socks5", None, SecretValue::Proxy),
    ("socks5-hostname", None, SecretValue::Proxy),
    ("user", Some('u'), SecretValue::Login),
];

/// Returns `true` if the arguments of one line contain a password or token.
pub(super) fn contains_secret(arguments: &[OsString]) -> bool {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let (kind, value) = match words[..] {
        [option, value] => (kind_of_letter(option), value),
        [single] => match (single.strip_prefix("--").and_then(|option| option.split_once('=')), single) {
            (Some((name, value)), _) => (kind_of_name(name), value),
            (None, word) => match ShortOptions::of(word) {
                Some(ShortOptions { letters, value: Some(value), .. }) => (kind_of_letter(letters), value),
                _ => (None, word),
            },
        },
        _ => return false,
    };
    has_url_password(value) || kind.is_some_and(|kind| kind.is_secret(value))
}

fn kind_of_name(name: &str) -> Option<SecretValue> {
    SECRET_OPTIONS.iter().find(|(own, ..)| *own == name).map(|(.., kind)| *kind)
}

/// Returns the kind of a short option. In a group such as `-su`, the last option has the value.
fn kind_of_letter(option: &str) -> Option<SecretValue> {
    let letter = option.chars().next_back();
    SECRET_OPTIONS.iter().find(|(_, own, _)| own.is_some() && *own == letter).map(|(.., kind)| *kind)
}

fn has_url_password(value: &str) -> bool {
    value.contains("://") && mask_password(value) != value
}

impl SecretValue {
    fn is_secret(self, value: &str) -> bool {
        let has_password =
            |login: &str| login.split_once(':').is_some_and(|(_, password)| !password.is_empty());
        match self {
            Self::Login => has_password(value),
            Self::Whole => !value.is_empty(),
            Self::Proxy => {
                let address = value.split_once("://").map_or(value, |(_, address)| address);
                address.rsplit_once('@').is_some_and(|(login, _)| has_password(login))
            }
            Self::Header => value.split_once(':').is_some_and(|(name, value)| {
                let name = name.trim_end().to_ascii_lowercase();
                matches!(&*name, "authorization" | "proxy-authorization") && !value.trim().is_empty()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_tokens_are_found() {
        for (arguments, expected) in [
            (&["--user=me:secret"][..], true),
            (&["-u", "me:secret"], true),
            (&["-su", "me:secret"], true),
            (&["-ume:secret"], true),
            (&["-sUme:secret"], true),
            (&["-xme:secret@h"], true),
            (&["-HAuthorization: Bearer token"], true),
            (&["-ume"], false),
            (&["-o/u:x"], false),
            (&["--user=me"], false),
            (&["--user=me:"], false),
            (&["--proxy-user=me:secret"], true),
            (&["-U", "me:secret"], true),
            (&["--oauth2-bearer=token"], true),
            (&["--ftp-account=secret"], true),
            (&["--proxy=http://me:secret@h:3128"], true),
            (&["--proxy=me:secret@h:3128"], true),
            (&["-x", "me:secret@h:3128"], true),
            (&["--socks5-hostname=me:secret@h"], true),
            (&["--socks5", "h:1080"], false),
            (&["--proxy=me@h:3128"], false),
            (&["--proxy=h:3128"], false),
            (&["ftp://me:secret@h/"], true),
            (&["ftp://me@h/"], false),
            (&["news:a@b"], false),
            (&["--header=Authorization: Bearer token"], true),
            (&["-H", "proxy-authorization: Basic x"], true),
            (&["--header=Authorization:"], false),
            (&["--header=From: me@example.com"], false),
            (&["--referer=http://me:secret@h/"], true),
            (&["--silent"], false),
            (&["-s"], false),
            (&[], false),
        ] {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert_eq!(contains_secret(&arguments), expected, "{arguments:?}");
        }
    }
}
