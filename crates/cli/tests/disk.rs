//! Disks that are full, names that cannot be written to, permissions: what can be known is known before a
//! connection is made (SECURITY.md, 2.F and 3.4).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use fetch_url_tests::{
    Before, FileFacts, HttpReply, HttpRequest, HttpServer, Target, file_handler, pattern_vec,
};
use support::{ended, fetch, first_then, names, part_of, serving, shell, started, tagged, until};

const SIZE: usize = 400_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn server() -> HttpServer {
    serving(file_handler(content(), tagged()))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The object without a length that could warn.
fn chunked(_: &HttpRequest) -> HttpReply {
    let pieces = content().chunks(20_000).map(<[u8]>::to_vec).collect();
    HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes").chunked(pieces)
}

/// Whether a small file system can be mounted here: where not, `/dev/full` and RLIMIT_FSIZE have to do.
fn can_mount() -> bool {
    shell("unshare -m mount -t tmpfs -o size=64k tmpfs /mnt", [""]).exit == 0
}

/// In a tmpfs of 256 KiB with an older file: the run, then what it left, then more room and `-C -`.
const FULL: &str = r#"exec unshare -m sh -c '
    mount -t tmpfs -o size=256k tmpfs "$2" && cd "$2" && echo OLD >target || exit 99
    "$F" -o target "$1"; echo "exit $?"
    cat target; ls
    mount -o remount,size=4m "$2" || exit 99
    "$F" -C - -o target "$1"; echo "exit $?"; sha256sum <target; ls
' sh "$1" "$2""#;

#[test]
fn a_full_disk_leaves_the_old_file() {
    if !can_mount() {
        return println!("skipped: no right to mount a tmpfs");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let expected = directory.path().join("expected");
    fs::write(&expected, content()).expect("a file");
    let sum = shell("sha256sum <\"$1\"", [&expected]).text();
    let place = directory.path().join("small");
    fs::create_dir(&place).expect("a directory");
    for server in [server(), first_then(chunked, file_handler(content(), tagged()))] {
        let ran = shell(FULL, [server.url("/o").as_str(), text(&place)]);
        ran.exits(0);
        let said = ran.text();
        assert!(said.starts_with("exit 23\nOLD\ntarget\n"), "{said}{}", ran.stderr);
        assert!(said.ends_with(&format!("exit 0\n{sum}target\n")), "{said}{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

/// N1, N4: what was written before the disk was full is a true prefix, and is used when there is room.
#[test]
fn a_disk_that_fills_keeps_the_prefix() {
    if !can_mount() {
        return println!("skipped: no right to mount a tmpfs");
    }
    let place = tempfile::tempdir().expect("a directory");
    let server = first_then(chunked, file_handler(content(), tagged()));
    shell(FULL, [server.url("/o").as_str(), text(place.path())]).exits(0);
    let last = server.requests().pop().expect("a request");
    assert!(last.header("range").is_some(), "the prefix was good and was thrown away");
}

#[test]
fn a_file_that_cannot_fit_is_not_begun() {
    if !can_mount() {
        return println!("skipped: no right to mount a tmpfs");
    }
    let place = tempfile::tempdir().expect("a directory");
    let script = r#"exec unshare -m sh -c 'mount -t tmpfs -o size=256k tmpfs "$2" && cd "$2" || exit 99
        "$F" -o target "$1"; echo "exit $?"; ls' sh "$1" "$2""#;
    let huge = serving(|_| HttpReply::new(200).stream(1 << 40));
    let ran = shell(script, [huge.url("/o").as_str(), text(place.path())]);
    assert_eq!(ran.text(), "exit 23\n", "{}", ran.stderr);
}

#[test]
fn a_full_device() {
    let server = server();
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), content()).expect("a file");
    for url in [server.url("/o"), format!("file://{}", file.path().display())] {
        shell("\"$F\" \"$1\" >/dev/full", [&url]).exits(23).says("fetch-url: ");
        fetch(["-o", "/dev/full", &url]).exits(23).says("fetch-url: ");
    }
    shell("\"$F\" explain http://h/ >/dev/full", [""]).exits(23);
    shell("echo http://h/ | \"$F\" extract >/dev/full", [""]).exits(23);
    assert!(!Path::new("/dev/full.part").exists());
}

#[test]
fn a_limit_on_the_size_of_files() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), content()).expect("a file");
    let server = first_then(chunked, chunked);
    for url in [server.url("/o"), server.url("/o"), format!("file://{}", file.path().display())] {
        for before in Before::ALL {
            let target = Target::new(before).expect("a directory");
            let script = "trap '' XFSZ; ulimit -f 300; exec \"$F\" -o \"$2\" \"$1\"";
            shell(script, [url.as_str(), text(&target.path())]).exits(23).says("fetch-url: ");
            assert!(target.is_untouched().expect("a file"));
            let kept = fs::read(part_of(&target.path())).unwrap_or_default();
            assert!(content().starts_with(&kept));
        }
    }
}

/// Runs with this output, which must be refused without asking the server.
#[track_caller]
fn refused_unasked(exits: &[i32], arguments: &[&str]) {
    let server = server();
    let url = server.url("/o");
    let ran = fetch(arguments.iter().copied().chain([url.as_str()]));
    assert!(exits.contains(&ran.exit), "{arguments:?}: {ran:?}");
    assert_eq!(server.connections(), 0, "{arguments:?}: found too late");
    // "error: " is how complaints about the options themselves begin.
    assert!(ran.stderr.starts_with("fetch-url: ") || ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn names_that_cannot_be_written_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("directory")).expect("a directory");
    fs::write(at("precious"), "precious").expect("a file");
    symlink("precious", at("link")).expect("a link");
    symlink("nowhere", at("dangling")).expect("a link");
    symlink("directory", at("link-to-directory")).expect("a link");
    let before = names(directory.path());
    for name in ["directory", "link", "dangling", "link-to-directory"] {
        refused_unasked(&[2, 23], &["-o", text(&at(name))]);
        refused_unasked(&[2, 23], &["-C", "-", "-o", text(&at(name))]);
    }
    for name in ["missing/file", "precious/file", "directory/", "directory/.", "directory/..", ""] {
        refused_unasked(&[2, 23], &["-o", text(&at(name))]);
    }
    refused_unasked(&[2, 23], &["-o", ""]);
    refused_unasked(&[2, 23], &["-o", text(&at(&"n".repeat(300)))]);
    refused_unasked(&[2, 23], &["-o", text(&at(&"n".repeat(252)))]);
    refused_unasked(&[2, 23], &["--output-dir", text(&at("missing")), "-O"]);
    refused_unasked(&[2, 23], &["--create-dirs", "-o", text(&at("precious/below/file"))]);
    assert_eq!(names(directory.path()), before, "something was left");
    assert_eq!(fs::read(at("precious")).expect("a file"), b"precious");
}

#[test]
fn a_read_only_directory() {
    let server = server();
    let place = tempfile::tempdir().expect("a directory");
    let script = r#"if [ "$(id -u)" = 0 ]; then
            exec unshare -m sh -c 'mount -t tmpfs -o ro tmpfs "$2" && exec "$F" -o "$2/file" "$1"' sh "$1" "$2"
        fi
        chmod 555 "$2"; exec "$F" -o "$2/file" "$1""#;
    shell(script, [server.url("/o").as_str(), text(place.path())]).exits(23).says("fetch-url: ");
    assert_eq!(server.connections(), 0);
}

/// A planted `.part` is not followed and not taken.
#[test]
fn a_planted_part_is_not_followed() {
    for flags in [&["-C", "-"][..], &[]] {
        let target = Target::new(Before::Absent).expect("a directory");
        let victim = target.dir().join("victim");
        fs::write(&victim, "precious").expect("a file");
        symlink(&victim, part_of(&target.path())).expect("a link");
        let server = server();
        let path = target.path();
        let ran = fetch([flags, &["-o", text(&path), &server.url("/o")]].concat());
        assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a link");
        assert!(ran.exit == 0 || [2, 23].contains(&ran.exit), "{ran:?}");
        // A hard link to a file of somebody else is no better.
        fs::remove_file(part_of(&path)).ok();
        fs::hard_link(&victim, part_of(&path)).expect("a link");
        fetch([flags, &["-o", text(&path), &server.url("/o")]].concat());
        assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a hard link");
    }
}

#[test]
fn a_planted_journal_is_not_followed() {
    let target = Target::new(Before::Absent).expect("a directory");
    let victim = target.dir().join("victim");
    fs::write(&victim, "precious").expect("a file");
    for suffix in [".part.json", ".part.json.new"] {
        let mut name = target.path().into_os_string();
        name.push(suffix);
        symlink(&victim, name).expect("a link");
    }
    let server = serving(|_| {
        let reply = HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
        reply.body(content()).cut_body_at(1000)
    });
    fetch(["-C", "-", "-o", text(&target.path()), &server.url("/o")]);
    assert_eq!(fs::read(&victim).expect("a file"), b"precious", "written through a link");
}

#[test]
fn devices_are_written_directly() {
    let server = server();
    fetch(["-o", "/dev/null", &server.url("/o")]).exits(0);
    assert!(!Path::new("/dev/null.part").exists());
    assert!(!Path::new("/dev/null").metadata().expect("a device").is_file());
    let ran = shell("\"$F\" -o /dev/stdout \"$1\" | cat", [server.url("/o")]);
    assert!(ran.stdout == content(), "{} octets: {}", ran.stdout.len(), ran.stderr);
}

#[test]
fn a_fifo_with_a_reader_and_without() {
    let directory = tempfile::tempdir().expect("a directory");
    let fifo = directory.path().join("fifo");
    shell("mkfifo \"$1\"", [&fifo]).exits(0);
    let server = server();
    let script =
        "cat \"$2\" & \"$F\" -o \"$2\" \"$1\"; code=$?; [ $code = 0 ] || : <>\"$2\"; wait; exit $code";
    let ran = shell(script, [server.url("/o").as_str(), text(&fifo)]);
    assert!(ran.exit == 0 && ran.stdout == content() || [2, 23].contains(&ran.exit), "{}", ran.stderr);
    // Nobody reads: that is not waited for longer than the time that was given.
    let began = Instant::now();
    let child = started(["-m", "1", "-o", text(&fifo), &server.url("/o")]);
    let id = child.id();
    let watcher = std::thread::spawn(move || ended(child));
    let is_over = until(Duration::from_secs(4), || watcher.is_finished());
    if !is_over {
        shell("kill -9 \"$1\"", [id.to_string()]);
    }
    let ran = watcher.join().expect("it ended");
    assert!(is_over, "still waiting for a reader after {:?} with -m 1", began.elapsed());
    assert!([2, 23, 28].contains(&ran.exit), "{ran:?}");
}

#[test]
fn directories_are_made_when_asked() {
    let server = server();
    let directory = tempfile::tempdir().expect("a directory");
    let deep = directory.path().join("a/b/c/file");
    fetch(["--create-dirs", "-o", text(&deep), &server.url("/o")]).exits(0);
    assert!(fs::read(&deep).expect("a file") == content());
    let other = directory.path().join("x/y");
    fetch(["--create-dirs", "--output-dir", text(&other), "-O", &server.url("/d/name.txt")]).exits(0);
    assert_eq!(names(&other), ["name.txt"]);
    fetch(["--create-dirs", "--output-dir", text(&other), "-o", "p/q", &server.url("/o")]).exits(0);
    assert!(other.join("p/q").exists());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

#[test]
fn permissions_are_the_umask_s_or_the_old_file_s() {
    let server = server();
    for (umask, expected) in [("000", 0o666), ("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let target = Target::new(Before::Absent).expect("a directory");
        let path = target.path();
        shell(&format!("umask {umask}; \"$F\" -o \"$2\" \"$1\""), [server.url("/o").as_str(), text(&path)])
            .exits(0);
        assert_eq!(mode(&path), expected, "umask {umask}");
    }
    for expected in [0o600, 0o604, 0o755, 0o666, 0o444] {
        let target = Target::new(Before::Old).expect("a directory");
        let path = target.path();
        fs::set_permissions(&path, Permissions::from_mode(expected)).expect("permissions");
        shell("umask 022; \"$F\" -o \"$2\" \"$1\"", [server.url("/o").as_str(), text(&path)]).exits(0);
        assert_eq!(mode(&path), expected);
    }
}

#[test]
fn the_part_is_private_and_a_resumed_file_gets_the_same_permissions() {
    let target = Target::new(Before::Absent).expect("a directory");
    let server = first_then(
        |request| chunked(request).drip(20_000, Duration::from_millis(50)),
        file_handler(content(), tagged()),
    );
    let path = target.path();
    let child = started(["-o", text(&path), &server.url("/o")]);
    assert!(until(Duration::from_secs(5), || part_of(&path).metadata().is_ok_and(|facts| facts.len() > 0)));
    assert_eq!(mode(&part_of(&path)) & 0o777, 0o600);
    support::send_signal(&child, "TERM");
    ended(child);
    assert_eq!(mode(&part_of(&path)) & 0o777, 0o600);
    assert_eq!(mode(&support::journal_of(&path)) & 0o022, 0);
    shell("umask 022; \"$F\" -C - -o \"$2\" \"$1\"", [server.url("/o").as_str(), text(&path)]).exits(0);
    assert!(server.requests()[1].header("range").is_some());
    assert_eq!(mode(&path), 0o644);
}

#[test]
fn no_clobber() {
    let target = Target::new(Before::Old).expect("a directory");
    refused_unasked(&[2], &["--no-clobber", "-o", text(&target.path())]);
    assert!(target.is_untouched().expect("a file") && target.leftovers().expect("a directory").is_empty());
    let fresh = Target::new(Before::Absent).expect("a directory");
    let server = server();
    fetch(["--no-clobber", "-o", text(&fresh.path()), &server.url("/o")]).exits(0);
    assert!(fresh.content().expect("a file") == Some(content()));
    // A file that appears while the transfer runs is not replaced either.
    let raced = Target::new(Before::Absent).expect("a directory");
    let slow = serving(|request| chunked(request).drip(20_000, Duration::from_millis(25)));
    let child = started(["--no-clobber", "-o", text(&raced.path()), &slow.url("/o")]);
    assert!(until(Duration::from_secs(5), || part_of(&raced.path()).exists()));
    fs::write(raced.path(), "mine").expect("a file");
    ended(child).exits(2);
    assert_eq!(raced.content().expect("a file").as_deref(), Some(&b"mine"[..]));
}

/// The old file may be open or hard-linked elsewhere: its octets stay as they were.
#[test]
fn the_old_file_is_replaced_and_not_rewritten() {
    let target = Target::new(Before::Old).expect("a directory");
    let link = target.dir().join("link");
    fs::hard_link(target.path(), &link).expect("a link");
    fetch(["-o", text(&target.path()), &server().url("/o")]).exits(0);
    assert_eq!(fs::read(&link).expect("a file"), Before::OLD_CONTENT);
}

#[test]
fn the_remote_time() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let facts = FileFacts { last_modified: Some(date.to_owned()), ..FileFacts::default() };
    let server = serving(file_handler(content(), facts));
    let source = tempfile::NamedTempFile::new().expect("a file");
    let time = std::time::UNIX_EPOCH + Duration::from_secs(784_111_777);
    File::options().write(true).open(source.path()).and_then(|file| file.set_modified(time)).expect("a time");
    for url in [server.url("/o"), format!("file://{}", source.path().display())] {
        let target = Target::new(Before::Absent).expect("a directory");
        fetch(["-R", "-o", text(&target.path()), &url]).exits(0);
        assert_eq!(fs::metadata(target.path()).expect("a file").mtime(), 784_111_777, "{url}");
        fetch(["-o", text(&target.path()), &url]).exits(0);
        assert!(fs::metadata(target.path()).expect("a file").mtime() > 1_600_000_000, "{url}");
    }
}

/// Reading a file into itself would be its end.
#[test]
fn a_file_onto_itself_stays_whole() {
    let target = Target::new(Before::Old).expect("a directory");
    let url = format!("file://{}", target.path().display());
    let ran = fetch(["-o", text(&target.path()), &url]);
    assert!([0, 2, 23].contains(&ran.exit), "{ran:?}");
    assert!(target.is_untouched().expect("a file"));
    let ran = shell("\"$F\" \"$1\" >>\"$2\"", [url.as_str(), text(&target.path())]);
    assert!([0, 2, 23].contains(&ran.exit), "{ran:?}");
    assert!(target.content().expect("a file").is_some_and(|now| now.len() <= 2 * Before::OLD_CONTENT.len()));
}
