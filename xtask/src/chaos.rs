//! `cargo xtask chaos`: runs the program against servers with random faults, kills it, stops it and fills its disk, then
//! checks what it left.
//!
//! The plan of a round comes from a seed (`chaos/plan.rs`): what is fetched, from which server (`chaos/site.rs`), and what
//! happens to the processes (`chaos/process.rs`) and the disk (`chaos/volume.rs`, `chaos/folding.rs`). `chaos/round.rs`
//! plays it and checks the result. A round can be repeated with its seed; only the moment of a kill relative to the
//! transfer differs.

mod content;
mod folding;
mod plan;
mod process;
mod round;
mod site;
mod stream;
mod volume;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plan::Plan;
use round::Tally;

use crate::program;

/// Without options, as CI runs it.
const DEFAULT_ROUNDS: u64 = 200;

/// Which rounds to play.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Options {
    /// The seed of the first round; the next round has the next seed.
    seed: u64,
    rounds: u64,
    time: Option<Duration>,
}

impl Options {
    /// Reads `--seed N`, `--rounds N` and `--seconds N`. With `--seconds` alone, the number of rounds is unlimited.
    fn read(words: &[&str]) -> Result<Self, String> {
        let (mut seed, mut rounds, mut time) = (1, None, None);
        for pair in words.chunks(2) {
            let number = pair.get(1).and_then(|text| text.parse().ok());
            let number = number.ok_or_else(|| format!("{} needs a number", pair[0]))?;
            match pair[0] {
                "--seed" => seed = number,
                "--rounds" => rounds = Some(number),
                "--seconds" => time = Some(Duration::from_secs(number)),
                other => return Err(format!("chaos has no option {other}")),
            }
        }
        let unlimited = if time.is_some() { u64::MAX } else { DEFAULT_ROUNDS };
        Ok(Self { seed, rounds: rounds.unwrap_or(unlimited), time })
    }
}

/// The state that the threads share.
struct Shared<'a> {
    options: Options,
    program: &'a Path,
    can_mount: bool,
    can_fold: bool,
    started: Instant,
    next: AtomicU64,
    tally: Mutex<Tally>,
    failures: Mutex<Vec<String>>,
}

impl Shared<'_> {
    /// Returns the seed of the next round, or `None` at the end of the rounds or of the time.
    fn next_seed(&self) -> Option<u64> {
        let is_late = self.options.time.is_some_and(|time| self.started.elapsed() >= time);
        let round = self.next.fetch_add(1, Ordering::Relaxed);
        (!is_late && round < self.options.rounds).then(|| self.options.seed.wrapping_add(round))
    }

    fn play_rounds(&self) {
        while let Some(seed) = self.next_seed() {
            let plan = Plan::from_seed(seed, self.can_fold);
            match round::play(&plan, self.program, self.can_mount) {
                Ok(tally) => lock(&self.tally).add(&tally),
                Err(why) => {
                    let again = format!("cargo xtask chaos --seed {seed} --rounds 1");
                    let failure = format!("{why}\n  {plan}\n  again: {again}");
                    println!("!! {failure}");
                    lock(&self.failures).push(failure);
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The command of this program that plays the rounds in a mount namespace of its own.
pub(crate) const WITH_VOLUMES: &str = "chaos-with-volumes";

/// Plays the rounds, where possible with full and read-only file systems.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    Options::read(words)?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    match volume::in_mount_namespace(&this) {
        Ok(mut command) => program::run_command(command.arg(WITH_VOLUMES).args(words)),
        Err(error) => {
            println!("chaos: full and read-only file systems skipped: {error}");
            play_all(words, false)
        }
    }
}

/// Plays the rounds in a mount namespace of this process.
pub(crate) fn run_with_volumes(words: &[&str]) -> Result<(), String> {
    play_all(words, true)
}

/// Plays the rounds, two for each processor at a time, and reports the failed ones.
fn play_all(words: &[&str], can_mount: bool) -> Result<(), String> {
    let options = Options::read(words)?;
    let program = program::fetch_url(&[])?;
    let can_fold = folding::can_mount();
    if let Err(error) = &can_fold {
        println!("chaos: disks that fold names skipped: {error}");
    }
    let shared = Shared {
        options,
        program: &program,
        can_mount,
        can_fold: can_fold.is_ok(),
        started: Instant::now(),
        next: AtomicU64::new(0),
        tally: Mutex::default(),
        failures: Mutex::default(),
    };
    let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(|| shared.play_rounds()))));
    let (tally, failures) = (lock(&shared.tally), lock(&shared.failures));
    let seconds = shared.started.elapsed().as_secs();
    println!("chaos: {tally}, in {seconds} s, from seed {}", options.seed);
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("chaos: {} rounds failed:\n{}", failures.len(), failures.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_set_seed_rounds_and_time() {
        let read = |text: &str| Options::read(&text.split_whitespace().collect::<Vec<_>>());
        let of =
            |seed, rounds, time: Option<u64>| Options { seed, rounds, time: time.map(Duration::from_secs) };
        assert_eq!(read(""), Ok(of(1, 200, None)));
        assert_eq!(read("--seed 7 --rounds 3"), Ok(of(7, 3, None)));
        assert_eq!(read("--seconds 60"), Ok(of(1, u64::MAX, Some(60))));
        for wrong in ["--seed", "--seed x", "--seed -1", "--speed 3"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
