//! The streams of a queue: they are created, opened, checked and deleted here.

use std::time::{Duration, Instant};

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use fetch_url::{Code, Error, Phase};

use crate::error::{Cause, cause, usage_error};
use crate::id::new_id;
use crate::session::{REQUEST_TIMEOUT, Session};
use crate::{Location, Login};
use kind::{DIRECTORY, FAILED, FILE, LINE, RESULT, WORKER};

/// How the descriptions of the streams begin.
const KIND: &str = "fetch-url queue";
/// The version of the layout of the streams.
const VERSION: u64 = 1;
/// The maximum number of workers whose state is kept.
const MAX_WORKERS: i64 = 10_000;
/// The wait before a stream that another program is creating is looked up again.
const CREATION_WAIT: Duration = Duration::from_millis(100);

/// The kinds of messages, in their subjects `NAME.KIND.ID.…`.
pub(crate) mod kind {
    /// The stream of lines: `BUCKET.DIGEST`.
    pub(crate) const LINE: &str = "h";
    /// The record: `DIGEST`.
    pub(crate) const RESULT: &str = "r";
    /// The list of failed lines: `DIGEST`.
    pub(crate) const FAILED: &str = "f";
    /// The stream of workers: the states of workers, `WORKER`.
    pub(crate) const WORKER: &str = "w";
    /// The stream of workers: the output directory.
    pub(crate) const DIRECTORY: &str = "d";
    /// The stream of files: `DIGEST` of the file name.
    pub(crate) const FILE: &str = "o";
}

/// Settings that are fixed when the queue is created.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// The number of buckets into which the hosts are hashed. The hosts of one bucket share the limit per host.
    pub buckets: u16,
    /// After this time without a heartbeat, a line is handed to another worker.
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
    /// The identity of the queue, which another queue of the same name does not have.
    pub(crate) id: String,
    pub(crate) buckets: u16,
    pub(crate) lease: Duration,
    pub(crate) lines: Stream,
    pub(crate) record: Stream,
    pub(crate) failed: Stream,
    pub(crate) workers: Stream,
    pub(crate) files: Stream,
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
        // The first stream decides the identity, even if two programs create the queue at the same time.
        let [record, ..] = configs(&location.name, &new_id()?, options);
        let id = ensure_stream(&session, record).await?.id;
        for config in configs(&location.name, &id, options).into_iter().skip(1) {
            ensure_stream(&session, config).await?;
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
        let [record, failed, workers, files, lines] = stream_names(name);
        let Some(lines) = get_stream(session, &lines).await? else { return Ok(None) };
        let settings = check_kind(&lines)?;
        let other = async |name: String| {
            let found = get_stream(session, &name).await?;
            let found = found.ok_or_else(|| incomplete(&format!("the stream {name} is missing")))?;
            if check_kind(&found)?.id != settings.id {
                return Err(incomplete(&format!("the stream {name} is that of another queue of this name")));
            }
            Ok::<_, Error>(found)
        };
        Ok(Some(Self {
            record: other(record).await?,
            failed: other(failed).await?,
            workers: other(workers).await?,
            files: other(files).await?,
            session: session.clone(),
            name: name.to_owned(),
            id: settings.id,
            buckets: settings.buckets,
            lease: settings.lease,
            lines,
        }))
    }

    pub(crate) fn line_subject(&self, bucket: u16, digest: &str) -> String {
        self.subject(LINE, &format!("{bucket}.{digest}"))
    }

    pub(crate) fn record_subject(&self, digest: &str) -> String {
        self.subject(RESULT, digest)
    }

    pub(crate) fn failed_subject(&self, digest: &str) -> String {
        self.subject(FAILED, digest)
    }

    /// Returns the subject of a message of this queue. It has the identity of the queue, so a late message is not stored
    /// in another queue of the same name.
    pub(crate) fn subject(&self, kind: &str, rest: &str) -> String {
        [&self.name, ".", kind, ".", &self.id, ".", rest].concat()
    }

    /// Returns the name of the consumer of a bucket. It has the identity of the queue, because requests for lines and
    /// acknowledgements name the stream and the consumer only.
    pub(crate) fn consumer_name(&self, bucket: u16) -> String {
        format!("b{bucket}-{}", self.id)
    }

    /// Returns `true` for the stream of lines of this queue, and `false` for that of another one with the same name.
    pub(crate) fn is_own_stream(&self, config: &Config) -> bool {
        settings_of(config).is_ok_and(|settings| settings.id == self.id)
    }
}

fn incomplete(why: &str) -> Error {
    usage_error(format!("the queue is incomplete: {why}")).with_hint("fetch-url queue drop deletes its rest")
}

/// Creates a stream if it does not exist. Returns its settings.
async fn ensure_stream(session: &Session, config: Config) -> Result<Settings, Error> {
    let name = config.name.clone();
    if let Some(found) = get_stream(session, &name).await? {
        return check_kind(&found);
    }
    let what = format!("cannot create the stream {name}");
    match session.context().create_stream(config).await {
        Ok(created) => check_kind(&created),
        // Another program has created it since then.
        Err(error) if cause(&error) == Cause::StreamExists => match await_stream(session, &name).await? {
            Some(found) => check_kind(&found),
            None => Err(session.error(&what, &error)),
        },
        Err(error) => Err(session.error(&what, &error)),
    }
}

/// Returns a stream that another program is creating: the server refuses its name before it knows the stream.
async fn await_stream(session: &Session, name: &str) -> Result<Option<Stream>, Error> {
    let started = Instant::now();
    loop {
        let found = get_stream(session, name).await?;
        if found.is_some() || started.elapsed() > REQUEST_TIMEOUT {
            return Ok(found);
        }
        tokio::time::sleep(CREATION_WAIT).await;
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

fn configs(name: &str, id: &str, options: &QueueOptions) -> [Config; 5] {
    let [record, failed, workers, files, lines] = stream_names(name);
    let base = |stream: String, subjects: &[(&str, &str)]| Config {
        name: stream,
        subjects: subjects.iter().map(|(kind, rest)| format!("{name}.{kind}.{id}.{rest}")).collect(),
        description: Some(format!("{KIND} v{VERSION} id={id}")),
        storage: StorageType::File,
        num_replicas: 1,
        max_bytes: -1,
        max_messages: -1,
        max_consumers: -1,
        max_messages_per_subject: 1,
        allow_direct: true,
        ..Config::default()
    };
    let settings = format!("id={id} buckets={} lease={}", options.buckets, options.lease.as_millis());
    let lines = Config {
        description: Some(format!("{KIND} v{VERSION} {settings}")),
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        max_bytes: options.max_bytes.and_then(|max| i64::try_from(max).ok()).unwrap_or(-1),
        ..base(lines, &[(LINE, "*.*")])
    };
    let workers = Config { max_messages: MAX_WORKERS, ..base(workers, &[(WORKER, "*"), (DIRECTORY, "*")]) };
    [
        base(record, &[(RESULT, "*")]),
        base(failed, &[(FAILED, "*")]),
        workers,
        base(files, &[(FILE, "*")]),
        lines,
    ]
}

struct Settings {
    id: String,
    buckets: u16,
    lease: Duration,
}

/// Reads the settings in the description of a stream. Fails if the stream is not part of a queue, or of a newer one.
fn check_kind(stream: &Stream) -> Result<Settings, Error> {
    settings_of(&stream.cached_info().config)
}

fn settings_of(config: &Config) -> Result<Settings, Error> {
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
    let QueueOptions { buckets, lease, .. } = QueueOptions::default();
    let mut settings = Settings { id: String::new(), buckets, lease };
    for word in words {
        match word.split_once('=') {
            Some(("id", id)) if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                id.clone_into(&mut settings.id);
            }
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
    if settings.id.is_empty() { Err(foreign()) } else { Ok(settings) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_of_the_lines_has_the_settings() {
        let options = QueueOptions { buckets: 7, lease: Duration::from_millis(1500), max_bytes: Some(9) };
        let [.., lines] = configs("q", "7f", &options);
        let settings = parse_description("q", lines.description.as_deref().expect("text")).expect("settings");
        assert_eq!((settings.buckets, settings.lease, lines.max_bytes), (7, options.lease, 9));
        assert_eq!((settings.id.as_str(), lines.subjects[0].as_str()), ("7f", "q.h.7f.*.*"));
    }

    #[test]
    fn foreign_newer_and_damaged_descriptions_are_refused() {
        for text in [
            "",
            "orders",
            "fetch-url queue",
            "fetch-url queue v",
            "fetch-url queue v1",
            "fetch-url queue v1 id=1 buckets=0",
            "fetch-url queue v1 id=>",
        ] {
            let error = parse_description("q", text).err().expect("an error");
            assert!(error.to_string().contains("another program"), "{text}: {error}");
        }
        let error = parse_description("q", "fetch-url queue v2 buckets=9").err().expect("an error");
        assert!(error.to_string().contains("version 2"), "{error}");
    }
}
