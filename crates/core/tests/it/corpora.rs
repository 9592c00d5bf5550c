//! Shared corpora: the examples of the RFCs and the table of the Web Platform Tests.
use fetch_url_core::{Dialect, Host, Url, parse, parse_with, resolve_reference};
use serde_json::Value;

fn corpus(text: &str) -> Value {
    serde_json::from_str(text).expect("the file is JSON")
}

fn text<'v>(case: &'v Value, field: &str) -> Option<&'v str> {
    case[field].as_str()
}

/// Returns `true` for values that the regular expressions of the corpus accept and the specification does not: ports
/// outside 1 to 65535, and addresses whose numbers are larger than 255 or have leading zeros.
fn has_invalid_value(host_port: &str) -> bool {
    let (host, port) = host_port.rsplit_once(':').unwrap_or((host_port, "1"));
    let is_number = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_numeric = host.split('.').all(is_number);
    let is_port = port.parse::<std::num::NonZeroU16>().is_ok();
    !is_port || (is_numeric && host.parse::<std::net::Ipv4Addr>().is_err())
}

/// Returns `host:port` of the text.
fn authority(url: &str) -> &str {
    let after =
        url.split_once("://").filter(|(scheme, _)| *scheme != "mailto").map_or("", |(_, after)| after);
    let authority = after.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host_port)| host_port)
}

#[test]
fn strict_dialect_accepts_what_section_5_accepts() {
    let cases = corpus(include_str!("../data/rfc1738_applicability.json"));
    let (mut valid, mut invalid) = (0, 0);
    let mut failures = Vec::new();
    for case in cases.as_array().expect("a list") {
        let (Some(input), Some(class)) = (text(case, "input"), text(case, "class")) else { continue };
        // The corpus judges the text without its fragment, which is not part of the URL.
        let url = input.split('#').next().unwrap_or_default();
        let is_valid = match class.split_once('/') {
            Some(("bnf-valid", _)) => !has_invalid_value(authority(url)),
            Some(("bnf-invalid", _)) => false,
            _ => continue,
        };
        *(if is_valid { &mut valid } else { &mut invalid }) += 1;
        let found = parse_with(url, Dialect::Rfc1738).map(|parsed| parsed.url.to_string());
        if found.is_ok() != is_valid {
            failures.push(format!("{url:?}: {class}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(valid >= 80 && invalid >= 250, "{valid} valid and {invalid} invalid cases");
}

#[test]
fn lenient_urls_of_the_web_platform_tests_round_trip_with_the_host_of_whatwg() {
    let cases = corpus(include_str!("../data/urltestdata.json"));
    let cases: Vec<_> = cases.as_array().expect("a list").iter().filter(|case| case.is_object()).collect();
    assert!(cases.len() > 600, "{} cases", cases.len());
    for case in cases {
        let Some(input) = text(case, "input") else { continue };
        match parse(input) {
            Ok(parsed) => {
                let printed = parsed.url.to_string();
                assert_eq!(parse(&printed).map(|again| again.url).as_ref(), Ok(&parsed.url), "{printed:?}");
                compare_with_whatwg(case, input, &parsed.url);
            }
            Err(error) => assert!(input.get(error.span()).is_some(), "{input:?} {error:?}"),
        }
    }
}

/// Checks that host and port agree where both parsers accept the text: a program that checks a URL with one parser and
/// connects with the other must reach the checked host.
fn compare_with_whatwg(case: &Value, input: &str, url: &Url<'_>) {
    let is_shared = matches!(url.scheme_name(), "http" | "https" | "ftp");
    if !is_shared || text(case, "base").is_some_and(|base| base != "about:blank") {
        return;
    }
    let Some(theirs) = text(case, "hostname") else { return };
    let ours = url.host().map(|host| match host {
        Host::Name(name) => name.to_ascii_lowercase(),
        other => other.to_string(),
    });
    // The WHATWG prints an IPv6 address without a dotted end: compare the value.
    let parsed = theirs.trim_matches(['[', ']']).parse::<std::net::Ipv6Addr>();
    let theirs = parsed.map_or_else(|_| theirs.to_owned(), |address| format!("[{address}]"));
    assert_eq!(ours.as_deref(), Some(&*theirs), "{input:?}");
    let port = text(case, "port").filter(|port| !port.is_empty()).and_then(|port| port.parse().ok());
    assert_eq!(url.port(), port.or(url.scheme().default_port), "{input:?}");
}

#[test]
fn examples_of_rfc_1738_have_the_documented_components() {
    let corpus = corpus(include_str!("../data/rfc1738_examples.json"));
    for case in corpus["cases"].as_array().expect("a list") {
        let written = text(case, "url").expect("every case has a URL");
        for dialect in [Dialect::Rfc1738, Dialect::Lenient] {
            let parsed = parse_with(written, dialect).unwrap_or_else(|error| panic!("{written}: {error}"));
            check_example(case, &parsed.url);
        }
    }
}

fn check_example(case: &Value, url: &Url<'_>) {
    let written = text(case, "url").expect("every case has a URL");
    if let Some(host) = text(case, "host") {
        assert_eq!(url.host().map(|host| host.to_string()).as_deref(), Some(host), "{written}");
    }
    if let Some(port) = case["port"].as_u64() {
        assert_eq!(url.port().map(u64::from), Some(port), "{written}");
    }
    if case.get("user").is_some() {
        let user_info = url.user_info();
        assert_eq!(user_info.map(|user_info| user_info.user().as_str()), text(case, "user"), "{written}");
        let password =
            user_info.and_then(|user_info| user_info.password()).map(|password| password.expose().as_str());
        assert_eq!(password, text(case, "password"), "{written}");
    }
    if let (Some(name), Url::Prospero(url)) = (text(case, "hsoname"), url) {
        assert_eq!(url.hsoname().as_str(), name);
    }
    if let Url::Ftp(ftp) = url
        && let Some(commands) = case["ftp"].as_array()
    {
        check_ftp(ftp, commands);
    }
}

fn check_ftp(ftp: &fetch_url_core::FtpUrl<'_>, commands: &[Value]) {
    let path = ftp.path().expect("a path");
    let decoded =
        |part: &fetch_url_core::PercentEncoded<'_>| String::from_utf8_lossy(&part.decode()).into_owned();
    let mut ours: Vec<_> = path.cwds().map(|cwd| format!("CWD {}", decoded(&cwd))).collect();
    let last = if path.typecode().is_some() { "NLST" } else { "RETR" };
    ours.push(format!("{last} {}", decoded(&path.name())));
    let theirs: Vec<_> = commands.iter().filter_map(Value::as_str).collect();
    assert_eq!(ours, theirs, "{ftp:?}");
}

#[test]
fn references_are_resolved_as_in_rfc_3986_section_5_4() {
    let corpus = corpus(include_str!("../data/rfc3986_5_4.json"));
    let base = text(&corpus, "base").expect("a base");
    let mut count = 0;
    for table in ["normal", "abnormal"] {
        for (reference, target) in corpus[table].as_object().expect("a table") {
            assert_eq!(Some(&*resolve_reference(base, reference)), target.as_str(), "{reference:?}");
            count += 1;
        }
    }
    assert_eq!(count, 42);
}
