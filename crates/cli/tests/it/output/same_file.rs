//! Two URLs of a run that would be written to the same file under different names (docs/spec/semantics.md, 12.11).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::mirror::{nginx_index, run_mirror};
use crate::support::{
    entry_names, fetch_url_command, http_server, read_text_file, run_command, run_fetch_url_in, run_shell,
    temp_dir, write_file,
};
use fetch_url_tests::{HttpResponse, HttpServer};

/// Returns a server whose responses are the request paths. The second request renames `x` to `X` in `directory`. `X`
/// then names the file that the run has just written as `x`, as on a case-insensitive file system.
fn server_renaming_x(directory: &Path) -> HttpServer {
    let directory: PathBuf = directory.to_owned();
    http_server(move |request| {
        let path = request.path();
        if path.ends_with('y') {
            fs::rename(directory.join("x"), directory.join("X")).expect("a file");
        }
        if path == "/d/" {
            return nginx_index(&["x", "y", "z", "X"].map(str::to_owned));
        }
        HttpResponse::new(200).body(path)
    })
}

#[test]
fn second_url_for_a_file_under_another_path_exits_2() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    for (first, second) in [("f", "./f"), ("f", "d/../f"), ("d/f", "link/f"), ("link/f", "./d/f"), ("f", "f")]
    {
        for options in [&[][..], &["-Z"]] {
            let dir = temp_dir();
            fs::create_dir(dir.path().join("d")).expect("a directory");
            symlink("d", dir.path().join("link")).expect("a link");
            let urls = ["-o", first, &server.url("/1"), "-o", second, &server.url("/2")];
            run_fetch_url_in(dir.path(), [options, &urls].concat())
                .assert_exit(2)
                .assert_stderr_contains("another URL of this run");
            assert_eq!(read_text_file(dir.path(), first), "/1", "{first} {second} {options:?}");
            // The same URL may be fetched twice.
            let urls = ["-o", first, &server.url("/1"), "-o", second, &server.url("/1")];
            run_fetch_url_in(dir.path(), urls).assert_exit(0);
            let lines = format!("{}\t{first}\n{}\t{second}\n", server.url("/1"), server.url("/2"));
            write_file(dir.path(), "list", &lines);
            // The second line is refused by later runs, too.
            for _ in 0..2 {
                run_fetch_url_in(dir.path(), ["--input-file", "list"]).assert_exit(2);
                assert_eq!(read_text_file(dir.path(), first), "/1", "{first} {second} input");
            }
        }
    }
}

/// A symbolic link to the object, which may not exist yet.
#[test]
fn file_of_an_option_that_is_a_link_to_the_object_exits_2() {
    let server = http_server(|_| HttpResponse::new(200).header("ETag", "\"tag\"").body("object"));
    for option in [
        ["--etag-save", "link"],
        ["-D", "link"],
        ["-c", "link"],
        ["--trace", "link"],
        ["--events", "link"],
        ["-w", "%output{link}text"],
        ["-w", "%output{>>link}text"],
    ] {
        for (target, exists) in [("d/f", false), ("d/f", true), ("d/next", true), ("d/next", false)] {
            let dir = temp_dir();
            fs::create_dir(dir.path().join("d")).expect("a directory");
            symlink(target, dir.path().join("link")).expect("a link");
            symlink("f", dir.path().join("d/next")).expect("a link");
            if exists {
                write_file(dir.path(), "d/f", "old");
            }
            let result =
                run_fetch_url_in(dir.path(), [&option[..], &["-o", "d/f", &server.url("/")]].concat());
            result.assert_exit(2).assert_stderr_contains("is also the file of another option");
        }
    }
}

/// Descriptors are written at their position (docs/spec/semantics.md, 12.35).
#[test]
fn object_is_written_to_a_descriptor_of_the_file_of_an_option() {
    let (server, dir) = (http_server(|_| HttpResponse::new(200).body("object;")), temp_dir());
    let path = dir.path().join("log").display().to_string();
    for output in ["/dev/fd/3", "-", "/dev/stdout"] {
        let script = "cd \"$2\" && \"$F\" -w '%output{>>log}%{http_code};' -o \"$3\" \"$1\" 3>>log >>log";
        let target = dir.path().display().to_string();
        run_shell(script, [&*server.url("/"), &target, output]).assert_exit(0);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "object;200;", "{output}");
        fs::remove_file(&path).expect("the file");
    }
}

#[test]
fn same_url_twice_in_parallel_is_fetched_once_per_file() {
    let server = http_server(|request| match request.path().as_str() {
        "/fails" => HttpResponse::new(404),
        path => HttpResponse::new(200).body(path).drip(1, Duration::from_millis(100)),
    });
    let dir = temp_dir();
    let (url, fails) = (server.url("/1"), server.url("/fails"));
    run_fetch_url_in(dir.path(), ["-Z", "-o", "f", &url, "-o", "f", &url]).assert_exit(0);
    assert_eq!((read_text_file(dir.path(), "f").as_str(), server.requests().len()), ("/1", 1));
    write_file(dir.path(), "list", &format!("{url}\tg\n{url}\tg\n{url}\t./g\n{url}\th\n"));
    run_fetch_url_in(dir.path(), ["-Z", "--input-file", "list"]).assert_exit(0);
    assert_eq!((read_text_file(dir.path(), "g").as_str(), server.requests().len()), ("/1", 3));
    write_file(dir.path(), "list", &format!("{url}\tm\n{url}\tm\tmd5:d41d8cd98f00b204e9800998ecf8427e\n"));
    let result = run_fetch_url_in(dir.path(), ["-Z", "--retry", "0", "--input-file", "list"]);
    assert_ne!(result.exit, 0, "the checksum of the second line is wrong");
    run_fetch_url_in(dir.path(), ["-Z", "-o", "k", &fails, "-o", "k", &fails]).assert_exit(78);
    let before = server.requests().len();
    run_fetch_url_in(dir.path(), ["-Z", "-o", "/dev/null", &url, "-o", "/dev/null", &url]).assert_exit(0);
    assert_eq!(server.requests().len() - before, 2, "a device is written twice");
}

#[test]
fn paths_below_a_created_directory_are_compared_by_its_identity() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    let urls = ["--create-dirs", "-o", "n/f", &server.url("/1"), "-o", "./n/f", &server.url("/2")];
    run_fetch_url_in(dir.path(), urls).assert_exit(2);
    assert_eq!(read_text_file(dir.path(), "n/f"), "/1");
}

#[test]
fn file_written_by_the_run_under_another_name_is_not_replaced() {
    for options in [&[][..], &["--skip-existing"]] {
        let dir = temp_dir();
        let server = server_renaming_x(dir.path());
        let output = |name: &str| ["-o".to_owned(), name.to_owned(), server.url(&format!("/{name}"))];
        let arguments = ["x", "y", "X"].into_iter().flat_map(output);
        let all = options.iter().map(|&option| option.to_owned()).chain(arguments);
        run_fetch_url_in(dir.path(), all.collect::<Vec<_>>())
            .assert_exit(2)
            .assert_stderr_contains("another URL of this run");
        assert_eq!(read_text_file(dir.path(), "X"), "/x", "{options:?}");
        assert_eq!(entry_names(dir.path()), ["X", "y"]);
    }
}

#[test]
fn mirror_reports_a_name_that_the_file_system_does_not_distinguish() {
    let dir = temp_dir();
    let server = server_renaming_x(dir.path());
    let result = run_mirror(&server.url("/d/"), dir.path(), "--parallel-max 1");
    assert_ne!(result.exit, 0, "{result:?}");
    result.assert_stderr_contains("another URL of this run");
    assert_eq!(read_text_file(dir.path(), "X"), "/d/x");
    assert_eq!(read_text_file(dir.path(), "z"), "/d/z");
}

/// Deduplication tools replace equal files by hard links.
#[test]
fn hard_links_in_the_target_directory_are_different_files() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    write_file(dir.path(), "list", &format!("{}\ta\n{}\tb\n", server.url("/1"), server.url("/2")));
    write_file(dir.path(), "a", "old");
    fs::hard_link(dir.path().join("a"), dir.path().join("b")).expect("a link");
    run_fetch_url_in(dir.path(), ["--skip-existing", "--input-file", "list"]).assert_exit(0);
    run_fetch_url_in(dir.path(), ["--input-file", "list"]).assert_exit(0);
    assert_eq!(
        (read_text_file(dir.path(), "a"), read_text_file(dir.path(), "b")),
        ("/1".into(), "/2".into())
    );
}

#[test]
fn object_is_not_written_to_a_file_of_another_option_or_the_journal() {
    let server = http_server(|_| {
        HttpResponse::new(200).header("Set-Cookie", "a=b; Max-Age=1000").header("ETag", "\"1\"").body("x")
    });
    for option in ["-c", "--etag-save", "-D", "--trace", "--events"] {
        let dir = temp_dir();
        let url = server.url("/1");
        for urls in [&["-o", "./f", &url][..], &["-o", "./f", &url, "-o", "g", &url]] {
            if option == "--etag-save" && urls.len() > 3 {
                continue;
            }
            let before = server.requests().len();
            let result = run_fetch_url_in(dir.path(), [&[option, "f"], urls].concat());
            result.assert_exit(2).assert_stderr_contains("another option or the journal");
            assert_eq!(server.requests().len() - before, urls.len() / 3 - 1, "{option}");
        }
        // Several may be written to a device.
        run_fetch_url_in(dir.path(), [option, "/dev/null", "-o", "/dev/null", &url]).assert_exit(0);
    }
    let dir = temp_dir();
    let lines = format!("{}\t.list.journal\n{}\tg\n", server.url("/1"), server.url("/2"));
    write_file(dir.path(), "list", &lines);
    for options in [&[][..], &["-C", "-"]] {
        let list = [&["--input-file", "list"], options].concat();
        run_fetch_url_in(dir.path(), list).assert_exit(2).assert_stderr_contains("the journal");
        assert_eq!(read_text_file(dir.path(), "g"), "x");
    }
}

#[test]
fn name_chosen_by_a_server_does_not_replace_a_file_of_another_option() {
    let server = http_server(|request| {
        let response = match request.path().as_str() {
            "/" => nginx_index(&["f".to_owned()]),
            _ => {
                HttpResponse::new(200).header("Content-Disposition", "attachment; filename=f").body("object")
            }
        };
        response.header("Set-Cookie", "a=b; Max-Age=1000").header("ETag", "\"1\"")
    });
    for option in [&["-c", "f"][..], &["--etag-save", "f"], &["-D", "f"], &["-w", "%output{f}hi"]] {
        let dir = temp_dir();
        let url = server.url("/x");
        let result = run_fetch_url_in(dir.path(), [option, &["-O", "-J", &url]].concat());
        result.assert_exit(2).assert_stderr_contains("another option");
        let numbered = [option, &["-O", "-J", "--keep-both", &url]].concat();
        run_fetch_url_in(dir.path(), numbered).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), "f.1"), "object", "{option:?}");
    }
    for option in ["-c", "--events"] {
        let dir = temp_dir();
        let mut command = fetch_url_command();
        command.args(["mirror", option, "f", &server.url("/"), "."]).current_dir(dir.path());
        let result = run_command(command);
        assert!(result.exit != 0 && result.stderr.contains("another option"), "{option}: {result:?}");
        assert_ne!(read_text_file(dir.path(), "f"), "object", "{option}");
    }
}

const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

/// The server or the URL has chosen the name of a file that the command reads. With such a config file, the server would
/// choose the options of the next run.
#[test]
fn file_that_an_option_reads_is_not_replaced_by_an_object_unless_the_user_names_it() {
    let server = http_server(|request| match request.path().as_str() {
        "/" => nginx_index(&["f".to_owned()]),
        _ => HttpResponse::new(200).body("object"),
    });
    let url = server.url("/f");
    for (options, content) in [
        (&["-K", "f"][..], "globoff\n".to_owned()),
        (&["--input-file", "f"], format!("{url}\n")),
        (&["--netrc-file", "f"], "machine h login me\n".to_owned()),
        (&["-b", "f"], "\n".to_owned()),
        (&["-d", "@f"], "a=b".to_owned()),
        (&["--json", "@./f"], "{}".to_owned()),
        (&["-F", "a=<f"], "b".to_owned()),
        (&["-F", "a=@/dev/null,f"], "b".to_owned()),
        (&["-F", "a=@\"f\";type=text/plain"], "b".to_owned()),
        (&["-F", "a=b;headers=@f"], "X: y\n".to_owned()),
        (&["--pinnedpubkey", "f"], PUBLIC_KEY.to_owned()),
        (&["-w", "@f"], "x".to_owned()),
    ] {
        let dir = temp_dir();
        write_file(dir.path(), "f", &content);
        fs::set_permissions(dir.path().join("f"), fs::Permissions::from_mode(0o600)).expect("a mode");
        let urls = if options[0] == "--input-file" { vec![] } else { vec!["-O", &url] };
        let result = run_fetch_url_in(dir.path(), [options, &urls, &["--output-dir", "."]].concat());
        result.assert_exit(2).assert_stderr_contains("a file that this command reads");
        assert_eq!(read_text_file(dir.path(), "f"), content, "{options:?}");
        if options[0] != "--input-file" {
            run_fetch_url_in(dir.path(), [options, &["-o", "f", &url]].concat()).assert_exit(0);
            assert_eq!(read_text_file(dir.path(), "f"), "object", "{options:?}");
        }
    }
    let dir = temp_dir();
    write_file(dir.path(), "f", "dot-names\n");
    let result = run_fetch_url_in(dir.path(), ["mirror", "-K", "f", &server.url("/"), "."]);
    assert!(result.exit != 0 && read_text_file(dir.path(), "f") == "dot-names\n", "{result:?}");
    // Also if the file has another name.
    write_file(dir.path(), "f", "globoff\n");
    fs::hard_link(dir.path().join("f"), dir.path().join("other")).expect("a link");
    let result = run_fetch_url_in(dir.path(), ["-K", "f", "-O", &url]);
    result.assert_exit(2).assert_stderr_contains("a file that this command reads");
    assert_eq!(read_text_file(dir.path(), "f"), "globoff\n");
}

#[test]
fn option_does_not_write_the_file_that_another_one_reads() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let lines = format!("{}\n", server.url("/1"));
    for option in ["--events", "--trace", "-D", "-c"] {
        let dir = temp_dir();
        write_file(dir.path(), "list", &lines);
        let result = run_fetch_url_in(dir.path(), ["--input-file", "list", option, "./list"]);
        result.assert_exit(2).assert_stderr_contains("the file of two options");
        assert_eq!(read_text_file(dir.path(), "list"), lines, "{option}");
    }
    let dir = temp_dir();
    write_file(dir.path(), "jar", "");
    run_fetch_url_in(dir.path(), ["-b", "jar", "-c", "jar", &server.url("/1")]).assert_exit(0);
}

#[test]
fn fifo_without_a_reader_as_the_file_of_an_option_is_an_error() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let dir = temp_dir();
    let status = std::process::Command::new("mkfifo").arg(dir.path().join("fifo")).status();
    assert!(status.expect("mkfifo").success());
    for option in [["--events", "fifo"], ["--trace", "fifo"], ["-D", "fifo"], ["-w", "%output{fifo}x"]] {
        let result = run_fetch_url_in(dir.path(), [&option[..], &["-o", "f", &server.url("/")]].concat());
        assert_ne!(result.exit, 0, "{option:?}");
        result.assert_stderr_contains("no process has opened it for reading");
    }
}

#[test]
fn reader_of_a_fifo_gets_the_headers_of_all_responses() {
    let server = http_server(|request| HttpResponse::new(200).header("X-Path", request.path()));
    let dir = temp_dir();
    let script = "cd \"$1\" && mkfifo fifo && { cat fifo > copy & } && \"$F\" -D fifo \"$2\" \"$3\"; code=$?; wait; exit $code";
    let arguments =
        [dir.path().as_os_str(), server.url("/1").as_ref(), server.url("/2").as_ref()].map(ToOwned::to_owned);
    run_shell(script, arguments).assert_exit(0);
    let copy = read_text_file(dir.path(), "copy");
    assert!(copy.contains("X-Path: /1") && copy.contains("X-Path: /2"), "{copy}");
}

#[test]
fn file_of_two_options_exits_2() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    for options in [
        ["-D", "f", "--events", "f"],
        ["--events", "f", "--trace", "./f"],
        ["-D", "f", "-c", "f"],
        ["-D", "f", "-w", "%output{f}x"],
    ] {
        let dir = temp_dir();
        let result = run_fetch_url_in(dir.path(), [&options[..], &["-o", "g", &server.url("/")]].concat());
        result.assert_exit(2).assert_stderr_contains("the file of two options");
    }
    assert!(server.requests().is_empty());
}
