//! The status of a queue, as far as the server and the workers know it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use fetch_url::Error;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;

use crate::Queue;
use crate::queue::kind;

/// The number of states that are requested at the same time.
const PARALLEL_READS: usize = 64;
/// A worker that was not heard of for this time is not running.
const LIVE_TIME: Duration = Duration::from_secs(15);

/// The status of a queue.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Lines that no worker has.
    pub waiting: u64,
    /// Lines that a worker has, and lines that are delayed.
    pub in_flight: u64,
    /// Lines whose file has its name.
    pub done: u64,
    /// Lines that failed.
    pub failed: u64,
    /// Bytes that workers have received for finished lines.
    pub bytes: u64,
    /// Bytes per second of the running workers.
    pub rate: u64,
    /// The running workers, by name.
    pub workers: Vec<WorkerStatus>,
    /// Hosts whose lines are delayed.
    pub backing_off: Vec<BackingOffHost>,
}

/// The state of a worker.
#[derive(Clone, Debug)]
pub struct WorkerStatus {
    /// The name, such as `host:pid`.
    pub name: String,
    /// Lines that it has.
    pub in_flight: u64,
    /// Lines that it has fetched.
    pub done: u64,
    /// Lines that have failed.
    pub failed: u64,
    /// Bytes per second.
    pub rate: u64,
    /// The time since its last heartbeat, by the clocks of the server and of this computer.
    pub last_seen: Duration,
}

/// A host whose lines are delayed.
#[derive(Clone, Debug)]
pub struct BackingOffHost {
    /// The name of the host.
    pub host: String,
    /// The seconds until its lines are tried again.
    pub seconds: u64,
}

impl Queue {
    /// Returns the status of the queue.
    ///
    /// # Errors
    /// [`fetch_url::Code::NotFound`] if the queue was deleted, and others if the server does not answer.
    pub async fn status(&self) -> Result<Status, Error> {
        match self.read_status().await {
            Err(error) => Err(self.not_found_if_deleted(error).await),
            read => read,
        }
    }

    async fn read_status(&self) -> Result<Status, Error> {
        let what = "cannot read the status of the queue";
        let (record, failed, lines) =
            tokio::try_join!(self.record.get_info(), self.failed.get_info(), self.lines.get_info())
                .map_err(|error| self.session.error(what, &error))?;
        let mut consumers = self.lines.consumers();
        let mut in_flight = 0;
        while let Some(consumer) = consumers.next().await {
            let consumer = consumer.map_err(|error| self.session.error(what, &error))?;
            in_flight += u64::try_from(consumer.num_ack_pending).unwrap_or(0);
        }
        let mut status = Status {
            waiting: lines.state.messages.saturating_sub(in_flight),
            in_flight: in_flight.min(lines.state.messages),
            done: record.state.messages.saturating_sub(failed.state.messages),
            failed: failed.state.messages,
            ..Status::default()
        };
        self.add_workers(&mut status).await?;
        Ok(status)
    }

    async fn add_workers(&self, status: &mut Status) -> Result<(), Error> {
        let what = "cannot read the state of the workers";
        let subjects = self.workers.info_with_subjects(self.subject(kind::WORKER, "*")).await;
        let subjects: Vec<(String, usize)> = subjects
            .map_err(|error| self.session.error(what, &error))?
            .try_collect()
            .await
            .map_err(|error| self.session.error(what, &error))?;
        let read = subjects.into_iter().map(|(subject, _)| self.workers.direct_get_last_for_subject(subject));
        let mut states = stream::iter(read).buffer_unordered(PARALLEL_READS);
        let mut hosts = BTreeMap::new();
        while let Some(state) = states.next().await {
            let Ok(message) = state else { continue };
            let Ok(value) = serde_json::from_slice::<Value>(&message.payload) else { continue };
            let time = SystemTime::from(message.time);
            let last_seen = SystemTime::now().duration_since(time).unwrap_or_default();
            status.add_worker(&value, last_seen, &mut hosts);
        }
        status.backing_off =
            hosts.into_iter().map(|(host, seconds)| BackingOffHost { host, seconds }).collect();
        status.workers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }
}

impl Status {
    fn add_worker(&mut self, value: &Value, last_seen: Duration, hosts: &mut BTreeMap<String, u64>) {
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        self.bytes = self.bytes.saturating_add(number("bytes"));
        if value["ended"].as_bool().unwrap_or_default() || last_seen > LIVE_TIME {
            return;
        }
        self.rate = self.rate.saturating_add(number("rate"));
        for host in value["backing_off"].as_array().into_iter().flatten() {
            let seconds = host["seconds"].as_u64().unwrap_or_default().saturating_sub(last_seen.as_secs());
            if let Some(name) = host["host"].as_str().filter(|_| seconds > 0) {
                let longest = hosts.entry(name.to_owned()).or_insert(0);
                *longest = seconds.max(*longest);
            }
        }
        self.workers.push(WorkerStatus {
            name: value["name"].as_str().unwrap_or_default().to_owned(),
            in_flight: number("in_flight"),
            done: number("done"),
            failed: number("failed"),
            rate: number("rate"),
            last_seen,
        });
    }
}
