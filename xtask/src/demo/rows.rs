//! The rows of the demo. A new scheme adds its row here, and the object that the row fetches to the
//! fixture.

use super::fixture::big_file;

/// One command and its expected result. `{http}`, `{ftps}`, `{nntp}` and similar, `{news}`, `{folder}` and `{ca}` are
/// replaced.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) arguments: &'static [&'static str],
    pub(super) exit: i32,
    /// Text that the output must contain.
    pub(super) shows: &'static [&'static str],
    /// The file that must exist afterwards.
    pub(super) leaves: Option<ExpectedFile>,
    /// Runs in a pseudo-terminal, so that it draws progress bars.
    pub(super) needs_terminal: bool,
}

/// A file and its bytes.
#[derive(Clone, Copy)]
pub(super) struct ExpectedFile {
    pub(super) name: &'static str,
    pub(super) content: fn() -> Vec<u8>,
}

/// The text that is fetched over every scheme.
pub(super) const HELLO: &str = "Hello from the other end of a URL.\n";

/// A text with URLs, wrapped as in the appendix of RFC 1738.
pub(super) const PROSE: &str = "\
Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
type=d> but you can probably pick it up from <URL:ftp://ds.in
ternic.net/rfc>. Note the warning in <URL:http://ds.internic.
net/instructions/overview.html#WARNING>.
";

/// Returns a row that succeeds and prints this.
const fn good(
    title: &'static str,
    arguments: &'static [&'static str],
    shows: &'static [&'static str],
) -> Row {
    Row { title, arguments, exit: 0, shows, leaves: None, needs_terminal: false }
}

/// Returns a row that ends with this exit status and prints this.
const fn bad(
    title: &'static str,
    arguments: &'static [&'static str],
    exit: i32,
    shows: &'static [&'static str],
) -> Row {
    Row { title, arguments, exit, shows, leaves: None, needs_terminal: false }
}

/// Returns a row that explains one URL.
const fn explained(
    title: &'static str,
    arguments: &'static [&'static str],
    shows: &'static [&'static str],
) -> Row {
    good(title, arguments, shows)
}

fn hello() -> Vec<u8> {
    HELLO.into()
}

/// The rows in the order in which they are shown. The rows of `big.bin` depend on each other.
pub(super) const ROWS: &[Row] = &[
    good("file: a text", &["file://{folder}/hello.txt"], &[HELLO]),
    good("file: a directory", &["file://{folder}/pub/"], &["README", "data.bin", "empty"]),
    good("http", &["{http}/hello.txt"], &[HELLO]),
    good("http: a redirect", &["-v", "{http}/moved"], &[HELLO, "302"]),
    good("https", &["--cacert", "{ca}", "{https}/hello.txt"], &[HELLO]),
    good(
        "http: cut in the middle, and completed in the same run",
        &["-o", "mended.bin", "-w", "%{http_code} %{size_download} %{num_retries}\\n", "{http}/big.bin"],
        &["retrying from byte 200000", "200 300000 1"],
    ),
    bad(
        "http: cut, without a retry",
        &["--retry", "0", "-o", "big.bin", "{http}/big.bin"],
        18,
        &["cut short"],
    ),
    Row {
        title: "http: the rest of it, with -C -",
        arguments: &["-C", "-", "-o", "big.bin", "{http}/big.bin"],
        exit: 0,
        shows: &[],
        leaves: Some(ExpectedFile { name: "big.bin", content: big_file }),
        needs_terminal: false,
    },
    bad("http: not there", &["{http}/nowhere"], 78, &["not found"]),
    good(
        "http: data in JSON",
        &["--json", "{\"a\": 1}", "{http}/echo"],
        &["POST application/json {\"a\": 1}"],
    ),
    bad(
        "http: a login is needed",
        &["{http}/private"],
        67,
        &["login needed", "hint: give user and password by -u USER"],
    ),
    good("http: a login", &["-v", "-u", "me:secret", "{http}/private"], &[HELLO, "Authorization: Basic ***"]),
    good("ftp", &["-v", "{ftp}/hello.txt"], &[HELLO, "> RETR hello.txt", "< 226"]),
    good("ftp: text, with the line ends of this machine", &["{ftp}/pub/lines.txt;type=a"], &["one\ntwo\n"]),
    good("ftp: a directory", &["--list-format", "long", "{ftp}/pub/"], &["lines.txt", "300000", "big.bin"]),
    Row {
        title: "ftp: reset in the middle, and completed in the same run",
        arguments: &["-o", "ftp.bin", "{ftp}/pub/big.bin"],
        exit: 0,
        shows: &["retrying from byte 200000"],
        leaves: Some(ExpectedFile { name: "ftp.bin", content: big_file }),
        needs_terminal: false,
    },
    Row {
        title: "-O: the file is named like the URL",
        arguments: &["--output-dir", "named", "--create-dirs", "-O", "{http}/hello.txt"],
        exit: 0,
        shows: &[],
        leaves: Some(ExpectedFile { name: "named/hello.txt", content: hello }),
        needs_terminal: false,
    },
    Row {
        title: "-Z: several files in parallel, with progress bars",
        arguments: &[
            "-Z",
            "--limit-rate",
            "300k",
            "--output-dir",
            "parallel",
            "--create-dirs",
            "--remote-name-all",
            "{ftp}/pub/big.bin",
            "{ftp}/pub/file.bin",
            "{http}/hello.txt",
        ],
        exit: 0,
        shows: &["big.bin"],
        leaves: Some(ExpectedFile { name: "parallel/big.bin", content: big_file }),
        needs_terminal: true,
    },
    Row {
        title: "mirror: a directory and everything below it",
        arguments: &["mirror", "{ftp}/pub/", "copy"],
        exit: 0,
        shows: &[],
        leaves: Some(ExpectedFile { name: "copy/big.bin", content: big_file }),
        needs_terminal: false,
    },
    good(
        "mirror: the second run fetches nothing",
        &["mirror", "--events", "-", "{ftp}/pub/", "copy"],
        &["\"event\":\"summary\"", "\"files\":0"],
    ),
    good("ftps", &["--cacert", "{ca}", "{ftps}/hello.txt"], &[HELLO]),
    bad("ftp: a name that would be a command", &["{ftp}/a%0D%0ADELE%20b"], 93, &["%0D (CR)"]),
    good(
        "gopher: a menu, each link with its URL",
        &["{gopher}/"],
        &["Welcome to the demo", "   1  text      A greeting\n", "{gopher}/0/hello.txt"],
    ),
    good("gopher: a text", &["{gopher}/0/hello.txt"], &[HELLO]),
    good("gopher: a search", &["{gopher}/7/find%09two%20words"], &["two words"]),
    bad("gopher: an error, with the text of the server", &["{gopher}/0/nothing"], 78, &["not here"]),
    good(
        "gopher+: attributes",
        &["{gopher}/0/hello.txt%09%09!"],
        &["modified 1994-12-01 12:34", "text/plain"],
    ),
    good("gopher+: a form, filled", &["--form", "Your name?=me", "{gopher}/0/guests%09%09?"], &["me"]),
    good("gophers", &["--cacert", "{ca}", "{gophers}/0/hello.txt"], &[HELLO]),
    good("news: all groups", &["--news-server", "{news}", "news:*"], &["demo.announce", "demo.test"]),
    good(
        "news: a group",
        &["--news-server", "{news}", "news:demo.test"],
        &["Alice", "An article", "caf\u{e9}"],
    ),
    good("news: an article", &["--news-server", "{news}", "news:one@demo.invalid"], &[".a line with a dot"]),
    good("nntp: an article by its number", &["{nntp}/demo.test/1"], &["Subject: An article"]),
    good("nntp: its header", &["-I", "{nntp}/demo.test/1"], &["Message-ID: <one@demo.invalid>"]),
    good(
        "nntp: a group as an mbox",
        &["--format", "mbox", "{nntp}/demo.test"],
        &["From alice@demo.invalid "],
    ),
    bad("nntp: an error, with the text of the server", &["{nntp}/demo.nothing"], 78, &["411"]),
    good("nntps", &["--cacert", "{ca}", "{nntps}/demo.test/1"], &["Subject: An article"]),
    good("wais: a database", &["{wais}/demo"], &["demo", "note"]),
    good("wais: a search", &["{wais}/demo?gopher+tunnel"], &["Gopher burrows", "{wais}/demo/TEXT/"]),
    good("wais: a document", &["{document}"], &[HELLO]),
    bad("wais: an error, with the text of the server", &["{wais}/nothing?gopher"], 78, &["S1"]),
    good("prospero: a directory", &["{prospero}//every"], &["aftp-binary", "{ftp}/pub/file.bin;type=i"]),
    good("prospero: an object that is on an FTP server", &["{prospero}//every/aftp-binary"], &[HELLO]),
    good(
        "prospero: an object on the server itself",
        &["{prospero}//every/contents.txt"],
        &["over Prospero itself"],
    ),
    good("prospero: attributes", &["-I", "{prospero}//every/contents.txt"], &["UNIX-MODES: -rw-r--r--"]),
    bad("prospero: an unknown access method", &["{prospero}//every/nfs"], 1, &["NFS"]),
    bad("prospero: a local file of the server", &["{prospero}//every/local"], 1, &["LOCAL"]),
    good(
        "a gateway",
        &["--gateway", "afs={prospero}//every/{path}", "afs://cell/contents.txt"],
        &["over Prospero itself"],
    ),
    explained(
        "explain: ftp",
        &["explain", "ftp://me@host.example/%2Fetc/motd;type=a"],
        &["CWD /etc", "RETR motd"],
    ),
    explained("explain: http", &["explain", "http://host.example:8080/a?b"], &["GET /a?b"]),
    explained(
        "explain: gopher",
        &["explain", "gopher://host.example/7/find%09some%20words"],
        &["/find\\tsome words"],
    ),
    good("serve: gopher as a path", &["http://{serve}/{gopher}/0/hello.txt"], &[HELLO]),
    good("serve: ftp through a proxy", &["-x", "http://{serve}", "{ftp}/hello.txt"], &[HELLO]),
    good(
        "serve: a menu as a page",
        &["http://{serve}/{gopher}/"],
        &["<a href=\"/{gopher}/0/hello.txt\">A greeting</a>"],
    ),
    explained("explain: mailto", &["explain", "mailto:someone@host.example"], &["someone@host.example"]),
    explained("explain: news", &["explain", "news:comp.infosystems.www"], &["GROUP comp.infosystems.www"]),
    explained(
        "explain: nntp",
        &["explain", "nntp://host.example/alt.test/12"],
        &["GROUP alt.test", "ARTICLE 12"],
    ),
    explained("explain: telnet", &["explain", "telnet://me:secret@host.example:2323/"], &["2323"]),
    explained("explain: wais", &["explain", "wais://host.example/rfcs?uniform+resource"], &["rfcs"]),
    explained("explain: file", &["explain", "file://localhost/etc/motd"], &["/etc/motd"]),
    explained("explain: prospero", &["explain", "prospero://host.example//pros/name"], &["pros/name"]),
    good(
        "extract",
        &["extract", "prose.txt"],
        &[
            "ftp://info.cern.ch/pub/www/doc;type=d\n",
            "ftp://ds.internic.net/rfc\n",
            "http://ds.internic.net/instructions/overview.html#WARNING\n",
        ],
    ),
    bad("a scheme without a driver", &["afs://host.example/x"], 1, &["no access method is defined"]),
    bad("no URL", &["http://host.example:99999/"], 3, &["^"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_of_rfc_1738_is_explained() {
        use fetch_url::url::{SCHEMES, SchemeStatus};

        for scheme in SCHEMES.iter().filter(|scheme| scheme.status == SchemeStatus::Rfc1738) {
            let title = format!("explain: {}", scheme.name);
            assert!(ROWS.iter().any(|row| row.title == title), "{title}");
        }
    }
}
