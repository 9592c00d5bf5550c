//! A durable queue of downloads on NATS JetStream, for more lines than one machine can fetch.
//!
//! NATS stores the lines, hands each of them to one worker at a time (a lease), delivers it again if the worker ends,
//! and limits the number of leases per host. This crate maps a list of downloads to those parts. It fetches nothing and
//! prints nothing.
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch_url::Error> {
//! use fetch_url_queue::{Line, Location, Login, Queue, QueueOptions};
//!
//! let location: Location = "nats://localhost:4222/corpus".parse()?;
//! let queue = Queue::open_or_create(&location, Login::default(), &QueueOptions::default()).await?;
//! let mut adder = queue.adder().await?;
//! adder.add(Line::new(vec!["http://example.com/a".to_owned()], None, None)?).await?;
//! println!("{} lines are new", adder.finish().await?.added);
//! # Ok(())
//! # }
//! ```
//!
//! # Streams
//! A queue `NAME` has five streams, each with at most one message per subject. ID is the random identity of the queue,
//! which is in the description of each stream:
//!
//! - `NAME`: the lines that are not finished, at `NAME.h.ID.BUCKET.DIGEST`; a durable consumer `bBUCKET-ID` for each bucket.
//!   Lines that are set aside after an error are at `NAME.h.ID.later.DIGEST`, with the consumer `later-ID`
//! - `NAME-record`: the final entry of each finished line, at `NAME.r.ID.DIGEST`
//! - `NAME-failed`: the entries of failed lines with the complete line, at `NAME.f.ID.DIGEST`
//! - `NAME-files`: the lines that have reserved the files, at `NAME.o.ID.DIGEST` of the file name
//! - `NAME-workers`: the state of each worker, at `NAME.w.ID.WORKER`, and the shared output directory, at `NAME.d.ID.shared`

#![forbid(unsafe_code)]

mod add;
mod bucket;
mod deletion;
mod directory;
mod entry;
mod error;
mod failed;
mod id;
mod json;
mod lease;
mod line;
mod location;
mod login;
mod orphaned_messages;
mod pull;
mod queue;
mod record;
mod recorder;
mod repair;
mod requests;
mod reservations;
mod session;
mod set_aside;
mod slots;
mod status;
mod worker;
mod worker_state;

pub use add::{AddCounts, Adder};
pub use directory::DIRECTORY_MARKER;
pub use entry::{Entry, Outcome};
pub use failed::{FailedLine, RetryCounts};
pub use lease::Lease;
pub use line::Line;
pub use location::Location;
pub use login::Login;
pub use queue::{Queue, QueueOptions};
pub use status::{BackingOffHost, Status, WorkerStatus};
pub use worker::{Worker, WorkerOptions};
