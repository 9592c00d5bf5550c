//! The clients of other projects: curl, wget, lynx, w3m, lftp. A client that is not installed is skipped with a line.

use std::path::Path;
use std::process::{Command, Output};

use crate::fixture::Fixture;
use crate::support::TestServer;

/// Returns `true` if the program is installed.
#[allow(clippy::print_stderr, reason = "the output of a test")]
pub(crate) fn is_installed(program: &str) -> bool {
    let found =
        ["/usr/bin", "/usr/local/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Runs a client with these variables and returns its standard output.
fn run(program: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().expect("a directory");
    let mut command = Command::new("timeout");
    command.args(["60", program]).args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("HOME", home.path()).env("LANG", "C.UTF-8").env("TERM", "dumb").current_dir(home.path());
    command.envs(variables.iter().copied()).output().expect("it runs")
}

#[track_caller]
fn assert_prints(output: &Output, expected: &str) {
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}\n{messages}", output.status);
    assert!(text.contains(expected), "{expected:?} is missing in:\n{text}\n{messages}");
}

#[test]
fn curl_gets_ftp_http_and_gopher() {
    if !is_installed("curl") {
        return;
    }
    let fixture = Fixture::start();
    let mut options = fixture.options();
    options.policy.network.allowed_ports = vec![fixture.gopher.addr().port()];
    let server = TestServer::with(options);
    let proxy = format!("http://{}", server.addr);
    let curl = |url: &str| run("curl", &[], &["-sS", "--fail", "-x", &proxy, url]);
    assert_prints(&curl(&fixture.ftp.url("/pub/readme.txt")), "hello from ftp");
    assert_prints(&curl(&fixture.ftp.url("/pub/")), "readme.txt</a>");
    assert_prints(&curl(&fixture.http.url("/")), "A web page");
    // curl asks for gopher by CONNECT.
    assert_prints(&curl(&fixture.gopher.url("0/about")), "Hello from gopher.");
    assert!(!curl(&fixture.ftp.url("/pub/missing")).status.success());
    let head = run("curl", &[], &["-sSI", "-x", &proxy, &fixture.ftp.url("/pub/large.iso")]);
    assert_prints(&head, "content-length: 3145728");
    let resumed = run("curl", &[], &["-sS", "-x", &proxy, "-r", "0-4", &fixture.ftp.url("/pub/readme.txt")]);
    assert_prints(&resumed, "hello");
    let path = format!("{proxy}/{}", fixture.gopher.url("0/about"));
    assert_prints(&run("curl", &[], &["-sS", &path]), "Hello from gopher.");
}

#[test]
fn wget_gets_ftp_through_its_variable() {
    if !is_installed("wget") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let proxy = format!("http://{}/", server.addr);
    let variables = [("ftp_proxy", proxy.as_str()), ("http_proxy", proxy.as_str())];
    let output = run("wget", &variables, &["-q", "-O", "-", &fixture.ftp.url("/pub/readme.txt")]);
    assert_prints(&output, "hello from ftp");
    let output = run("wget", &variables, &["-q", "-O", "-", &fixture.http.url("/")]);
    assert_prints(&output, "A web page");
    // wget follows the links of the page of a directory.
    let script = format!(
        "wget -q -r -l 1 -np -nH -A txt,bin '{}' && find . -type f | sort && cat pub/readme.txt",
        fixture.ftp.url("/pub/")
    );
    assert_prints(&run("sh", &variables, &["-c", &script]), "hello from ftp");
}

#[test]
fn lynx_reads_every_scheme_through_its_variables() {
    if !is_installed("lynx") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let proxy = format!("http://{}/", server.addr);
    let names = ["gopher_proxy", "wais_proxy", "ftp_proxy", "nntp_proxy", "news_proxy", "http_proxy"];
    let variables = names.map(|name| (name, proxy.as_str()));
    let lynx = |url: &str| run("lynx", &variables, &["-dump", "-nolist", url]);
    assert_prints(&lynx(&fixture.gopher.url("1")), "About this server");
    assert_prints(&lynx(&fixture.gopher.url("0/about")), "Hello from gopher.");
    assert_prints(&lynx(&fixture.ftp.url("/pub/")), "readme.txt");
    assert_prints(&lynx(&fixture.ftp.url("/pub/readme.txt")), "hello from ftp");
    assert_prints(&lynx(&fixture.wais.url("poems?water")), "A poem about a river");
    assert_prints(&lynx("news:fetch.test"), "The first article");
    assert_prints(&lynx("news:2@test.invalid"), "caf\u{e9} and links");
    assert_prints(&lynx(&fixture.news.url("fetch.test/1")), "The first article");
    assert_prints(&lynx(&fixture.http.url("/")), "A web page");
    // And without a proxy, by paths.
    assert_prints(&run("lynx", &[], &["-dump", &format!("{proxy}news:fetch.test")]), "The first article");
}

#[test]
fn w3m_reads_gopher_through_its_variable() {
    if !is_installed("w3m") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let proxy = format!("http://{}/", server.addr);
    let options = format!("gopher_proxy={proxy}");
    let ftp = format!("ftp_proxy={proxy}");
    let w3m = |url: &str| run("w3m", &[], &["-o", &options, "-o", &ftp, "-o", "use_proxy=1", "-dump", url]);
    assert_prints(&w3m(&fixture.gopher.url("1")), "About this server");
    assert_prints(&w3m(&fixture.ftp.url("/pub/")), "readme.txt");
}

#[test]
fn lftp_lists_and_gets_ftp_through_its_setting() {
    if !is_installed("lftp") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let script = format!(
        "set ftp:proxy http://{}; set net:max-retries 1; open {}; cat pub/readme.txt; cls pub/; bye",
        server.addr,
        fixture.ftp.url("/")
    );
    let output = run("lftp", &[], &["-c", &script]);
    assert_prints(&output, "hello from ftp");
    assert_prints(&output, "large.iso");
}
