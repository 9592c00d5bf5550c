//! The everyday tasks of tests/everyday/tasks.tsv, with curl and wget beside fetch-url where they are installed.

use std::path::Path;
use std::process::Command;

use fetch_url_tests::{FtpConfig, FtpServer, HttpRequest, HttpResponse, HttpServer, file_handler};

use crate::support::md5::md5_hex;
use crate::support::mirror::list_tree;
use crate::support::{
    BINARY, RunResult, check_in_parallel, ensure, http_server, isolate_environment, run_command,
    strong_etag_headers, temp_dir,
};

const TASKS: &str = include_str!("../../../../tests/everyday/tasks.tsv");
const CONTENT: &str = "content of the file";

/// One line of the table.
struct Task<'t> {
    name: &'t str,
    setup: &'t str,
    ours: &'t str,
    curl: &'t str,
    wget: &'t str,
    exit: i32,
    files: &'t str,
    output: &'t str,
}

impl<'t> Task<'t> {
    fn parse(line: &'t str) -> Self {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, setup, ours, curl, wget, exit, files, output] = fields[..] else { panic!("{line:?}") };
        Self { name, setup, ours, curl, wget, exit: exit.parse().expect("a status"), files, output }
    }
}

fn respond(request: &HttpRequest) -> HttpResponse {
    let header = |name: &str| request.header_text(name).unwrap_or_default().to_owned();
    let ok = |body: String| HttpResponse::new(200).body(body);
    match request.path().as_str() {
        "/file" => match request.header_text("if-none-match") {
            Some("\"v1\"") => HttpResponse::new(304).header("ETag", "\"v1\""),
            _ => file_handler(CONTENT.as_bytes().to_vec(), strong_etag_headers())(request),
        },
        "/redirect" => HttpResponse::new(302).header("Location", "/file"),
        "/missing" => HttpResponse::new(404).body("not here"),
        "/named" => {
            ok("named".to_owned()).header("Content-Disposition", "attachment; filename=\"given.txt\"")
        }
        "/echo" => ok(format!("{} {}", request.method, String::from_utf8_lossy(&request.body))),
        "/query" => ok(String::from_utf8_lossy(&request.target).into_owned()),
        "/own" => ok(header("x-own")),
        "/agent" => ok(header("user-agent")),
        "/referer" => ok(header("referer")),
        "/cookies" => ok(header("cookie")),
        "/set" => HttpResponse::new(200).header("Set-Cookie", "a=b; Max-Age=1000"),
        // The Base64 form of `me:secret`.
        "/login" if header("authorization") == "Basic bWU6c2VjcmV0" => ok("welcome".to_owned()),
        "/login" => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""),
        "/dated" if request.header("if-modified-since").is_some() => HttpResponse::new(304),
        "/dir/" => ok("<html><head><title>Index of /dir/</title></head><body><a href=\"../\">../</a>\n\
                       <a href=\"y\">y</a>\n<a href=\"z\">z</a></body></html>"
            .to_owned())
        .header("Content-Type", "text/html"),
        "/never" => HttpResponse::raw("").then_stall(std::time::Duration::from_secs(5)),
        path => ok(path.to_owned()),
    }
}

struct Servers {
    http: HttpServer,
    ftp: FtpServer,
}

impl Servers {
    fn fill(&self, text: &str, directory: &Path) -> String {
        let url = self.http.url("");
        let url = url.trim_end_matches('/');
        let ftp = self.ftp.url("");
        text.replace("{H}", url)
            .replace("{h}", url.trim_start_matches("http://"))
            .replace("{F}", ftp.trim_end_matches('/'))
            .replace("{D}", &directory.display().to_string())
            .replace("{MD5}", &md5_hex(CONTENT.as_bytes()))
    }

    /// Runs a program in a new directory. Returns its result and the files afterwards.
    fn run(&self, task: &Task<'_>, program: &str, arguments: &str) -> (RunResult, Vec<String>) {
        let dir = temp_dir();
        let (setup, arguments) = (self.fill(task.setup, dir.path()), self.fill(arguments, dir.path()));
        let setup = if setup.is_empty() { ":" } else { &setup };
        let mut command = Command::new("sh");
        isolate_environment(&mut command);
        command.env("P", program).env("HOME", "/nonexistent").current_dir(dir.path());
        command.args(["-c", &format!("set -f; {setup}; $P {arguments}")]);
        (run_command(command), list_tree(dir.path()))
    }

    /// Checks the files and the output of a run.
    fn check(&self, task: &Task<'_>, result: &RunResult, found: &[String]) -> Result<(), String> {
        let expected = self.fill(&task.files.replace("\\n", "\n"), Path::new("")).replace(";\n", "\n");
        let mut expected: Vec<&str> = expected.split(';').filter(|file| !file.is_empty()).collect();
        expected.sort_unstable();
        let is_same = |(expected, found): (&&str, &String)| match expected.strip_suffix('*') {
            Some(name) => found.starts_with(&format!("{name}=")),
            None => found == expected,
        };
        let is_complete = expected.len() == found.len() && expected.iter().zip(found).all(is_same);
        ensure(is_complete, || format!("files {found:?} instead of {expected:?}: {result:?}"))?;
        let output = self.fill(task.output, Path::new(""));
        ensure(result.stdout_text().contains(&output), || format!("no {output:?} in {result:?}"))
    }
}

#[test]
fn everyday_tasks_have_the_results_of_the_table() {
    let ftp = FtpConfig::new().file("/pub/one", "1").file("/pub/two", "22").file("/pub/sub/x", "x");
    let servers = Servers { http: http_server(respond), ftp: FtpServer::start(ftp).expect("a server") };
    let tasks: Vec<Task<'_>> = TASKS.lines().filter(|line| !line.starts_with('#')).map(Task::parse).collect();
    assert!(tasks.len() >= 70, "{}", tasks.len());
    check_in_parallel(&tasks, 4, |task| {
        let (result, found) = servers.run(task, BINARY, task.ours);
        ensure(result.exit == task.exit, || format!("{}: {result:?}", task.name))?;
        servers.check(task, &result, &found).map_err(|error| format!("{}: {error}", task.name))?;
        let curl = if task.curl == "=" { task.ours } else { task.curl };
        for (program, arguments) in [("/usr/bin/curl", curl), ("/usr/bin/wget", task.wget)] {
            if arguments == "-" || !Path::new(program).exists() {
                continue;
            }
            let quiet =
                if program.ends_with("curl") { format!("{program} -q -sS") } else { program.to_owned() };
            let (result, found) = servers.run(task, &quiet, arguments);
            // Their exit statuses differ where fetch-url has one of its own.
            ensure((result.exit == 0) == (task.exit == 0), || {
                format!("{}: {program}: {result:?}", task.name)
            })?;
            let checked = servers.check(task, &result, &found);
            checked.map_err(|error| format!("{}: {program}: {error}", task.name))?;
        }
        Ok(())
    });
}
