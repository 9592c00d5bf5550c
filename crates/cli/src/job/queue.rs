//! The options of `fetch-url queue`.

use std::io;
use std::path::{Path, PathBuf};

use fetch_url::Error;
use fetch_url_queue::{Line, Location, Login};

use super::input::InputFile;
use super::mirror::reject_options;
use super::private_file::read_private_file;
use super::queue_worker::QueueWorker;
use super::{Input, Invocation, Output, Transfer, login};
use crate::error::usage_error;
use crate::flags::queue::{NatsFlags, WorkFlags};
use crate::flags::{BATCH_OPTIONS, GivenOptions};

/// Reads the login and the TLS files of the connection to NATS.
pub(crate) fn login(flags: &NatsFlags) -> Result<Login, Error> {
    let secret = |path: &PathBuf| {
        let line = login::first_line(path)?;
        String::from_utf8(line)
            .map_err(|_| usage_error(format!("{}: the secret is not UTF-8", path.display())))
    };
    let credentials = |path: &PathBuf| {
        let text = read_private_file(path).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        text.map_err(|error| usage_error(format!("{}: {error}", path.display())))
    };
    Ok(Login {
        user: flags.nats_user.clone(),
        password: flags.nats_password_file.as_ref().map(secret).transpose()?,
        token: flags.nats_token_file.as_ref().map(secret).transpose()?,
        credentials: flags.nats_creds.as_ref().map(credentials).transpose()?,
        authorities: flags.nats_cacert.clone(),
        identity: flags.nats_cert.clone().zip(flags.nats_key.clone()),
    })
}

/// Opens the list of lines for `queue add`.
pub(crate) fn open_list(path: &Path) -> Result<InputFile, Error> {
    InputFile::open(path, None, Output::Stdout { is_explicit: false })
}

/// Makes a line of the queue from a line of a list.
pub(crate) fn queue_line(transfer: Transfer) -> Result<Line, Error> {
    let file = match &transfer.output {
        Output::File(path) => {
            let name =
                path.to_str().ok_or_else(|| usage_error(format!("{} is not UTF-8", path.display())))?;
            Some(name.to_owned())
        }
        _ => None,
    };
    let mut urls = vec![transfer.url];
    urls.extend(transfer.alternatives);
    Line::new(urls, file, transfer.checksum)
}

impl Invocation {
    /// Checks the flags and makes the invocation of a worker.
    pub(crate) fn queue_work(mut flags: WorkFlags, given: &GivenOptions) -> Result<Self, Error> {
        let reason =
            "`fetch-url queue work --help` lists the options that apply; all lines come from the queue";
        reject_options(BATCH_OPTIONS, &flags.fetch, given, "queue work", reason)?;
        let location: Location = match &std::mem::take(&mut flags.fetch.urls)[..] {
            [queue] => queue.parse()?,
            _ => return Err(usage_error("queue work takes one queue: nats://HOST[:PORT]/NAME")),
        };
        let worker = std::rc::Rc::new(QueueWorker::new(&flags, location, login(&flags.nats)?)?);
        let WorkFlags { mut fetch, .. } = flags;
        // Partial downloads are resumed. An existing complete file is replaced.
        fetch.continue_flag = true;
        if !given.contains("retry") {
            // The queue hands a line out again, so a busy host does not occupy a slot of the worker.
            fetch.retry = 0;
        }
        Self::of(&fetch, given, Vec::new(), Some(Input::Queue(worker)), None)
    }

    /// Returns the worker of `queue work`.
    pub(crate) fn queue_worker(&self) -> Option<&QueueWorker> {
        match &self.input {
            Some(Input::Queue(worker)) => Some(worker),
            _ => None,
        }
    }
}
