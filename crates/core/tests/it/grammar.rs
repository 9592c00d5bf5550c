//! Properties of URLs generated from the grammar of RFC 1738 §5, and of mutated URLs.
use fetch_url_core::{Dialect, NoteKind, Parsed, parse_with};
use proptest::prelude::*;

const DIALECTS: [Dialect; 3] = [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993];

/// §5 `unreserved`, for a bracket expression.
const UNRESERVED: &str = r"A-Za-z0-9$\-_.+!*'(),";

/// Returns a pattern for `count` characters of `uchar | extra`, escapes included.
fn chars(extra: &str, count: &str) -> String {
    format!("([{UNRESERVED}{extra}]|%[0-9A-Fa-f]{{2}}){count}")
}

fn text(pattern: &str) -> BoxedStrategy<String> {
    proptest::string::string_regex(pattern).expect("the pattern is right").boxed()
}

/// Generates §5 `host`: a name whose last label starts with a letter, or an IPv4 address.
fn host() -> BoxedStrategy<String> {
    let name =
        text("([A-Za-z0-9]([A-Za-z0-9-]{0,6}[A-Za-z0-9])?\\.){0,3}[A-Za-z]([A-Za-z0-9-]{0,6}[A-Za-z0-9])?");
    let number = any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}"));
    prop_oneof![3 => name, 1 => number].boxed()
}

fn host_port() -> BoxedStrategy<String> {
    (host(), proptest::option::of(1_u16..))
        .prop_map(|(host, port)| port.map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
        .boxed()
}

/// Generates §5 `login`.
fn login() -> BoxedStrategy<String> {
    let word = chars(";?&=", "{0,8}");
    (text(&format!("({word}(:{word})?@)?")), host_port()).prop_map(|(user, at)| user + &at).boxed()
}

/// Generates `scheme`, then a value of `at`, then a text that matches `rest`.
fn with(scheme: &'static str, at: BoxedStrategy<String>, rest: &str) -> BoxedStrategy<String> {
    (at, text(rest)).prop_map(move |(at, rest)| format!("{scheme}{at}{rest}")).boxed()
}

/// Generates every production of §5 for the known schemes.
fn url() -> BoxedStrategy<String> {
    let (fsegment, hsegment) = (chars("?:@&=", "{0,8}"), chars(";:@&=", "{0,8}"));
    let (uchars, xchars) = (chars("", "{0,10}"), chars(";/?:@&=", "{0,20}"));
    let fpath = format!("{fsegment}(/{fsegment}){{0,4}}");
    let hpath = format!("{hsegment}(/{hsegment}){{0,4}}");
    let group = r"[A-Za-z][A-Za-z0-9.+_\-]{0,16}";
    // Not "//" at the start: the lenient dialect reads a server there (RFC 5538).
    let article = chars(";?:&=", "") + &chars(";/?:&=", "{0,16}@");
    let field = chars("?:@&", "{0,6}");
    let none = || Just(String::new()).boxed();
    prop_oneof![
        with("ftp://", login(), &format!("(/{fpath}(;type=[aid])?)?")),
        with("http://", host_port(), &format!(r"(/{hpath}(\?{hsegment})?)?")),
        with("gopher://", host_port(), &format!("(/{xchars}(%09{uchars}(%09{uchars})?)?)?")),
        with("mailto:", none(), &chars(";/:@&=", "{1,20}")),
        with("news:", none(), &format!(r"(\*|{group})")),
        with("news:", (text(&article), host()).prop_map(|(id, host)| id + &host).boxed(), ""),
        with("nntp://", host_port(), &format!("/{group}(/(0|[1-9][0-9]{{0,15}}))?")),
        with("telnet://", login(), "/?"),
        with("wais://", host_port(), &format!(r"/{uchars}(\?{hsegment}|/{uchars}/{uchars})?")),
        with("file://", prop_oneof![none(), host()].boxed(), &format!("/{fpath}")),
        with("prospero://", host_port(), &format!("/{fpath}(;{field}={field}){{0,3}}")),
        with("x-any:", none(), &xchars),
    ]
    .boxed()
}

/// Generates a URL with one to three edits: truncated, or with a character removed, replaced or inserted.
fn mutated_url() -> BoxedStrategy<String> {
    let edit = (any::<prop::sample::Index>(), any::<u8>(), inserted_character());
    (url(), proptest::collection::vec(edit, 1..4))
        .prop_map(|(url, edits)| {
            edits.into_iter().fold(url, |url, (at, kind, with)| edited(&url, at, kind, with))
        })
        .boxed()
}

fn inserted_character() -> BoxedStrategy<char> {
    let significant = proptest::sample::select(
        "%/:;@?#&=<>[]\\ \t\r\n\0\"~^|`{}_.-*é\u{85}\u{ff10}\u{1f600}0aA".chars().collect::<Vec<_>>(),
    );
    prop_oneof![4 => significant, 1 => any::<char>()].boxed()
}

fn edited(url: &str, at: prop::sample::Index, kind: u8, with: char) -> String {
    let mut characters: Vec<_> = url.chars().collect();
    let at = at.index(characters.len() + 1);
    match kind % 4 {
        0 => characters.truncate(at),
        1 if at < characters.len() => drop(characters.remove(at)),
        2 if at < characters.len() => characters[at] = with,
        _ => characters.insert(at, with),
    }
    characters.into_iter().collect()
}

/// Checks that the printed URL parses to an equal URL, which prints the same text.
fn check_round_trip(parsed: &Parsed<'_>, dialect: Dialect) -> Result<(), TestCaseError> {
    let printed = parsed.url.to_string();
    let again = parse_with(&printed, dialect).map(|again| again.url);
    prop_assert_eq!(again.as_ref(), Ok(&parsed.url), "{:?} {}", dialect, &printed);
    prop_assert_eq!(again.map(|url| url.to_string()), Ok(printed));
    prop_assert_eq!(&parsed.clone().into_owned().url, &parsed.url);
    Ok(())
}

fn check_any(text: &str) -> Result<(), TestCaseError> {
    for dialect in DIALECTS {
        match parse_with(text, dialect) {
            Ok(parsed) => {
                prop_assert!(parsed.notes.iter().all(|note| text.get(note.span()).is_some()));
                check_round_trip(&parsed, dialect)?;
            }
            Err(error) => prop_assert!(text.get(error.span()).is_some(), "{error:?} in {text:?}"),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn url_of_the_grammar_is_accepted_without_notes(url in url()) {
        for dialect in [Dialect::Rfc1738, Dialect::Lenient] {
            let parsed = parse_with(&url, dialect);
            prop_assert!(parsed.is_ok(), "{:?} {:?}", &url, parsed);
            let parsed = parsed.expect("checked above");
            // §5 allows %00 in a prospero name; its meaning, a version, is that of the 1993 BNF. It allows `?` in a login,
            // where RFC 3986 ends the host.
            let is_difference = |kind| matches!(kind, NoteKind::Historic | NoteKind::QuestionMarkInLogin);
            prop_assert!(parsed.notes.iter().all(|note| is_difference(note.kind())), "{:?}", parsed);
            prop_assert_eq!(parsed.url.to_string(), url.clone());
            check_round_trip(&parsed, dialect)?;
        }
    }

    #[test]
    fn mutated_url_fails_with_a_valid_span_or_round_trips(text in mutated_url()) {
        check_any(&text)?;
    }

    #[test]
    fn any_text_fails_with_a_valid_span_or_round_trips(text in any::<String>()) {
        check_any(&text)?;
    }

    #[test]
    fn strict_dialect_accepts_no_text_that_needs_encoding(text in mutated_url()) {
        if let Ok(parsed) = parse_with(&text, Dialect::Rfc1738) {
            prop_assert!(parsed.notes.iter().all(|note| !matches!(
                note.kind(),
                NoteKind::Encoded | NoteKind::Tolerated | NoteKind::Fragment | NoteKind::Ipv6Literal
            )), "{:?}", parsed);
            // "//" after "news:" starts a message-id in the strict dialect, and a server in the lenient one (RFC 5538).
            prop_assume!(!text.contains("news://"));
            let lenient = parse_with(&text, Dialect::Lenient);
            prop_assert!(lenient.is_err() || lenient.as_ref() == Ok(&parsed), "{:?} {:?}", parsed, lenient);
        }
    }
}

#[test]
fn error_span_of_a_truncated_url_is_inside_the_text() {
    let url = "ftp://user:pässword@host.example:2121/a/b%20c/d;type=a#é";
    for end in (0..=url.len()).filter(|&end| url.is_char_boundary(end)) {
        for dialect in DIALECTS {
            let Err(error) = parse_with(&url[..end], dialect) else { continue };
            assert!(url[..end].get(error.span()).is_some(), "{error:?} at {end}");
        }
    }
}
