//! SIGKILL at any moment: the next run completes the download and leaves no temporary files (docs/spec/faults.md, rules
//! N5 and N6).

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::mirror::nginx_index_with_sizes;
use crate::support::{
    check_in_parallel, ensure, entry_names, http_server, part_metadata_path, part_path, run_fetch_url,
    spawn_fetch_url, strong_etag_headers, temp_dir, wait_for_exit,
};
use fetch_url_tests::{HttpResponse, HttpServer, OldFile, Target, file_handler, pattern_vec};

/// Larger than 1 MiB, so that the file is synced before it is renamed, and has segments.
const SIZE: usize = 2_200_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Leaves a `.part` file of 1,000 bytes with its metadata.
fn interrupt(target: &Target) {
    let serve_file = file_handler(content(), strong_etag_headers());
    let server = http_server(move |request| serve_file(request).cut_body_at(1000));
    run_fetch_url(["-o", target.path().to_str().expect("UTF-8"), &server.url("/o")]).assert_exit(18);
}

fn new_metadata_path(target: &Path) -> std::path::PathBuf {
    target.with_file_name("target.bin.fetch-url.new")
}

/// The state of the disk after a process is killed between two system calls: a description, and a function that creates
/// the state.
type Moment = (&'static str, fn(&Target));

fn write_part(target: &Target, bytes: &[u8], mode: u32) {
    let part = part_path(&target.path());
    fs::write(&part, bytes).expect("a file");
    fs::set_permissions(&part, Permissions::from_mode(mode)).expect("permissions");
}

fn interrupt_with_mode(target: &Target, mode: u32) {
    interrupt(target);
    fs::set_permissions(part_path(&target.path()), Permissions::from_mode(mode)).expect("permissions");
}

const MOMENTS: [Moment; 12] = [
    ("created", |target| write_part(target, b"", 0o644)),
    ("created with umask 0777", |target| write_part(target, b"", 0)),
    ("made private", |target| write_part(target, b"", 0o600)),
    ("while data is written", |target| write_part(target, &content()[..7000], 0o600)),
    ("after the permissions of the finished file were set", |target| write_part(target, &content(), 0o644)),
    ("the same, read-only", |target| write_part(target, &content(), 0o444)),
    ("the same, unreadable", |target| write_part(target, &content(), 0o200)),
    ("after the permissions were set, with metadata", |target| interrupt_with_mode(target, 0o644)),
    ("the same, read-only", |target| interrupt_with_mode(target, 0o444)),
    ("while the first metadata is written", |target| {
        write_part(target, &content()[..7000], 0o600);
        fs::write(new_metadata_path(&target.path()), "{\"url\":").expect("a file");
    }),
    ("while new metadata is written", |target| {
        interrupt(target);
        fs::write(new_metadata_path(&target.path()), "").expect("a file");
    }),
    ("after the metadata was removed", |target| {
        interrupt(target);
        fs::remove_file(part_metadata_path(&target.path())).expect("a file");
    }),
];

#[test]
fn next_run_completes_after_a_kill_between_any_system_calls() {
    for (moment, leave) in MOMENTS {
        for options in [&[][..], &["-C", "-"], &["--segments", "2"], &["--no-clobber"]] {
            let target = Target::new(OldFile::Absent).expect("a directory");
            leave(&target);
            let server = http_server(file_handler(content(), strong_etag_headers()));
            let path = target.path();
            let output = ["-o", path.to_str().expect("UTF-8")];
            let result = run_fetch_url([options, &output, &[&server.url("/o")]].concat());
            assert_eq!(result.exit, 0, "{moment} {options:?}: {}", result.stderr);
            assert!(target.content().expect("a file") == Some(content()), "{moment} {options:?}");
            assert!(target.leftovers().expect("a directory").is_empty(), "{moment} {options:?}");
            let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
            assert!(mode & 0o600 == 0o600 && mode & 0o022 == 0, "{moment} {options:?}: {mode:o}");
        }
    }
}

/// A `.part` file that already has the permissions of the finished file gets mode 0600 again when it is resumed.
#[test]
fn continued_part_file_is_private_again() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let (serve_file, requests) = (file_handler(content(), strong_etag_headers()), AtomicUsize::new(0));
    let server = http_server(move |request| match requests.fetch_add(1, Ordering::SeqCst) {
        0 => serve_file(request).cut_body_at(1000),
        1 => HttpResponse::raw("").then_stall(Duration::from_secs(20)),
        _ => serve_file(request),
    });
    let path = target.path();
    let arguments = ["-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("/o")];
    run_fetch_url(arguments).assert_exit(18);
    fs::set_permissions(part_path(&path), Permissions::from_mode(0o644)).expect("permissions");
    let mut child = spawn_fetch_url(arguments);
    let mode = || fs::metadata(part_path(&path)).expect("a file").permissions().mode() & 0o777;
    assert!(crate::support::wait_until(Duration::from_secs(10), || server.requests().len() == 2));
    assert_eq!(mode(), 0o600);
    child.kill().expect("a child");
    wait_for_exit(child);
    run_fetch_url(arguments).assert_exit(0);
    assert!(server.requests()[2].header("range").is_some());
    assert!(target.content().expect("a file") == Some(content()));
}

/// A command that is killed repeatedly.
struct Killed {
    name: &'static str,
    options: &'static [&'static str],
    files: BTreeMap<String, Vec<u8>>,
}

impl Killed {
    fn small_files(name: &'static str, options: &'static [&'static str]) -> Self {
        let file = |number: usize| (format!("f{number:02}"), pattern_vec(number as u64, 500 * number));
        let large = ("large".to_owned(), content());
        Self { name, options, files: (0..20).map(file).chain([large]).collect() }
    }

    fn server(&self) -> HttpServer {
        let files = self.files.clone();
        http_server(move |request| {
            let path = request.path();
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            if name.is_empty() {
                let sizes: Vec<(String, String)> =
                    files.iter().map(|(name, bytes)| (name.clone(), bytes.len().to_string())).collect();
                let entries: Vec<(&str, &str)> =
                    sizes.iter().map(|(name, size)| (name.as_str(), size.as_str())).collect();
                return nginx_index_with_sizes(&entries);
            }
            match files.get(&name) {
                Some(bytes) => file_handler(bytes.clone(), strong_etag_headers())(request),
                None => HttpResponse::new(404),
            }
        })
    }

    fn arguments(&self, server: &HttpServer, directory: &Path) -> Vec<String> {
        let text = directory.to_str().expect("UTF-8").to_owned();
        let mut arguments: Vec<String> = self.options.iter().map(|&option| option.to_owned()).collect();
        match self.name {
            "mirror" => arguments.extend([server.url("/d/"), text]),
            _ => {
                arguments.extend(["--output-dir".to_owned(), text]);
                let urls = self.files.keys().map(|name| server.url(&format!("/{name}")));
                urls.for_each(|url| arguments.extend(["-O".to_owned(), url]));
            }
        }
        arguments
    }

    /// Kills runs at random moments for `time`, then checks that a run completes and leaves no other files.
    fn run(&self, time: Duration) -> Result<(), String> {
        let server = self.server();
        let random = RandomState::new();
        let started = Instant::now();
        let mut kills: u64 = 0;
        while started.elapsed() < time {
            let directory = temp_dir();
            let arguments = self.arguments(&server, directory.path());
            for _ in 0..3 {
                let mut child = spawn_fetch_url(&arguments);
                std::thread::sleep(Duration::from_micros(random.hash_one(kills) % 120_000));
                child.kill().expect("a child");
                wait_for_exit(child);
                kills += 1;
            }
            let result = run_fetch_url(&arguments);
            let fail = |what: &str| Err(format!("{} after {kills} kills: {what}: {result:?}", self.name));
            if result.exit != 0 {
                return fail("exit status");
            }
            for (name, bytes) in &self.files {
                if fs::read(directory.path().join(name)).ok().as_ref() != Some(bytes) {
                    return fail(name);
                }
            }
            let is_left = |name: &String| name.contains(".fetch-url.");
            let names = entry_names(directory.path());
            if let Some(left) = names.iter().find(|name| is_left(name)) {
                return fail(left);
            }
        }
        ensure(kills > 0, || "no kills".to_owned())
    }
}

#[test]
fn batch_mirror_and_segments_complete_after_kills_at_random_moments() {
    let mut segments = Killed { name: "segments", options: &["--segments", "2"], files: BTreeMap::new() };
    segments.files.insert("large".to_owned(), content());
    let rows = [
        Killed::small_files("batch", &["-Z"]),
        Killed::small_files("batch -C -", &["-C", "-"]),
        Killed::small_files("mirror", &["mirror", "--retry", "0"]),
        segments,
    ];
    check_in_parallel(&rows, 4, |row| row.run(Duration::from_secs(4)));
}
