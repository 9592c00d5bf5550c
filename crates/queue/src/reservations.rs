//! The files of the lines: two lines must not have the same file, because the second one would replace that of the first.
//!
//! Each file is reserved before its line is added, in the stream of files: the first line that publishes its ID as owner gets
//! the file.
//! A worker reads the reservation before it fetches the line: another line may have taken the file since then, because
//! `add` was stopped before it added the line, or because `failed --retry` adds a line again.

use std::time::Duration;

use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use fetch_url::Error;

use crate::error::usage_error;
use crate::line::digest_of;
use crate::queue::kind;
use crate::{Entry, Line, Outcome, Queue};

/// The waits for the owner of a file that is neither in the queue nor in the record: it may be added at this moment. After the
/// last wait the owner is treated as missing.
const LINE_WAITS_IN_MILLISECONDS: [u64; 7] = [50, 100, 200, 400, 800, 1600, 3200];

/// The stream of files.
#[derive(Clone)]
pub(crate) struct Reservations {
    queue: Queue,
}

/// A message of the stream of files.
struct Reservation {
    sequence: u64,
    owner: Owner,
}

/// The line that has reserved a file, as the last parts of its subject: `BUCKET.DIGEST`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Owner(String);

/// The state of a line that has reserved a file.
enum OwnerState {
    /// It is in the queue or was fetched.
    Active,
    Failed,
    /// It is neither in the queue nor in the record.
    Missing,
}

impl Queue {
    pub(crate) fn reservations(&self) -> Reservations {
        Reservations { queue: self.clone() }
    }

    pub(crate) fn owner(&self, line: &Line) -> Owner {
        Owner::new(self.bucket(line), &line.digest())
    }
}

impl Reservations {
    /// Reserves the files of a line. Returns the name of a file reserved by another line that has not failed.
    pub(crate) async fn reserve(&self, line: &Line) -> Result<Option<String>, Error> {
        let owner = self.queue.owner(line);
        for name in line.file_names() {
            if !self.reserve_file(&name, &owner).await? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Reserves the files of a line that `owner` has added, unless it has them. Returns the name of a file reserved by another
    /// line that has not failed.
    pub(crate) async fn confirm(&self, line: &Line, owner: &Owner) -> Result<Option<String>, Error> {
        for name in line.file_names() {
            let reservation = self.reservation(&self.subject(&name)).await?;
            let has_file = reservation.is_some_and(|reservation| reservation.owner == *owner);
            if !has_file && !self.reserve_file(&name, owner).await? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Reserves a file. Returns `false` if another line has it. The file of a line that failed may be reserved again.
    async fn reserve_file(&self, name: &str, owner: &Owner) -> Result<bool, Error> {
        let subject = self.subject(name);
        let what = "cannot reserve a file";
        let mut waits = LINE_WAITS_IN_MILLISECONDS.into_iter().map(Duration::from_millis);
        let mut last_sequence = 0;
        loop {
            let message = Bytes::from(owner.0.clone());
            if self.queue.publish_after(last_sequence, subject.clone(), message, what).await? {
                return Ok(true);
            }
            let Some(other) = self.reservation(&subject).await? else {
                last_sequence = 0;
                continue;
            };
            if other.owner == *owner {
                return Ok(true);
            }
            last_sequence = match self.queue.owner_state(&other.owner).await? {
                OwnerState::Active => return Ok(false),
                OwnerState::Failed => other.sequence,
                OwnerState::Missing => match waits.next() {
                    None => other.sequence,
                    Some(wait) => {
                        tokio::time::sleep(wait).await;
                        0
                    }
                },
            };
        }
    }

    fn subject(&self, name: &str) -> String {
        self.queue.subject(kind::FILE, &digest_of(name))
    }

    async fn reservation(&self, subject: &str) -> Result<Option<Reservation>, Error> {
        match self.queue.files.direct_get_last_for_subject(subject).await {
            Ok(message) => {
                let owner = Owner(String::from_utf8_lossy(&message.payload).into_owned());
                Ok(Some(Reservation { sequence: message.sequence, owner }))
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.queue.session.error("cannot read a reserved file", &error)),
        }
    }
}

impl Queue {
    async fn owner_state(&self, owner: &Owner) -> Result<OwnerState, Error> {
        if !owner.is_valid() {
            return Ok(OwnerState::Missing);
        }
        // The line leaves the queue after its entry is stored, so the queue is read first.
        if self.message_of(owner).await?.is_some() {
            return Ok(OwnerState::Active);
        }
        Ok(match self.entry(owner.digest()).await? {
            None => OwnerState::Missing,
            Some(entry) if entry.is_failed() => OwnerState::Failed,
            Some(_) => OwnerState::Active,
        })
    }
}

impl Owner {
    pub(crate) fn new(bucket: u16, digest: &str) -> Self {
        Self(format!("{bucket}.{digest}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn digest(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }

    /// Returns `true` for two parts of a subject, of digits and letters.
    fn is_valid(&self) -> bool {
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.0.split('.').count() == 2 && self.0.split('.').all(is_part)
    }
}

/// Returns the entry of a line whose file is that of another line.
pub(crate) fn conflict_entry(file: &str) -> Entry {
    let message = conflict_text(file);
    let outcome = Outcome::Failed { code: "usage".to_owned(), exit_status: 2, message };
    Entry { outcome, tries: 0, worker: "add".to_owned() }
}

/// Returns the error of a line whose file is that of another line.
pub(crate) fn conflict_error(file: &str) -> Error {
    usage_error(conflict_text(file)).with_hint("give each line its own file name")
}

fn conflict_text(file: &str) -> String {
    format!("another line of the queue has the file {file}")
}
