//! Writing the output file: full disks, unwritable names, devices, FIFOs, permissions and modification times. Errors
//! that are known in advance are reported before a connection is opened (docs/spec/faults.md, sections 2.F and 3.4).

use std::fs;
use std::fs::{File, Permissions};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{
    entry_names, http_server, http_server_first_then, part_metadata_path, part_path, run_fetch_url,
    run_shell, send_signal, spawn_fetch_url, strong_etag_headers, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{
    FileHeaders, HttpRequest, HttpResponse, HttpServer, OldFile, Target, file_handler, pattern_vec,
};

const SIZE: usize = 400_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn start_server() -> HttpServer {
    http_server(file_handler(content(), strong_etag_headers()))
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Sends the content chunked, so that its length is not known in advance.
fn send_chunked(_: &HttpRequest) -> HttpResponse {
    let pieces = content().chunks(20_000).map(<[u8]>::to_vec).collect();
    HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes").chunked(pieces)
}

/// Returns `true` if a tmpfs can be mounted. Without that right, only `/dev/full` and RLIMIT_FSIZE are tested.
fn can_mount() -> bool {
    run_shell("unshare -m mount -t tmpfs -o size=64k tmpfs /mnt", [""]).exit == 0
}

/// Runs fetch-url in a tmpfs of 256 KiB with an older file, lists the files, enlarges the tmpfs, and runs `-C -`.
const FULL_DISK_SCRIPT: &str = r#"exec unshare -m sh -c '
    mount -t tmpfs -o size=256k tmpfs "$2" && cd "$2" && echo OLD >target || exit 99
    "$F" -o target "$1"; echo "exit $?"
    cat target; ls
    mount -o remount,size=4m "$2" || exit 99
    "$F" -C - -o target "$1"; echo "exit $?"; sha256sum <target; ls
' sh "$1" "$2""#;

#[test]
fn full_disk_keeps_the_old_file() {
    if !can_mount() {
        return println!("skipped: mounting a tmpfs is not permitted");
    }
    let directory = temp_dir();
    let expected = directory.path().join("expected");
    fs::write(&expected, content()).expect("a file");
    let sum = run_shell("sha256sum <\"$1\"", [&expected]).stdout_text();
    let dir = directory.path().join("small");
    fs::create_dir(&dir).expect("a directory");
    for server in
        [start_server(), http_server_first_then(send_chunked, file_handler(content(), strong_etag_headers()))]
    {
        let result = run_shell(FULL_DISK_SCRIPT, [server.url("/o").as_str(), path_text(&dir)]);
        result.assert_exit(0);
        let output = result.stdout_text();
        assert!(output.starts_with("exit 23\nOLD\ntarget\n"), "{output}{}", result.stderr);
        assert!(output.ends_with(&format!("exit 0\n{sum}target\n")), "{output}{}", result.stderr);
        // With -C -, a note says that the old file is another object.
        let errors = result.stderr.lines().filter(|line| !line.starts_with("fetch-url: note: "));
        assert_eq!(errors.count(), 1, "{}", result.stderr);
    }
}

/// The `.part` file that was written before the disk was full is resumed (docs/spec/faults.md, rules N1 and N4).
#[test]
fn full_disk_keeps_part_file_for_resume() {
    if !can_mount() {
        return println!("skipped: mounting a tmpfs is not permitted");
    }
    let dir = temp_dir();
    let server = http_server_first_then(send_chunked, file_handler(content(), strong_etag_headers()));
    run_shell(FULL_DISK_SCRIPT, [server.url("/o").as_str(), path_text(dir.path())]).assert_exit(0);
    let last = server.requests().pop().expect("a request");
    assert!(last.header("range").is_some(), "the .part file was not resumed");
}

#[test]
fn file_larger_than_the_disk_exits_with_23_at_once() {
    if !can_mount() {
        return println!("skipped: mounting a tmpfs is not permitted");
    }
    let dir = temp_dir();
    let script = r#"exec unshare -m sh -c 'mount -t tmpfs -o size=256k tmpfs "$2" && cd "$2" || exit 99
        "$F" -o target "$1"; echo "exit $?"; ls' sh "$1" "$2""#;
    let huge = http_server(|_| HttpResponse::new(200).stream(1 << 40));
    let result = run_shell(script, [huge.url("/o").as_str(), path_text(dir.path())]);
    assert_eq!(result.stdout_text(), "exit 23\n", "{}", result.stderr);
}

#[test]
fn full_device_exits_with_23() {
    let server = start_server();
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), content()).expect("a file");
    for url in [server.url("/o"), format!("file://{}", file.path().display())] {
        run_shell("\"$F\" \"$1\" >/dev/full", [&url]).assert_exit(23).assert_stderr_contains("fetch-url: ");
        run_fetch_url(["-o", "/dev/full", &url]).assert_exit(23).assert_stderr_contains("fetch-url: ");
    }
    assert!(!Path::new("/dev/full.fetch-url.part").exists());
}

/// Rust's runtime opens `/dev/null` in place of a closed standard output.
#[test]
fn closed_standard_output_exits_with_23_if_something_is_written_to_it() {
    let (server, directory) = (start_server(), temp_dir());
    let path = path_text(directory.path());
    fs::write(directory.path().join("o"), content()).expect("a file");
    for url in [server.url("/o"), format!("file://{path}/o")] {
        for options in
            ["", "-o -", "-o /dev/stdout", "--raw", "--max-time 9", "-r 0-9", "--trace -", "--events -"]
        {
            run_shell(&format!("\"$F\" {options} \"$1\" >&-"), [&url])
                .assert_exit(23)
                .assert_stderr_contains("Bad file descriptor");
        }
        // Nothing is written to it, and the file that is opened next does not take its place.
        run_shell("cd \"$2\" && \"$F\" -o x \"$1\" >&-", [&url, path]).assert_exit(0);
        assert_eq!(fs::read(directory.path().join("x")).expect("a file"), content());
    }
    let object = server.url("/o");
    run_shell("\"$F\" \"$1\" <&- 2>&- | cmp - \"$2/o\"", [&object, path]).assert_exit(0);
}

#[test]
fn text_for_a_full_standard_output_exits_with_23_and_one_line() {
    let directory = temp_dir();
    fs::write(directory.path().join("file"), "http://h/").expect("a file");
    let path = path_text(directory.path());
    for command in [
        "explain http://h/",
        "explain --json http://h/",
        "extract \"$1/file\"",
        "completions bash",
        "--help",
        "--help all",
        "--version",
        "-h",
        "-w '%{url}' \"file://$1/file\" -o /dev/null",
        "-D - \"file://$1/file\" -o /dev/null",
        "-I \"file://$1/file\"",
        "-s -S --dry-run \"file://$1/file\" -o x",
        "-c - \"file://$1/file\" -o /dev/null",
    ] {
        let result = run_shell(&format!("exec \"$F\" {command} >/dev/full"), [path]);
        let lines = result.assert_exit(23).stderr.lines().count();
        assert_eq!(lines, 1, "{command}: {}", result.stderr);
        result.assert_stderr_contains("No space left on device");
        run_shell(&format!("exec \"$F\" {command} >&-"), [path])
            .assert_exit(23)
            .assert_stderr_contains("Bad file descriptor");
        // Nothing is printed if the reader has closed the pipe.
        let script = format!("{{ sleep 0.1; exec \"$F\" {command}; }} | true");
        assert_eq!(run_shell(&script, [path]).stderr, "", "{command}");
    }
}

#[test]
fn file_size_limit_exits_with_23_and_keeps_a_prefix() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), content()).expect("a file");
    let server = http_server_first_then(send_chunked, send_chunked);
    for url in [server.url("/o"), server.url("/o"), format!("file://{}", file.path().display())] {
        for before in OldFile::ALL {
            let target = Target::new(before).expect("a directory");
            let script = "ulimit -f 300; exec \"$F\" -o \"$2\" \"$1\"";
            run_shell(script, [url.as_str(), path_text(&target.path())])
                .assert_exit(23)
                .assert_stderr_contains("fetch-url: ");
            assert!(target.is_untouched().expect("a file"));
            let part = fs::read(part_path(&target.path())).unwrap_or_default();
            assert!(content().starts_with(&part));
        }
    }
}

/// Checks that fetch-url exits with one of these statuses without connecting to the server.
#[track_caller]
fn assert_refused_before_connecting(exits: &[i32], arguments: &[&str]) {
    let server = start_server();
    let url = server.url("/o");
    let result = run_fetch_url(arguments.iter().copied().chain([url.as_str()]));
    assert!(exits.contains(&result.exit), "{arguments:?}: {result:?}");
    assert_eq!(server.connections(), 0, "{arguments:?}: a connection was opened");
    // Errors in the options themselves start with "error: ".
    assert!(
        result.stderr.starts_with("fetch-url: ") || result.stderr.starts_with("error: "),
        "{}",
        result.stderr
    );
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
}

#[test]
fn unwritable_names_are_refused_before_connecting() {
    let directory = temp_dir();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("directory")).expect("a directory");
    fs::write(at("precious"), "precious").expect("a file");
    symlink("precious", at("link")).expect("a link");
    symlink("nowhere", at("dangling")).expect("a link");
    symlink("directory", at("link-to-directory")).expect("a link");
    let before = entry_names(directory.path());
    for name in ["directory", "link", "dangling", "link-to-directory"] {
        assert_refused_before_connecting(&[2, 23], &["-o", path_text(&at(name))]);
        assert_refused_before_connecting(&[2, 23], &["-C", "-", "-o", path_text(&at(name))]);
    }
    for name in ["missing/file", "precious/file", "directory/", "directory/.", "directory/..", ""] {
        assert_refused_before_connecting(&[2, 23], &["-o", path_text(&at(name))]);
    }
    assert_refused_before_connecting(&[2, 23], &["-o", ""]);
    assert_refused_before_connecting(&[2, 23], &["-o", path_text(&at(&"n".repeat(300)))]);
    assert_refused_before_connecting(&[2, 23], &["-o", path_text(&at(&"n".repeat(256)))]);
    assert_refused_before_connecting(&[2, 23], &["--output-dir", path_text(&at("missing")), "-O"]);
    assert_refused_before_connecting(
        &[2, 23],
        &["--create-dirs", "-o", path_text(&at("precious/below/file"))],
    );
    assert_eq!(entry_names(directory.path()), before, "the directory changed");
    assert_eq!(fs::read(at("precious")).expect("a file"), b"precious");
}

#[test]
fn read_only_directory_is_refused_before_connecting() {
    let server = start_server();
    let dir = temp_dir();
    let script = r#"if [ "$(id -u)" = 0 ]; then
            exec unshare -m sh -c 'mount -t tmpfs -o ro tmpfs "$2" && exec "$F" -o "$2/file" "$1"' sh "$1" "$2"
        fi
        chmod 555 "$2"; exec "$F" -o "$2/file" "$1""#;
    run_shell(script, [server.url("/o").as_str(), path_text(dir.path())])
        .assert_exit(23)
        .assert_stderr_contains("fetch-url: ");
    assert_eq!(server.connections(), 0);
}

/// The names of the temporary files are shortened.
#[test]
fn name_of_255_bytes_is_written_and_resumed() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let path = target.dir().join("n".repeat(255));
    let server = http_server_first_then(
        |_| send_with_etag().cut_body_at(1000),
        file_handler(content(), strong_etag_headers()),
    );
    let arguments = ["-C", "-", "-o", path_text(&path), &server.url("/o")];
    run_fetch_url(arguments).assert_exit(18);
    assert_eq!(entry_names(target.dir()).len(), 2);
    run_fetch_url(arguments).assert_exit(0);
    assert!(server.requests()[1].header("range").is_some(), "the download was not resumed");
    assert_eq!(entry_names(target.dir()), ["n".repeat(255)]);
}

/// The `.part` name is a symbolic link or a hard link to another file.
#[test]
fn planted_part_file_is_not_written_through() {
    for flags in [&["-C", "-"][..], &[]] {
        let target = Target::new(OldFile::Absent).expect("a directory");
        let victim = target.dir().join("victim");
        fs::write(&victim, "precious").expect("a file");
        symlink(&victim, part_path(&target.path())).expect("a link");
        let server = start_server();
        let path = target.path();
        let result = run_fetch_url([flags, &["-o", path_text(&path), &server.url("/o")]].concat());
        assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a link");
        assert!(result.exit == 0 || [2, 23].contains(&result.exit), "{result:?}");
        // A hard link to another user's file.
        fs::remove_file(part_path(&path)).ok();
        fs::hard_link(&victim, part_path(&path)).expect("a link");
        run_fetch_url([flags, &["-o", path_text(&path), &server.url("/o")]].concat());
        assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a hard link");
    }
}

fn send_with_etag() -> HttpResponse {
    HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes").body(content())
}

#[test]
fn planted_part_metadata_is_not_written_through() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let victim = target.dir().join("victim");
    fs::write(&victim, "precious").expect("a file");
    for suffix in [".fetch-url.json", ".fetch-url.new"] {
        let mut name = target.path().into_os_string();
        name.push(suffix);
        symlink(&victim, name).expect("a link");
    }
    let server = http_server(|_| send_with_etag().cut_body_at(1000));
    run_fetch_url(["-C", "-", "-o", path_text(&target.path()), &server.url("/o")]);
    assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a link");
}

#[test]
fn devices_are_written_without_part_file() {
    let server = start_server();
    run_fetch_url(["-o", "/dev/null", &server.url("/o")]).assert_exit(0);
    assert!(!Path::new("/dev/null.fetch-url.part").exists());
    assert!(!Path::new("/dev/null").metadata().expect("a device").is_file());
    let result = run_shell("\"$F\" -o /dev/stdout \"$1\" | cat", [server.url("/o")]);
    assert!(result.stdout == content(), "{} bytes: {}", result.stdout.len(), result.stderr);
}

/// The shell redirects the descriptor to a regular file that already has a line.
#[test]
fn file_behind_a_descriptor_is_written_directly_and_not_truncated() {
    let (directory, server) = (temp_dir(), start_server());
    for (path, redirect) in [
        ("/dev/stderr", "2>>"),
        ("/dev/fd/2", "2>"),
        ("/dev/fd/1", ">>"),
        ("/dev/fd/7", "7>>"),
        ("/proc/self/fd/7", "7>"),
    ] {
        let file = directory.path().join("out");
        fs::write(&file, "line\n").expect("a file");
        let script = format!("\"$F\" -o {path} \"$1\" {redirect} \"$2\"");
        run_shell(&script, [server.url("/o").as_str(), path_text(&file)]).assert_exit(0);
        let kept: &[u8] = if redirect.ends_with(">>") { b"line\n" } else { b"" };
        assert!(fs::read(&file).expect("a file") == [kept, &content()].concat(), "{path} {redirect}");
    }
}

#[test]
fn fifo_is_written_or_given_up_after_max_time() {
    let directory = temp_dir();
    let fifo = directory.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    let server = start_server();
    let script =
        "cat \"$2\" & \"$F\" -o \"$2\" \"$1\"; code=$?; [ $code = 0 ] || : <>\"$2\"; wait; exit $code";
    let result = run_shell(script, [server.url("/o").as_str(), path_text(&fifo)]);
    assert!(
        result.exit == 0 && result.stdout == content() || [2, 23].contains(&result.exit),
        "{}",
        result.stderr
    );
    // Without a reader, the wait ends after --max-time.
    let start = Instant::now();
    let child = spawn_fetch_url(["-m", "1", "-o", path_text(&fifo), &server.url("/o")]);
    let id = child.id();
    let watcher = std::thread::spawn(move || wait_for_exit(child));
    let has_ended = wait_until(Duration::from_secs(4), || watcher.is_finished());
    if !has_ended {
        run_shell("kill -9 \"$1\"", [id.to_string()]);
    }
    let result = watcher.join().expect("a finished thread");
    assert!(has_ended, "still waiting for a reader after {:?} with -m 1", start.elapsed());
    assert!([2, 23, 28].contains(&result.exit), "{result:?}");
}

#[test]
fn create_dirs_creates_missing_directories() {
    let server = start_server();
    let directory = temp_dir();
    let deep = directory.path().join("a/b/c/file");
    run_fetch_url(["--create-dirs", "-o", path_text(&deep), &server.url("/o")]).assert_exit(0);
    assert!(fs::read(&deep).expect("a file") == content());
    let other_dir = directory.path().join("x/y");
    run_fetch_url(["--create-dirs", "--output-dir", path_text(&other_dir), "-O", &server.url("/d/name.txt")])
        .assert_exit(0);
    assert_eq!(entry_names(&other_dir), ["name.txt"]);
    run_fetch_url(["--create-dirs", "--output-dir", path_text(&other_dir), "-o", "p/q", &server.url("/o")])
        .assert_exit(0);
    assert!(other_dir.join("p/q").exists());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

#[test]
fn permissions_come_from_umask_or_replaced_file() {
    let server = start_server();
    for (umask, expected) in [("000", 0o666), ("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let target = Target::new(OldFile::Absent).expect("a directory");
        let path = target.path();
        run_shell(
            &format!("umask {umask}; \"$F\" -o \"$2\" \"$1\""),
            [server.url("/o").as_str(), path_text(&path)],
        )
        .assert_exit(0);
        assert_eq!(mode(&path), expected, "umask {umask}");
    }
    for expected in [0o600, 0o604, 0o755, 0o666, 0o444] {
        let target = Target::new(OldFile::Present).expect("a directory");
        let path = target.path();
        fs::set_permissions(&path, Permissions::from_mode(expected)).expect("permissions");
        run_shell("umask 022; \"$F\" -o \"$2\" \"$1\"", [server.url("/o").as_str(), path_text(&path)])
            .assert_exit(0);
        assert_eq!(mode(&path), expected);
    }
}

#[test]
fn part_file_has_mode_0600_and_resumed_file_follows_umask() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server = http_server_first_then(
        |request| send_chunked(request).drip(20_000, Duration::from_millis(50)),
        file_handler(content(), strong_etag_headers()),
    );
    let path = target.path();
    let child = spawn_fetch_url(["-o", path_text(&path), &server.url("/o")]);
    assert!(wait_until(Duration::from_secs(5), || part_path(&path)
        .metadata()
        .is_ok_and(|metadata| metadata.len() > 0)));
    assert_eq!(mode(&part_path(&path)) & 0o777, 0o600);
    send_signal(&child, "TERM");
    wait_for_exit(child);
    assert_eq!(mode(&part_path(&path)) & 0o777, 0o600);
    assert_eq!(mode(&part_metadata_path(&path)) & 0o022, 0);
    run_shell("umask 022; \"$F\" -C - -o \"$2\" \"$1\"", [server.url("/o").as_str(), path_text(&path)])
        .assert_exit(0);
    assert!(server.requests()[1].header("range").is_some());
    assert_eq!(mode(&path), 0o644);
}

#[test]
fn no_clobber_refuses_existing_files() {
    let target = Target::new(OldFile::Present).expect("a directory");
    assert_refused_before_connecting(&[2], &["--no-clobber", "-o", path_text(&target.path())]);
    assert!(target.is_untouched().expect("a file") && target.leftovers().expect("a directory").is_empty());
    let fresh = Target::new(OldFile::Absent).expect("a directory");
    let server = start_server();
    run_fetch_url(["--no-clobber", "-o", path_text(&fresh.path()), &server.url("/o")]).assert_exit(0);
    assert!(fresh.content().expect("a file") == Some(content()));
    // A file that appears during the transfer is not replaced either.
    let raced = Target::new(OldFile::Absent).expect("a directory");
    let slow = http_server(|request| send_chunked(request).drip(20_000, Duration::from_millis(25)));
    let child = spawn_fetch_url(["--no-clobber", "-o", path_text(&raced.path()), &slow.url("/o")]);
    assert!(wait_until(Duration::from_secs(5), || part_path(&raced.path()).exists()));
    fs::write(raced.path(), "mine").expect("a file");
    wait_for_exit(child).assert_exit(2);
    assert_eq!(raced.content().expect("a file").as_deref(), Some(&b"mine"[..]));
}

/// The old file may be open or have another hard link, so its content must not change.
#[test]
fn old_file_is_replaced_not_overwritten() {
    let target = Target::new(OldFile::Present).expect("a directory");
    let link = target.dir().join("link");
    fs::hard_link(target.path(), &link).expect("a link");
    run_fetch_url(["-o", path_text(&target.path()), &start_server().url("/o")]).assert_exit(0);
    assert_eq!(fs::read(&link).expect("a file"), OldFile::CONTENT);
}

#[test]
fn remote_time_sets_modification_time() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let facts = FileHeaders { last_modified: Some(date.to_owned()), ..FileHeaders::default() };
    let server = http_server(file_handler(content(), facts));
    let source = tempfile::NamedTempFile::new().expect("a file");
    let time = std::time::UNIX_EPOCH + Duration::from_secs(784_111_777);
    File::options().write(true).open(source.path()).and_then(|file| file.set_modified(time)).expect("a time");
    for url in [server.url("/o"), format!("file://{}", source.path().display())] {
        let target = Target::new(OldFile::Absent).expect("a directory");
        run_fetch_url(["-R", "-o", path_text(&target.path()), &url]).assert_exit(0);
        assert_eq!(fs::metadata(target.path()).expect("a file").mtime(), 784_111_777, "{url}");
        run_fetch_url(["-o", path_text(&target.path()), &url]).assert_exit(0);
        assert!(fs::metadata(target.path()).expect("a file").mtime() > 1_600_000_000, "{url}");
    }
}

/// The input file and the output file are the same.
#[test]
fn file_copied_onto_itself_is_not_truncated() {
    let target = Target::new(OldFile::Present).expect("a directory");
    let url = format!("file://{}", target.path().display());
    let result = run_fetch_url(["-o", path_text(&target.path()), &url]);
    assert!([0, 2, 23].contains(&result.exit), "{result:?}");
    assert!(target.is_untouched().expect("a file"));
    let result = run_shell("\"$F\" \"$1\" >>\"$2\"", [url.as_str(), path_text(&target.path())]);
    assert!([0, 2, 23].contains(&result.exit), "{result:?}");
    assert!(target.content().expect("a file").is_some_and(|now| now.len() <= 2 * OldFile::CONTENT.len()));
}
