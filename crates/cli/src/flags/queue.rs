//! The options of `fetch-url queue`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command, Subcommand, ValueEnum, value_parser};

use super::deferred::DeferrableFlags;
use super::values::{parse_seconds, parse_size};
use super::{BATCH_OPTIONS, DeferredFlags, FetchFlags};

impl DeferrableFlags for QueueFlags {}

/// The help of the address of a queue, the same in all sub-commands.
const QUEUE_HELP: &str = "Queue: nats://[USER@]HOST[:PORT]/NAME, or tls:// to require TLS";

/// The description of `queue` in the help.
pub const QUEUE_ABOUT: &str = "Fetch one list with many machines, over NATS JetStream";

/// Returns a command that has the sub-command `queue` only, for its manual pages. It does not depend on the feature.
pub fn command() -> Command {
    let queue = QueueFlags::define(Command::new("queue")).about(QUEUE_ABOUT).disable_help_subcommand(true);
    Command::new("fetch-url").subcommand(queue)
}

/// Options of `fetch-url queue`.
#[derive(Args, Debug)]
pub struct QueueFlags {
    /// The sub-command.
    #[command(subcommand)]
    pub verb: QueueVerb,
}

/// A sub-command of `fetch-url queue`.
#[derive(Debug, Subcommand)]
pub enum QueueVerb {
    /// Add the lines of a list; lines that were added before are not added again
    Add(AddFlags),
    /// Fetch lines until the queue is empty. Run it on each machine
    #[command(override_usage = "fetch-url queue work [OPTIONS] --output-dir DIR QUEUE")]
    Work(DeferredFlags<WorkFlags>),
    /// Print the numbers of waiting, fetched and failed lines, and the workers
    Status(StatusFlags),
    /// Print the failed lines in the format of --input-file, or add them again
    Failed(FailedFlags),
    /// Delete the queue: its lines and results; the files stay
    Drop(DropFlags),
}

/// Options of `fetch-url queue add`.
#[derive(Args, Debug)]
pub struct AddFlags {
    /// The address of the queue.
    #[arg(value_name = "QUEUE", help = QUEUE_HELP)]
    pub queue: String,
    /// List of lines in the format of fetch-url --input-file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub input_file: PathBuf,
    /// For a new queue: number of buckets into which hosts are hashed
    ///
    /// The hosts of one bucket share the limit of --parallel-max-host.
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "64", value_parser = value_parser!(u16).range(1..=4096))]
    pub buckets: u16,
    /// For a new queue: give a line to another worker if no heartbeat arrives for SECONDS
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "30", value_parser = parse_seconds)]
    pub lease: Duration,
    /// For a new queue: maximum size of the waiting lines at the server
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub max_queue_size: Option<u64>,
    /// The connection to the server.
    #[command(flatten)]
    pub nats: NatsFlags,
}

/// Options of `fetch-url queue work`.
#[derive(Args, Debug)]
pub struct WorkFlags {
    /// Wait for new lines when the queue is empty
    #[arg(long, help_heading = "Queue")]
    pub wait: bool,
    /// Record a line as failed after it was handed out N times
    ///
    /// It applies to transient errors. Other errors are recorded at once.
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "20", value_parser = value_parser!(u64).range(1..), help_heading = "Queue")]
    pub max_tries: u64,
    /// Name of this worker in the status (default: HOST:PID)
    #[arg(long, value_name = "NAME", help_heading = "Queue")]
    pub worker_name: Option<String>,
    /// The connection to the server.
    #[command(flatten)]
    pub nats: NatsFlags,
    /// Options for fetching each file.
    #[command(flatten)]
    pub fetch: FetchFlags,
}

impl DeferrableFlags for WorkFlags {
    fn define(command: Command) -> Command {
        Self::augment_args(command).mut_args(|argument| match argument.get_id().as_str() {
            "urls" => argument.value_name("QUEUE").help(QUEUE_HELP),
            "output_dir" => argument.help("Write all files below DIR, which all workers share"),
            id if BATCH_OPTIONS.contains(id) => argument.hide(true),
            _ => argument,
        })
    }
}

/// Options of `fetch-url queue status`.
#[derive(Args, Debug)]
pub struct StatusFlags {
    /// The address of the queue.
    #[arg(value_name = "QUEUE", help = QUEUE_HELP)]
    pub queue: String,
    /// Format of the status
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: StatusFormat,
    /// Print the status again every SECONDS, until the command is interrupted
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, num_args = 0..=1, default_missing_value = "2")]
    pub watch: Option<Duration>,
    /// The connection to the server.
    #[command(flatten)]
    pub nats: NatsFlags,
}

/// The format of a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StatusFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// Options of `fetch-url queue failed`.
#[derive(Args, Debug)]
pub struct FailedFlags {
    /// The address of the queue.
    #[arg(value_name = "QUEUE", help = QUEUE_HELP)]
    pub queue: String,
    /// Add the failed lines again instead of printing them
    #[arg(long)]
    pub retry: bool,
    /// The connection to the server.
    #[command(flatten)]
    pub nats: NatsFlags,
}

/// Options of `fetch-url queue drop`.
#[derive(Args, Debug)]
pub struct DropFlags {
    /// The address of the queue.
    #[arg(value_name = "QUEUE", help = QUEUE_HELP)]
    pub queue: String,
    /// The connection to the server.
    #[command(flatten)]
    pub nats: NatsFlags,
}

/// How the NATS server is reached. Secrets are read from files, which other users must not be able to read.
#[derive(Args, Debug)]
pub struct NatsFlags {
    /// User of the NATS server, with --nats-password-file
    #[arg(long, value_name = "USER", help_heading = "NATS", requires = "nats_password_file")]
    pub nats_user: Option<String>,
    /// Read the password of the NATS server from the first line of FILE
    #[arg(long, value_name = "FILE", help_heading = "NATS", conflicts_with_all = ["nats_token_file", "nats_creds"])]
    pub nats_password_file: Option<PathBuf>,
    /// Read a token for the NATS server from the first line of FILE
    #[arg(long, value_name = "FILE", help_heading = "NATS", conflicts_with = "nats_creds")]
    pub nats_token_file: Option<PathBuf>,
    /// Log in with a credentials file (JWT and seed)
    #[arg(long, value_name = "FILE", help_heading = "NATS")]
    pub nats_creds: Option<PathBuf>,
    /// Trust only the certificate authorities in this PEM file for the NATS server
    #[arg(long, value_name = "FILE", help_heading = "NATS")]
    pub nats_cacert: Option<PathBuf>,
    /// Client certificate for the NATS server, in PEM
    #[arg(long, value_name = "FILE", help_heading = "NATS", requires = "nats_key")]
    pub nats_cert: Option<PathBuf>,
    /// Private key of --nats-cert, in PEM
    #[arg(long, value_name = "FILE", help_heading = "NATS", requires = "nats_cert")]
    pub nats_key: Option<PathBuf>,
}
