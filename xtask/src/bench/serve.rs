//! `cargo xtask bench serve`: the CPU time that `fetch-url serve` needs to pass objects on, beside nginx (`proxy_pass`) and
//! squid on the same URLs, and the time that it adds to one small object.
//!
//! The CPU time is that of the proxy's process, from `/proc`. curl is the client of all.

use std::fs;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::fixture::write_object;
use super::gopher::Gopher;
use super::vsftpd::Vsftpd;
use crate::program;

/// The name of the row.
pub(super) const ROW: &str = "serve";
const LARGE: u64 = 1 << 30;
const SMALL: u64 = 1 << 10;
const SMALL_COUNT: usize = 2000;
const CLIENTS: usize = 16;
const LARGE_ROUNDS: usize = 7;
const SMALL_ROUNDS: usize = 3;
const LATENCY_ROUNDS: usize = 41;
/// The maximum ratio of the CPU time to that of nginx.
const TARGET: f64 = 1.2;
/// The length of a tick of `/proc/PID/stat`: Linux reports hundredths of a second on every machine.
const TICK: Duration = Duration::from_millis(10);
/// The time limit until a server listens.
const START: Duration = Duration::from_secs(10);

/// A proxy: its process, and how a client asks it.
struct Gateway {
    name: &'static str,
    process: Child,
    port: u16,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The client asks for the path at the proxy: nginx.
    Path,
    /// The client names the proxy.
    Proxy,
}

/// The servers of the objects.
struct Origins {
    http: u16,
    ftp: Vsftpd,
    gopher: Gopher,
}

/// Measures all rows and prints them.
pub(super) fn run() -> std::result::Result<(), String> {
    measure(&program::fetch_url(&["--release"])?).map_err(|error| format!("bench: serve: {error}"))
}

fn measure(fetch_url: &Path) -> Result<()> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    write_object(&folder.path().join("large.bin"), LARGE)?;
    for number in 0..SMALL_COUNT {
        write_object(&folder.path().join(format!("small-{number}.bin")), SMALL)?;
    }
    let origin = nginx(folder.path(), "origin", "")?;
    let upstream = format!(
        "location / {{ proxy_pass http://127.0.0.1:{}; proxy_http_version 1.1; proxy_max_temp_file_size 0; \
         proxy_buffer_size 64k; proxy_buffers 16 64k; proxy_busy_buffers_size 128k; }}",
        origin.port
    );
    let origins = Origins {
        http: origin.port,
        ftp: Vsftpd::local(folder.path())?,
        gopher: Gopher::local(folder.path())?,
    };
    let mut gateways = vec![serve(fetch_url)?, nginx(folder.path(), "nginx", &upstream)?];
    match squid(folder.path()) {
        Ok(squid) => gateways.push(squid),
        Err(error) => println!("bench: no squid: {error}"),
    }
    for scheme in ["http", "ftp", "gopher"] {
        print_cpu(&gateways, &origins, scheme, "large.bin", 1)?;
        print_cpu(&gateways, &origins, scheme, &format!("small-[0-{}].bin", SMALL_COUNT - 1), SMALL_COUNT)?;
    }
    ["http", "ftp"].into_iter().try_for_each(|scheme| print_latency(&gateways, &origins, scheme))
}

impl Origins {
    fn url(&self, scheme: &str, name: &str) -> String {
        match scheme {
            "http" => format!("http://127.0.0.1:{}/{name}", self.http),
            "ftp" => format!("ftp://{}/{name}", self.ftp.authority),
            _ => format!("gopher://{}/9/{name}", self.gopher.authority),
        }
    }
}

impl Gateway {
    /// Returns `true` if it can fetch URLs of `scheme`.
    fn has(&self, scheme: &str) -> bool {
        match self.name {
            "nginx" | "origin" => scheme == "http",
            "squid" => scheme != "gopher",
            _ => true,
        }
    }

    /// Returns the arguments with which curl asks for `url`, whose path has no directories.
    fn arguments(&self, url: &str) -> Vec<String> {
        let proxy = format!("http://127.0.0.1:{}", self.port);
        match self.form {
            Form::Path => vec![format!("{proxy}/{}", url.rsplit('/').next().unwrap_or_default())],
            // curl asks for gopher by a tunnel, which would measure nothing but the tunnel.
            Form::Proxy if url.starts_with("gopher:") => vec![format!("{proxy}/{url}")],
            Form::Proxy => vec!["-x".to_owned(), proxy, url.to_owned()],
        }
    }

    /// Returns the CPU time that the process has used: fields 14 and 15 of its status.
    fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse().unwrap_or(0));
        Ok(TICK * ticks.sum::<u32>())
    }
}

impl Drop for Gateway {
    /// Ends the process by SIGTERM: squid leaves its shared memory behind if it is killed.
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let began = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && began.elapsed() < START {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// Prints the least CPU time of each gateway, and the ratios to that of `fetch-url serve`.
fn print_cpu(gateways: &[Gateway], origins: &Origins, scheme: &str, name: &str, count: usize) -> Result<()> {
    let gateways: Vec<&Gateway> = gateways.iter().filter(|gateway| gateway.has(scheme)).collect();
    let mut least = vec![Duration::MAX; gateways.len()];
    for _ in 0..if count == 1 { LARGE_ROUNDS } else { SMALL_ROUNDS } {
        for (gateway, least) in gateways.iter().zip(&mut least) {
            let before = gateway.cpu()?;
            curl(&gateway.arguments(&origins.url(scheme, name)), count)?;
            *least = (*least).min(gateway.cpu()?.saturating_sub(before));
        }
    }
    let what = if count == 1 { "1 GiB".to_owned() } else { format!("{count} × 1 KiB, {CLIENTS} clients") };
    println!("bench: serve: {scheme}, {what}: CPU of the proxy");
    let own = least.first().copied().unwrap_or_default().as_secs_f64();
    for (gateway, cpu) in gateways.iter().zip(&least) {
        let cpu = cpu.as_secs_f64();
        let ratio = if cpu > 0.0 { format!("{:.2}", own / cpu) } else { "-".to_owned() };
        let verdict = match gateway.name {
            "nginx" if count == 1 && own <= TARGET * cpu => format!(", target {TARGET}: met"),
            "nginx" if count == 1 => format!(", target {TARGET}: missed"),
            _ => String::new(),
        };
        println!("  {:>6}  {cpu:>6.2} s  serve/{0} {ratio}{verdict}", gateway.name);
    }
    Ok(())
}

/// Prints the median time of one small object, direct and through each gateway, and the difference.
fn print_latency(gateways: &[Gateway], origins: &Origins, scheme: &str) -> Result<()> {
    let url = origins.url(scheme, "small-0.bin");
    println!("bench: serve: {scheme}, one object of 1 KiB: median time");
    let direct = median_time(std::slice::from_ref(&url))?;
    println!("  direct  {direct:>6.2} ms");
    for gateway in gateways.iter().filter(|gateway| gateway.has(scheme)) {
        let time = median_time(&gateway.arguments(&url))?;
        println!("  {:>6}  {time:>6.2} ms  added {:.2} ms", gateway.name, time - direct);
    }
    Ok(())
}

/// Fetches and checks that all objects arrived.
fn curl(arguments: &[String], count: usize) -> Result<()> {
    let clients = CLIENTS.to_string();
    let mut command = Command::new("curl");
    command.args(["-q", "-s", "-S", "-f", "-o", "/dev/null", "-w", "%{size_download}\n"]);
    if count > 1 {
        command.args([
            "--no-progress-meter",
            "--parallel",
            "--parallel-immediate",
            "--parallel-max",
            &clients,
        ]);
    }
    let output = command.args(arguments).env_remove("http_proxy").stderr(Stdio::inherit()).output()?;
    let sizes = String::from_utf8_lossy(&output.stdout);
    let total: u64 = sizes.lines().filter_map(|line| line.parse::<u64>().ok()).sum();
    let expected = if count == 1 { LARGE } else { SMALL * count as u64 };
    if output.status.success() && total == expected {
        return Ok(());
    }
    Err(Error::other(format!("curl {arguments:?}: {}, {total} of {expected} bytes", output.status)))
}

/// Returns the median of curl's total times in milliseconds.
fn median_time(arguments: &[String]) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..LATENCY_ROUNDS {
        let mut command = Command::new("curl");
        command.args(["-q", "-s", "-S", "-f", "-o", "/dev/null", "-w", "%{time_total}"]).args(arguments);
        let output = command.output()?;
        let time: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().map_err(Error::other)?;
        times.push(time * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn serve(fetch_url: &Path) -> Result<Gateway> {
    let port = free_port()?;
    let mut command = Command::new(fetch_url);
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--allow-private", "-x", ""]);
    start("serve", command, port, Form::Proxy)
}

/// Starts nginx as one process: with `location`, as a proxy; without it, as the server of `folder`.
fn nginx(folder: &Path, name: &'static str, location: &str) -> Result<Gateway> {
    let (port, own) = (free_port()?, folder.join(name));
    fs::create_dir(&own)?;
    let (root, own_path) = (folder.display(), own.display());
    let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let scratch: String = scratch.map(|name| format!("{name}_temp_path {own_path}/{name};\n")).concat();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {own_path}/pid;\nevents {{}}\nhttp {{\naccess_log off;\nsendfile on;\n\
         {scratch}keepalive_requests 100000;\nroot {root};\nserver {{ listen 127.0.0.1:{port}; {location} }}\n}}\n"
    );
    fs::write(own.join("nginx.conf"), config)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&own).arg("-c").arg(own.join("nginx.conf")).arg("-e").arg(own.join("error.log"));
    start(name, command, port, Form::Path)
}

/// Starts squid as one process without a cache.
fn squid(folder: &Path) -> Result<Gateway> {
    let (port, own) = (free_port()?, folder.join("squid"));
    fs::create_dir(&own)?;
    // It leaves root for a user of its own, who may not write into the folder.
    let config = format!(
        "http_port 127.0.0.1:{port}\nhttp_access allow all\ncache deny all\nmemory_pools off\naccess_log none\n\
         cache_log /dev/null\npid_filename none\ncoredump_dir /\nshutdown_lifetime 0 seconds\npinger_enable off\n"
    );
    fs::write(own.join("squid.conf"), config)?;
    let mut command = Command::new("squid");
    // The name is that of its shared memory, which another squid may use.
    let name = format!("fetchurlbench{}", std::process::id());
    command.args(["-n", &name, "-N", "-f"]).arg(own.join("squid.conf"));
    start("squid", command, port, Form::Proxy)
}

fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr().map(|address| address.port())
}

fn start(name: &'static str, mut command: Command, port: u16, form: Form) -> Result<Gateway> {
    let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut gateway = Gateway { name, process, port, form };
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        let has_ended = gateway.process.try_wait()?.is_some();
        if has_ended || began.elapsed() > START {
            return Err(Error::other(format!("{name} does not listen on 127.0.0.1:{port}")));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(gateway)
}
