//! The plan of a round, which its seed determines.

use std::fmt;
use std::time::Duration;

use fastrand::Rng;

use super::content::{EQUAL_NAMES, SiteFile};

/// The command that a round runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// `-O URL` for each file.
    Batch,
    /// `-O URL` for each file, with `-Z`.
    ParallelBatch,
    /// `-O URL` for each file, with `-C -`.
    Resume,
    /// One large file with `--segments`.
    Segments,
    Mirror,
    MirrorWithDelete,
    /// `--input-file` with `-C -`, which uses a journal.
    InputFile,
    /// `-O URL` with `--checksum-from`. The files never change.
    Checksum,
    /// `--input-file` with two URLs of each file.
    Alternatives,
    /// The same, written to standard output.
    Stream,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Protocol {
    Http,
    Ftp,
}

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Disturbance {
    Nothing,
    /// The signal is sent after this time, unless the process has ended.
    Signal(&'static str, Duration),
    /// SIGSTOP after the first time, SIGCONT after the second.
    Suspension(Duration, Duration),
    /// Writing beyond this size of a file fails, as on a full disk.
    FileSizeLimit(u32),
    /// The file system has only this many free bytes.
    FullVolume(u32),
    /// The file system is read-only.
    ReadOnlyVolume,
    /// A second process with the same arguments runs at the same time.
    SecondProcess,
}

/// A run of the program while servers have faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct DisturbedRun {
    pub(super) disturbance: Disturbance,
    /// After this many requests the site has its next version.
    pub(super) update_after: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) task: Task,
    pub(super) protocol: Protocol,
    pub(super) files: Vec<SiteFile>,
    /// Files of the user in the same directory.
    pub(super) foreign: Vec<&'static str>,
    pub(super) runs: Vec<DisturbedRun>,
    /// Probability that a request meets a fault, in percent.
    pub(super) fault_percent: u32,
    pub(super) retries: u32,
    /// Options that do not change which files the program should leave.
    pub(super) options: Vec<&'static str>,
    /// The disk folds names, and each two files have names that are one there.
    pub(super) folds_names: bool,
}

const TASKS: [Task; 10] = [
    Task::Batch,
    Task::ParallelBatch,
    Task::Resume,
    Task::Segments,
    Task::Mirror,
    Task::MirrorWithDelete,
    Task::InputFile,
    Task::Checksum,
    Task::Alternatives,
    Task::Stream,
];

/// Names that resemble temporary files, and others.
const FOREIGN: [&str; 8] = [
    "notes.txt",
    "f00.part",
    "f00.part.json",
    "f01.new",
    ".hidden",
    "f01.fetch-url.part.old",
    "f02.journal",
    "fetch-url.json",
];

/// `trace` and `events` are written beside the directory of the files.
const OPTIONS: [&[&str]; 17] = [
    &["--compressed"],
    &["--create-dirs"],
    &["--disable-epsv"],
    &["--events", "events"],
    &["--fail-early"],
    &["--ftp-method", "nocwd"],
    &["--http1.0"],
    &["--limit-rate", "20M"],
    &["--max-time", "50"],
    &["--parallel-max", "2"],
    &["--remote-time"],
    &["--require-complete"],
    &["--retry-all-errors"],
    &["--retry-connrefused"],
    &["--segments", "2"],
    &["--tr-encoding"],
    &["--trace", "trace"],
];

const SIGNALS: [&str; 4] = ["KILL", "TERM", "HUP", "INT"];

impl Disturbance {
    /// Returns `true` if the directory must be a file system of its own.
    pub(super) const fn needs_volume(self) -> bool {
        matches!(self, Self::FullVolume(_) | Self::ReadOnlyVolume)
    }
}

impl Task {
    pub(super) const fn is_mirror(self) -> bool {
        matches!(self, Self::Mirror | Self::MirrorWithDelete)
    }
}

impl Plan {
    /// Returns the plan of a seed. Without `can_fold`, the disk does not fold names.
    pub(super) fn from_seed(seed: u64, can_fold: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let task = TASKS[rng.usize(..TASKS.len())];
        let protocol = if rng.u32(..3) == 0 { Protocol::Ftp } else { Protocol::Http };
        // The FTP server of the tests has one version of its files.
        let is_constant = task == Task::Checksum || protocol == Protocol::Ftp;
        let versions = if is_constant { 1 } else { rng.usize(1..4) };
        let mut files = files(&mut rng, task, versions);
        let mut foreign = FOREIGN.to_vec();
        rng.shuffle(&mut foreign);
        foreign.truncate(rng.usize(..4));
        let runs = (0..rng.usize(1..4)).map(|_| disturbed_run(&mut rng, versions > 1)).collect();
        let fault_percent = [0, 10, 30, 60][rng.usize(..4)];
        let retries = rng.u32(..3);
        let mut options = options(&mut rng, task);
        let folds_names = rng.u32(..6) == 0 && can_fold;
        if folds_names {
            files
                .iter_mut()
                .zip(EQUAL_NAMES.as_flattened())
                .for_each(|(file, name)| file.name = name.to_string());
            // The second file of a name is an error, after which the others are fetched.
            options.retain(|option| *option != "--fail-early");
        }
        Self { seed, task, protocol, files, foreign, runs, fault_percent, retries, options, folds_names }
    }

    /// Returns the files that the program should leave. A mirror gives the second file of a name another one; other
    /// commands refuse it.
    pub(super) fn expected_files(&self) -> impl Iterator<Item = &SiteFile> {
        self.files.iter().step_by(if self.refuses_names() { 2 } else { 1 })
    }

    /// Returns `true` if the program should refuse to write some of the files.
    pub(super) fn refuses_names(&self) -> bool {
        let writes_names = !self.task.is_mirror() && self.task != Task::Stream;
        self.folds_names && self.files.len() > 1 && writes_names
    }
}

/// Returns up to three options; none in half of the rounds.
fn options(rng: &mut Rng, task: Task) -> Vec<&'static str> {
    let count = if rng.bool() { rng.usize(1..4) } else { 0 };
    let mut indexes: Vec<usize> = (0..OPTIONS.len()).collect();
    rng.shuffle(&mut indexes);
    let options = indexes.into_iter().map(|index| OPTIONS[index]);
    let is_possible = |option: &&[&str]| task != Task::Segments || option[0] != "--segments";
    options.filter(is_possible).take(count).flatten().copied().collect()
}

fn files(rng: &mut Rng, task: Task, versions: usize) -> Vec<SiteFile> {
    let count = if task == Task::Segments { 1 } else { rng.usize(1..9) };
    let size = |rng: &mut Rng| match (task, rng.u32(..8)) {
        (Task::Segments, _) | (_, 0) => rng.usize(1_048_576..2_600_000),
        (_, 1) => 0,
        (_, 2 | 3) => rng.usize(60_000..300_000),
        _ => rng.usize(1..9000),
    };
    let file = |rng: &mut Rng, number| SiteFile {
        name: format!("f{number:02}"),
        sizes: (0..versions).map(|_| size(rng)).collect(),
    };
    (0..count).map(|number| file(rng, number)).collect()
}

fn disturbed_run(rng: &mut Rng, has_versions: bool) -> DisturbedRun {
    let moment = Duration::from_micros(rng.u64(..150_000));
    let disturbance = match rng.u32(..12) {
        0 => Disturbance::Nothing,
        1 => Disturbance::Suspension(moment, Duration::from_millis(rng.u64(1..200))),
        2 => Disturbance::FileSizeLimit(rng.u32(..400_000)),
        3 => Disturbance::SecondProcess,
        4 => Disturbance::FullVolume(rng.u32(..400_000)),
        5 => Disturbance::ReadOnlyVolume,
        _ => Disturbance::Signal(SIGNALS[rng.usize(..SIGNALS.len())], moment),
    };
    let update_after = (has_versions && rng.bool()).then(|| rng.u64(..8));
    DisturbedRun { disturbance, update_after }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<&[usize]> = self.files.iter().map(|file| &file.sizes[..]).collect();
        let Self {
            seed, task, protocol, foreign, runs, fault_percent, retries, options, folds_names, ..
        } = self;
        let disk = if *folds_names { " on a disk that folds names" } else { "" };
        write!(f, "seed {seed}: {task:?} over {protocol:?}{disk}, options {options:?}, ")?;
        write!(f, "sizes {sizes:?}, {fault_percent} % faults, ")?;
        write!(f, "{retries} retries, files of the user {foreign:?}, runs {runs:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_file_of_a_name_is_refused_unless_a_mirror_or_a_stream_has_it() {
        let folding = (0..600).map(|seed| Plan::from_seed(seed, true)).filter(|plan| plan.folds_names);
        for plan in folding.filter(|plan| plan.files.len() > 1) {
            let is_refused = !matches!(plan.task, Task::Mirror | Task::MirrorWithDelete | Task::Stream);
            let expected = if is_refused { plan.files.len().div_ceil(2) } else { plan.files.len() };
            assert_eq!(
                (plan.refuses_names(), plan.expected_files().count()),
                (is_refused, expected),
                "{plan}"
            );
        }
    }

    #[test]
    fn same_seed_gives_the_same_plan_and_seeds_give_every_task() {
        let plan = |seed| Plan::from_seed(seed, true);
        assert_eq!(plan(7).to_string(), plan(7).to_string());
        for task in TASKS {
            assert!((0..100).any(|seed| plan(seed).task == task), "{task:?}");
            assert!((0..600).any(|seed| plan(seed).task == task && plan(seed).folds_names), "{task:?}");
        }
        assert!(!(0..100).any(|seed| Plan::from_seed(seed, false).folds_names));
        let has = |wanted: fn(&Disturbance) -> bool| {
            (0..100).any(|seed| plan(seed).runs.iter().any(|run| wanted(&run.disturbance)))
        };
        assert!(has(|what| matches!(what, Disturbance::FullVolume(_))));
        assert!(has(|what| *what == Disturbance::ReadOnlyVolume));
        for option in OPTIONS {
            assert!((0..100).any(|seed| plan(seed).options.contains(&option[0])), "{option:?}");
        }
    }
}
