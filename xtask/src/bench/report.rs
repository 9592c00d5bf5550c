//! The figures of the bench: medians, ratios, a table for people, and a JSON file for the README.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use fetch_url_tests::http_date;
use serde_json::{Value, json};

use super::peer::{OURS, Tool};
use super::run::Sample;
use super::workload::{Measure, Reference, Target, Workload};
use crate::program::root;

/// A measured row.
pub(super) struct Measured {
    row: &'static Workload,
    rounds: usize,
    /// The figures of each tool; fetch-url is the first one.
    tools: Vec<Figures>,
}

/// The name of the figures that only consist of round trips.
const ROUND_TRIPS: &str = "round trips";

/// The medians of one tool, and its best run.
struct Figures {
    name: &'static str,
    version: String,
    wall_ms: f64,
    min_wall_ms: f64,
    cpu_ms: f64,
    min_cpu_ms: f64,
    memory_mib: Option<f64>,
}

impl Measured {
    /// `round_trip` is the round-trip time of the row's server, if it is remote.
    pub(super) fn new(
        row: &'static Workload,
        tools: &[&Tool],
        samples: Vec<Vec<Sample>>,
        round_trip: Option<Duration>,
    ) -> Self {
        let rounds = samples.first().map_or(0, Vec::len);
        let figures = |(tool, samples): (&&Tool, &Vec<Sample>)| Figures::new(tool, samples);
        let mut tools: Vec<Figures> = tools.iter().zip(&samples).map(figures).collect();
        if let (Reference::RoundTrips(count), Some(round_trip)) = (row.target.to, round_trip) {
            tools.push(Figures::of_round_trips(count, round_trip));
        }
        Self { row, rounds, tools }
    }

    fn tool(&self, name: &str) -> Option<&Figures> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns the ratio of fetch-url's figure to that of a peer.
    fn ratio(&self, measure: Measure, peer: &Figures) -> Option<f64> {
        let ours = self.tool(OURS)?.of(measure);
        let peers = peer.of(measure);
        (peers > 0.0).then(|| ours / peers)
    }

    /// Formats the target and whether it is met: `cpu ≤ 0.80 × curl: 0.71, met`.
    fn verdict(&self) -> String {
        let Target { measure, ratio, to } = &self.row.target;
        let (name, against) = match to {
            Reference::BestPeer => ("the best".to_owned(), self.best_peer(*measure)),
            Reference::Peer(name) => ((*name).to_owned(), self.tool(name)),
            Reference::RoundTrips(count) => (format!("{count} {ROUND_TRIPS}"), self.tool(ROUND_TRIPS)),
        };
        let aim = format!("{} ≤ {ratio:.2} × {name}", measure.word());
        match against.and_then(|peer| self.ratio(*measure, peer)) {
            Some(reached) if reached <= *ratio => format!("{aim}: {reached:.2}, met"),
            Some(reached) => format!("{aim}: {reached:.2}, MISSED"),
            None => format!("{aim}: not measured"),
        }
    }

    fn best_peer(&self, measure: Measure) -> Option<&Figures> {
        let peers = self.tools.iter().filter(|tool| tool.name != OURS);
        peers.min_by(|one, other| one.of(measure).total_cmp(&other.of(measure)))
    }
}

impl Figures {
    fn new(tool: &Tool, samples: &[Sample]) -> Self {
        let values = |figure: fn(&Sample) -> Duration| {
            samples.iter().map(move |sample| figure(sample).as_secs_f64() * 1e3)
        };
        let of = |figure| median(values(figure).collect());
        let best = |figure| values(figure).fold(f64::INFINITY, f64::min);
        let memory: Vec<f64> =
            samples.iter().filter_map(|sample| Some(sample.memory? as f64 / 1_048_576.0)).collect();
        // The memory is missing if a run ended before its first sample.
        let memory_mib = (!memory.is_empty() && memory.len() == samples.len()).then(|| median(memory));
        Self {
            name: tool.name,
            version: tool.version.clone(),
            wall_ms: of(|sample| sample.wall),
            min_wall_ms: best(|sample| sample.wall),
            cpu_ms: of(|sample| sample.cpu),
            min_cpu_ms: best(|sample| sample.cpu),
            memory_mib,
        }
    }

    /// Returns the figures of a client that only waits for the network.
    fn of_round_trips(count: u32, round_trip: Duration) -> Self {
        let wall_ms = (round_trip * count).as_secs_f64() * 1e3;
        Self {
            name: ROUND_TRIPS,
            version: format!("{count} of {:.1} ms", round_trip.as_secs_f64() * 1e3),
            wall_ms,
            min_wall_ms: wall_ms,
            cpu_ms: 0.0,
            min_cpu_ms: 0.0,
            memory_mib: None,
        }
    }

    const fn of(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Cpu => self.cpu_ms,
            Measure::Wall => self.wall_ms,
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// Returns a line for each tool of each row; the ratios are fetch-url's figures divided by those of the tool.
pub(super) fn table(measured: &[Measured]) -> String {
    let mut text = format!(
        "{:<12} {:<10} {:>9} {:>9} {:>9} {:>9} {:>8} {:>10} {:>9}\n",
        "workload", "tool", "wall ms", "best", "CPU ms", "best", "RSS MiB", "ours: wall", "ours: CPU"
    );
    for row in measured {
        for tool in &row.tools {
            let memory = tool.memory_mib.map_or("–".to_owned(), |memory| format!("{memory:.1}"));
            let ratio = |measure| match row.ratio(measure, tool) {
                Some(ratio) if tool.name != OURS => format!("{ratio:.2} ×"),
                _ => String::new(),
            };
            let line = format!(
                "{:<12} {:<10} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {memory:>8} {:>10} {:>9}",
                row.row.name,
                tool.name,
                tool.wall_ms,
                tool.min_wall_ms,
                tool.cpu_ms,
                tool.min_cpu_ms,
                ratio(Measure::Wall),
                ratio(Measure::Cpu)
            );
            text += &format!("{}\n", line.trim_end());
        }
        text += &format!("{:<12} target: {} ({} rounds)\n", "", row.verdict(), row.rounds);
    }
    text
}

/// Writes the figures to `target/bench.json`.
pub(super) fn write(measured: &[Measured]) -> Result<PathBuf, String> {
    let path = root().join("target").join("bench.json");
    let rows: Vec<Value> = measured.iter().map(as_json).collect();
    let text = format!("{:#}\n", json!({ "date": http_date(SystemTime::now()), "rows": rows }));
    let folder = path.parent().unwrap_or(root());
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

fn as_json(measured: &Measured) -> Value {
    let tools = measured.tools.iter().map(|tool| {
        json!({
            "name": tool.name,
            "version": tool.version,
            "wall_ms": tool.wall_ms,
            "min_wall_ms": tool.min_wall_ms,
            "cpu_ms": tool.cpu_ms,
            "min_cpu_ms": tool.min_cpu_ms,
            "rss_mib": tool.memory_mib,
            "ours_to_it": {
                "wall": measured.ratio(Measure::Wall, tool),
                "cpu": measured.ratio(Measure::Cpu, tool),
            },
        })
    });
    json!({
        "workload": measured.row.name,
        "octets": measured.row.size,
        "rounds": measured.rounds,
        "target": measured.verdict(),
        "tools": tools.collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::workload::WORKLOADS;
    use super::*;

    fn measured(ours: f64, curls: f64) -> Measured {
        let figures = |name, cpu_ms| Figures {
            name,
            version: String::new(),
            wall_ms: 2.0 * cpu_ms,
            min_wall_ms: cpu_ms,
            cpu_ms,
            min_cpu_ms: cpu_ms,
            memory_mib: None,
        };
        Measured { row: &WORKLOADS[0], rounds: 5, tools: vec![figures(OURS, ours), figures("curl", curls)] }
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn target_is_met_or_missed() {
        assert_eq!(measured(700.0, 1000.0).verdict(), "cpu ≤ 0.80 × curl: 0.70, met");
        assert_eq!(measured(900.0, 1000.0).verdict(), "cpu ≤ 0.80 × curl: 0.90, MISSED");
        let mut alone = measured(900.0, 1000.0);
        alone.tools.pop();
        assert_eq!(alone.verdict(), "cpu ≤ 0.80 × curl: not measured");
    }

    #[test]
    fn floor_is_the_number_of_round_trips() {
        let mut measured = measured(125.0, 1000.0);
        measured.row = WORKLOADS.iter().find(|row| row.name == "far-ftp").unwrap();
        measured.tools.push(Figures::of_round_trips(5, Duration::from_millis(50)));
        assert_eq!(measured.verdict(), "wall ≤ 1.05 × 5 round trips: 1.00, met");
    }

    #[test]
    fn the_table_has_a_line_for_each_tool() {
        let text = table(&[measured(700.0, 1000.0)]);
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("0.70 ×"), "{text}");
    }
}
