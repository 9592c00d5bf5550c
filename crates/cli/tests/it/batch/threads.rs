//! No thread can be started (`ulimit -u`, `pids.max`): fetch-url works without threads, or exits with 23 and a hint.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{RunResult, http_server, run_shell, temp_dir};
use fetch_url_tests::HttpResponse;

/// Runs the command in `directory` as a user who may have one process. The limit does not apply to root.
fn run_without_threads(directory: &Path, command: &str, arguments: &[&str]) -> RunResult {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("permissions");
    let script = format!(
        "cd \"$1\" && shift || exit 99
        test \"$(id -u)\" != 0 || run='setpriv --reuid=64998 --regid=64998 --clear-groups'
        exec $run prlimit --nproc=1 \"$F\" --retry 0 {command}"
    );
    run_shell(&script, [directory.to_str().expect("UTF-8")].iter().chain(arguments))
}

/// Returns `true` if [`run_without_threads`] can start the program.
fn can_run() -> bool {
    run_without_threads(temp_dir().path(), "--version", &[]).exit == 0
}

#[test]
fn objects_are_written_to_standard_output_and_files_without_threads() {
    if !can_run() {
        return println!("skipped: the program cannot be started as another user");
    }
    let server = http_server(|_| HttpResponse::new(200).body("content"));
    let dir = temp_dir();
    fs::write(dir.path().join("local"), "content").expect("a file");
    let local = format!("file://{}/local", dir.path().display());
    for url in [server.url("/"), local] {
        let result = run_without_threads(dir.path(), "\"$1\"", &[&url]);
        assert_eq!(result.assert_exit(0).stdout, b"content", "{url}");
        run_without_threads(dir.path(), "-o target \"$1\"", &[&url]).assert_exit(0);
        assert_eq!(fs::read(dir.path().join("target")).expect("target"), b"content", "{url}");
    }
}

#[test]
fn work_that_needs_a_thread_exits_23_with_a_hint() {
    if !can_run() {
        return println!("skipped: the program cannot be started as another user");
    }
    let dir = temp_dir();
    fs::write(dir.path().join("list"), "http://127.0.0.1:9/\n").expect("a file");
    for command in ["http://localhost/", "--input-file list", "--special-files file:///dev/zero"] {
        let result = run_without_threads(dir.path(), command, &[]);
        result.assert_exit(23).assert_stderr_contains("no thread can be started");
        result.assert_stderr_contains("ulimit -u");
    }
}
