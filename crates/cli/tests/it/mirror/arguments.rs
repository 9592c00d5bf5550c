//! Arguments of `mirror`: which URLs it accepts, the default of DIR, and options that it rejects or ignores.

use std::fs;

use crate::support::mirror::{
    MIRROR_JOURNAL, directory_server, file_url, index_page, list_tree, minimal_index_page, mirror_directory,
    run_mirror, source_tree,
};
use crate::support::{
    entry_names, fetch_url_command, http_server, read_text_or_empty, run_command, run_fetch_url,
    run_fetch_url_in, temp_dir, write_file,
};
use fetch_url_tests::{
    FtpAction, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, NntpArticle,
    NntpConfig, NntpGroup, NntpServer,
};

/// The name of the target directory comes from the URL. If it is not a safe name, DIR is required.
#[test]
fn target_directory_defaults_to_last_path_segment() {
    let server = http_server(|request| {
        if request.path().ends_with('/') {
            index_page("<a href=\"f\">f</a>\n")
        } else {
            HttpResponse::new(200).body("f")
        }
    });
    for (path, expected) in [
        ("/some/where/", Some("where")),
        ("/some/two%20words/", Some("two words")),
        ("/some/where/#x", Some("where")),
        ("/", None),
        ("/%2e%2e/", None),
        ("/..%2f..%2fevil/", None),
        ("/%2fetc/", None),
        ("/.git/", None),
        ("/con/", None),
        ("/a%0ab/", None),
    ] {
        let dir = temp_dir();
        let inside = dir.path().join("in/side");
        fs::create_dir_all(&inside).expect("a directory");
        let result = run_fetch_url_in(&inside, ["mirror", "--retry", "0", &server.url(path)]);
        assert_eq!(
            (entry_names(dir.path()), entry_names(&dir.path().join("in"))),
            (vec!["in".into()], vec!["side".into()]),
            "{path}"
        );
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        let created = entry_names(&inside);
        match expected {
            Some(name) => assert_eq!(created, [name], "{path}: {}", result.stderr),
            None if result.exit == 0 => {
                assert_eq!(created.len(), 1, "{path}: {created:?}");
                let name = &created[0];
                assert!(
                    !name.starts_with('.') && name != "con" && !name.contains(['\n', '/']),
                    "{path}: {name:?}"
                );
            }
            None => assert!(
                created.is_empty() && result.exit <= 3,
                "{path}: {created:?} {} {}",
                result.exit,
                result.stderr
            ),
        }
    }
}

/// Nothing is written for the URL of a file.
#[test]
fn url_of_a_file_is_rejected() {
    let http = http_server(|request| match request.path().as_str() {
        "/one" => HttpResponse::new(200).header("Content-Type", "application/pdf").body("pdf"),
        _ => HttpResponse::new(404),
    });
    let ftp = FtpServer::start(FtpConfig::new().file("/d/one", "1")).expect("a server");
    let gopher = GopherServer::start(
        GopherConfig::new()
            .item(GopherItem::text("/one", "1"))
            .item(GopherItem::search("/s", |_| Vec::new())),
    );
    let gopher = gopher.expect("a server");
    let article = NntpArticle::post("1@test.invalid", "x", "x\r\n");
    let news = NntpServer::start(NntpConfig::new().group(NntpGroup::new("a.one").append(article)))
        .expect("a server");
    for url in [
        http.url("/one"),
        ftp.url("d/one"),
        ftp.url("d/one;type=i"),
        gopher.url("0/one"),
        news.url("a.one/1"),
        news.url("1@test.invalid"),
    ] {
        let dir = temp_dir();
        let target = dir.path().join("new");
        let result = run_mirror(&url, &target, "");
        assert!(
            result.exit != 0 && result.exit < 99 && !result.stderr.contains("panicked"),
            "{url}: {} {}",
            result.exit,
            result.stderr
        );
        let left = if target.exists() { list_tree(&target) } else { Vec::new() };
        assert_eq!(left, Vec::<String>::new(), "{url}");
    }
}

/// Tests the start URL with and without a final slash, with `;type=d` and `%2F`, and with a LIST in DOS format.
#[test]
fn all_forms_of_ftp_directory_urls_are_mirrored() {
    for path in ["d/", "d", "d/;type=d", "d;type=d", "%2Fd/", "/d/"] {
        let ftp =
            FtpServer::start(FtpConfig::new().file("/d/one", "1").file("/d/sub/two", "2")).expect("a server");
        let dir = temp_dir();
        let result = run_mirror(&ftp.url(path), dir.path(), "");
        let found = list_tree(dir.path());
        assert!(
            found == ["one=1", "sub/", "sub/two=2"] || (result.exit != 0 && found.is_empty()),
            "{path}: {found:?} {}",
            result.stderr
        );
        assert!(!path.ends_with('/') || result.exit == 0, "{path}: {}", result.stderr);
    }
    // LIST in DOS format, in a login directory that is not the root.
    let dos =
        "01-02-24  03:04AM       <DIR>          sub\r\n12-01-1994  12:34PM                    1 one\r\n";
    let site = FtpConfig::new()
        .file("/users/me/one", "1")
        .file("/users/me/sub/one", "2")
        .login_directory("/users/me");
    let ftp = FtpServer::start(site.without("MLSD").without("MLST").on("LIST", FtpAction::Data(dos.into())))
        .expect("a server");
    let dir = temp_dir();
    run_mirror(&ftp.url(""), dir.path(), "--max-depth 1");
    assert!(
        list_tree(dir.path()).contains(&"one=1".to_owned()),
        "{:?} {:?}",
        list_tree(dir.path()),
        ftp.received_text()
    );
}

#[test]
fn command_after_options_is_rejected_with_a_hint() {
    run_fetch_url(["--retry", "0", "mirror", "http://127.0.0.1:9/"])
        .assert_exit(2)
        .assert_stderr_contains("must precede its options");
}

/// Options of single transfers in the configuration file do not affect `mirror`, and vice versa.
#[test]
fn configured_options_of_the_other_command_are_ignored() {
    let server = directory_server(|path| match path {
        "/d/" => minimal_index_page("<a href=\"sub/\">sub/</a>\n<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"),
        _ => minimal_index_page("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let (home, dir) = (temp_dir(), temp_dir());
    fs::create_dir(home.path().join("fetch-url")).expect("a directory");
    let defaults = "remote-name-all\nformat = json\n-r0-1\nmax-depth = 0\nretry = 0\n";
    fs::write(home.path().join("fetch-url/config"), defaults).expect("a file");
    let run = |options: &[&str]| {
        let mut command = fetch_url_command();
        command.args(options).current_dir(dir.path()).env("XDG_CONFIG_HOME", home.path());
        run_command(command)
    };
    run(&["mirror", &server.url("/d/"), "copy"])
        .assert_exit(0)
        .assert_stderr_contains("deeper than --max-depth");
    assert_eq!(read_text_or_empty(dir.path(), "copy/x"), "x");
    run(&[&server.url("/d/x"), "-r", "0-"]).assert_exit(33);
    run(&["mirror", "-o", "z", &server.url("/d/"), "copy"])
        .assert_exit(2)
        .assert_stderr_contains("-o cannot be used with mirror");
}

/// Options that `mirror` does not support are rejected before anything is written.
#[test]
fn unsupported_options_exit_with_2_and_write_nothing() {
    let (source, dir) = (source_tree(), temp_dir());
    let target = dir.path().join("new");
    for options in [
        "-o x",
        "-O",
        "-J -O",
        "--remote-name-all",
        "-r 0-1",
        "-C 3",
        "-I",
        "-i",
        "-z 1994-01-01",
        "--checksum md5:900150983cd24fb0d6963f7d28e17f72",
        "--input-file list",
        "--keep-both",
        "--remove-on-error",
        "-D h",
        "--etag-save e",
        "--etag-compare e",
        "-g",
        "-T list",
        "-F a=b",
        "--metalink list",
        "--max-depth x",
        "--max-depth -1",
        "--max-entries x",
        "--nonsense",
        "--connect",
        "--head",
    ] {
        let options: Vec<&str> = options.split_whitespace().collect();
        let url = file_url(source.path());
        let result =
            run_fetch_url_in(dir.path(), [&["mirror", "--retry", "0"], &*options, &[&*url, "new"]].concat());
        assert_eq!(result.exit, 2, "{options:?}: {}", result.stderr);
        assert!(
            result.stderr.len() > 20 && !result.stderr.contains("panicked"),
            "{options:?}: {}",
            result.stderr
        );
        assert_eq!(entry_names(dir.path()), Vec::<String>::new(), "{options:?}");
        assert!(!target.exists());
    }
}

#[test]
fn wrong_arguments_are_rejected_and_dir_defaults_to_last_segment() {
    let (source, dir) = (source_tree(), temp_dir());
    run_fetch_url_in(dir.path(), ["mirror", "--retry", "0"]).assert_exit(2).assert_stderr_contains("URL");
    let (one, two) = (file_url(source.path()), dir.path().join("x").display().to_string());
    run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", &one, &two, &one]).assert_exit(2);
    assert_eq!(entry_names(dir.path()), Vec::<String>::new());
    run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", "http://h:x/", "x"]).assert_exit(3);
    assert_eq!(entry_names(dir.path()), Vec::<String>::new());
    let result = run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", &one, ""]);
    result.assert_exit(2).assert_stderr_contains("the name of the directory DIR is empty");
    assert_eq!(entry_names(dir.path()), Vec::<String>::new());
    // Without DIR, the last path segment of the URL is used, in the working directory.
    write_file(source.path(), "last part/f", "x");
    let at = format!("{}last%20part/", file_url(source.path()));
    run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", &at]).assert_exit(0);
    assert_eq!(list_tree(dir.path()), ["last part/", "last part/f=x"]);
    // The final slash is optional.
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", at.trim_end_matches('/'), "new"]).assert_exit(0);
    assert_eq!(list_tree(dir.path()), ["new/", "new/f=x"]);
    // DIR is an existing file.
    write_file(dir.path(), "file", "mine");
    let result = run_fetch_url_in(dir.path(), ["mirror", "--retry", "0", &at, "file"]);
    result.assert_exit(23).assert_stderr_contains("file");
    assert_eq!(fs::read_to_string(dir.path().join("file")).expect("a file"), "mine");
}

#[test]
fn urls_without_a_directory_are_rejected() {
    let (source, dir) = (source_tree(), temp_dir());
    let target = dir.path().join("new");
    let at = |path: &str| format!("{}{path}", file_url(source.path()));
    let run = |url: &str| run_fetch_url(["mirror", "--retry", "0", url, target.to_str().expect("UTF-8")]);
    for (url, exits) in [
        (at("missing/"), &[78][..]),
        (at("a"), &[1, 2, 78]),
        ("mailto:someone@test.invalid".to_owned(), &[1, 2]),
        ("wais://127.0.0.1:1/db".to_owned(), &[1, 2]),
        ("telnet://127.0.0.1:1/".to_owned(), &[1, 2]),
        ("prospero://127.0.0.1:1/x".to_owned(), &[1, 2]),
        ("x-unknown://127.0.0.1:1/".to_owned(), &[1]),
    ] {
        let result = run(&url);
        assert!(exits.contains(&result.exit), "{url}: {} {}", result.exit, result.stderr);
        assert!(
            result.stderr.starts_with("fetch-url: ") && !result.stderr.contains("panicked"),
            "{}",
            result.stderr
        );
        let left = if target.exists() { list_tree(&target) } else { Vec::new() };
        assert_eq!(left, Vec::<String>::new(), "{url}");
    }
}

/// DIR already is the mirror of another URL.
#[test]
fn target_of_another_url_is_refused_and_unchanged() {
    let (source, other, target) = (source_tree(), temp_dir(), temp_dir());
    write_file(other.path(), "other", "x");
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    let before = (list_tree(target.path()), fs::read(target.path().join(MIRROR_JOURNAL)).expect("a journal"));
    let result = mirror_directory(other.path(), target.path(), "--delete");
    assert_ne!(result.exit, 0);
    assert!(result.stderr.contains("mirror") || result.stderr.contains(MIRROR_JOURNAL), "{}", result.stderr);
    assert_eq!(
        (list_tree(target.path()), fs::read(target.path().join(MIRROR_JOURNAL)).expect("a journal")),
        before
    );
}

#[test]
fn hint_for_a_refused_option_names_the_help_of_mirror() {
    for option in ["--keep-both", "-g", "-I", "-G", "--list-format"] {
        let value = if option == "--list-format" { "--list-format=names" } else { option };
        let result = run_fetch_url(["mirror", "--retry", "0", value, "http://127.0.0.1:1/d/", "x"]);
        let words = format!(
            "{option} cannot be used with mirror\n  hint: `fetch-url mirror --help` lists the options"
        );
        result.assert_exit(2).assert_stderr_contains(&words);
    }
}

/// Options for a single object, which `mirror` rejects, are not in its help.
#[test]
fn help_of_mirror_lists_the_options_that_apply() {
    let help = run_fetch_url(["mirror", "--retry", "0", "--help"]).assert_exit(0).stdout_text();
    for shown in
        ["URL of the directory or page to copy, and the local DIR", "--delete", "--retry ", "--user "]
    {
        assert!(help.contains(shown), "{shown}: {help}");
    }
    for hidden in ["--output ", "--remote-name", "--input-file", "--data ", "--range "] {
        assert!(!help.contains(hidden), "{hidden}: {help}");
    }
    let help = run_fetch_url(["--help"]).assert_exit(0).stdout_text();
    assert!(help.contains("URLs to fetch") && help.contains("--output "), "{help}");
}
