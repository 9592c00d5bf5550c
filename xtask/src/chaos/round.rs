//! Plays a round and checks what it left: whole files or none under their names, the files of the user as they were, and
//! after a run without faults every file in its last version and no temporary files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirEntry};
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use fetch_url_tests::sha256;
use tempfile::TempDir;

use super::content::SiteFile;
use super::folding;
use super::plan::{Disturbance, DisturbedRun, Plan, Task};
use super::process::{self, Ended};
use super::site::Site;
use super::stream::is_sequence;
use super::volume::Volume;

/// A debug build needs about 25 MiB.
const MAX_MEMORY: u64 = 64 << 20;
/// A debug build needs less than a second of CPU time.
const MAX_CPU_SECONDS: u64 = 10;

/// How the runs ended.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rounds: u64,
    succeeded: u64,
    failed: u64,
    killed: u64,
    /// Runs on a full or a read-only file system.
    on_volumes: u64,
    /// Rounds on a disk that folds names.
    on_folding_disks: u64,
    peak_memory: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.killed += other.killed;
        self.on_volumes += other.on_volumes;
        self.on_folding_disks += other.on_folding_disks;
        self.peak_memory = self.peak_memory.max(other.peak_memory);
    }

    fn count(&mut self, ended: &Ended) {
        match ended.exit {
            Some(0) => self.succeeded += 1,
            Some(_) => self.failed += 1,
            None => self.killed += 1,
        }
        self.peak_memory = self.peak_memory.max(ended.peak_memory);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, succeeded, failed, killed, on_volumes, on_folding_disks, peak_memory } = self;
        write!(
            f,
            "{rounds} rounds passed; processes: {succeeded} succeeded, {failed} failed, {killed} were killed; "
        )?;
        write!(
            f,
            "{on_volumes} runs on full or read-only disks; {on_folding_disks} rounds on disks that fold names; "
        )?;
        write!(f, "peak memory {} MiB", peak_memory >> 20)
    }
}

struct Round<'a> {
    plan: &'a Plan,
    program: &'a Path,
    site: Site,
    /// The file system of the directory, if it is one of its own. It is unmounted before `folder` is removed.
    volume: Option<Volume>,
    /// Mounted at the directory, if the plan says so.
    _folding_disk: Option<folding::Disk>,
    folder: TempDir,
    tally: Tally,
}

/// Plays a round. The error says what was wrong. If file systems cannot be mounted, those runs are not disturbed.
pub(super) fn play(plan: &Plan, program: &Path, can_mount: bool) -> Result<Tally, String> {
    let round = Round::start(plan, program, can_mount)
        .map_err(|error| format!("the round does not start: {error}"))?;
    round.play()
}

impl<'a> Round<'a> {
    fn start(plan: &'a Plan, program: &'a Path, can_mount: bool) -> IoResult<Self> {
        let folder = tempfile::tempdir()?;
        let site = Site::start(plan, checksum_list(plan))?;
        let tally = Tally { rounds: 1, on_folding_disks: u64::from(plan.folds_names), ..Tally::default() };
        let directory = folder.path().join("d");
        fs::create_dir(&directory)?;
        let disk = if plan.folds_names { Some(folding::Disk::mount(&directory)?) } else { None };
        let mut round = Self { plan, program, site, volume: None, _folding_disk: disk, folder, tally };
        if !plan.folds_names && can_mount && plan.runs.iter().any(|run| run.disturbance.needs_volume()) {
            round.volume = Some(Volume::mount(&round.directory())?);
        }
        for name in &plan.foreign {
            fs::write(round.directory().join(name), format!("the user's {name}"))?;
        }
        let lines: String = plan.files.iter().map(|file| round.site.url(&file.name) + "\n").collect();
        fs::write(round.folder.path().join("urls"), lines)?;
        fs::write(round.folder.path().join("alternatives"), round.alternatives())?;
        Ok(round)
    }

    /// Returns the lines of a list with two URLs of each file, and the output.
    fn alternatives(&self) -> String {
        let is_stream = self.plan.task == Task::Stream;
        let line = |name: &str| {
            let url = self.site.url(name);
            format!("{url} {url}\t{}\n", if is_stream { "/dev/stdout" } else { name })
        };
        self.plan.files.iter().map(|file| line(&file.name)).collect()
    }

    /// The directory that the program writes to.
    fn directory(&self) -> PathBuf {
        self.folder.path().join("d")
    }

    fn play(mut self) -> Result<Tally, String> {
        for (number, run) in self.plan.runs.iter().enumerate() {
            self.play_disturbed(*run).map_err(|why| format!("disturbed run {}: {why}", number + 1))?;
        }
        self.site.end_faults();
        let ended = self.run(Disturbance::Nothing)?;
        self.check_last_run(&ended).map_err(|why| format!("last run: {why}: {ended:?}"))?;
        Ok(self.tally)
    }

    fn play_disturbed(&mut self, run: DisturbedRun) -> Result<(), String> {
        self.site.update_after(run.update_after);
        let ended = self.run_on_volume(run.disturbance)?;
        let files = self.check_files().map_err(|why| format!("{why}: {ended:?}"))?;
        for process in &ended {
            let is_second = run.disturbance == Disturbance::SecondProcess;
            self.check_process(process, is_second, &files).map_err(|why| format!("{why}: {process:?}"))?;
        }
        Ok(())
    }

    /// Runs the program while the file system is full or read-only, if `what` says so.
    fn run_on_volume(&mut self, what: Disturbance) -> Result<Vec<Ended>, String> {
        let failed = |error| format!("the file system cannot be changed: {error}");
        match (&self.volume, what) {
            (Some(volume), Disturbance::FullVolume(bytes)) => volume.limit(bytes).map_err(failed)?,
            (Some(volume), Disturbance::ReadOnlyVolume) => volume.make_read_only().map_err(failed)?,
            _ => return self.run(what),
        }
        let ended = self.run(what);
        self.tally.on_volumes += 1;
        self.volume.iter().try_for_each(Volume::release).map_err(failed)?;
        ended
    }

    fn run(&mut self, what: Disturbance) -> Result<Vec<Ended>, String> {
        let (directory, is_stream) = (self.folder.path(), self.plan.task == Task::Stream);
        let ended = process::run(self.program, &self.arguments(), directory, what, is_stream);
        let ended = ended.map_err(|error| format!("the program does not run: {error}"))?;
        ended.iter().for_each(|process| self.tally.count(process));
        Ok(ended)
    }

    fn arguments(&self) -> Vec<String> {
        let retries = self.plan.retries.to_string();
        let common = ["--retry", &retries, "--retry-delay", "0.05", "--read-timeout", "20"];
        let common = common.iter().chain(&self.plan.options).map(|word| (*word).to_owned());
        let mirror: Vec<String> = match self.plan.task {
            Task::Mirror => vec!["-q".into(), "mirror".into()],
            Task::MirrorWithDelete => vec!["-q".into(), "mirror".into(), "--delete".into()],
            _ => Vec::new(),
        };
        if !mirror.is_empty() {
            return mirror.into_iter().chain(common).chain([self.site.url(""), "d".to_owned()]).collect();
        }
        let options: &[&str] = match self.plan.task {
            Task::ParallelBatch => &["-Z"],
            Task::Resume => &["-C", "-"],
            Task::Segments => &["--segments", "3"],
            Task::InputFile => &["-C", "-", "--input-file", "urls"],
            Task::Checksum => &["--checksum-from", "SHA256SUMS"],
            Task::Alternatives | Task::Stream => &["--input-file", "alternatives"],
            _ => &[],
        };
        let words = ["-q", "--output-dir", "d"].iter().chain(options).map(|word| (*word).to_owned());
        let urls = self.plan.files.iter().map(|file| self.site.url(&file.name));
        let has_list = matches!(self.plan.task, Task::InputFile | Task::Alternatives | Task::Stream);
        let urls = urls.filter(|_| !has_list);
        words.chain(common).chain(urls.flat_map(|url| ["-O".to_owned(), url])).collect()
    }

    /// Checks a process that may have failed.
    fn check_process(&self, process: &Ended, is_second: bool, files: &Versions) -> Result<(), String> {
        check_limits(process)?;
        if self.plan.task == Task::Stream {
            self.check_stream(process)?;
        }
        match process.exit {
            Some(0) if self.plan.task != Task::Stream && files.len() < self.plan.files.len() => {
                Err("exit 0, and files are missing".to_owned())
            }
            Some(2) if self.plan.refuses_names() => Ok(()),
            // A signal that the program handles ends it with 128 and its number.
            Some(0) | None => Ok(()),
            // Another process has the temporary file or the journal.
            Some(2) if is_second => Ok(()),
            Some(2) => Err("exit 2: what an earlier run left is in the way".to_owned()),
            Some(99) => Err("an internal error".to_owned()),
            Some(_) if process.stderr.is_empty() => Err("a failure without a message".to_owned()),
            Some(_) => Ok(()),
        }
    }

    /// Checks that each file is whole and the files of the user are unchanged. Returns the versions of the files.
    fn check_files(&self) -> Result<Versions, String> {
        let mut versions = Versions::new();
        for file in self.plan.expected_files() {
            let Some(path) = self.path_of(file)? else { continue };
            let bytes = fs::read(path).map_err(|error| format!("{}: {error}", file.name))?;
            let found = file.version_of(&bytes);
            let version =
                found.ok_or_else(|| format!("{} has {} bytes of no version", file.name, bytes.len()))?;
            versions.insert(file.name.clone(), version);
        }
        for name in &self.plan.foreign {
            let content = fs::read_to_string(self.directory().join(name)).unwrap_or_default();
            if content != format!("the user's {name}") {
                return Err(format!("{name} of the user was changed: {content:?}"));
            }
        }
        Ok(versions)
    }

    /// Returns the path of a file, if it exists.
    fn path_of(&self, file: &SiteFile) -> Result<Option<PathBuf>, String> {
        let names = self.names()?;
        let mut names = names.iter().filter(|name| self.is_name_of(name, file));
        let found = names.next().map(|name| self.directory().join(name));
        match names.next() {
            Some(second) => Err(format!("{} has a second name, {second}", file.name)),
            None => Ok(found),
        }
    }

    /// Returns `true` if the program may give a file this name.
    fn is_name_of(&self, name: &str, file: &SiteFile) -> bool {
        let has_suffix = self.plan.folds_names && self.plan.task.is_mirror();
        name.strip_prefix(&file.name).is_some_and(|rest| rest.is_empty() || has_suffix && is_suffix(rest))
    }

    /// Returns the names in the directory.
    fn names(&self) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.directory()).map_err(|error| error.to_string())?;
        let name = |entry: IoResult<DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        entries.map(name).collect::<IoResult<_>>().map_err(|error| error.to_string())
    }

    /// Checks that standard output has the files of the list in their order: of each one version, or if the process has
    /// failed, at most a part of one from its start.
    fn check_stream(&self, process: &Ended) -> Result<(), String> {
        let versions = |file: &SiteFile| (0..file.sizes.len()).map(|version| file.content(version)).collect();
        let files: Vec<Vec<Vec<u8>>> = self.plan.files.iter().map(versions).collect();
        match is_sequence(&process.stdout, &files, process.exit == Some(0)) {
            true => Ok(()),
            false => Err("standard output has bytes of no version, or of two versions of a file".to_owned()),
        }
    }

    fn check_last_run(&self, ended: &[Ended]) -> Result<(), String> {
        ended.iter().try_for_each(check_limits)?;
        let status = if self.plan.refuses_names() { 2 } else { 0 };
        if ended.iter().any(|process| process.exit != Some(status)) {
            return Err(format!("its status is not {status}"));
        }
        let versions = self.check_files()?;
        let is_stream = self.plan.task == Task::Stream;
        if is_stream {
            ended.iter().try_for_each(|process| self.check_stream(process))?;
        }
        for file in self.plan.expected_files().filter(|_| !is_stream) {
            let version = versions.get(&file.name).ok_or_else(|| format!("{} is missing", file.name))?;
            // A journal skips files that an earlier run has finished.
            let is_last = file.content(*version) == file.content(self.site.version());
            if !is_last && self.plan.task != Task::InputFile {
                return Err(format!("{} has version {version} of {}", file.name, self.site.version()));
            }
        }
        self.check_leftovers()
    }

    /// Checks that there are no other names than those of files, of the user, of a mirror's journal, and of the journal of a
    /// list with URLs that were refused.
    fn check_leftovers(&self) -> Result<(), String> {
        for name in self.names()? {
            let is_journal = match name.as_str() {
                ".fetch-url-mirror" => self.plan.task.is_mirror(),
                ".urls.journal" => self.plan.task == Task::InputFile && self.plan.refuses_names(),
                ".alternatives.journal" => self.plan.task == Task::Alternatives && self.plan.refuses_names(),
                _ => false,
            };
            let is_file = self.plan.expected_files().any(|file| self.is_name_of(&name, file));
            if !is_file && !is_journal && !self.plan.foreign.contains(&name.as_str()) {
                return Err(format!("{name} is left"));
            }
        }
        Ok(())
    }
}

/// Returns `true` for what a mirror adds to a name that another file of the directory has.
fn is_suffix(text: &str) -> bool {
    text.strip_prefix('~').is_some_and(|digest| digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The version of each file that exists.
type Versions = BTreeMap<String, usize>;

fn check_limits(process: &Ended) -> Result<(), String> {
    if process.is_late {
        return Err("it does not end".to_owned());
    }
    if process.stderr.contains("panicked") {
        return Err("a panic".to_owned());
    }
    if process.peak_memory > MAX_MEMORY || process.cpu_time.as_secs() > MAX_CPU_SECONDS {
        return Err("it needs too much memory or CPU time".to_owned());
    }
    Ok(())
}

/// Returns the checksum list of the files, which only one task needs.
fn checksum_list(plan: &Plan) -> String {
    let files = plan.files.iter().filter(|_| plan.task == Task::Checksum);
    files.map(|file| format!("{}  {}\n", sha256(&file.content(0)), file.name)).collect()
}
