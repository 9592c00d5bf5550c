//! `Fetcher::explain` against the `wire` column of the URL tables in `crates/core/tests/data`, which contains the bytes
//! that each URL sends.

use std::fmt::Write as _;
use std::path::PathBuf;

use fetch_url::driver::Explained;
use fetch_url::url::{Dialect, parse_with};
use fetch_url::{Code, Error, Fetcher, Proxy, Request};

#[test]
fn explained_commands_equal_the_wire_column_for_every_url() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../core/tests/data");
    let fetcher = Fetcher::default();
    let (mut rows, mut failures) = (0, String::new());
    for file in std::fs::read_dir(folder).expect("the URL tables of the core crate") {
        let path = file.expect("a readable folder").path();
        let is_table = path.extension().is_some_and(|extension| extension == "tsv");
        if !is_table || path.ends_with("expected_differences.tsv") {
            continue;
        }
        let table = std::fs::read_to_string(&path).expect("a readable table");
        for (number, line) in table.lines().enumerate() {
            let columns: Vec<&str> = line.split('\t').collect();
            let [dialects, url, verdict, _, wire] = columns[..] else { continue };
            if line.starts_with('#') || verdict.starts_with("err:") {
                continue;
            }
            rows += 1;
            let row = format!("{}:{}", path.display(), number + 1);
            check_row(&fetcher, &row, dialects, url, wire, &mut failures);
        }
    }
    assert!(rows > 300, "only {rows} rows were found");
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn proxy_is_named_and_refused_for_a_scheme_over_udp() {
    let fetcher =
        Fetcher::builder().proxy(Proxy::parse("http://proxy.example:3128").expect("a proxy")).build();
    let first_command = |url: &str| {
        let explained = fetcher.explain(&Request::new(url).expect("a URL"));
        explained.map(|explained| explained.commands[0].clone()).map_err(|error| error.code())
    };
    let proxy = "http://proxy.example:3128";
    assert_eq!(first_command("http://h/x"), Ok(format!("request to the proxy: {proxy}")));
    assert_eq!(first_command("gopher://h/0x"), Ok(format!("tunnel through the proxy: {proxy}")));
    assert_eq!(first_command("prospero://h/x"), Err(Code::Unsupported));
}

fn check_row(fetcher: &Fetcher, row: &str, dialects: &str, url: &str, wire: &str, failures: &mut String) {
    let url = unescape(url);
    for letter in dialects.chars() {
        let dialect = match letter {
            'R' => Dialect::Rfc1738,
            'L' => Dialect::Lenient,
            _ => Dialect::Cern1993,
        };
        let Ok(parsed) = parse_with(&url, dialect) else { continue };
        let scheme = parsed.url.scheme_name().to_owned();
        let explained = fetcher.explain(&Request::from_url(parsed.into_owned().url));
        let sent = wire_text(&scheme, explained);
        if sent.trim_end() != wire.trim_end() {
            let _ = writeln!(failures, "{row}: {url}\n  sends   {sent}\n  expects {wire}");
        }
    }
}

/// Returns the explained commands in the format of the tables: joined by ` | `, without the commands that accompany
/// every request (login, data connection, file facts).
fn wire_text(scheme: &str, explained: Result<Explained, Error>) -> String {
    let commands = match explained {
        Ok(explained) => explained.commands,
        Err(error) if error.code() == Code::ForbiddenByte => return "!forbidden".to_owned(),
        Err(_) => return "-".to_owned(),
    };
    let lines = commands.iter().map(String::as_str);
    match scheme {
        "ftp" | "ftps" => {
            let aside = ["USER ", "PASS ", "SIZE ", "MDTM ", "EPSV"];
            join(lines.filter(|line| !aside.iter().any(|verb| line.starts_with(verb))))
        }
        // The header fields that every request has are omitted.
        "http" | "https" => join(lines.take(2)),
        "prospero" => join(lines.filter_map(|line| line.strip_prefix("  ")).skip(3)),
        "gopher" | "gophers" => gopher_text(lines),
        "wais" => wais_text(&commands),
        "file" | "mailto" | "telnet" => "-".to_owned(),
        _ if commands.is_empty() => "-".to_owned(),
        _ => join(lines),
    }
}

/// Returns the lines of the request, without remarks, which are in parentheses.
fn gopher_text<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let lines = lines.map(|line| if line == "(an empty line)" { "" } else { line });
    let sent: Vec<&str> = lines.filter(|line| !line.starts_with('(')).collect();
    if sent.is_empty() { "-".to_owned() } else { join(sent.into_iter()) }
}

/// Returns `SEARCH database words` or `RETRIEVE database type identifier`.
fn wais_text(commands: &[String]) -> String {
    let field = |name: &str| {
        let prefix = format!("  {name} ");
        commands.iter().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default()
    };
    match field("query type") {
        "3" => format!("SEARCH {} {}", field("database"), field("words")),
        _ => format!("RETRIEVE {} {} {}", field("database"), field("wt re"), field("un re")),
    }
}

fn join<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.collect::<Vec<_>>().join(" | ")
}

/// Decodes the escapes of the tables: `\t \n \r \\ \xHH \u{…}`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match rest.next() {
            Some('t') => bytes.push(b'\t'),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|&digit| digit != '}').collect();
                let code = u32::from_str_radix(&digits, 16).expect("hexadecimal digits");
                let character = char::from_u32(code).expect("a character");
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(other) => bytes.push(other as u8),
            None => {}
        }
    }
    String::from_utf8(bytes).expect("the table holds text")
}
