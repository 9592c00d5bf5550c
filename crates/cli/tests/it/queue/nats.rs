//! A private NATS server, and the few commands of its protocol that the tests send themselves.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The maximum time for the server to start.
const START_TIME: Duration = Duration::from_secs(20);

/// A server on a free port of this computer, with its storage in a temporary directory. It is killed when dropped.
pub(crate) struct NatsServer {
    process: Child,
    directory: TempDir,
    pub(crate) address: String,
    arguments: Vec<String>,
}

impl NatsServer {
    /// Starts a server with JetStream. Returns `None`, and prints that the test is skipped, if nats-server is not
    /// installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("jetstream {}\n")
    }

    /// Starts a server with this configuration.
    #[allow(clippy::print_stdout, reason = "a test that was skipped must say so")]
    pub(crate) fn start_with(config: &str) -> Option<Self> {
        let is_installed = Command::new("nats-server").arg("--version").output().is_ok();
        if !is_installed {
            println!("skipped: nats-server is not installed");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("nats.conf"), config).expect("written");
        let path = |name: &str| directory.path().join(name).display().to_string();
        let arguments =
            ["-c", &path("nats.conf"), "-sd", &path("store"), "-a", "127.0.0.1"].map(str::to_owned);
        let ports = path("ports");
        fs::create_dir(&ports).expect("created");
        let process =
            spawn(arguments.iter().map(String::as_str).chain(["-p", "-1", "--ports_file_dir", &ports]));
        // If the wait fails, the server is killed.
        let mut server = Self { process, directory, address: String::new(), arguments: arguments.to_vec() };
        server.address = wait_for(|| ports_file_address(Path::new(&ports)));
        Some(server)
    }

    /// Returns the address of the queue `name`.
    pub(crate) fn queue(&self, name: &str) -> String {
        format!("nats://{}/{name}", self.address)
    }

    /// Kills the server without warning and starts it on the same port and storage.
    pub(crate) fn restart(&mut self) {
        self.stop();
        self.start_again();
    }

    pub(crate) fn stop(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
    }

    /// Replaces the configuration, which the next start reads.
    pub(crate) fn write_config(&self, config: &str) {
        fs::write(self.directory.path().join("nats.conf"), config).expect("written");
    }

    pub(crate) fn start_again(&mut self) {
        let port = self.address.rsplit(':').next().expect("a port").to_owned();
        self.process = spawn(self.arguments.iter().map(String::as_str).chain(["-p", &port]));
        wait_for(|| TcpStream::connect(&self.address).ok());
    }

    /// Publishes a message, and returns when the server has read it.
    pub(crate) fn publish(&self, subject: &str, payload: &str) {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        stream.set_read_timeout(Some(START_TIME)).expect("a timeout");
        let commands = format!(
            "CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\nPUB {subject} {}\r\n{payload}\r\nPING\r\n",
            payload.len()
        );
        stream.write_all(commands.as_bytes()).expect("sent");
        let mut lines = BufReader::new(stream).lines();
        assert!(lines.any(|line| line.expect("a line") == "PONG"));
    }

    /// Publishes a message to the queue `corpus`. Its subjects have the identity of the queue after their kind.
    pub(crate) fn publish_to_queue(&self, subject: &str, payload: &str) {
        let config = fs::read_to_string(self.stream_directory("corpus").join("meta.inf")).expect("a stream");
        let id =
            config.split(" id=").nth(1).and_then(|rest| rest.split([' ', '"']).next()).expect("an identity");
        let (kind, rest) = subject.split_once('.').expect("a kind");
        self.publish(&format!("corpus.{kind}.{id}.{rest}"), payload);
    }

    fn stream_directory(&self, name: &str) -> PathBuf {
        self.directory.path().join("store/jetstream/$G/streams").join(name)
    }

    /// Creates a stream with this description, which `queue` did not create.
    pub(crate) fn create_stream(&self, name: &str, description: &str) {
        let config = format!(
            r#"{{"name":"{name}","subjects":["{name}.x"],"description":"{description}","retention":"limits","storage":"file","num_replicas":1}}"#
        );
        self.publish(&format!("$JS.API.STREAM.CREATE.{name}"), &config);
        let stored = self.stream_directory(name).join("meta.inf");
        wait_for(|| stored.exists().then_some(()));
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn spawn<'a>(arguments: impl Iterator<Item = &'a str>) -> Child {
    let mut command = Command::new("nats-server");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("nats-server starts")
}

fn ports_file_address(directory: &Path) -> Option<String> {
    let file = fs::read_dir(directory).ok()?.next()?.ok()?;
    let text = fs::read_to_string(file.path()).ok()?;
    // With TLS the scheme is `tls`.
    let rest = text.split("://").nth(1)?;
    Some(rest.split('"').next()?.to_owned())
}

/// Waits until `probe` returns a value.
pub(crate) fn wait_for<T>(mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(start.elapsed() < START_TIME, "waited for {START_TIME:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
