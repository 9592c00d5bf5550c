//! Notes about one transfer.

use fetch_url::url::{Url, mask_password, parse};
use fetch_url::{Receipt, Request};

use super::context::Run;
use crate::flags::Format;
use crate::job::{Transfer, news};
use crate::render;

/// Returns the text of a URL with its password replaced by `***`; in a text that does not parse, by one `*` for each
/// character.
pub(super) fn shown_url(text: &str) -> String {
    parse(text).map_or_else(|_| mask_password(text), |parsed| parsed.url.redacted().to_string())
}

/// Notes that a `mid:` URL is fetched as a news article.
pub(super) fn note_mid_url(request: &Request, transfer: &Transfer, run: &Run) {
    let is_article = matches!(request.url(), Url::News(_)) && !news::may_be_news(&transfer.url);
    if is_article && !run.log.is_silent {
        let note = "mid: names a message; fetching the article with this message-id from the news server";
        run.progress.suspend_while(|| render::print_note_for(&transfer.url, note, run.options.format));
    }
}

/// Notes on a terminal that a scheme was added to the text of the URL.
pub(super) fn note_added_scheme(transfer: &Transfer, run: &Run) {
    if !run.log.is_interactive {
        return;
    }
    if let Some(url) = run.options.typed_urls.complete(&transfer.url) {
        let note = format!("no scheme was given; fetching {}", mask_password(&url));
        run.progress.suspend_while(|| match run.options.format {
            Format::Json => render::print_note_for(&mask_password(&transfer.url), &note, Format::Json),
            _ => render::print_note(&note),
        });
    }
}

/// Notes that the checksums of a document cannot be verified.
pub(super) fn note_unusable_checksum(transfer: &Transfer, run: &Run) {
    if transfer.has_unusable_checksum && !run.log.is_silent {
        let note = "the metalink has no complete checksum of a known type: the file is not checked";
        let url = shown_url(&transfer.url);
        run.progress.suspend_while(|| render::print_note_for(&url, note, run.options.format));
    }
}

pub(super) fn note_unreadable_date(transfer: &Transfer, run: &Run) {
    if !run.log.is_silent {
        let note =
            "Last-Modified cannot be read, so the condition cannot be checked: the existing file is kept";
        let url = shown_url(&transfer.url);
        run.progress.suspend_while(|| render::print_note_for(&url, note, run.options.format));
    }
}

/// Notes that an existing file is fetched again because it does not have the required checksum.
pub(super) fn note_wrong_checksum(transfer: &Transfer, run: &Run) {
    if !run.log.is_silent {
        let note = "the existing file does not have the required checksum, and is fetched again";
        let url = shown_url(&transfer.url);
        run.progress.suspend_while(|| render::print_note_for(&url, note, run.options.format));
    }
}

/// Prints the notes of a receipt and, unless the object was shown on the terminal (`is_read_now`), the missing
/// terminator.
pub(super) fn print_notes(receipt: &Receipt, run: &Run, is_read_now: bool) {
    if run.log.is_silent || (run.mirror.is_some() && run.log.verbose == 0) {
        return;
    }
    let missing = receipt.missing_terminator.filter(|_| !is_read_now);
    let missing = missing.map(|terminator| format!("{terminator} is missing: the object may be incomplete"));
    for note in receipt.notes.iter().map(ToString::to_string).chain(missing) {
        run.progress.suspend_while(|| render::print_note_for(&receipt.url, &note, run.options.format));
    }
}
