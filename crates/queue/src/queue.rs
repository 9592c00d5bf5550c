//! The streams of a queue: they are created, opened, checked and deleted here.

use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use fetch_url::{Code, Error, Phase};

use crate::error::{Cause, cause, usage_error};
use crate::session::Session;
use crate::{Location, Login};

/// How the descriptions of the streams begin.
const KIND: &str = "fetch-url queue";
/// The version of the layout of the streams.
const VERSION: u64 = 1;
/// The maximum number of workers whose state is kept.
const MAX_WORKERS: i64 = 10_000;

/// Settings that are fixed when the queue is created.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// The number of buckets into which the hosts are hashed. The hosts of one bucket share the limit per host.
    pub buckets: u16,
    /// After this time without a sign of life, a line is handed to another worker.
    pub lease: Duration,
    /// The maximum size of the stream of lines in bytes; `None` is the limit of the server.
    pub max_bytes: Option<u64>,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self { buckets: 64, lease: Duration::from_secs(30), max_bytes: None }
    }
}

/// An open queue.
#[derive(Clone)]
pub struct Queue {
    pub(crate) session: Session,
    pub(crate) name: String,
    pub(crate) buckets: u16,
    pub(crate) lease: Duration,
    pub(crate) lines: Stream,
    pub(crate) record: Stream,
    pub(crate) failed: Stream,
    pub(crate) workers: Stream,
}

impl Queue {
    /// Opens the queue, which must exist.
    ///
    /// # Errors
    /// [`Code::ConnectFailed`], [`Code::AuthNeeded`] and others if no NATS server can be used, [`Code::NotFound`] if
    /// there is no queue of this name, [`Code::Usage`] if its streams are not a queue or are of a newer version,
    /// [`Code::Denied`] if a permission is missing.
    pub async fn open(location: &Location, login: Login) -> Result<Self, Error> {
        let session = Session::connect(location, login).await?;
        match Self::find(&session, &location.name).await? {
            Some(queue) => Ok(queue),
            None => {
                let detail = format!("there is no queue {location}");
                Err(Error::new(Code::NotFound, Phase::Plan, detail)
                    .with_hint("fetch-url queue add creates it"))
            }
        }
    }

    /// Opens the queue, or creates it with `options`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_or_create(
        location: &Location,
        login: Login,
        options: &QueueOptions,
    ) -> Result<Self, Error> {
        let session = Session::connect(location, login).await?;
        if let Some(queue) = Self::find(&session, &location.name).await? {
            return Ok(queue);
        }
        // The stream of lines is the last one, because it makes the queue: a creation that is interrupted is repeated.
        for config in configs(&location.name, options) {
            let name = config.name.clone();
            if let Some(found) = get_stream(&session, &name).await? {
                check_kind(&found)?;
                continue;
            }
            let created = session.context().create_stream(config).await;
            created.map_err(|error| session.error(&format!("cannot create the stream {name}"), &error))?;
        }
        Self::find(&session, &location.name)
            .await?
            .ok_or_else(|| Error::new(Code::PeerMisbehaved, Phase::Reply, "the new stream does not exist"))
    }

    /// Deletes the queue: its lines, results and workers. The files stay.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn drop(location: &Location, login: Login) -> Result<(), Error> {
        let session = Session::connect(location, login).await?;
        let mut found = Vec::new();
        for name in stream_names(&location.name) {
            if let Some(stream) = get_stream(&session, &name).await? {
                check_kind(&stream)?;
                found.push(name);
            }
        }
        if found.is_empty() {
            return Err(Error::new(Code::NotFound, Phase::Plan, format!("there is no queue {location}")));
        }
        for name in found {
            let deleted = session.context().delete_stream(&name).await;
            deleted.map_err(|error| session.error(&format!("cannot delete the stream {name}"), &error))?;
        }
        Ok(())
    }

    async fn find(session: &Session, name: &str) -> Result<Option<Self>, Error> {
        let [record, failed, workers, _, lines] = stream_names(name);
        let Some(lines) = get_stream(session, &lines).await? else { return Ok(None) };
        let settings = check_kind(&lines)?;
        let other = async |name: String| {
            let found = get_stream(session, &name).await?;
            let found = found.ok_or_else(|| {
                usage_error(format!("the queue is incomplete: the stream {name} is missing"))
            })?;
            check_kind(&found)?;
            Ok::<_, Error>(found)
        };
        Ok(Some(Self {
            record: other(record).await?,
            failed: other(failed).await?,
            workers: other(workers).await?,
            session: session.clone(),
            name: name.to_owned(),
            buckets: settings.buckets,
            lease: settings.lease,
            lines,
        }))
    }

    /// Opens the stream of files, or creates it in a queue of an earlier version.
    pub(crate) async fn files(&self) -> Result<Stream, Error> {
        let [_, _, _, name, _] = stream_names(&self.name);
        if let Some(found) = get_stream(&self.session, &name).await? {
            check_kind(&found)?;
            return Ok(found);
        }
        let created = self.session.context().create_stream(files_config(&self.name)).await;
        created.map_err(|error| self.session.error(&format!("cannot create the stream {name}"), &error))
    }

    pub(crate) fn line_subject(&self, bucket: u16, digest: &str) -> String {
        format!("{}.h.{bucket}.{digest}", self.name)
    }

    pub(crate) fn record_subject(&self, digest: &str) -> String {
        [&self.name, ".r.", digest].concat()
    }

    pub(crate) fn failed_subject(&self, digest: &str) -> String {
        format!("{}.f.{digest}", self.name)
    }
}

async fn get_stream(session: &Session, name: &str) -> Result<Option<Stream>, Error> {
    match session.context().get_stream(name).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if cause(&error) == Cause::NotFound => Ok(None),
        Err(error) => Err(session.error(&format!("cannot open the stream {name}"), &error)),
    }
}

/// Returns the names of the streams. That of the lines is the last one.
fn stream_names(name: &str) -> [String; 5] {
    let other = |kind: &str| format!("{name}-{kind}");
    [other("record"), other("failed"), other("workers"), other("files"), name.to_owned()]
}

fn base_config(name: &str, stream: String, subject: &str) -> Config {
    Config {
        name: stream,
        subjects: vec![format!("{name}.{subject}")],
        description: Some(format!("{KIND} v{VERSION}")),
        storage: StorageType::File,
        num_replicas: 1,
        max_bytes: -1,
        max_messages: -1,
        max_consumers: -1,
        max_messages_per_subject: 1,
        allow_direct: true,
        ..Config::default()
    }
}

fn files_config(name: &str) -> Config {
    let [_, _, _, files, _] = stream_names(name);
    base_config(name, files, "o.*")
}

fn configs(name: &str, options: &QueueOptions) -> [Config; 5] {
    let [record, failed, workers, _, lines] = stream_names(name);
    let base = |stream, subject| base_config(name, stream, subject);
    let settings = format!("buckets={} lease={}", options.buckets, options.lease.as_millis());
    let lines = Config {
        description: Some(format!("{KIND} v{VERSION} {settings}")),
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        max_bytes: options.max_bytes.and_then(|max| i64::try_from(max).ok()).unwrap_or(-1),
        ..base(lines, "h.*.*")
    };
    let workers = Config {
        subjects: vec![format!("{name}.w.*"), format!("{name}.d")],
        max_messages: MAX_WORKERS,
        ..base(workers, "w.*")
    };
    [base(record, "r.*"), base(failed, "f.*"), workers, files_config(name), lines]
}

struct Settings {
    buckets: u16,
    lease: Duration,
}

/// Reads the settings in the description of a stream. Fails if the stream is not part of a queue, or of a newer one.
fn check_kind(stream: &Stream) -> Result<Settings, Error> {
    let config = &stream.cached_info().config;
    parse_description(&config.name, config.description.as_deref().unwrap_or_default())
}

fn parse_description(name: &str, description: &str) -> Result<Settings, Error> {
    let rest = description.strip_prefix(KIND).and_then(|rest| rest.strip_prefix(" v"));
    let mut words = rest.unwrap_or_default().split(' ');
    let version = words.next().and_then(|version| version.parse::<u64>().ok());
    let foreign = || {
        usage_error(format!("the stream {name} belongs to another program, or is damaged"))
            .with_hint("use another name for the queue")
    };
    match version {
        Some(VERSION) => {}
        Some(version) if version > VERSION => {
            return Err(usage_error(format!(
                "the stream {name} has version {version} of the queue; this program knows version {VERSION}"
            ))
            .with_hint("use a newer fetch-url"));
        }
        _ => return Err(foreign()),
    }
    let mut settings =
        Settings { buckets: QueueOptions::default().buckets, lease: QueueOptions::default().lease };
    for word in words {
        match word.split_once('=') {
            Some(("buckets", count)) => {
                settings.buckets = count.parse().ok().filter(|count| *count > 0).ok_or_else(foreign)?;
            }
            Some(("lease", time)) => {
                let time: u64 = time.parse().ok().filter(|time| *time > 0).ok_or_else(foreign)?;
                settings.lease = Duration::from_millis(time);
            }
            _ => {}
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_of_the_lines_has_the_settings() {
        let options = QueueOptions { buckets: 7, lease: Duration::from_millis(1500), max_bytes: Some(9) };
        let [.., lines] = configs("q", &options);
        let settings = parse_description("q", lines.description.as_deref().expect("text")).expect("settings");
        assert_eq!((settings.buckets, settings.lease, lines.max_bytes), (7, options.lease, 9));
    }

    #[test]
    fn foreign_newer_and_damaged_descriptions_are_refused() {
        for text in ["", "orders", "fetch-url queue", "fetch-url queue v", "fetch-url queue v1 buckets=0"] {
            let error = parse_description("q", text).err().expect("an error");
            assert!(error.to_string().contains("another program"), "{text}: {error}");
        }
        let error = parse_description("q", "fetch-url queue v2 buckets=9").err().expect("an error");
        assert!(error.to_string().contains("version 2"), "{error}");
    }
}
