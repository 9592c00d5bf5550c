//! `mailto:` URLs (docs/spec/semantics.md §5, RFC 1738 §3.5, RFC 6068), and `--open`, which passes `mailto:` and
//! `telnet:` URLs to the desktop.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::support::{
    BINARY, RunResult, check_in_parallel, ensure, fetch_url_command, http_server, run_command, run_fetch_url,
    temp_dir, wait_until,
};
use fetch_url_tests::{HttpResponse, Terminal};

/// Returns the advice for a URL as JSON.
fn advice_json(url: &str) -> String {
    run_fetch_url(["--format", "json", url]).assert_exit(0).stdout_text()
}

/// URLs with their address and header fields in JSON.
const MAILTO_CASES: [(&str, &str, &str); 25] = [
    ("mailto:user@host.example", r#""user@host.example""#, "[]"),
    ("MAILTO:user@host.example", r#""user@host.example""#, "[]"),
    ("URL:mailto:user@host.example", r#""user@host.example""#, "[]"),
    ("<URL:mailto:user@host.example>", r#""user@host.example""#, "[]"),
    ("mailto:gorby%25kremvax@example.com", r#""gorby%kremvax@example.com""#, "[]"),
    (
        "mailto:unlikely%3Faddress@example.com?blat=foop",
        r#""unlikely?address@example.com""#,
        r#"[["blat","foop"]]"#,
    ),
    ("mailto:Mike%26family@example.org", r#""Mike&family@example.org""#, "[]"),
    ("mailto:%22not%40me%22@example.org", r#""\"not@me\"@example.org""#, "[]"),
    ("mailto:%22oh%5C%5Cno%22@example.org", r#""\"oh\\\\no\"@example.org""#, "[]"),
    ("mailto:a+b@c.example", r#""a+b@c.example""#, "[]"),
    ("mailto:a/b;c:d&e=f@g", r#""a/b;c:d&e=f@g""#, "[]"),
    ("mailto:one@a.example,two@b.example", r#""one@a.example,two@b.example""#, "[]"),
    ("mailto:user@%E7%B4%8D.example?subject=Test", "\"user@\u{7d0d}.example\"", r#"[["subject","Test"]]"#),
    ("mailto:user@example.org?subject=caf%C3%A9", r#""user@example.org""#, "[[\"subject\",\"caf\u{e9}\"]]"),
    ("mailto:u@e?subject=%3D%3Futf-8%3FQ%3Fcaf%3D%3F%3D", r#""u@e""#, r#"[["subject","=?utf-8?Q?caf=?="]]"#),
    ("mailto:u@e?subject=a+b", r#""u@e""#, r#"[["subject","a+b"]]"#),
    ("mailto:u@e?subject=", r#""u@e""#, r#"[["subject",""]]"#),
    ("mailto:u@e?cc=b@e&body=hello%20you", r#""u@e""#, r#"[["cc","b@e"],["body","hello you"]]"#),
    ("mailto:u@e?subject=a%26b%3Dc&x=y=z", r#""u@e""#, r#"[["subject","a&b=c"],["x","y=z"]]"#),
    (
        "mailto:u@e?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E",
        r#""u@e""#,
        r#"[["In-Reply-To","<3469A91.D10AF4C@example.com>"]]"#,
    ),
    ("mailto:u@e?sub%6Aect=x", r#""u@e""#, r#"[["subject","x"]]"#),
    ("mailto:u@e?keyword=a&keyword=b", r#""u@e""#, r#"[["keyword","a"],["keyword","b"]]"#),
    ("mailto:?to=joe@example.com", "", r#"[["to","joe@example.com"]]"#),
    ("mailto:?subject=x", "", r#"[["subject","x"]]"#),
    // Control characters are escaped in JSON.
    ("mailto:u@e?body=a%09b%1Bc", r#""u@e""#, r#"[["body","a\tb\u001bc"]]"#),
];

#[test]
fn mailto_url_is_split_into_address_and_fields() {
    check_in_parallel(&MAILTO_CASES, 4, |&(url, address, fields)| {
        let result = run_fetch_url(["--format", "json", url]);
        let text = result.stdout_text();
        ensure(result.exit == 0, || format!("{url}: {result:?}"))?;
        let address =
            if address.is_empty() { "\"advice\"".to_owned() } else { format!("\"address\":{address}") };
        ensure(text.contains(&address), || format!("{url}: no {address} in {text}"))?;
        let fields = if fields.starts_with('[') { format!("\"fields\":{fields}") } else { fields.to_owned() };
        ensure(text.contains(&fields), || format!("{url}: no {fields} in {text}"))
    });
    let text = run_fetch_url(["mailto:Mike%26family@example.org?subject=a%20b"]).assert_exit(0).stdout_text();
    assert!(text.contains("Mike&family@example.org") && text.contains("subject: a b"), "{text}");
}

/// A line break could add header fields to the message.
#[test]
fn invalid_mailto_exits_3_and_line_breaks_or_nul_exit_93() {
    for url in [
        "mailto:",
        "mailto:a%b@c",
        "mailto:a%@c",
        "mailto:a%2@c",
        "mailto:a@b?subject=100%",
        "mailto:a b@c",
        "mailto:a@b?subject=a b",
        "mailto:a@b\tc",
    ] {
        run_fetch_url([url]).assert_exit(3);
        run_fetch_url(["explain", url]).assert_exit(3);
    }
    for byte in ["%0D%0A", "%0d", "%0A", "%00"] {
        for url in [
            format!("mailto:a{byte}Bcc:x@y"),
            format!("mailto:{byte}a@b"),
            format!("mailto:a@b{byte}"),
            format!("mailto:a@b?subject=x{byte}Bcc:%20y@z"),
            format!("mailto:a@b?sub{byte}ject=x"),
            format!("mailto:?to={byte}"),
        ] {
            let result = run_fetch_url([&url]);
            assert_eq!((result.exit, result.stdout_text().as_str()), (93, ""), "{url}: {result:?}");
            assert!(result.stderr.lines().count() == 1 && !result.stderr.contains('\r'), "{result:?}");
        }
    }
    for bytes in ["%0d", "%0A", "%0A%0D", "%0D%0D%0A", "%00"] {
        run_fetch_url([format!("mailto:a@b?x=1&body=a{bytes}b")]).assert_exit(93);
    }
}

/// RFC 6068 §5: line breaks in the body are `%0D%0A`. The advice shows no line of it as a field.
#[test]
fn lines_of_a_body_are_shown_below_each_other_and_indented() {
    let url = "mailto:a@b?body=one%0D%0A%20%20Bcc:%20x@y%1B%0D%0A&subject=s";
    let shown = run_fetch_url([url]).assert_exit(0).stdout_text();
    let expected = "  body: one\n          Bcc: x@y\\x1B\n        \n  subject: s\n";
    assert!(shown.ends_with(expected), "{shown:?}");
    let json = advice_json(url);
    assert!(json.contains(r#"[["body","one\r\n  Bcc: x@y\u001b\r\n"],["subject","s"]]"#), "{json}");
}

#[test]
fn unsafe_fields_are_marked() {
    for (fields, unsafe_fields) in [
        ("subject=x&body=y&cc=z@z&in-reply-to=q&keywords=k", &[][..]),
        ("Attach=/etc/passwd", &["Attach"]),
        ("attach=~/.ssh/id_rsa", &["attach"]),
        ("Bcc=x@y", &["Bcc"]),
        ("bcc=x@y", &["bcc"]),
        ("From=x@y", &["From"]),
        ("%46rom=x@y", &["From"]),
        ("Sender=x@y&Reply-To=z", &["Sender"]),
        ("to=c@d&to=e@f", &["to"]),
    ] {
        let text = advice_json(&format!("mailto:a@b?{fields}"));
        let list = text
            .split("\"unsafe_fields\":")
            .nth(1)
            .and_then(|rest| rest.split(']').next())
            .expect("unsafe_fields list");
        for name in unsafe_fields {
            assert!(list.contains(&format!("\"{name}\"")), "{fields}: {text}");
        }
        assert!(!unsafe_fields.is_empty() || list == "[", "{fields}: {text}");
        let shown = run_fetch_url([format!("mailto:a@b?{fields}")]).assert_exit(0).stdout_text();
        assert_eq!(shown.contains("unsafe"), !unsafe_fields.is_empty(), "{fields}: {shown}");
    }
}

#[test]
fn error_points_at_the_invalid_percent_sign() {
    let result = run_fetch_url(["mailto:gorby%kremvax@example.com"]);
    result.assert_exit(3).assert_stderr_contains("%25");
    let mut lines = result.stderr.lines();
    let url = lines.find(|line| line.trim().starts_with("mailto:")).expect("URL line");
    let caret = lines.next().expect("caret line");
    assert_eq!(caret.find('^'), url.find(':').map(|colon| colon + 1 + "gorby".len()), "{}", result.stderr);
}

#[test]
fn hostile_mailto_sends_no_controls_to_the_terminal() {
    let url = "mailto:a%1B%5D0;x%07%C2%9B%E2%80%AE%09%7F%FF@b?sub%1Bject=%1B%5B2J%E2%81%A6&%9B=%9B";
    for options in [&[][..], &["-v"], &["--format", "json"], &["--fail-advisory"], &["-o", "x"]] {
        let arguments = [options, &[url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("start terminal");
        terminal.exit_status().expect("process exits");
        let screen = terminal.screen();
        let is_unsafe_control = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2066}".contains(c);
        assert!(!screen.contains(is_unsafe_control), "{options:?}: {screen:?}");
        assert!(std::str::from_utf8(terminal.bytes()).is_ok(), "{options:?}: {screen:?}");
    }
    let text = advice_json(url);
    assert!(!text.trim_end().contains(char::is_control), "{text:?}");
}

/// A directory of fake desktop programs that record their arguments in a file.
struct FakeDesktop(tempfile::TempDir);

impl FakeDesktop {
    /// Creates the programs, which all exit with this status.
    fn new(status: u8) -> Self {
        let desktop = Self(temp_dir());
        for name in
            ["xdg-open", "gio", "gnome-open", "kde-open", "wslview", "telnet", "ssh", "sendmail", "mail"]
        {
            let path = desktop.0.path().join(name);
            let handed = desktop.0.path().join("handed");
            let script =
                format!("#!/bin/sh\nprintf '{name}<%s>\\n' \"$@\" >>{}\nexit {status}\n", handed.display());
            fs::write(&path, script).expect("write script");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set file mode");
        }
        desktop
    }

    /// Runs fetch-url with these programs as `$PATH`.
    fn run_fetch_url(&self, arguments: &[&str]) -> RunResult {
        let mut command = fetch_url_command();
        command.env("PATH", self.0.path()).env("DISPLAY", ":9").args(["--retry", "0"]).args(arguments);
        run_command(command)
    }

    /// Returns the recorded program names and arguments.
    fn recorded_calls(&self) -> String {
        fs::read_to_string(self.0.path().join("handed")).unwrap_or_default()
    }
}

#[test]
fn no_program_is_started_without_open() {
    let desktop = FakeDesktop::new(0);
    for url in ["mailto:a@b?subject=x", "telnet://joe@h:2323/", "telnet://h%3Btouch%20x/"] {
        for options in [&[][..], &["-v"], &["--format", "json"], &["-I"], &["--fail-advisory"], &["-o", "-"]]
        {
            desktop.run_fetch_url(&[options, &[url]].concat());
        }
        desktop.run_fetch_url(&["explain", url]);
    }
    desktop.run_fetch_url(&["--connect", "mailto:a@b"]);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(desktop.recorded_calls(), "");
}

#[test]
fn open_passes_the_url_to_xdg_open() {
    check_in_parallel(
        &[
            ("mailto:a@b?subject=x%20y", "xdg-open<mailto:a@b?subject=x%20y>\n"),
            ("mailto:a@b?body=x%0D%0Ay", "xdg-open<mailto:a@b?body=x%0D%0Ay>\n"),
            ("URL:MAILTO:a@b", "xdg-open<mailto:a@b>\n"),
            ("mailto:a%25b'$(touch%20x)@c", "xdg-open<mailto:a%25b'$(touch%20x)@c>\n"),
            ("mailto:-x@y", "xdg-open<mailto:-x@y>\n"),
            ("telnet://h:2323/", "xdg-open<telnet://h:2323/>\n"),
            ("telnet://joe@h/", "xdg-open<telnet://joe@h/>\n"),
            // The password is removed.
            ("telnet://joe:geheim@h:2323/", "xdg-open<telnet://joe@h:2323/>\n"),
        ],
        4,
        |&(url, handed)| {
            let desktop = FakeDesktop::new(0);
            let result = desktop.run_fetch_url(&["--open", url]);
            ensure(result.exit == 0, || format!("{url}: {result:?}"))?;
            wait_until(Duration::from_secs(3), || desktop.recorded_calls() == handed);
            ensure(desktop.recorded_calls() == handed, || format!("{url}: {}", desktop.recorded_calls()))?;
            ensure(!format!("{result:?}").contains("geheim"), || format!("{url}: {result:?}"))
        },
    );
    let desktop = FakeDesktop::new(0);
    desktop.run_fetch_url(&["--open", "mailto:a@b", "telnet://h/"]).assert_exit(0);
    wait_until(Duration::from_secs(3), || desktop.recorded_calls().lines().count() == 2);
    assert_eq!(desktop.recorded_calls(), "xdg-open<mailto:a@b>\nxdg-open<telnet://h/>\n");
}

#[test]
fn open_starts_nothing_for_rejected_or_redirected_urls() {
    let desktop = FakeDesktop::new(0);
    let server = http_server(|request| match request.path().as_str() {
        "/mail" => HttpResponse::new(302).header("Location", "mailto:a@b"),
        "/telnet" => HttpResponse::new(302).header("Location", "telnet://127.0.0.1:2323/"),
        _ => HttpResponse::new(200).body("mailto:a@b"),
    });
    for (url, status) in [
        ("mailto:a%0Ab@c", 93),
        ("mailto:a@b?subject=x%0D%0ABcc:y", 93),
        ("mailto:a@b?body=x%0Ay", 93),
        ("telnet://a%0Ab@h/", 93),
        ("mailto:a%b@c", 3),
        ("telnet://-h/", 3),
        ("x-foo:a", 1),
        ("mid:a@b", 1),
        ("unknown:a", 1),
        (&server.url("/mail"), 90),
        (&server.url("/telnet"), 90),
        (&server.url("/"), 0),
        ("file:///dev/null/x", 78),
    ] {
        let result = desktop.run_fetch_url(&["--open", url]);
        assert!(result.exit == status || result.exit == 2, "{url}: {result:?}");
    }
    desktop.run_fetch_url(&["--open", "--proto", "=http", "mailto:a@b"]).assert_exit(90);
    desktop.run_fetch_url(&["--open", "--proto", "=http", "telnet://h/"]).assert_exit(90);
    desktop.run_fetch_url(&["--open", "--connect", "telnet://h/"]).assert_exit(2);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(desktop.recorded_calls(), "");
}

/// The desktop program does not exist, or it fails.
#[test]
fn open_fails_without_a_working_desktop_program() {
    let desktop = FakeDesktop::new(0);
    for name in fs::read_dir(desktop.0.path()).expect("read directory") {
        fs::remove_file(name.expect("directory entry").path()).expect("remove file");
    }
    let result = desktop.run_fetch_url(&["--open", "mailto:a@b"]);
    assert!(result.exit != 0 && result.exit != 99, "{result:?}");
    assert_eq!(result.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).count(), 1, "{result:?}");
    let desktop = FakeDesktop::new(3);
    let result = desktop.run_fetch_url(&["--open", "mailto:a@b"]);
    assert!(result.exit != 0 && result.exit != 99, "{result:?}");
    assert!(desktop.recorded_calls().contains("<mailto:a@b>"), "{}", desktop.recorded_calls());
}
