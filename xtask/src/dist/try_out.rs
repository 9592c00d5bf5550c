//! `cargo xtask dist --try`: installs and uses the packages in fresh Debian systems, and runs the image.
//!
//! The containers are described in `docker/dist`; the systems are made with debootstrap, as those of the live tests are.

use std::path::{Path, PathBuf};
use std::process::Command;

use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};

use super::Release;
use crate::program::{command_output, root, run_command};
use crate::servers;

const SUITES: [&str; 2] = ["bookworm", "trixie"];
const HELLO: &str = "Hello from the other end of a URL.\n";
/// The container that answers to its name, and the network in which it does.
const NAMED: &str = "fetch-url-dist-files";
const NETWORK: &str = "fetch-url-dist";

/// Tries the packages that `cargo xtask dist` made.
pub(super) fn run() -> Result<(), String> {
    let release = Release::new()?;
    if !servers::engine_answers() {
        return Err("dist --try needs a Docker engine: `docker info` fails".to_owned());
    }
    let deb = finished(&release, ".deb")?;
    for suite in SUITES {
        let image = system(suite)?;
        println!("dist: {} on {suite}", deb.display());
        package(&release, &image, &deb)?;
        tarball(&release, &image)?;
    }
    container_image(&release)
}

/// Returns the finished file with this ending.
fn finished(release: &Release, ending: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(&release.out);
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = paths.filter(|path| path.to_string_lossy().ends_with(ending));
    found.next().ok_or_else(|| format!("no {ending} in {}; run `cargo xtask dist`", release.out.display()))
}

/// Builds the image of a Debian release, and its base if there is none.
fn system(suite: &str) -> Result<String, String> {
    let (base, image) = (format!("fetch-url-dist/{suite}"), format!("fetch-url-dist/{suite}-try"));
    let known = command_output(&mut docker(&["images", "--quiet", &base]))?;
    if known.trim().is_empty() {
        let mut make = Command::new("sh");
        make.arg(root().join("docker/base/mkbase.sh")).arg(&base).env("SUITE", suite);
        run_command(&mut make)?;
    }
    let folder = root().join("docker/dist");
    let base = format!("BASE={base}");
    run_command(docker(&["build", "--quiet", "--build-arg", &base, "--tag", &image]).arg(folder))?;
    Ok(image)
}

/// Installs, uses, upgrades and purges the Debian package; see `docker/dist/try.sh`.
fn package(release: &Release, image: &str, deb: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("dist: the servers do not start: {error}");
    let http = HttpServer::start(|_| HttpResponse::new(200).body(HELLO)).map_err(failed)?;
    let ftp = FtpServer::start(FtpConfig::new().file("/hello.txt", HELLO)).map_err(failed)?;
    let gopher = GopherConfig::new().item(GopherItem::text("/hello.txt", HELLO));
    let gopher = GopherServer::start(gopher).map_err(failed)?;

    let mounted = format!("{}:/packages:ro", release.out.display());
    let inside = format!("/packages/{}", deb.file_name().unwrap_or_default().to_string_lossy());
    let mut run = docker(&["run", "--rm", "--network", "host", "--volume", &mounted, image]);
    run.args(["sh", "/usr/local/lib/fetch-url-try/try.sh", &inside, &release.version]);
    run.args([http.url("/hello.txt"), ftp.url("/hello.txt"), gopher.url("0/hello.txt")]);
    run_command(&mut run)
}

/// Installs the tarball under `/usr/local` by the command of the documentation.
fn tarball(release: &Release, image: &str) -> Result<(), String> {
    let mounted = format!("{}:/packages:ro", release.out.display());
    let script = "tar -C /usr/local --strip-components=1 -xzf /packages/*.tar.gz && fetch-url -V && \
        man -P cat fetch-url | grep -q SYNOPSIS";
    run_command(
        docker(&["run", "--rm", "--network", "none", "--volume", &mounted, image]).args(["sh", "-c", script]),
    )
}

/// Loads the image, and fetches from a server whose name only the DNS of the network knows.
fn container_image(release: &Release) -> Result<(), String> {
    let archive = finished(release, ".oci.tar")?;
    run_command(docker(&["load", "--input"]).arg(archive))?;
    let image = format!("fetch-url:{}", release.version);
    let user = command_output(&mut docker(&["image", "inspect", "--format", "{{.Config.User}}", &image]))?;
    if user.trim() != "65532:65532" {
        return Err(format!("{image} runs as {:?}", user.trim()));
    }
    run_command(&mut docker(&["run", "--rm", "--network", "none", &image, "-V"]))?;
    let network = Network::start(&format!("fetch-url-dist/{}-try", SUITES[0]))?;
    let url = format!("http://{NAMED}:8080/hello.txt");
    let text = command_output(&mut docker(&["run", "--rm", "--network", NETWORK, &image, &url]))?;
    drop(network);
    if text != "served by the name of a container\n" {
        return Err(format!("{url}: {text:?}"));
    }
    println!("dist: the image runs as {}, and resolved {NAMED}", user.trim());
    Ok(())
}

/// A network with one server, which are removed at the end.
struct Network;

impl Network {
    fn start(image: &str) -> Result<Self, String> {
        command_output(&mut docker(&["network", "create", NETWORK]))?;
        let network = Self;
        let mut server = docker(&["run", "--detach", "--rm", "--name", NAMED, "--network", NETWORK, image]);
        command_output(server.args(["busybox", "httpd", "-f", "-p", "8080", "-h", "/srv/www"]))?;
        Ok(network)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for arguments in [["rm", "--force", NAMED].as_slice(), &["network", "rm", NETWORK]] {
            let _ = docker(arguments).output();
        }
    }
}

fn docker(arguments: &[&str]) -> Command {
    let mut command = Command::new("docker");
    command.args(arguments);
    command
}
