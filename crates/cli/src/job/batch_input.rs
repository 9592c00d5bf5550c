//! The lines of a batch: a list, or a queue.

use std::path::PathBuf;

use fetch_url::Error;

use super::input::InputFile;
use super::line_source::{Line, LineSource};
#[cfg(feature = "queue")]
use super::queue_worker::QueueWorker;
use super::transfer::named;
use crate::flags::FetchFlags;

/// The lines of a batch.
pub(crate) enum Input {
    File(InputFile),
    #[cfg(feature = "queue")]
    Queue(std::rc::Rc<QueueWorker>),
}

impl LineSource for Input {
    async fn next(&self) -> Option<Line> {
        match self {
            Self::File(file) => file.next().await,
            #[cfg(feature = "queue")]
            Self::Queue(worker) => worker.next().await,
        }
    }
}

/// Opens `--input-file`. Lines without a file name are named after their URLs.
pub(super) fn input(flags: &FetchFlags) -> Result<Option<Input>, Error> {
    let open = |path: &PathBuf| InputFile::open(path, flags.output_dir.as_deref(), named(flags));
    Ok(flags.batch.input_file.as_ref().map(open).transpose()?.map(Input::File))
}
