//! The form in which a response is printed or stored: `-I`, `-i` and `--format`.

use fetch_url::url::Url;
use fetch_url::{Body, Content, Response};

use super::context::Run;
use crate::render;
use crate::render::listing::{self, ListingStyle};
use crate::render::terminal::sanitise_text;

/// Returns the response in the form of `-I`, `-i` and `--format`. Rendered content cannot be resumed.
pub(super) fn with_output_format(response: Response, is_file: bool, run: &Run) -> Response {
    let format = run.options.format;
    let is_on_terminal = run.log.stdout_is_terminal && !is_file;
    // With -o -, the output to a terminal is not sanitised, because the object may be binary.
    let for_output = |head: Vec<u8>| if is_on_terminal { sanitise_text(&head).into_bytes() } else { head };
    let Response { mut meta, content, status_error, .. } = response;
    let with = |meta, body| {
        let mut response = Response::new(meta, Content::Body(body));
        response.status_error = status_error;
        response
    };
    let body = match content {
        Content::Body(body) if !run.options.include => return with(meta, body),
        Content::Body(body) => match render::head_text(&meta, format) {
            head if head.is_empty() => body,
            head => body.with_prefix(for_output([&head[..], b"\n"].concat())),
        },
        Content::Listing(entries) => {
            let style = ListingStyle {
                names_only: run.options.lists_names_only && matches!(meta.url, Url::Ftp(_)),
                is_on_terminal,
            };
            listing::listing_body(entries, format, style)
        }
        Content::Advice(advice) => Body::from_bytes(render::advice_text(&advice, &meta, format)),
        _ => Body::from_bytes(for_output(render::head_block(&meta, format))),
    };
    meta.is_resumable = false;
    with(meta, body)
}
