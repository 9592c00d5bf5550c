//! `cargo xtask bench queue`: the lines per second of 1, 2 and 4 workers of `fetch-url queue` on a server that is 50 ms away,
//! and the CPU time of one worker beside a batch of the same list.
//!
//! The workers and the NATS server run in the local network namespace, nginx in the remote one.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wait4::Wait4 as _;

use super::delayed_network::{DelayedNetwork, REMOTE_ADDRESS, in_local_namespace, in_remote_namespace};
use super::fixture::write_object;
use super::remove;
use crate::program;

/// The name of the row.
pub(super) const ROW: &str = "queue";
/// Enough that the fixed cost of a worker (connection, consumers, end of the list) weighs as little as in a long list.
const LINES: usize = 10_000;
const SIZE: u64 = 1 << 10;
const ROUNDS: usize = 2;
/// The parallel transfers of each worker, and of the batch.
const PARALLEL: &str = "8";
/// The limit of the one host is that of four workers.
const HOST_LIMIT: &str = "32";
/// The numbers of workers, each with the least ratio of its lines per second to those of one worker.
const WORKERS: [(usize, f64); 3] = [(1, 1.0), (2, 1.9), (4, 3.6)];
/// The maximum ratio of the CPU time of a worker to that of a batch.
const CPU_TARGET: f64 = 1.3;
const HTTP_PORT: u16 = 8080;
const NATS_PORT: u16 = 4222;
/// The time for a server to listen. That cannot be checked from this namespace.
const START: Duration = Duration::from_secs(1);

/// A server that is killed when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// The list and the directories. The servers are dropped before the network.
struct Bench {
    program: PathBuf,
    folder: TempDir,
    _servers: [Server; 2],
    _network: DelayedNetwork,
}

/// The cost of a run.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

/// Measures and prints the row. Says what is missing if it cannot be measured.
pub(super) fn run() -> std::result::Result<(), String> {
    for (tool, option) in [("nats-server", "--version"), ("nginx", "-v")] {
        if program::version(tool, option).is_none() {
            println!("bench: queue: skipped: {tool} is not installed");
            return Ok(());
        }
    }
    let network = match DelayedNetwork::open() {
        Ok(network) => network,
        Err(error) => {
            println!("bench: queue: skipped: {error}");
            return Ok(());
        }
    };
    // A directory of its own: the other rows build the same program without the feature.
    let build = ["--release", "--features", "queue", "--target-dir", "target/queue"];
    measure(program::fetch_url(&build)?, network).map_err(|error| format!("bench: queue: {error}"))
}

fn measure(program: PathBuf, network: DelayedNetwork) -> Result<()> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    let served = folder.path().join("served");
    fs::create_dir(&served)?;
    let name = |number: usize| format!("{number}.bin");
    for number in 0..LINES {
        write_object(&served.join(name(number)), SIZE)?;
    }
    let line =
        |number: usize| format!("http://{REMOTE_ADDRESS}:{HTTP_PORT}/{name}\t{name}\n", name = name(number));
    fs::write(folder.path().join("list"), (0..LINES).map(line).collect::<String>())?;
    let servers = [nginx(folder.path(), &served)?, nats(folder.path())?];
    thread::sleep(START);
    let bench = Bench { program, folder, _servers: servers, _network: network };
    bench.print()
}

impl Bench {
    /// Runs everything in turn, and prints the best run of each.
    fn print(&self) -> Result<()> {
        let mut batches = Vec::new();
        let mut runs = vec![Vec::new(); WORKERS.len()];
        for round in 0..ROUNDS {
            batches.push(self.batch()?);
            for ((count, _), runs) in WORKERS.iter().zip(&mut runs) {
                runs.push(self.workers(*count, round)?);
            }
        }
        println!(
            "bench: queue: {LINES} × 1 KiB, 50 ms away, {PARALLEL} transfers at the same time in each worker"
        );
        let rate = |runs: &[Cost]| LINES as f64 / least(runs, |cost| cost.wall);
        println!("   batch  {:>7.1} lines/s", rate(&batches));
        let one = rate(&runs[0]);
        for ((count, target), runs) in WORKERS.iter().zip(&runs) {
            let ratio = rate(runs) / one;
            let verdict = if ratio >= *target { "met" } else { "missed" };
            println!(
                "  {count:>6}  {:>7.1} lines/s  {ratio:.2} × one worker, target {target}: {verdict}",
                rate(runs)
            );
        }
        let (own, batch) = (least(&runs[0], |cost| cost.cpu), least(&batches, |cost| cost.cpu));
        let ratio = own / batch;
        let verdict = if ratio <= CPU_TARGET { "met" } else { "missed" };
        println!(
            "     CPU  {own:.2} s in one worker, {batch:.2} s in a batch: {ratio:.2}, target {CPU_TARGET}: {verdict}"
        );
        Ok(())
    }

    /// Returns the cost of the batch.
    fn batch(&self) -> Result<Cost> {
        self.run_all(1, |command| {
            command.arg("--input-file").arg(self.folder.path().join("list"));
        })
    }

    /// Adds the list to a new queue, and returns the cost of this number of workers.
    fn workers(&self, count: usize, round: usize) -> Result<Cost> {
        let queue = format!("nats://127.0.0.1:{NATS_PORT}/bench-{count}-{round}");
        let mut add = Command::new(&self.program);
        add.args(["queue", "add", &queue, "--input-file"]).arg(self.folder.path().join("list"));
        let status = in_local_namespace(&add).stdout(Stdio::null()).status()?;
        if !status.success() {
            return Err(Error::other(format!("queue add: {status}")));
        }
        self.run_all(count, |command| {
            command.args(["queue", "work", &queue]);
        })
    }

    /// Runs `count` processes at the same time until all have ended, and checks the number of files.
    fn run_all(&self, count: usize, what: impl Fn(&mut Command)) -> Result<Cost> {
        let out = self.folder.path().join("out");
        remove(&out);
        fs::create_dir(&out)?;
        let mut command = Command::new(&self.program);
        what(&mut command);
        command.args(["-s", "-Z", "--parallel-max", PARALLEL, "--parallel-max-host", HOST_LIMIT]);
        command.arg("--output-dir").arg(&out);
        let mut command = in_local_namespace(&command);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let began = Instant::now();
        let children: Vec<Child> = (0..count).map(|_| command.spawn()).collect::<Result<_>>()?;
        let mut cpu = Duration::ZERO;
        for mut child in children {
            let used = child.wait4()?;
            if !used.status.success() {
                return Err(Error::other(format!("{command:?}: {}", used.status)));
            }
            cpu += used.rusage.utime + used.rusage.stime;
        }
        let wall = began.elapsed();
        let names = fs::read_dir(&out)?.flatten().map(|entry| entry.file_name());
        let files = names.filter(|name| name.to_string_lossy().ends_with(".bin")).count();
        if files == LINES { Ok(Cost { wall, cpu }) } else { Err(Error::other(format!("{files} files"))) }
    }
}

/// Returns the least value of the runs in seconds.
fn least(runs: &[Cost], value: impl Fn(&Cost) -> Duration) -> f64 {
    runs.iter().map(value).min().unwrap_or_default().as_secs_f64()
}

fn nginx(folder: &Path, served: &Path) -> Result<Server> {
    let own = folder.join("nginx");
    fs::create_dir(&own)?;
    let (root, own_path) = (served.display(), own.display());
    let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let scratch: String = scratch.map(|name| format!("{name}_temp_path {own_path}/{name};\n")).concat();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {own_path}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{scratch}\
         keepalive_requests 100000;\nroot {root};\nserver {{ listen {REMOTE_ADDRESS}:{HTTP_PORT}; }}\n}}\n"
    );
    fs::write(own.join("nginx.conf"), config)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&own).arg("-c").arg(own.join("nginx.conf")).arg("-e").arg(own.join("error.log"));
    start(&in_remote_namespace(&command))
}

fn nats(folder: &Path) -> Result<Server> {
    let mut command = Command::new("nats-server");
    command.args(["-js", "-a", "127.0.0.1", "-p", &NATS_PORT.to_string(), "-sd"]).arg(folder.join("nats"));
    start(&in_local_namespace(&command))
}

fn start(command: &Command) -> Result<Server> {
    let mut started = Command::new(command.get_program());
    started.args(command.get_args()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    started.spawn().map(Server)
}
