//! The options of `fetch-url serve`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use fetch_url::{Credentials, Error, Policy};
use fetch_url_serve::{LogSink, ServeOptions};

use super::private_file::read_private_file;
use super::{environment, news, tls};
use crate::error::usage_error;
use crate::flags::serve::ServeFlags;
use crate::render::written_file::{is_stdout, open_written};

/// Makes the options of the server from the flags.
pub(crate) fn options(flags: ServeFlags) -> Result<ServeOptions, Error> {
    let mut options = ServeOptions::default();
    options.policy = policy(&flags);
    options.policy.network.proxies = super::policy::proxies(&flags.proxy)?;
    options.credentials = credentials(&flags)?;
    options.tls = tls::options(&flags.tls)?;
    let (server, source) = match flags.news_server {
        Some(server) => (Some(server), "--news-server"),
        None => (environment::news_server(), "NNTPSERVER"),
    };
    options.news_server = server.map(|server| news::read_server(&server, source)).transpose()?;
    options.log = flags.log.as_deref().map(log_sink).transpose()?;
    options.events = flags.events.as_deref().map(log_sink).transpose()?;
    let limits = &mut options.limits;
    limits.max_clients = flags.max_clients.into();
    limits.max_requests_per_client = flags.max_requests_per_client.into();
    limits.max_memory = flags.max_memory;
    limits.max_header_size = usize::try_from(flags.max_header_size).unwrap_or(usize::MAX);
    limits.header_timeout = bounded(flags.header_timeout);
    limits.idle_timeout = bounded(flags.idle_timeout);
    limits.shutdown_timeout = flags.shutdown_timeout;
    options.listen = flags.listen;
    options.allowed_clients = flags.allow_client;
    options.host_names = flags.host_name;
    options.file_root = flags.allow_file;
    options.cache = flags.cache;
    options.cache_size = flags.cache_size;
    Ok(options)
}

fn policy(flags: &ServeFlags) -> Policy {
    let mut policy = Policy::default();
    policy.timeouts.connect = bounded(flags.connect_timeout);
    policy.timeouts.reply = bounded(flags.read_timeout);
    policy.timeouts.idle = bounded(flags.read_timeout);
    policy.timeouts.total = Some(flags.max_time).filter(|time| !time.is_zero());
    policy.limits.max_size = flags.max_filesize.filter(|size| *size > 0);
    policy.retry.max_retries = flags.retry;
    policy.network.allow_private = flags.allow_private;
    policy.network.allowed_ports.clone_from(&flags.allow_port);
    policy
}

/// 0 means no limit, as in curl. A year is short enough to be added to a time.
fn bounded(time: Duration) -> Duration {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    if time.is_zero() { YEAR } else { time.min(YEAR) }
}

/// Returns the logins of netrc. There is no prompt: a client answers status 401.
fn credentials(flags: &ServeFlags) -> Result<Credentials, Error> {
    let path = match (&flags.netrc_file, flags.netrc) {
        (Some(path), _) => path.clone(),
        (None, true) => {
            environment::netrc().ok_or_else(|| usage_error("cannot find ~/.netrc: HOME is not set"))?
        }
        (None, false) => return Ok(Credentials::default()),
    };
    let text =
        read_private_file(&path).map_err(|error| usage_error(format!("{}: {error}", path.display())))?;
    Credentials::default().netrc(&text, false)
}

/// Opens a log for appending.
fn log_sink(path: &Path) -> Result<LogSink, Error> {
    let writer: Box<dyn Write + Send> = if is_stdout(path) {
        Box::new(std::io::stdout())
    } else {
        let file = open_written(path, OpenOptions::new().create(true).append(true));
        Box::new(file.map_err(|error| usage_error(format!("{}: {error}", path.display())))?)
    };
    Ok(LogSink::new(writer))
}
