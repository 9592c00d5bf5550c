//! Files named like a `.part` file that fetch-url did not create: they are never overwritten.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{http_server, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{HttpResponse, OldFile, Target};

#[test]
fn part_file_without_metadata_is_kept_and_exits_2() {
    let server = http_server(|_| HttpResponse::new(200).body("new"));
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let path = target.path();
    let output = path.to_str().expect("valid UTF-8");
    let part_file = format!("{output}.part");
    fs::write(&part_file, "mine").expect("write file");
    run_fetch_url(["-o", output, &server.url("/o")]).assert_exit(2);
    assert_eq!(fs::read(&part_file).expect("read .part file"), b"mine");
}

/// A private file of the user whose name ends in `.part`, a file of another user, and a hard link.
#[test]
fn part_file_of_the_user_or_of_another_user_is_never_overwritten() {
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let dir = temp_dir();
    let user_file = dir.path().join("notes.part");
    fs::write(&user_file, "my diary").expect("write file");
    fs::set_permissions(&user_file, fs::Permissions::from_mode(0o600)).expect("set file mode");
    run_fetch_url_in(dir.path(), ["-o", "notes", &server.url("/")])
        .assert_exit(2)
        .assert_stderr_contains("belongs to another program or user");
    assert_eq!(fs::read_to_string(&user_file).expect("read file"), "my diary");
    // A file of another user is kept, even with a `.part.json` file beside it. Only root can create one for this check.
    let foreign = dir.path().join("mine.part");
    fs::write(&foreign, "clean").expect("write file");
    fs::write(dir.path().join("mine.part.json"), "{}").expect("write file");
    if std::os::unix::fs::chown(&foreign, Some(12_345), None).is_ok() {
        run_fetch_url_in(dir.path(), ["-o", "mine", &server.url("/")])
            .assert_exit(2)
            .assert_stderr_contains("belongs to another program or user");
        assert!(!dir.path().join("mine").exists() && fs::read(&foreign).expect("read file") == b"clean");
    }
    // A `.part` file with a second hard link could redirect the writes to another file.
    let (other, linked_part) = (dir.path().join("other"), dir.path().join("x.part"));
    fs::write(&other, "").expect("write file");
    fs::hard_link(&other, &linked_part).expect("create link");
    run_fetch_url_in(dir.path(), ["-o", "x", &server.url("/")]).assert_exit(2);
}
