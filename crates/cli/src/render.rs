//! Everything a person sees. Data goes to standard output, talk to standard error, and no octet of
//! a peer goes to either without the escaper.

pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod json;
mod links;
pub(crate) mod listing;
mod menu;
mod news;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod summary;
pub(crate) mod terminal;
mod usage;
mod wais;
pub(crate) mod write_out;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Mutex;

use fetch_url::proto::text::printable;
use fetch_url::url::{Found, Url, mask_password};
use fetch_url::{Advice, Error, Event, Fact, Meta};
use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};

pub(crate) use usage::usage;

use crate::flags::Format;
use crate::job::usage as usage_error;

/// What comes, octet by octet: for a trace alone.
const OCTETS: &str = "fetch_url::octets";
/// The widest URL that is shown with a caret under it.
const WIDEST: usize = 400;

/// One line for the error, the place in the URL when it is not one, and a hint; its exit status.
pub(crate) fn error(error: &Error, url: Option<&str>) -> u8 {
    let url = url.map(|url| error.url().map_or_else(|| mask_password(url), str::to_owned));
    let mut text = match url.as_deref().map(|url| printable(url.as_bytes())) {
        Some(url) => format!("fetch-url: {url}: {error}\n"),
        None => format!("fetch-url: {error}\n"),
    };
    if let (Some(parse), Some(url)) = (error.parse_error(), url.as_deref()) {
        text.push_str(&caret(url, parse.span()));
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("  hint: {hint}\n"));
    }
    say(&text);
    error.exit()
}

/// The URL with a mark under what is wrong with it. Each character is made safe on its own, so that
/// the mark stands where it belongs.
fn caret(url: &str, span: std::ops::Range<usize>) -> String {
    let shown = |range: std::ops::Range<usize>| {
        url.get(range).map(|part| printable(part.as_bytes())).unwrap_or_default()
    };
    let (before, at) = (shown(0..span.start), shown(span.clone()));
    let after = shown(span.end..url.len());
    if before.len() + at.len() + after.len() > WIDEST {
        return String::new();
    }
    let marks = "^".repeat(at.chars().count().max(1));
    format!("    {before}{at}{after}\n    {}{marks}\n", " ".repeat(before.chars().count()))
}

/// The error as one JSON object on standard error; its exit status.
pub(crate) fn error_as_json(error: &Error, url: &str) -> u8 {
    say(&format!("{}\n", json::line(&error_value(error, url))));
    error.exit()
}

/// The error as a JSON value.
fn error_value(error: &Error, url: &str) -> Value {
    json!({
        "code": error.code().word(),
        "phase": error.phase().word(),
        "message": error.to_string(),
        "reply": error.reply(),
        "hint": error.hint(),
        "span": error.parse_error().map(|parse| [parse.span().start, parse.span().end]),
        "url": error.url().map_or_else(|| mask_password(url), str::to_owned),
        "temporary": error.is_temporary(),
        "exit": error.exit(),
    })
}

/// One URL of an object has failed, and another one has its turn.
pub(crate) fn instead(error: &Error, url: &str) {
    let from = error.url().unwrap_or_default();
    let text =
        format!("fetch-url: {}: {error}; {} instead\n", printable(from.as_bytes()), mask_password(url));
    say(&text);
}

/// What is known of an object, for `-I` and `-i`.
pub(crate) fn head(meta: &Meta, format: Format) -> String {
    if format == Format::Json {
        return format!("{}\n", json::line(&head_value(meta)));
    }
    let mut text = String::new();
    if let Some(reply) = &meta.reply {
        text.push_str(&format!("{}\n", printable(reply.as_bytes())));
    }
    for (name, value) in &meta.fields {
        text.push_str(&format!("{}: {}\n", printable(name.as_bytes()), printable(value)));
    }
    // HTTP tells these in its own fields.
    if !matches!(meta.url, Url::Http(_)) {
        let size = meta.head.size.map(|size| format!("size: {size}\n"));
        let modified = meta.head.modified.map(|modified| format!("modified: {}\n", listing::date(modified)));
        text.extend(size.into_iter().chain(modified));
    }
    text
}

/// What a person can do, for a URL that names no object.
pub(crate) fn advice(advice: &Advice, meta: &Meta, format: Format) -> String {
    match format {
        Format::Json => {
            let mut value = json!({ "advice": advice.text, "url": meta.url.redacted().to_string() });
            for (name, fact) in &advice.facts {
                value[name] = known(fact);
            }
            format!("{}\n", json::line(&value))
        }
        _ => advice.text.clone(),
    }
}

fn known(fact: &Fact) -> Value {
    match fact {
        Fact::Flag(flag) => json!(flag),
        Fact::Number(number) => json!(number),
        Fact::Pairs(pairs) => json!(pairs),
        Fact::Text(text) => json!(text),
        Fact::Words(words) => json!(words),
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
        "hops": meta.hops,
        "fields": fields.collect::<Vec<_>>(),
    })
}

/// The URLs of a text.
pub(crate) fn found<'t>(urls: impl Iterator<Item = Found<'t>>, as_json: bool) -> u8 {
    let is_terminal = io::stdout().is_terminal();
    for url in urls {
        let line = if as_json {
            let span = url.span();
            let found = json!({ "url": url.text(), "alternative": url.alternative(), "span": [span.start, span.end] });
            json::line(&found)
        } else if is_terminal {
            printable(url.text().as_bytes())
        } else {
            url.text().to_owned()
        };
        if !print(&format!("{line}\n")) {
            return 23;
        }
    }
    0
}

/// Writes to standard output; false when nobody reads it any more.
pub(crate) fn print(text: &str) -> bool {
    io::stdout().write_all(text.as_bytes()).is_ok()
}

/// Writes octets to standard output at once; false when nobody reads it any more.
fn print_octets(octets: &[u8]) -> bool {
    let mut stdout = io::stdout();
    stdout.write_all(octets).and_then(|()| stdout.flush()).is_ok()
}

/// Something that a person may want to know.
pub(crate) fn note(text: &str) {
    say(&format!("fetch-url: note: {text}\n"));
}

/// Something that a person may want to know of one URL.
pub(crate) fn note_of(url: &str, text: &str, format: Format) {
    match format {
        Format::Json => say(&format!("{}\n", json::line(&json!({ "note": text, "url": url })))),
        _ => note(&printable(format!("{url}: {text}").as_bytes())),
    }
}

/// It failed and is tried again.
pub(crate) fn again(event: &Event<'_>) {
    let Event::Retry { url, error, wait, offset, .. } = event else { return };
    let from = if *offset > 0 { format!(" from octet {offset}") } else { String::new() };
    let (url, wait) = (printable(url.redacted().to_string().as_bytes()), wait.as_secs_f64());
    say(&format!("fetch-url: {url}: {error}; again{from} in {wait:.1} s\n"));
}

/// Writes to standard error.
pub(crate) fn say(text: &str) {
    // There is no other place to complain.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// `-v` listens to the dialogue, `-vv` to decisions, `-vvv` to the libraries below; `--trace` to
/// dialogue, decisions and what line protocols bring, so that a scripted server can play it again; nobody ever to suppaftp, which writes passwords down.
pub(crate) fn listen(verbose: u8, trace: Option<&Path>) -> Result<(), Error> {
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
    if verbose == 0 && trace.is_none() {
        return Ok(());
    }
    let plain = tracing_subscriber::fmt::layer().with_level(false).with_target(false).with_ansi(false);
    let said =
        (verbose > 0).then(|| plain.with_writer(io::stderr).without_time().with_filter(targets(verbose)));
    let traced = match trace {
        None => None,
        Some(path) if path.as_os_str() == "-" => Some(traced(Mutex::new(Box::new(io::stderr())))),
        Some(path) => {
            let file =
                File::create(path).map_err(|error| usage_error(format!("{}: {error}", path.display())))?;
            Some(traced(Mutex::new(Box::new(file))))
        }
    };
    // A second call in one process changes nothing.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(said).with(traced));
    Ok(())
}

/// Dialogue and decisions, with the time since the start.
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
        .with_filter(targets(2).with_target(OCTETS, Level::TRACE))
}

fn targets(verbose: u8) -> Targets {
    let filter = Targets::new().with_target("fetch_url::dialogue", Level::INFO);
    let filter = match verbose {
        1 => filter,
        2 => filter.with_target("fetch_url", Level::DEBUG),
        _ => filter.with_target("fetch_url", Level::TRACE).with_default(Level::DEBUG),
    };
    filter.with_target("suppaftp", LevelFilter::OFF).with_target(OCTETS, LevelFilter::OFF)
}
