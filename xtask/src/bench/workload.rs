//! The rows of the bench, with their targets.

/// A row of the bench.
pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) source: Source,
    /// The path of the objects: it ends with a slash, or is empty.
    pub(super) folder: &'static str,
    /// The number of bytes of each object.
    pub(super) size: u64,
    pub(super) task: Task,
    /// The number of objects that one run fetches, and the number of simultaneous transfers.
    pub(super) count: usize,
    pub(super) at_once: usize,
    pub(super) rounds: usize,
    pub(super) target: Target,
}

/// The task of a tool in one run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// It fetches one object, or a list of them.
    Fetch,
    /// It fetches one object in four segments at once.
    Segments,
    /// It copies the tree of the objects into an empty directory.
    Mirror,
    /// It compares the copy of the run before with the tree, in which nothing has changed.
    MirrorAgain,
}

impl Task {
    pub(super) const fn is_mirror(self) -> bool {
        matches!(self, Self::Mirror | Self::MirrorAgain)
    }
}

/// The server that has the object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// FTP, with a round-trip time of 50 ms.
    RemoteFtp,
    /// HTTP, with a round-trip time of 50 ms, and a limited rate of each connection.
    RemoteHttp,
    /// NNTP, with a round-trip time of 50 ms.
    RemoteNews,
    File,
    Ftp,
    /// FTP over implicit TLS.
    Ftps,
    Gopher,
    /// A text that the server has in gzip, requested with that content coding.
    Gzip,
    Http,
    /// HTTP/2 over TLS.
    Http2,
    /// HTTP/1.1 over TLS.
    Https,
    News,
}

impl Source {
    /// Returns `true` if the tools need the certification authority of the bench.
    pub(super) const fn is_tls(self) -> bool {
        matches!(self, Self::Ftps | Self::Http2 | Self::Https)
    }
}

/// The measured quantities.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Cpu,
    Wall,
}

/// The target: the maximum ratio of fetch-url's figure to another one.
pub(super) struct Target {
    pub(super) measure: Measure,
    pub(super) ratio: f64,
    pub(super) to: Reference,
}

/// The figure to which fetch-url's is compared.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    BestPeer,
    Peer(&'static str),
    /// The time that this number of round trips takes, the fewest with which the protocol can do the task.
    RoundTrips(u32),
}

impl Measure {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wall => "wall",
        }
    }
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

const fn to_curl(measure: Measure, ratio: f64) -> Target {
    Target { measure, ratio, to: Reference::Peer("curl") }
}

const fn to_round_trips(count: u32) -> Target {
    Target { measure: Measure::Wall, ratio: 1.05, to: Reference::RoundTrips(count) }
}

const fn to_the_best(measure: Measure, ratio: f64) -> Target {
    Target { measure, ratio, to: Reference::BestPeer }
}

/// One object.
const fn one(name: &'static str, source: Source, size: u64, rounds: usize, target: Target) -> Workload {
    Workload { name, source, folder: "", size, task: Task::Fetch, count: 1, at_once: 1, rounds, target }
}

/// A tree of 20,000 objects in 100 directories.
const fn tree(name: &'static str, source: Source, task: Task) -> Workload {
    let target = to_the_best(Measure::Wall, 0.5);
    Workload { name, source, folder: "tree/", size: KIB, task, count: 20_000, at_once: 4, rounds: 5, target }
}

/// The number of segments, of which the arguments of the tools tell them.
const SEGMENTS: usize = 4;

/// The number of objects in each directory of a tree.
pub(super) const OBJECTS_PER_DIRECTORY: usize = 200;

/// The round trips before the first file of an FTP connection: one connects; one sends all commands up to the first
/// `EPSV` and brings their replies.
const FTP_CONNECTION: u32 = 2;
/// The round trips of each file: one connects the data connection, while `RETR` and the `EPSV` of the next file are sent;
/// one brings the data; one acknowledges its end, because vsftpd sends 226 only after that (`SO_LINGER`).
const FTP_FILE: u32 = 3;

pub(super) const WORKLOADS: &[Workload] = &[
    one("http-1g", Source::Http, GIB, 5, to_curl(Measure::Cpu, 0.8)),
    one("ftp-1g", Source::Ftp, GIB, 5, to_curl(Measure::Cpu, 0.6)),
    one("gopher-1g", Source::Gopher, GIB, 5, to_curl(Measure::Cpu, 0.65)),
    one("file-1g", Source::File, GIB, 7, to_curl(Measure::Cpu, 0.6)),
    one("https-1g", Source::Https, GIB, 5, to_curl(Measure::Cpu, 1.0)),
    one("ftps-1g", Source::Ftps, GIB, 5, to_curl(Measure::Cpu, 1.0)),
    one("gzip", Source::Gzip, 200 * MIB, 7, to_curl(Measure::Cpu, 1.0)),
    one("start-file", Source::File, KIB, 60, to_the_best(Measure::Wall, 0.6)),
    one("start-http", Source::Http, KIB, 60, to_the_best(Measure::Wall, 0.6)),
    one("start-ftp", Source::Ftp, KIB, 60, to_the_best(Measure::Wall, 0.6)),
    one("start-gopher", Source::Gopher, KIB, 60, to_the_best(Measure::Wall, 0.6)),
    Workload {
        name: "many-http",
        source: Source::Http,
        folder: "",
        size: KIB,
        task: Task::Fetch,
        count: 2000,
        at_once: 16,
        rounds: 15,
        target: to_curl(Measure::Wall, 0.85),
    },
    Workload {
        name: "many-http2",
        source: Source::Http2,
        folder: "",
        size: KIB,
        task: Task::Fetch,
        count: 2000,
        at_once: 16,
        rounds: 9,
        target: to_curl(Measure::Wall, 1.0),
    },
    Workload {
        name: "many-ftp",
        source: Source::Ftp,
        folder: "",
        size: KIB,
        task: Task::Fetch,
        count: 2000,
        at_once: 16,
        rounds: 9,
        target: to_the_best(Measure::Wall, 0.6),
    },
    Workload {
        name: "many-gopher",
        source: Source::Gopher,
        folder: "",
        size: KIB,
        task: Task::Fetch,
        count: 2000,
        at_once: 16,
        rounds: 15,
        target: to_curl(Measure::Wall, 0.7),
    },
    tree("mirror-http", Source::Http, Task::Mirror),
    tree("again-http", Source::Http, Task::MirrorAgain),
    tree("mirror-ftp", Source::Ftp, Task::Mirror),
    tree("again-ftp", Source::Ftp, Task::MirrorAgain),
    // At 2 MiB per second and connection, four segments need at least one second.
    Workload {
        task: Task::Segments,
        at_once: SEGMENTS,
        ..one(
            "far-segments",
            Source::RemoteHttp,
            8 * MIB,
            5,
            Target { measure: Measure::Wall, ratio: 0.95, to: Reference::Peer("aria2c") },
        )
    },
    // One file of 2,000 articles of 2 KiB, compared with a client that only requests articles.
    Workload {
        target: Target { measure: Measure::Wall, ratio: 1.25, to: Reference::Peer("a pipelining script") },
        ..one("many-news", Source::News, 2000 * 2 * KIB, 15, to_curl(Measure::Wall, 1.0))
    },
    Workload {
        target: Target { measure: Measure::Wall, ratio: 0.05, to: Reference::Peer("one at a time") },
        ..one("far-many-news", Source::RemoteNews, 500 * 2 * KIB, 2, to_curl(Measure::Wall, 1.0))
    },
    Workload {
        name: "far-ftp",
        source: Source::RemoteFtp,
        folder: "pub/a/b/c/d/",
        size: KIB,
        task: Task::Fetch,
        count: 1,
        at_once: 1,
        rounds: 7,
        target: to_round_trips(FTP_CONNECTION + FTP_FILE),
    },
    Workload {
        name: "far-many-ftp",
        source: Source::RemoteFtp,
        folder: "far/",
        size: KIB,
        task: Task::Fetch,
        count: 200,
        at_once: 8,
        rounds: 5,
        target: to_round_trips(FTP_CONNECTION + 200 / 8 * FTP_FILE),
    },
];
