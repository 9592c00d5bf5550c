//! The rows of the bench, with the targets of BENCH.md.

/// One row.
pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) source: Source,
    /// Octets of the object.
    pub(super) size: u64,
    /// How many of them are fetched by one run, 16 at the same time.
    pub(super) count: usize,
    pub(super) rounds: usize,
    pub(super) target: Target,
}

/// Where the object lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    File,
    Http,
}

/// What is measured of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Cpu,
    Wall,
}

/// Our figure over that of a peer, at most.
pub(super) struct Target {
    pub(super) measure: Measure,
    pub(super) ratio: f64,
    pub(super) peer: &'static str,
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
const KIB: u64 = 1 << 10;

const fn to_curl(measure: Measure, ratio: f64) -> Target {
    Target { measure, ratio, peer: "curl" }
}

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "http-1g",
        source: Source::Http,
        size: GIB,
        count: 1,
        rounds: 5,
        target: to_curl(Measure::Cpu, 0.8),
    },
    Workload {
        name: "file-1g",
        source: Source::File,
        size: GIB,
        count: 1,
        rounds: 7,
        target: to_curl(Measure::Cpu, 0.6),
    },
    Workload {
        name: "start-file",
        source: Source::File,
        size: KIB,
        count: 1,
        rounds: 60,
        target: to_curl(Measure::Wall, 0.5),
    },
    Workload {
        name: "start-http",
        source: Source::Http,
        size: KIB,
        count: 1,
        rounds: 60,
        target: to_curl(Measure::Wall, 0.6),
    },
    Workload {
        name: "many-http",
        source: Source::Http,
        size: KIB,
        count: 2000,
        rounds: 15,
        target: to_curl(Measure::Wall, 0.95),
    },
];
