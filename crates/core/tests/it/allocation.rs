//! Parsing a valid URL does not allocate.

use allocation_counter::measure;
use fetch_url_core::{Dialect, parse_with};

/// Returns the number of heap allocations while `url` is parsed.
fn allocations(url: &str, dialect: Dialect) -> u64 {
    measure(|| {
        let parsed = parse_with(url, dialect);
        std::hint::black_box(&parsed);
    })
    .count_total
}

#[test]
fn counter_counts_an_allocation() {
    assert!(measure(|| drop(std::hint::black_box(vec![1_u8]))).count_total > 0);
}

#[test]
fn url_of_every_scheme_is_parsed_without_allocation() {
    for url in [
        "ftp://host.example",
        "ftp://user:pass@host.example:2121/%2Fetc/motd",
        "ftp://host.example/a/b/c;type=i",
        "ftps://host.example/a",
        "http://host.example/a/b%20c?d=e&f",
        "https://192.0.2.1:8443/",
        "gopher://host.example/7/find%09words%09+",
        "gophers://host.example/1",
        "mailto:user@host.example",
        "news:*",
        "news:comp.lang.rust",
        "news:unique@host.example",
        "snews:comp.lang.rust",
        "nntp://host.example/comp.lang.rust/123",
        "nntps://host.example/comp.lang.rust",
        "telnet://user:pass@host.example/",
        "wais://host.example/db?words",
        "wais://host.example/db/TEXT/id",
        "file:///etc/motd",
        "file://localhost/a",
        "prospero://host.example//a/b;VERSION=3;x=y",
        "afs://cell/path",
        "x-other://user:pass@host/a",
        "unknown:rest",
    ] {
        for dialect in [Dialect::Rfc1738, Dialect::Lenient] {
            assert!(parse_with(url, dialect).is_ok_and(|parsed| parsed.notes.is_empty()), "{url}");
            assert_eq!(allocations(url, dialect), 0, "{url} {dialect:?}");
        }
    }
}

#[test]
fn every_row_without_notes_is_parsed_without_allocation() {
    let mut failures = Vec::new();
    for row in crate::rows::rows().iter().filter(|row| row.verdict == "ok") {
        for &dialect in &row.dialects {
            let count = allocations(&row.url, dialect);
            if count > 0 {
                failures.push(format!("{} {dialect:?} {}: {count}", row.place, row.url));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn strict_error_allocates_at_most_twice() {
    for url in ["http://h/a b", "ftp://h:0/", "gopher://h/%zz", "nntp://h/g/x", "http://2130706433/"] {
        assert!(parse_with(url, Dialect::Rfc1738).is_err());
        assert!(allocations(url, Dialect::Rfc1738) <= 2, "{url}");
    }
}
