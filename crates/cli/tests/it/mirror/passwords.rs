//! Passwords in `mirror`: they are sent to the server of the URL only, and never printed.

use std::fs;

use crate::support::mirror::{
    MIRROR_JOURNAL, directory_server, minimal_index_page, nginx_index_with_sizes, run_mirror_with,
    small_tree_handler,
};
use crate::support::{entry_names, http_server, temp_dir};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer, HttpRequest, HttpResponse};

/// The start directory redirects to another server.
#[test]
fn redirect_to_other_server_is_refused_without_sending_secrets() {
    let other = directory_server(|_| minimal_index_page("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"));
    let to = other.url("/d/").replacen("127.0.0.1", "localhost", 1);
    let server = directory_server(move |_| HttpResponse::new(302).header("Location", &to));
    let dir = temp_dir();
    let result = run_mirror_with(
        &server.url("/d/"),
        dir.path(),
        &["-u", "me:canary", "-H", "X-Key: canary", "-b", "c=canary"],
    );
    result.assert_exit(90);
    assert!(other.requests().iter().all(|request| !format!("{request:?}").contains("canary")));
    assert!(!dir.path().join("x").exists());
}

/// The Authorization field for `u:KanarienVogel`.
const BASIC: &str = "Basic dTpLYW5hcmllblZvZ2Vs";

/// Answers requests with the login `u:KanarienVogel`, and every other request with 401.
fn require_login(request: &HttpRequest) -> HttpResponse {
    match request.header_text("authorization") {
        Some(BASIC) => small_tree_handler(request),
        _ => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""),
    }
}

/// A mirror with the user in the URL is continued by a run with `-u`, and vice versa.
#[test]
fn user_in_the_url_and_user_option_name_the_same_mirror() {
    let server = http_server(require_login);
    let with_user = server.url("/d/").replace("://", "://u@");
    let with_login = server.url("/d/").replace("://", "://u:KanarienVogel@");
    let user = ["-u", "u:KanarienVogel"];
    let runs: [(&str, &[&str]); 3] = [(&with_user, &user), (&server.url("/d/"), &user), (&with_login, &[])];
    let dir = temp_dir();
    for (number, (url, options)) in runs.into_iter().enumerate() {
        let result = run_mirror_with(url, dir.path(), &[options, &["--events", "-"]].concat());
        let text = result.assert_exit(0).stdout_text();
        assert_eq!(text.contains("\"files\":0"), number > 0, "{url}: {text}");
    }
}

/// The password comes from the URL or from -u; no output, trace or journal contains it.
#[test]
fn password_is_sent_with_every_request_and_never_printed() {
    let server = http_server(require_login);
    let url_with_login = server.url("/d/").replace("://", "://u:KanarienVogel@");
    for options in
        [&["-v"][..], &["-vvv"], &["--events", "-"], &["-w", "%{json}\\n"], &["--trace", "-"], &["-Z"], &[]]
    {
        for url in [&url_with_login, &server.url("/d/")] {
            let dir = temp_dir();
            let login: &[&str] = if url == &url_with_login { &[] } else { &["-u", "u:KanarienVogel"] };
            let result = run_mirror_with(url, dir.path(), &[options, login].concat());
            result.assert_exit(0);
            assert_eq!(entry_names(dir.path()), [MIRROR_JOURNAL, "a", "sub"], "{options:?}");
            assert_eq!(entry_names(&dir.path().join("sub")), ["x", "y"], "{options:?}");
            let journal = fs::read_to_string(dir.path().join(MIRROR_JOURNAL)).expect("a journal");
            for text in [result.stdout_text(), result.stderr.clone(), journal] {
                let has = text.to_lowercase().contains("kanar") || text.contains("dTpLYW5");
                assert!(!has, "{options:?} {url}: {text}");
            }
            // The second run downloads nothing.
            let before = server.requests().len();
            run_mirror_with(url, dir.path(), login).assert_exit(0);
            let files =
                server.requests()[before..].iter().filter(|request| !request.path().ends_with('/')).count();
            assert_eq!(files, 0, "{options:?} {url}");
        }
    }
    // The URL without user name is the same mirror, or is rejected.
    let dir = temp_dir();
    run_mirror_with(&url_with_login, dir.path(), &[]).assert_exit(0);
    let result = run_mirror_with(&server.url("/d/"), dir.path(), &["-u", "u:KanarienVogel"]);
    assert!((result.exit == 0 || result.exit == 2) && !result.stderr.contains("Kanar"), "{}", result.stderr);
    // An error message shows the URL without the password.
    let result = run_mirror_with(&url_with_login.replace("/d/", "/none/"), &dir.path().join("x"), &[]);
    assert!(result.exit != 0 && !result.stderr.contains("Kanar"), "{}", result.stderr);
    let result = run_mirror_with(&url_with_login.replace("Vogel", "Falsch"), &dir.path().join("y"), &["-v"]);
    assert!(!result.assert_exit(67).stderr.contains("Kanar"), "{}", result.stderr);
}

/// Notes show neither the password nor its length (docs/spec/semantics.md 1.72).
#[test]
fn note_about_a_skipped_link_masks_the_password_with_three_asterisks() {
    let list = "lrwxrwxrwx 1 0 0 9 Jan 02  2024 gone -> /etc/gone\r\n";
    let config = FtpConfig::new().user("u", "KanarienVogel").dir("/d").without("MLSD").without("MLST");
    let rule = FtpRule::on("LIST", FtpAction::Data(list.into())).nth(1);
    let server = FtpServer::start(config.rule(rule)).expect("start server");
    let url = server.url("d/").replace("://", "://u:KanarienVogel@");
    let result = run_mirror_with(&url, temp_dir().path(), &[]);
    let shown = server.url("d/gone").replace("://", "://u:***@");
    result.assert_exit(0).assert_stderr_contains(&format!("{shown}: skipped: it is neither a file"));
}

/// Files and directories redirect to another server, and the index page links to it.
#[test]
fn password_is_not_sent_to_other_servers() {
    let other = http_server(|_| HttpResponse::new(200).body("bytes"));
    let to = other.url("/stolen");
    let (location, linked) = (to.clone(), to);
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => nginx_index_with_sizes(&[("a", "5"), ("b", "5"), (&linked, "5"), ("sub/", "-")]),
        "/d/sub/" => HttpResponse::new(302).header("Location", &location),
        "/d/b" => HttpResponse::new(302).header("Location", &location),
        _ => require_login(request),
    });
    let dir = temp_dir();
    let url_with_login = server.url("/d/").replace("://", "://u:KanarienVogel@");
    let result = run_mirror_with(&url_with_login, dir.path(), &["-H", "X-Secret: KanarienVogel"]);
    assert!(dir.path().join("a").exists(), "{}", result.stderr);
    for request in other.requests() {
        let fields = format!("{:?}", request.headers.iter().map(|(name, _)| name).collect::<Vec<_>>());
        assert!(request.header("authorization").is_none(), "{fields}");
        assert!(
            request.header("referer").is_none_or(|value| !value.windows(5).any(|window| window == b"Kanar"))
        );
    }
    assert!(!result.stderr.contains("Kanar"), "{}", result.stderr);
    // With --no-location no other server is contacted.
    let before = other.requests().len();
    run_mirror_with(&url_with_login, temp_dir().path(), &["--no-location"]);
    assert_eq!(other.requests().len(), before);
}
