//! `mailto:`, which names no object (SEMANTICS §5, RFC 1738 §3.5, RFC 6068), and `--open`, which hands it and telnet URLs
//! to the desktop.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use fetch_url_tests::{HttpReply, Terminal};
use support::{BINARY, Ran, command, ensure, fetch, in_parallel, ran, serving, until};

fn json(url: &str) -> String {
    fetch(["--format", "json", url]).exits(0).text()
}

/// URL, address and fields as JSON has them.
const LETTERS: [(&str, &str, &str); 25] = [
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
    // JSON has escapes of its own.
    ("mailto:u@e?body=a%09b%1Bc", r#""u@e""#, r#"[["body","a\tb\u001bc"]]"#),
];

#[test]
fn letters() {
    in_parallel(&LETTERS, 4, |&(url, address, fields)| {
        let ran = fetch(["--format", "json", url]);
        let text = ran.text();
        ensure(ran.exit == 0, || format!("{url}: {ran:?}"))?;
        let address =
            if address.is_empty() { "\"advice\"".to_owned() } else { format!("\"address\":{address}") };
        ensure(text.contains(&address), || format!("{url}: no {address} in {text}"))?;
        let fields = if fields.starts_with('[') { format!("\"fields\":{fields}") } else { fields.to_owned() };
        ensure(text.contains(&fields), || format!("{url}: no {fields} in {text}"))
    });
    let text = fetch(["mailto:Mike%26family@example.org?subject=a%20b"]).exits(0).text();
    assert!(text.contains("Mike&family@example.org") && text.contains("subject: a b"), "{text}");
}

/// What is no mailto URL (3), and what would become lines of a letter that nobody wrote (93).
#[test]
fn what_is_refused() {
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
        fetch([url]).exits(3);
        fetch(["explain", url]).exits(3);
    }
    for octet in ["%0D%0A", "%0d", "%0A", "%00"] {
        for url in [
            format!("mailto:a{octet}Bcc:x@y"),
            format!("mailto:{octet}a@b"),
            format!("mailto:a@b{octet}"),
            format!("mailto:a@b?subject=x{octet}Bcc:%20y@z"),
            format!("mailto:a@b?sub{octet}ject=x"),
            format!("mailto:a@b?x=1&body=a{octet}b"),
            format!("mailto:?to={octet}"),
        ] {
            let ran = fetch([&url]);
            assert_eq!((ran.exit, ran.text().as_str()), (93, ""), "{url}: {ran:?}");
            assert!(ran.stderr.lines().count() == 1 && !ran.stderr.contains('\r'), "{ran:?}");
        }
    }
}

#[test]
fn fields_that_are_not_safe() {
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
        let text = json(&format!("mailto:a@b?{fields}"));
        let list =
            text.split("\"unsafe_fields\":").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
        for name in unsafe_fields {
            assert!(list.contains(&format!("\"{name}\"")), "{fields}: {text}");
        }
        assert!(!unsafe_fields.is_empty() || list == "[", "{fields}: {text}");
        let shown = fetch([format!("mailto:a@b?{fields}")]).exits(0).text();
        assert_eq!(shown.contains("unsafe"), !unsafe_fields.is_empty(), "{fields}: {shown}");
    }
}

#[test]
fn errors_show_the_place() {
    let ran = fetch(["mailto:gorby%kremvax@example.com"]);
    ran.exits(3).says("%25");
    let mut lines = ran.stderr.lines();
    let url = lines.find(|line| line.trim().starts_with("mailto:")).expect("the URL");
    let caret = lines.next().expect("a caret");
    assert_eq!(caret.find('^'), url.find(':').map(|colon| colon + 1 + "gorby".len()), "{}", ran.stderr);
}

#[test]
fn nothing_moves_the_cursor() {
    let url = "mailto:a%1B%5D0;x%07%C2%9B%E2%80%AE%09%7F%FF@b?sub%1Bject=%1B%5B2J%E2%81%A6&%9B=%9B";
    for words in [&[][..], &["-v"], &["--format", "json"], &["--fail-advisory"], &["-o", "x"]] {
        let arguments = [words, &[url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("a terminal");
        terminal.exit().expect("an end");
        let screen = terminal.screen();
        let is_raw = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2066}".contains(c);
        assert!(!screen.contains(is_raw), "{words:?}: {screen:?}");
        assert!(std::str::from_utf8(terminal.octets()).is_ok(), "{words:?}: {screen:?}");
    }
    let text = json(url);
    assert!(!text.trim_end().contains(char::is_control), "{text:?}");
}

/// A desktop that notes what it is handed.
struct Desktop(tempfile::TempDir);

impl Desktop {
    /// Each of its programs, which all end with this status.
    fn new(status: u8) -> Self {
        let this = Self(tempfile::tempdir().expect("a directory"));
        for name in
            ["xdg-open", "gio", "gnome-open", "kde-open", "wslview", "telnet", "ssh", "sendmail", "mail"]
        {
            let path = this.0.path().join(name);
            let handed = this.0.path().join("handed");
            let script =
                format!("#!/bin/sh\nprintf '{name}<%s>\\n' \"$@\" >>{}\nexit {status}\n", handed.display());
            fs::write(&path, script).expect("a script");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
        }
        this
    }

    fn fetch(&self, arguments: &[&str]) -> Ran {
        let mut command = command();
        command.env("PATH", self.0.path()).env("DISPLAY", ":9").args(["--retry", "0"]).args(arguments);
        ran(command)
    }

    fn handed(&self) -> String {
        fs::read_to_string(self.0.path().join("handed")).unwrap_or_default()
    }
}

/// Never by default, whatever else is asked for.
#[test]
fn nobody_is_started() {
    let desktop = Desktop::new(0);
    for url in ["mailto:a@b?subject=x", "telnet://joe@h:2323/", "telnet://h%3Btouch%20x/"] {
        for words in [&[][..], &["-v"], &["--format", "json"], &["-I"], &["--fail-advisory"], &["-o", "-"]] {
            desktop.fetch(&[words, &[url]].concat());
        }
        desktop.fetch(&["explain", url]);
    }
    desktop.fetch(&["--connect", "mailto:a@b"]);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(desktop.handed(), "");
}

#[test]
fn the_desktop_is_handed_the_url() {
    in_parallel(
        &[
            ("mailto:a@b?subject=x%20y", "xdg-open<mailto:a@b?subject=x%20y>\n"),
            ("URL:MAILTO:a@b", "xdg-open<mailto:a@b>\n"),
            ("mailto:a%25b'$(touch%20x)@c", "xdg-open<mailto:a%25b'$(touch%20x)@c>\n"),
            ("mailto:-x@y", "xdg-open<mailto:-x@y>\n"),
            ("telnet://h:2323/", "xdg-open<telnet://h:2323/>\n"),
            ("telnet://joe@h/", "xdg-open<telnet://joe@h/>\n"),
            // What was not to be seen is not to be seen there.
            ("telnet://joe:geheim@h:2323/", "xdg-open<telnet://joe@h:2323/>\n"),
        ],
        4,
        |&(url, handed)| {
            let desktop = Desktop::new(0);
            let ran = desktop.fetch(&["--open", url]);
            ensure(ran.exit == 0, || format!("{url}: {ran:?}"))?;
            until(Duration::from_secs(3), || desktop.handed() == handed);
            ensure(desktop.handed() == handed, || format!("{url}: {}", desktop.handed()))?;
            ensure(!format!("{ran:?}").contains("geheim"), || format!("{url}: {ran:?}"))
        },
    );
    let desktop = Desktop::new(0);
    desktop.fetch(&["--open", "mailto:a@b", "telnet://h/"]).exits(0);
    until(Duration::from_secs(3), || desktop.handed().lines().count() == 2);
    assert_eq!(desktop.handed(), "xdg-open<mailto:a@b>\nxdg-open<telnet://h/>\n");
}

#[test]
fn what_the_desktop_does_not_get() {
    let desktop = Desktop::new(0);
    let server = serving(|request| match request.path().as_str() {
        "/mail" => HttpReply::new(302).header("Location", "mailto:a@b"),
        "/telnet" => HttpReply::new(302).header("Location", "telnet://127.0.0.1:2323/"),
        _ => HttpReply::new(200).body("mailto:a@b"),
    });
    for (url, status) in [
        ("mailto:a%0Ab@c", 93),
        ("mailto:a@b?subject=x%0D%0ABcc:y", 93),
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
        let ran = desktop.fetch(&["--open", url]);
        assert!(ran.exit == status || ran.exit == 2, "{url}: {ran:?}");
    }
    desktop.fetch(&["--open", "--proto", "=http", "mailto:a@b"]).exits(90);
    desktop.fetch(&["--open", "--proto", "=http", "telnet://h/"]).exits(90);
    desktop.fetch(&["--open", "--connect", "telnet://h/"]).exits(2);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(desktop.handed(), "");
}

/// A desktop that has no program for it, or whose program says that it cannot.
#[test]
fn the_desktop_cannot() {
    let desktop = Desktop::new(0);
    for name in fs::read_dir(desktop.0.path()).expect("a directory") {
        fs::remove_file(name.expect("an entry").path()).expect("our own file");
    }
    let ran = desktop.fetch(&["--open", "mailto:a@b"]);
    assert!(ran.exit != 0 && ran.exit != 99, "{ran:?}");
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).count(), 1, "{ran:?}");
    let desktop = Desktop::new(3);
    let ran = desktop.fetch(&["--open", "mailto:a@b"]);
    assert!(ran.exit != 0 && ran.exit != 99, "{ran:?}");
    assert!(desktop.handed().contains("<mailto:a@b>"), "{}", desktop.handed());
}
