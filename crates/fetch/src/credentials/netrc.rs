//! Parses netrc files (ftp(1), with curl's quoting) and looks up the login for a host.
//!
//! No I/O: the caller chooses and reads the file. Ambiguous input is an error, because a wrong guess could
//! send the password of one host to another.

mod error;
mod words;

use std::fmt;

use super::secret::SecretBytes;
use crate::ascii_host::ascii_host;
use error::NetrcError;
use words::{Word, WordReader};

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Keywords of other programs, each with one value. They are ignored.
const IGNORED_KEYWORDS: [&str; 2] = ["method", "org"];

/// Keywords that restrict an entry to one service of a host. Services are not distinguished here, so
/// entries with these keywords are not used.
const SERVICE_KEYWORDS: [&str; 2] = ["port", "protocol"];

/// The entries of a netrc file, in the order of the file.
#[derive(Clone, Default)]
pub(crate) struct Netrc {
    entries: Vec<Entry>,
}

/// The login that a netrc file contains for a host. An empty value differs from a missing one.
#[derive(Clone, Copy)]
pub(crate) struct NetrcEntry<'n> {
    /// The user name.
    pub(crate) login: Option<&'n [u8]>,
    /// The password.
    pub(crate) password: Option<&'n SecretBytes>,
    /// A further password, for the ACCT command of FTP (RFC 959 §4.1.1).
    pub(crate) account: Option<&'n SecretBytes>,
}

impl Netrc {
    /// Parses the contents of a netrc file.
    pub(crate) fn parse(file: &[u8]) -> Result<Self, NetrcError> {
        if file.len() > MAX_FILE_BYTES {
            return Err(NetrcError::TooLarge);
        }
        // Windows editors write a byte order mark at the beginning of a file.
        let mut words = WordReader::new(file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file));
        let mut netrc = Self::default();
        while let Some(word) = words.next_keyword()? {
            netrc.parse_keyword(&word, &mut words)?;
        }
        Ok(netrc)
    }

    /// Returns the first entry for this host and, if `user` is given, for this user. An entry without a login
    /// does not match a given user. Values of different entries are never combined.
    ///
    /// The `default` entry is used only if `allow_default` is `true` and no entry names the host. An entry with
    /// neither login nor password is ignored.
    pub(crate) fn find(
        &self,
        host: &str,
        user: Option<&[u8]>,
        allow_default: bool,
    ) -> Option<NetrcEntry<'_>> {
        let has_host_entry = self.entries.iter().any(|entry| entry.matches_host(host));
        let is_candidate = |entry: &&Entry| match has_host_entry {
            true => entry.matches_host(host),
            false => allow_default && entry.machine.is_none(),
        };
        self.entries
            .iter()
            .filter(is_candidate)
            .filter(|entry| !entry.is_service_specific)
            .find(|entry| user.is_none_or(|user| entry.login() == Some(user)))
            .filter(|entry| entry.login.is_some() || entry.password.is_some())
            .map(Entry::as_netrc_entry)
    }

    /// Parses the arguments of a keyword.
    fn parse_keyword(&mut self, word: &Word, words: &mut WordReader<'_>) -> Result<(), NetrcError> {
        let keyword = Keyword::of(word).ok_or(NetrcError::UnknownKeyword(word.line))?;
        match keyword {
            Keyword::Default => self.entries.push(Entry::default()),
            Keyword::Machine => {
                let machine = words.next_value(is_keyword)?;
                let machine = match str::from_utf8(&machine) {
                    Ok(name) => ascii_host(name).into_owned().into_bytes(),
                    Err(_) => machine,
                };
                self.entries.push(Entry { machine: Some(machine), ..Entry::default() });
            }
            Keyword::Macdef => words.skip_macro(),
            Keyword::Ignored => {
                words.next_value(is_keyword)?;
            }
            Keyword::Service => {
                words.next_value(is_keyword)?;
                self.current_entry(word.line)?.is_service_specific = true;
            }
            Keyword::Account | Keyword::Login | Keyword::Password => {
                let value = words.next_value(is_keyword)?;
                let field = self.current_entry(word.line)?.field_mut(keyword);
                if field.replace(value.into()).is_some() {
                    return Err(NetrcError::DuplicateKeyword(word.line));
                }
            }
        }
        Ok(())
    }

    /// Returns the entry that the next value belongs to.
    fn current_entry(&mut self, line: usize) -> Result<&mut Entry, NetrcError> {
        self.entries.last_mut().ok_or(NetrcError::MissingMachine(line))
    }
}

/// Prints the number of entries only, because some files contain a token in `login`.
impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netrc({} entries)", self.entries.len())
    }
}

impl fmt::Debug for NetrcEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NetrcEntry(***)")
    }
}

/// A `machine` or `default` entry.
#[derive(Clone, Default)]
struct Entry {
    /// The host; `None` for the `default` entry.
    machine: Option<Vec<u8>>,
    login: Option<SecretBytes>,
    password: Option<SecretBytes>,
    account: Option<SecretBytes>,
    /// The entry has a keyword of [`SERVICE_KEYWORDS`].
    is_service_specific: bool,
}

impl Entry {
    fn matches_host(&self, host: &str) -> bool {
        let host = canonical_host(host.as_bytes());
        let machine = self.machine.as_deref().map(canonical_host);
        !host.is_empty() && machine.is_some_and(|machine| machine.eq_ignore_ascii_case(host))
    }

    fn login(&self) -> Option<&[u8]> {
        self.login.as_ref().map(SecretBytes::expose)
    }

    fn field_mut(&mut self, keyword: Keyword) -> &mut Option<SecretBytes> {
        match keyword {
            Keyword::Account => &mut self.account,
            Keyword::Login => &mut self.login,
            _ => &mut self.password,
        }
    }

    fn as_netrc_entry(&self) -> NetrcEntry<'_> {
        NetrcEntry { login: self.login(), password: self.password.as_ref(), account: self.account.as_ref() }
    }
}

/// Returns a host name without its final dot, or an IPv6 address without its brackets.
fn canonical_host(host: &[u8]) -> &[u8] {
    let inner = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    inner.unwrap_or_else(|| host.strip_suffix(b".").unwrap_or(host))
}

#[derive(Clone, Copy)]
enum Keyword {
    Account,
    Default,
    Ignored,
    Login,
    Macdef,
    Machine,
    Service,
    Password,
}

impl Keyword {
    /// Returns the keyword, or `None` for a quoted or unknown word.
    fn of(word: &Word) -> Option<Self> {
        let is = |keyword: &str| !word.is_quoted && word.bytes.eq_ignore_ascii_case(keyword.as_bytes());
        let known = [
            ("account", Self::Account),
            ("default", Self::Default),
            ("login", Self::Login),
            ("macdef", Self::Macdef),
            ("machine", Self::Machine),
            ("password", Self::Password),
        ];
        let known = known.into_iter().find(|(keyword, _)| is(keyword)).map(|(_, keyword)| keyword);
        known
            .or_else(|| IGNORED_KEYWORDS.into_iter().any(is).then_some(Self::Ignored))
            .or_else(|| SERVICE_KEYWORDS.into_iter().any(is).then_some(Self::Service))
    }
}

fn is_keyword(word: &Word) -> bool {
    Keyword::of(word).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns login, password and account, with `-` for a missing value; "none" if no entry is found.
    fn found(file: &[u8], host: &str, user: Option<&str>, allow_default: bool) -> String {
        let netrc = Netrc::parse(file).expect("a good file");
        let Some(entry) = netrc.find(host, user.map(str::as_bytes), allow_default) else {
            return "none".to_owned();
        };
        let [password, account] =
            [entry.password, entry.account].map(|secret| secret.map(SecretBytes::expose));
        [entry.login, password, account]
            .map(|value| value.map_or("-".into(), String::from_utf8_lossy))
            .join(" ")
    }

    #[test]
    fn valid_files_give_their_login() {
        for (file, expected) in [
            ("machine h login u password p", "u p -"),
            ("machine h login u password p account a\n", "u p a"),
            ("machine\n\th\r\nlogin\n u\n\n password\r\n\r\np\r\n", "u p -"),
            ("MACHINE h Login u PassWord p", "u p -"),
            ("machine h password p login u", "u p -"),
            ("\u{feff}machine h login u", "u - -"),
            ("", "none"),
            (" \r\n\t", "none"),
            ("machine", "error"),
            // Comments, and passwords that look like one.
            ("# machine h login x\n  # more \"\nmachine h login u # tail \" x\npassword p", "u p -"),
            ("machine h login u password #p", "u #p -"),
            ("machine h login u password p#q", "u p#q -"),
            ("machine h login u password\n# not yet\np", "u p -"),
            ("machine h login u password \"#p\"", "u #p -"),
            ("machine h login u password\n\"#p\"", "u #p -"),
            // Quotes.
            (r#"machine "h" login "a b" password "p\"\\\n\r\t\x""#, "a b p\"\\\n\r\tx -"),
            (r#"machine h login u password p"q"#, "u p\"q -"),
            (r#"machine h login u password p\n"#, "u p\\n -"),
            (r#"machine h login "" password """#, "  -"),
            ("machine h login \"login\" password\n\"machine\"", "login machine -"),
            // A keyword on the keyword's own line is a value.
            ("machine h login machine password default", "machine default -"),
            // Any bytes.
            ("machine h login us\u{e9}r password p\u{0}\u{1}", "us\u{e9}r p\u{0}\u{1} -"),
            // Macros are skipped up to the next blank line, whether they belong to a machine or not.
            ("macdef m\ncd x\nlogin x \"\n\nmachine h login u", "u - -"),
            ("macdef m\r\nmachine h login x\r\n \r\nmachine h login u", "u - -"),
            ("machine h login u\nmacdef m\n\npassword p", "u p -"),
            ("machine h login u macdef m\nput x", "u - -"),
            // Keywords of other programs.
            ("machine h\n  login u\n  method interactive\n  org o\n  password p", "u p -"),
            ("machine h port 22 login u password p", "none"),
            ("machine h login u password p protocol imap\nmachine h login v", "v - -"),
        ] {
            let file = file.as_bytes();
            let got = match Netrc::parse(file) {
                Ok(_) => found(file, "h", None, false),
                Err(_) => "error".to_owned(),
            };
            assert_eq!(got, expected, "{:?}", String::from_utf8_lossy(file));
        }
        assert_eq!(found(b"machine h login \xe9\xff password \xfe", "h", None, false).chars().count(), 6);
    }

    #[test]
    fn hosts_match_without_case_final_dot_and_brackets() {
        let file = b"machine Example.com login a\nmachine 127.0.0.1 login b\nmachine ::1 login c\n\
            machine [::2] login d\nmachine dotted.example. login e\nmachine \"\" login f\nmachine . login g";
        for (host, login) in [
            ("example.COM", "a - -"),
            ("example.com.", "a - -"),
            ("example.com..", "none"),
            ("www.example.com", "none"),
            ("xexample.com", "none"),
            ("example.co", "none"),
            ("com", "none"),
            ("127.0.0.1", "b - -"),
            ("[::1]", "c - -"),
            ("::1", "c - -"),
            ("[::2]", "d - -"),
            ("::2", "d - -"),
            ("dotted.example", "e - -"),
            ("", "none"),
            (".", "none"),
        ] {
            assert_eq!(found(file, host, None, false), login, "{host}");
            assert_eq!(found(file, host, None, true), login, "{host}: there is no default");
        }
    }

    #[test]
    fn given_user_selects_the_first_entry_with_that_login() {
        let file = b"machine h password alone\nmachine h login a password pa\nmachine h login b\n\
            machine h login c password pc\nmachine h login a password second\nmachine h login \"\" password e";
        for (user, entry) in [
            (None, "- alone -"),
            (Some("a"), "a pa -"),
            (Some("b"), "b - -"),
            (Some("c"), "c pc -"),
            (Some("A"), "none"),
            (Some("x"), "none"),
            (Some(""), " e -"),
        ] {
            assert_eq!(found(file, "h", user, true), entry, "{user:?}");
        }
    }

    /// curl CVE-2024-11053: the password of one host was sent to another host. CVE-2025-0167: an empty `default`
    /// entry had the same effect.
    #[test]
    fn entries_are_not_combined() {
        for (file, host, allow_default, entry) in [
            ("machine a login u\nmachine b login u password pb", "a", true, "u - -"),
            ("machine a\nlogin u\ndefault login d password pd", "a", true, "u - -"),
            ("machine a password pa\nmachine b login ub", "b", true, "ub - -"),
            ("machine a\nmachine b login u password p", "a", true, "none"),
            ("machine a\nmachine a login u password p", "a", true, "none"),
            ("machine a\ndefault login d password pd", "a", true, "none"),
            ("machine a account x", "a", true, "none"),
            ("machine a login u password p\ndefault", "b", true, "none"),
            ("default\nmachine a login u password p", "b", true, "none"),
            ("machine bücher.test login u", "xn--bcher-kva.test", true, "u - -"),
            ("default account x", "b", true, "none"),
            ("default login d password p", "b", true, "d p -"),
            ("default login d password p", "b", false, "none"),
            ("default login d password p\nmachine b login u", "b", true, "u - -"),
            ("machine a port 21 login u password p\ndefault login d", "a", true, "none"),
            ("machine default login u", "b", true, "none"),
        ] {
            assert_eq!(found(file.as_bytes(), host, None, allow_default), entry, "{file:?}");
        }
        let file = b"machine a login u password p\ndefault login d password pd";
        assert_eq!(found(file, "a", Some("d"), true), "none");
        assert_eq!(found(file, "b", Some("d"), true), "d pd -");
        assert_eq!(found(file, "b", Some("u"), true), "none");
    }

    #[test]
    fn invalid_files_are_rejected_with_the_line_number() {
        use NetrcError::*;
        let word = "x".repeat(64 << 10);
        let rows: &[(&str, NetrcError)] = &[
            ("machine h\nlogin\nmachine b login canary password canary", MissingValue(2)),
            ("machine h login u password", MissingValue(1)),
            ("machine h login u password\n\n\n", MissingValue(1)),
            ("machine\nlogin u", MissingValue(1)),
            ("login canary", MissingMachine(1)),
            ("\n# x\npassword canary", MissingMachine(3)),
            ("port 1", MissingMachine(1)),
            ("machine h login u\nlogin canary", DuplicateKeyword(2)),
            ("machine h password a password canary", DuplicateKeyword(1)),
            // The login after a misspelt `machine` must not be added to the previous entry.
            ("machine h login u password p\nmachne h2 login canary", UnknownKeyword(2)),
            ("machine h login u password canary canary", UnknownKeyword(1)),
            ("machine h \"login\" canary", UnknownKeyword(1)),
            ("machine h login \"u\"canary", UnknownKeyword(1)),
            ("machine h\n\nlogin \"canary\npassword p\"", UnclosedQuote(3)),
            ("machine h login \"canary", UnclosedQuote(1)),
            ("machine h login \"canary\\\"", UnclosedQuote(1)),
            ("machine h login \"canary\\", UnclosedQuote(1)),
            ("macdef m\nx\n\ncanary", UnknownKeyword(4)),
        ];
        for (file, error) in rows {
            let got = Netrc::parse(file.as_bytes()).expect_err(file);
            assert_eq!(got, *error, "{file:?}");
            assert!(!format!("{got} {got:?}").contains("canary"));
        }
        let parse = |file: String| Netrc::parse(file.as_bytes()).err();
        assert_eq!(parse(format!("machine h\nlogin {word}")), Some(WordTooLong(2)));
        assert_eq!(parse(format!("machine h\nlogin \"{word}\"")), Some(WordTooLong(2)));
        assert_eq!(parse(format!("machine h login {}", &word[1..])), None);
        assert_eq!(parse("\n".repeat(1 << 20)), None);
        assert_eq!(parse("\n".repeat((1 << 20) + 1)), Some(TooLarge));
    }

    #[test]
    fn debug_hides_all_values() {
        let netrc =
            Netrc::parse(b"machine m login canary password canary account canary").expect("a good file");
        let shown = format!("{netrc:?} {:?}", netrc.find("m", None, false));
        assert!(!shown.contains("canary") && !shown.contains("99, 97"), "{shown}");
    }

    /// In a truncated file, each value of an entry is the value in the complete file, or a prefix of it.
    #[test]
    fn truncated_files_give_no_wrong_values() {
        let file =
            b"# c\nmachine a login ua password \"p\\\"a\"\nmacdef m\nx\n\ndefault login ud password pd\n";
        for end in 0..=file.len() {
            let Ok(netrc) = Netrc::parse(&file[..end]) else { continue };
            if let Some(entry) = netrc.find("a", None, true) {
                assert!(b"ua".starts_with(entry.login.unwrap_or_default()), "{end}");
                assert!(entry.password.is_none_or(|password| password.expose() == b"p\"a"), "{end}");
            }
        }
    }

    fn quoted(bytes: &[u8]) -> Vec<u8> {
        let mut text = vec![b'"'];
        for &byte in bytes {
            match byte {
                b'"' | b'\\' => text.extend([b'\\', byte]),
                b'\n' => text.extend(b"\\n"),
                _ => text.push(byte),
            }
        }
        text.push(b'"');
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_parse_without_panic(file in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Netrc::parse(&file);
        }

        #[test]
        fn any_words_parse_without_panic(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "machine", "default", "login", "password", "account", "macdef", "port", "a", "b", "\"", "\\",
                    "#", "\n", "\n\n", "\r\n", " ", "\t", "\"x y\"",
                ]),
                0..40,
            ),
            separator in prop::sample::select(vec!["", " "]),
        ) {
            let _ = Netrc::parse(words.join(separator).as_bytes());
        }

        #[test]
        fn quoted_values_parse_to_the_original_bytes(
            login in prop::collection::vec(any::<u8>(), 0..20),
            password in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let file = [&b"machine h login "[..], &quoted(&login), b"\npassword\n", &quoted(&password)].concat();
            let netrc = Netrc::parse(&file).expect("a good file");
            let entry = netrc.find("h", Some(&login), false).expect("an entry");
            prop_assert_eq!(entry.login, Some(&login[..]));
            prop_assert_eq!(entry.password.map(SecretBytes::expose), Some(&password[..]));
        }
    }
}
