//! Everything that is printed. Data goes to standard output, messages to standard error. Text of a server is
//! sanitised before it is printed.

mod date;
pub(crate) mod dry_run;
mod error_json;
pub(crate) mod events;
pub(crate) mod explain;
#[cfg(feature = "news")]
mod header_text;
#[cfg(not(feature = "news"))]
#[path = "render/header_text_not_built.rs"]
mod header_text;
pub(crate) mod help;
pub(crate) mod hint;
pub(crate) mod json;
mod links;
pub(crate) mod listing;
pub(crate) mod log_file;
mod menu;
mod news;
pub(crate) mod progress;
mod progress_line;
mod progress_terminal;
#[cfg(feature = "queue")]
pub(crate) mod queue;
pub(crate) mod screen;
pub(crate) mod stdio;
pub(crate) mod summary;
pub(crate) mod terminal;
mod usage;
mod wais;
mod wrap;
pub(crate) mod write_out;
pub(crate) mod written_file;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use fetch_url::advice::{AdviceValue, NotFetchable};
use fetch_url::events::Event;
use fetch_url::url::{FoundUrl, Url, mask_password};
use fetch_url::{Error, Meta};
use fetch_url_proto::text::sanitise;
use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};

use error_json::error_value;
use hint::hint_text;
pub(crate) use stdio::{print_stderr, print_stdout, print_stdout_bytes, reset_colours, status_of_print};
use terminal::field_bytes;

pub(crate) use usage::print_clap_error;

use crate::flags::Format;
use crate::job::SegmentUse;
use crate::report::TransferReport;
use crate::stall;

/// The tracing target of received bytes, which only `--trace` writes.
const RAW_TRACE_TARGET: &str = "fetch_url::octets";
/// Maximum length, in characters, of a URL that is printed with carets under the part at fault.
const MAX_CARET_LINE: usize = 400;

/// Prints an error as one line, with carets below an invalid URL and with the hint. Returns the exit status.
pub(crate) fn print_error(error: &Error, url: Option<&str>) -> u8 {
    let url = url.map(|url| error.url().map_or_else(|| mask_password(url), str::to_owned));
    let mut text = match url.as_deref().map(|url| sanitise(url.as_bytes())) {
        Some(url) => format!("fetch-url: {url}: {error}\n"),
        None => format!("fetch-url: {error}\n"),
    };
    if let (Some(parse), Some(url)) = (error.parse_error(), url.as_deref()) {
        text.push_str(&caret_lines(url, parse.span()));
    }
    if let Some(hint) = error.hint().map(hint_text) {
        text.push_str(&format!("  hint: {hint}\n"));
    }
    print_stderr(&text);
    error.exit_status()
}

/// Returns the URL and a line of carets under `span`. The parts are sanitised separately, because sanitising changes
/// the length.
fn caret_lines(url: &str, span: std::ops::Range<usize>) -> String {
    let shown = |range: std::ops::Range<usize>| {
        url.get(range).map(|part| sanitise(part.as_bytes())).unwrap_or_default()
    };
    let (before, at) = (shown(0..span.start), shown(span.clone()));
    let after = shown(span.end..url.len());
    if before.len() + at.len() + after.len() > MAX_CARET_LINE {
        return String::new();
    }
    let marks = "^".repeat(at.chars().count().max(1));
    format!("    {before}{at}{after}\n    {}{marks}\n", " ".repeat(before.chars().count()))
}

/// Prints an error to standard error as one JSON object. Returns the exit status.
pub(crate) fn print_error_json(error: &Error, url: &str) -> u8 {
    print_stderr(&format!("{}\n", json::json_line(&error_value(error, url))));
    error.exit_status()
}

/// Prints the error of a failed attempt and the URL that is tried next.
pub(crate) fn print_alternative(error: &Error, report: &TransferReport, url: &str) {
    let failed = error.url().map_or_else(|| mask_password(&report.url), str::to_owned);
    let how = match report.segment_use {
        _ if report.has_earlier_start => "from the start",
        SegmentUse::AllServers => "alone, without the other servers",
        SegmentUse::OneServer if url == mask_password(&report.url) => "over one connection",
        _ => "instead",
    };
    print_stderr(&format!("fetch-url: {failed}: {error}; trying {url} {how}\n"));
}

/// Returns the header, size and modification time of an object, for `-i` and `-D`. As text, the headers of the
/// responses before it precede it. The values of fields may have bytes that are not UTF-8.
pub(crate) fn head_text(meta: &Meta, format: Format) -> Vec<u8> {
    if format == Format::Json {
        return format!("{}\n", json::json_line(&head_value(meta))).into_bytes();
    }
    let earlier = meta.earlier.iter().map(one_head_text).filter(|head| !head.is_empty());
    earlier.flat_map(|head| [head, b"\n".to_vec()]).chain([one_head_text(meta)]).flatten().collect()
}

/// Returns the output of `-I`: as text, an empty line ends it, so that it is separate from the next one.
pub(crate) fn head_block(meta: &Meta, format: Format) -> Vec<u8> {
    let mut text = head_text(meta, format);
    if format != Format::Json && !text.is_empty() {
        text.push(b'\n');
    }
    text
}

/// Returns the header, size and modification time of one response.
fn one_head_text(meta: &Meta) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(reply) = &meta.reply {
        text.extend(format!("{}\n", sanitise(reply.as_bytes())).bytes());
    }
    for (name, value) in &meta.fields {
        text.extend(format!("{}: ", sanitise(name.as_bytes())).bytes());
        text.extend(field_bytes(meta, value));
        text.push(b'\n');
    }
    // HTTP reports size and modification time in header fields, which are printed above.
    if !matches!(meta.url, Url::Http(_)) {
        let size = meta.head.size.map(|size| format!("size: {size}\n"));
        let modified =
            meta.head.modified.map(|modified| format!("modified: {}\n", date::format_date(modified)));
        text.extend(size.into_iter().chain(modified).flat_map(String::into_bytes));
    }
    text
}

/// Returns the explanation of how to open a URL that does not name an object, such as `telnet:`.
pub(crate) fn advice_text(advice: &NotFetchable, meta: &Meta, format: Format) -> String {
    let hint = advice.hint.as_ref().map(|hint| format!("{}\n", hint_text(hint))).unwrap_or_default();
    let text = format!("{}{hint}", advice.text);
    match format {
        Format::Json => {
            let mut value = json!({ "advice": text, "url": meta.url.redacted().to_string() });
            for (name, fact) in &advice.values {
                value[name] = advice_json(fact);
            }
            format!("{}\n", json::json_line(&value))
        }
        _ => text,
    }
}

fn advice_json(fact: &AdviceValue) -> Value {
    match fact {
        AdviceValue::Flag(flag) => json!(flag),
        AdviceValue::Number(number) => json!(number),
        AdviceValue::Pairs(pairs) => json!(pairs),
        AdviceValue::Text(text) => json!(text),
        AdviceValue::Words(words) => json!(words),
        _ => Value::Null,
    }
}

fn head_value(meta: &Meta) -> Value {
    let fields = meta.fields.iter().map(|(name, value)| json!([name, String::from_utf8_lossy(value)]));
    json!({
        "url": meta.url.redacted().to_string(),
        "reply": meta.reply,
        "size": meta.head.size,
        "modified": meta.head.modified,
        "media_type": meta.media_type,
        "validator": meta.validator.as_ref().map(ToString::to_string),
        "hops": meta.redirects,
        "fields": fields.collect::<Vec<_>>(),
    })
}

/// Lines of output are collected, and written when they have this many bytes.
const MAX_LINES_BYTES: usize = 64 * 1024;

/// Prints the URLs found in a text, one per line. Returns the exit status.
pub(crate) fn print_found_urls<'t>(urls: impl Iterator<Item = FoundUrl<'t>>, as_json: bool) -> u8 {
    let is_terminal = io::stdout().is_terminal();
    let mut lines = String::new();
    for url in urls {
        let line = if as_json {
            let span = url.span();
            let found = json!({ "url": url.text(), "alternative": url.alternative(), "span": [span.start, span.end] });
            json::json_line(&found)
        } else if is_terminal {
            sanitise(url.text().as_bytes())
        } else {
            url.text().to_owned()
        };
        lines.push_str(&line);
        lines.push('\n');
        if lines.len() >= MAX_LINES_BYTES {
            let written = print_stdout(&lines);
            if written.is_err() {
                return status_of_print(written, 0);
            }
            lines.clear();
        }
    }
    status_of_print(print_stdout(&lines), 0)
}

/// Prints a note.
pub(crate) fn print_note(text: &str) {
    print_stderr(&format!("fetch-url: note: {text}\n"));
}

/// Prints a note about one URL, as text or as a JSON object.
pub(crate) fn print_note_for(url: &str, text: &str, format: Format) {
    match format {
        Format::Json => print_stderr(&format!("{}\n", json::json_line(&json!({ "note": text, "url": url })))),
        _ => print_note(&sanitise(format!("{url}: {text}").as_bytes())),
    }
}

/// Prints the cause and the waiting time of a retry.
pub(crate) fn print_retry(event: &Event<'_>) {
    let Event::Retry { url, error, wait, offset, .. } = event else { return };
    let from = if *offset > 0 { format!(" from byte {offset}") } else { String::new() };
    let (url, wait) = (sanitise(url.redacted().to_string().as_bytes()), wait.as_secs_f64());
    print_stderr(&format!("fetch-url: {url}: {error}; retrying{from} in {wait:.1} s\n"));
}

/// Installs the loggers of `-v` and `--trace`.
///
/// `-v` prints the wire trace, `-vv` also decisions, `-vvv` also the messages of libraries. `--trace` writes the wire
/// trace, decisions and the bytes received by line protocols, so that a scripted server can replay them. The target
/// `suppaftp` is always off, because it logs passwords.
pub(crate) fn start_logging(verbose: u8, trace: Option<&Path>) -> Result<(), Error> {
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    // The groups of --next share the log.
    if (verbose == 0 && trace.is_none()) || IS_STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let plain = tracing_subscriber::fmt::layer().with_level(false).with_target(false).with_ansi(false);
    let messages = (verbose > 0).then(|| {
        plain
            .with_writer(|| stall::StallGuardedWriter(io::stderr()))
            .without_time()
            .with_filter(targets(verbose))
    });
    let traced = match trace {
        None => None,
        Some(path) if path.as_os_str() == "-" => {
            Some(traced(Mutex::new(Box::new(stall::StallGuardedWriter(io::stderr())))))
        }
        Some(path) => {
            Some(traced(Mutex::new(Box::new(stall::StallGuardedWriter(log_file::LogFile::create(path)?)))))
        }
    };
    // Nothing else in the process sets a logger.
    let _ =
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(messages).with(traced));
    Ok(())
}

/// Returns the layer of `--trace`: wire trace and decisions, with the time since the start.
fn traced<S>(to: Mutex<Box<dyn io::Write + Send>>) -> impl tracing_subscriber::Layer<S>
where
    S: tracing::Subscriber + for<'s> tracing_subscriber::registry::LookupSpan<'s>,
{
    use tracing_subscriber::layer::Layer as _;
    tracing_subscriber::fmt::layer()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_writer(to)
        .with_filter(targets(2).with_target(RAW_TRACE_TARGET, Level::DEBUG))
}

/// Returns the log targets for the number of `-v` options.
fn targets(verbose: u8) -> Targets {
    let filter = Targets::new().with_target("fetch_url::dialogue", Level::INFO);
    let filter = match verbose {
        1 => filter,
        2 => filter.with_target("fetch_url", Level::DEBUG),
        _ => filter.with_default(Level::DEBUG),
    };
    filter.with_target("suppaftp", LevelFilter::OFF).with_target(RAW_TRACE_TARGET, LevelFilter::OFF)
}
