//! HTTP credentials: sources of user name and password, their order of precedence, and that they are never printed
//! (docs/spec/faults.md, rows 30, 31 and 36 to 38). Challenges and password prompts are tested in `prompts.rs`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::{
    RunResult, check_in_parallel, ensure, entry_names, fetch_url_command, http_server, run_command,
    run_fetch_url_in, run_shell, temp_dir,
};
use fetch_url_tests::{HttpResponse, HttpServer};

/// The password that must not appear in any output. It has only letters, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";
/// `u:` followed by [`CANARY`], in base64.
const CANARY_IN_BASE64: &str = "dTpLYW5hcmllblZvZ2Vs";

/// Writes a file with this content and permission mode.
fn write_file_with_mode(directory: &Path, name: &str, text: impl AsRef<[u8]>, mode: u32) {
    let path = directory.join(name);
    fs::write(&path, text).expect("write file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set file mode");
}

fn start_open_server() -> HttpServer {
    http_server(|_| HttpResponse::new(200).body("object"))
}

/// The decoded credentials of the last request; `""` if there are none.
fn last_credentials(server: &HttpServer) -> String {
    let requests = server.requests();
    let field = requests.last().and_then(|request| request.header_text("authorization")).unwrap_or_default();
    match field.strip_prefix("Basic ") {
        Some(coded) => String::from_utf8_lossy(&decode_base64(coded)).into_owned(),
        None => field.to_owned(),
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let bits: Vec<u8> =
        digits.flat_map(|digit| (0..6).rev().map(move |bit| (digit >> bit & 1) as u8)).collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit)).collect()
}

/// Runs fetch-url with `directory` as working directory and HOME. In `options`, `_` stands for a space.
fn fetch_with_home(directory: &Path, options: &str, url: &str) -> RunResult {
    let mut command = fetch_url_command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(options.split_whitespace().map(|word| word.replace('_', " "))).arg(url);
    run_command(command)
}

fn url_with_login(url: &str, login: &str) -> String {
    url.replacen("://", &format!("://{login}@"), 1)
}

const NETRC: &str = "machine 127.0.0.1 login n password pn\n\
                     machine 127.0.0.1 login m password pm\n\
                     machine localhost login l password pl\n\
                     default login d password pd\n";

#[test]
fn credential_sources_have_documented_precedence() {
    let server = start_open_server();
    for (options, login, expected) in [
        ("", "", ""),
        ("-u u:pw", "", "u:pw"),
        ("-u u:", "", "u:"),
        ("-u :pw", "", ":pw"),
        ("-u u:p:w", "", "u:p:w"),
        ("-u u:%41@/", "", "u:%41@/"),
        ("", "v:pv", "v:pv"),
        ("", "v:", "v:"),
        // netrc is used only with an option.
        ("--netrc-file net", "", "n:pn"),
        ("-n --netrc-file net", "", "n:pn"),
        // `-u` and the URL take precedence over netrc.
        ("-u u:pw --netrc-file net", "", "u:pw"),
        ("--netrc-file net", "v:pv", "v:pv"),
        // A user name without a password: netrc supplies the password of that user only.
        ("--netrc-file net", "m", "m:pm"),
        ("-u m --netrc-file net", "", "m:pm"),
        ("-u n:pw", "n", "n:pw"),
        ("-u n:pw --netrc-file net", "n", "n:pw"),
        // An Authorization field from `-H` takes precedence over all other sources.
        ("-H Authorization:_Mine --netrc-file net", "", "Mine"),
        ("-H Authorization:_Mine -u u:pw", "", "Mine"),
        ("--oauth2-bearer token", "", "Bearer token"),
        ("--oauth2-bearer token --netrc-file net", "", "Bearer token"),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "net", NETRC, 0o600);
        let url = if login.is_empty() { server.url("/x") } else { url_with_login(&server.url("/x"), login) };
        fetch_with_home(dir.path(), options, &url).assert_exit(0);
        assert_eq!(last_credentials(&server), expected, "{options} {url}");
    }
}

/// If two sources have different user names, the user name of one is never combined with the password of the other.
#[test]
fn user_and_password_of_two_sources_are_never_mixed() {
    let server = start_open_server();
    for (options, login) in [
        ("-u u:pw", "v"),
        ("-u u:pw", "v:pv"),
        ("--netrc-file net", "v"),
        ("-u u --netrc-file net", ""),
        ("-u u --netrc-file net", "v"),
        ("-u u:pw --netrc-file net", "n"),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "net", NETRC, 0o600);
        let url = if login.is_empty() { server.url("/x") } else { url_with_login(&server.url("/x"), login) };
        fetch_with_home(dir.path(), options, &url);
        let sent = last_credentials(&server);
        let pairs = ["", "u:pw", "v:pv", "n:pn", "v:", "u:"];
        assert!(pairs.contains(&sent.as_str()), "{options} {url}: {sent}");
        assert!(!(sent == "n:pn" && login == "v"), "{options} {url}: credentials of another user");
    }
}

/// docs/spec/faults.md, row 31: the host name must match exactly, in any letter case. A `default` entry needs
/// `--netrc-default`.
#[test]
fn netrc_entry_must_match_the_host_exactly() {
    let server = start_open_server();
    let port = server.addr().port();
    for (text, options, host, expected) in [
        (NETRC, "", "127.0.0.1", "n:pn"),
        (NETRC, "", "localhost", "l:pl"),
        (NETRC, "", "LOCALHOST", "l:pl"),
        ("machine LocalHost login l password pl", "", "localhost", "l:pl"),
        (NETRC, "", "a.test", ""),
        (NETRC, "--netrc-default", "a.test", "d:pd"),
        (NETRC, "--netrc-default", "127.0.0.1", "n:pn"),
        ("machine test login l password pl", "", "a.test", ""),
        ("machine .test login l password pl", "", "a.test", ""),
        ("machine *.test login l password pl", "", "a.test", ""),
        ("machine a.test.evil.test login l password pl", "", "a.test", ""),
        ("machine a login l password pl", "", "a.test", ""),
        ("machine xa.test login l password pl", "", "a.test", ""),
        ("machine a.test login l password pl", "", "sub.a.test", ""),
        ("machine a.test login l password pl", "", "v@a.test", ""),
        ("machine a.test\nlogin l\npassword pl\n", "", "a.test", "l:pl"),
        ("machine a.test login l password \"p l\"", "", "a.test", "l:p l"),
        ("# machine a.test login x password px\nmachine a.test login l password pl", "", "a.test", "l:pl"),
        (
            "macdef init\nmachine a.test login x password px\n\nmachine a.test login l password pl",
            "",
            "a.test",
            "l:pl",
        ),
        ("", "", "a.test", ""),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "net", text, 0o600);
        let resolve_options =
            format!("--resolve a.test:{port}:127.0.0.1 --resolve sub.a.test:{port}:127.0.0.1");
        let options = format!("--netrc-file net {options} {resolve_options}");
        fetch_with_home(dir.path(), &options, &format!("http://{host}:{port}/x")).assert_exit(0);
        let sent = last_credentials(&server);
        assert!(sent == expected || host.contains('@') && sent == "v:", "{text:?} {host}: {sent:?}");
    }
}

/// The limit is 1 MiB. The entries behind it must not be ignored.
#[test]
fn netrc_file_and_password_that_are_larger_than_the_limit_exit_2() {
    let server = start_open_server();
    let dir = temp_dir();
    let comments = "# machine\n".repeat(110_000);
    write_file_with_mode(dir.path(), "net", format!("{comments}{NETRC}"), 0o600);
    for options in ["--netrc-file net", "-u n --password-file net"] {
        let result = fetch_with_home(dir.path(), options, &server.url("/x"));
        result.assert_exit(2).assert_stderr_contains("net: larger than 1048576 bytes");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn netrc_file_readable_by_others_exits_2() {
    let server = start_open_server();
    let fetch_with_netrc = |dir: &Path, options: &str| {
        let before = server.requests().len();
        let result = fetch_with_home(dir, options, &server.url("/x"));
        let is_sent = server.requests().len() > before;
        (result, if is_sent { Some(last_credentials(&server)) } else { None })
    };
    // A file that others can read is refused before a request, with a hint to the mode 600.
    for mode in [0o644, 0o640, 0o604, 0o660, 0o620, 0o777] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), ".netrc", NETRC, mode);
        for options in ["-n", "--netrc-optional", "--netrc-file .netrc"] {
            let (result, sent) = fetch_with_netrc(dir.path(), options);
            result.assert_exit(2).assert_stderr_contains("600");
            assert_eq!(sent, None, "{mode:o} {options}");
        }
    }
    for mode in [0o600, 0o400] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), ".netrc", NETRC, mode);
        for options in ["-n", "--netrc-optional", "--netrc-file .netrc"] {
            let (result, sent) = fetch_with_netrc(dir.path(), options);
            assert_eq!(
                (result.exit, sent.as_deref()),
                (0, Some("n:pn")),
                "{mode:o} {options}: {}",
                result.stderr
            );
        }
    }
    // For a symbolic link, the mode of its target counts.
    for (mode, exit) in [(0o600, 0), (0o644, 2)] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "real", NETRC, mode);
        symlink("real", dir.path().join(".netrc")).expect("create link");
        let (result, sent) = fetch_with_netrc(dir.path(), "-n");
        assert_eq!((result.exit, sent.is_some()), (exit, exit == 0), "{}", result.stderr);
    }
    // A missing file and a directory are errors; with `--netrc-optional` a missing file is ignored.
    let dir = temp_dir();
    for options in ["-n", "--netrc-file no-such-file", "--netrc-file ."] {
        let (result, sent) = fetch_with_netrc(dir.path(), options);
        assert!(result.exit == 2 && sent.is_none(), "{options}: {result:?}");
    }
    let (result, sent) = fetch_with_netrc(dir.path(), "--netrc-optional");
    assert_eq!((result.exit, sent.as_deref()), (0, Some("")), "{}", result.stderr);
    // Without an option, `.netrc` is not read.
    let dir = temp_dir();
    write_file_with_mode(dir.path(), ".netrc", NETRC, 0o600);
    assert_eq!(fetch_with_netrc(dir.path(), "").1.as_deref(), Some(""));
}

/// The results are those of curl 7.88 (docs/spec/cli.md).
#[test]
fn user_option_takes_precedence_over_the_url() {
    let server = start_open_server();
    let dir = temp_dir();
    fetch_with_home(dir.path(), "-u u:pw", &url_with_login(&server.url("/x"), "v:pv")).assert_exit(0);
    assert_eq!(last_credentials(&server), "u:pw");
}

/// Without HOME, `-n` has no file to read and must fail.
#[test]
fn netrc_option_without_home_exits_2() {
    let server = start_open_server();
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-n", &server.url("/x")]).assert_exit(2);
    assert_eq!(server.requests().len(), 0);
    run_fetch_url_in(dir.path(), ["--netrc-optional", &server.url("/x")]).assert_exit(0);
}

/// The content of the file must not appear in the error message.
#[test]
fn malformed_netrc_never_prints_its_content() {
    let server = start_open_server();
    for text in [
        format!("machine 127.0.0.1 login u password {CANARY} {CANARY}x"),
        format!("machine 127.0.0.1 login u passwort {CANARY}"),
        format!("password {CANARY}"),
        format!("machine 127.0.0.1 login u password \"{CANARY}"),
        format!("\0{CANARY}\u{1b}[2J machine"),
        format!("{CANARY}\n"),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "net", &text, 0o600);
        let result = fetch_with_home(dir.path(), "-vvv --netrc-file net", &server.url("/x"));
        assert!(
            !format!("{}{}", result.stderr, result.stdout_text()).contains(CANARY),
            "{text:?}: {}",
            result.stderr
        );
        assert!(!result.stderr.contains('\u{1b}'), "{:?}", result.stderr);
        assert!([0, 2].contains(&result.exit), "{result:?}");
    }
}

#[test]
fn password_file_supplies_its_first_line() {
    let server = start_open_server();
    for (text, expected) in [
        (&b"pw"[..], "u:pw"),
        (b"pw\n", "u:pw"),
        (b"pw\r\n", "u:pw"),
        (b"pw\nsecond line\n", "u:pw"),
        (b" p w \n", "u: p w "),
        (b"\n", "u:"),
        (b"", "u:"),
        (b"p:w", "u:p:w"),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "file", text, 0o600);
        fetch_with_home(dir.path(), "-u u --password-file file", &server.url("/x")).assert_exit(0);
        assert_eq!(last_credentials(&server), expected, "{text:?}");
        let file = dir.path().join("file");
        let result = run_shell(
            "\"$F\" -u u --password-file - \"$1\" <\"$2\"",
            [server.url("/x").as_ref(), file.as_os_str()],
        );
        result.assert_exit(0);
        assert_eq!(last_credentials(&server), expected, "{text:?} from standard input");
    }
    let before = server.requests().len();
    for mode in [0o644, 0o640, 0o604] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "file", CANARY, mode);
        let result = fetch_with_home(dir.path(), "-vvv -u u --password-file file", &server.url("/x"));
        result.assert_exit(2).assert_stderr_contains("600");
        assert!(!result.stderr.contains(CANARY));
    }
    let dir = temp_dir();
    for options in ["-u u --password-file none", "-u u --password-file .", "--password-file none"] {
        fetch_with_home(dir.path(), options, &server.url("/x")).assert_exit(2);
    }
    assert_eq!(server.requests().len(), before, "a request was sent without a password");
}

/// CR, LF and NUL in a user name or password from any source (docs/spec/faults.md, row 2).
#[test]
fn cr_lf_nul_in_credentials_are_refused_without_a_request() {
    let server = start_open_server();
    let dir = temp_dir();
    let mut failures = Vec::new();
    let mut is_refused = |result: &RunResult, description: String| {
        if ![93, 2].contains(&result.exit) {
            failures.push(format!("{description}: exit {}", result.exit));
        }
    };
    for (byte, escaped) in [('\r', "%0d"), ('\n', "%0a"), ('\0', "%00")] {
        for login in [format!("u:p{escaped}w"), format!("u{escaped}:pw"), format!("u:{escaped}")] {
            is_refused(&fetch_with_home(dir.path(), "", &url_with_login(&server.url("/x"), &login)), login);
        }
        if byte != '\0' {
            for login in [format!("u:p{byte}w"), format!("u{byte}:pw")] {
                let result = run_fetch_url_in(dir.path(), ["-u", &login, &server.url("/x")]);
                is_refused(&result, format!("-u {login:?}"));
            }
        }
        if byte != '\n' {
            write_file_with_mode(dir.path(), "file", format!("p{byte}w\n"), 0o600);
            let result = fetch_with_home(dir.path(), "-u u --password-file file", &server.url("/x"));
            is_refused(&result, format!("{byte:?} in a password file"));
            write_file_with_mode(
                dir.path(),
                "net",
                format!("machine 127.0.0.1 login u password \"p{byte}w\"\n"),
                0o600,
            );
            is_refused(
                &fetch_with_home(dir.path(), "--netrc-file net", &server.url("/x")),
                format!("{byte:?} in netrc"),
            );
        }
    }
    assert!(failures.is_empty() && server.requests().is_empty(), "sent:\n{}", failures.join("\n"));
}

/// Every other byte is sent unchanged. A colon in a user name is refused, since it ends the name (RFC 7617 §2).
#[test]
fn special_bytes_in_credentials_are_sent_unchanged() {
    let server = start_open_server();
    let dir = temp_dir();
    let sent = |server: &HttpServer| {
        let requests = server.requests();
        let field = requests.last().and_then(|request| request.header_text("authorization"));
        decode_base64(field.and_then(|field| field.strip_prefix("Basic ")).unwrap_or_default())
    };
    for (login, bytes) in [
        ("u:%e9", &b"u:\xe9"[..]),
        ("%ff:%fe", b"\xff:\xfe"),
        ("u:%c3%a9", b"u:\xc3\xa9"),
        ("u:a%3ab", b"u:a:b"),
        ("u:%25%32%30", b"u:%20"),
        ("u:%40%2f", b"u:@/"),
        ("u:a+b", b"u:a+b"),
        ("u:%20", b"u: "),
    ] {
        fetch_with_home(dir.path(), "", &url_with_login(&server.url("/x"), login)).assert_exit(0);
        assert_eq!(sent(&server), bytes, "{login}");
    }
    write_file_with_mode(dir.path(), "file", b"\xe9\xff\n", 0o600);
    fetch_with_home(dir.path(), "-u u --password-file file", &server.url("/x")).assert_exit(0);
    assert_eq!(sent(&server), b"u:\xe9\xff");
    write_file_with_mode(dir.path(), "net", b"machine 127.0.0.1 login u password \xe9\xff\n", 0o600);
    fetch_with_home(dir.path(), "--netrc-file net", &server.url("/x")).assert_exit(0);
    assert_eq!(sent(&server), b"u:\xe9\xff");
    let before = server.requests().len();
    write_file_with_mode(dir.path(), "net", "machine 127.0.0.1 login u:x password pw\n", 0o600);
    for (options, url) in
        [("", url_with_login(&server.url("/x"), "u%3ax:pw")), ("--netrc-file net", server.url("/x"))]
    {
        let result = fetch_with_home(dir.path(), options, &url);
        assert!([93, 3, 2].contains(&result.exit), "{options} {url}: {result:?}, sent {:?}", sent(&server));
        assert_eq!(server.requests().len(), before, "{options} {url}");
    }
}

/// Names and contents of all files in the directory, except those with the prefix `own-`.
fn read_all_files(directory: &Path) -> String {
    let read = |name: &String| fs::read(directory.join(name)).expect("read file");
    let failures = |name: &String| format!("{name}\n{}\n", String::from_utf8_lossy(&read(name)));
    entry_names(directory).iter().filter(|name| !name.starts_with("own-")).map(failures).collect()
}

/// docs/spec/faults.md, row 36: the password appears in no verbose output, in no format, and in no file.
#[test]
fn credentials_never_appear_in_output_or_files() {
    let truncated_response =
        || HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    let servers = [
        http_server(|_| HttpResponse::new(200).body("object")),
        http_server(move |_| truncated_response().body("object").cut_body_at(3)),
        http_server(|_| HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"r\"")),
        http_server(|_| {
            HttpResponse::new(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        }),
        http_server(|_| HttpResponse::raw("garbage\r\n\r\n")),
    ];
    let credential_options = [
        "-u u:CANARY",
        "-u u:CANARY --digest",
        "-u u --password-file own-file",
        "--netrc-file own-net",
        "-u u --netrc-file own-net --anyauth",
        "-u u --askpass ./own-ask",
        "-u u --ask-password --askpass ./own-ask",
        "-H Authorization:_Bearer_CANARY",
        "-H X-Api-Key:_CANARY",
        "-H Cookie:_s=CANARY",
        "-H Proxy-Authorization:_CANARY",
        "--oauth2-bearer CANARY",
        "-b s=CANARY",
        "-x http://u:CANARY@127.0.0.1:1",
        "-x http://127.0.0.1:1 -U u:CANARY",
        "-x socks5h://u:CANARY@127.0.0.1:1",
    ];
    let output_options = ["-vvv", "--trace -", "--format json -v", "-vvv -i", "-s -S", "--no-fail -vv"];
    let cases: Vec<_> = credential_options
        .iter()
        .flat_map(|credential_option| {
            output_options.iter().map(move |output_option| (credential_option, output_option))
        })
        .collect();
    check_in_parallel(&cases, 4, |(credential_option, output_option)| {
        for (number, server) in servers.iter().enumerate() {
            let dir = temp_dir();
            write_file_with_mode(dir.path(), "own-file", CANARY, 0o600);
            write_file_with_mode(
                dir.path(),
                "own-net",
                format!("machine 127.0.0.1 login u password {CANARY}"),
                0o600,
            );
            write_file_with_mode(dir.path(), "own-ask", format!("#!/bin/sh\necho {CANARY}\n"), 0o700);
            let trace_options = "--trace trace --events events -w %{json}%{header_json} -o target";
            let trace_options = if output_option.contains("--trace") {
                trace_options.replace("--trace trace ", "")
            } else {
                trace_options.to_owned()
            };
            let options =
                format!("{} {output_option} {trace_options}", credential_option.replace("CANARY", CANARY));
            let result = fetch_with_home(dir.path(), &options, &server.url("/x"));
            let all = format!("{}\n{}\n{}", result.stderr, result.stdout_text(), read_all_files(dir.path()));
            let is_leak = |line: &&str| {
                line.to_lowercase().contains(&CANARY.to_lowercase()) || line.contains(CANARY_IN_BASE64)
            };
            let leak = all.lines().find(is_leak);
            ensure(leak.is_none(), || {
                format!("{credential_option} {output_option}, server {number}: {}", leak.unwrap_or(""))
            })?;
            ensure(!all.contains("panicked"), || {
                format!("{credential_option} {output_option}, server {number}: panicked")
            })?;
        }
        Ok(())
    });
}

#[test]
fn removed_or_empty_authorization_field_sends_no_login() {
    let server = start_open_server();
    let refusing = HttpServer::start(|_| {
        HttpResponse::new(401).header("WWW-Authenticate", "Digest realm=\"x\", nonce=\"n\", qop=\"auth\"")
    });
    let refusing = refusing.expect("a server");
    let dir = temp_dir();
    write_file_with_mode(dir.path(), "netrc", "machine 127.0.0.1 login me password canary\n", 0o600);
    for login in [&["-u", "me:canary"][..], &["--netrc-file", "netrc"], &["-u", "me:canary", "--anyauth"]] {
        for (field, sent) in [("Authorization:", None), ("authorization;", Some(""))] {
            for (server, exit) in [(&server, 0), (&refusing, 67)] {
                let url = server.url("/");
                let before = server.requests().len();
                let arguments = [login, &["-H", field, &url]].concat();
                run_fetch_url_in(dir.path(), &arguments).assert_exit(exit);
                let requests = server.requests().split_off(before);
                assert_eq!(requests.len(), 1, "{arguments:?}");
                assert_eq!(requests[0].header_text("authorization"), sent, "{arguments:?}");
            }
        }
    }
}

/// The server after the redirect does not get the empty field either.
#[test]
fn removed_or_empty_authorization_field_sends_no_login_after_a_redirect_to_another_server() {
    let open = start_open_server();
    let target = open.url("/").replace("127.0.0.1", "localhost");
    let first = HttpServer::start(move |_| HttpResponse::new(302).header("Location", &target));
    let first = first.expect("a server");
    let dir = temp_dir();
    write_file_with_mode(dir.path(), "netrc", "machine localhost login me password canary\n", 0o600);
    for field in ["Authorization:", "Authorization;"] {
        let arguments = ["-H", field, "--netrc-file", "netrc", "-L", &first.url("/")];
        run_fetch_url_in(dir.path(), arguments).assert_exit(0);
        let request = open.requests().pop().expect("a request");
        assert_eq!(request.header_text("authorization"), None, "{field}");
    }
}
