//! The last errors, which the start page shows to the clients that got them.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use fetch_url::url::find_urls;

use crate::field_text::shortened;
use crate::log::unix_time;

/// The number of errors that a client sees.
const MAX_OF_CLIENT: usize = 10;
/// The maximum number of errors of all clients.
const MAX_ERRORS: usize = 1000;
/// The maximum size of a URL and of a message, in bytes.
const MAX_TEXT: usize = 1024;

/// The last errors of each client, the newest first.
#[derive(Debug, Default)]
pub(crate) struct RecentErrors(Mutex<VecDeque<(IpAddr, RecentError)>>);

/// An error that the start page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecentError {
    pub(crate) time: i64,
    /// The URL, without user, password and query.
    pub(crate) url: String,
    pub(crate) message: String,
}

impl RecentErrors {
    /// Records an error of a request of `client`.
    pub(crate) fn record(&self, client: IpAddr, url: &str, message: &str) {
        let url = shortened(without_secrets(url), MAX_TEXT);
        let message = shortened(message_without_secrets(message), MAX_TEXT);
        let mut errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_client = 0;
        errors.retain(|(other, earlier)| {
            let is_same = earlier.url == url && earlier.message == message;
            of_client += usize::from(*other == client && !is_same);
            *other != client || (!is_same && of_client < MAX_OF_CLIENT)
        });
        errors.truncate(MAX_ERRORS - 1);
        errors.push_front((client, RecentError { time: unix_time(), url, message }));
    }

    /// Returns the last errors of `client`, the newest first.
    pub(crate) fn of_client(&self, client: IpAddr) -> Vec<RecentError> {
        let errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        errors.iter().filter(|(other, _)| *other == client).map(|(_, error)| error.clone()).collect()
    }
}

/// Returns the URL without user and password, and without the words of a search, the query and the fragment: programs put
/// tokens there, and the programs of one computer share an address.
fn without_secrets(url: &str) -> String {
    let query = ["?", "#", "%09"].iter().filter_map(|mark| Some((url.find(mark)?, *mark))).min();
    let kept = query.and_then(|(position, _)| url.get(..position)).unwrap_or(url);
    let mut shown = match kept.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
            format!("{scheme}://{server}{path}")
        }
        None => kept.to_owned(),
    };
    if let Some((_, mark)) = query {
        shown.push_str(mark);
        shown.push('\u{2026}');
    }
    shown
}

/// Returns the message with its URLs as [`without_secrets`] returns them.
fn message_without_secrets(message: &str) -> String {
    let (mut shown, mut at) = (String::new(), 0);
    for found in find_urls(message) {
        let span = found.span();
        if let (Some(before), Some(url)) = (message.get(at..span.start), message.get(span.clone())) {
            shown.push_str(before);
            shown.push_str(&without_secrets(url));
            at = span.end;
        }
    }
    shown.push_str(message.get(at..).unwrap_or_default());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_urls_are_removed() {
        for (url, expected) in [
            ("http://h/a?token=canary#canary", "http://h/a?\u{2026}"),
            ("/http://u:canary@h:81/a#canary?x", "/http://h:81/a#\u{2026}"),
            ("ftp://canary@h", "ftp://h"),
            ("gopher://h/7/s%09canary", "gopher://h/7/s%09\u{2026}"),
            ("wais://h/d?canary", "wais://h/d?\u{2026}"),
            ("http://h?canary@x/", "http://h?\u{2026}"),
            ("news:1@h", "news:1@h"),
            ("http://h/a@b", "http://h/a@b"),
        ] {
            assert_eq!(without_secrets(url), expected);
        }
        let message = "a redirect to http://u@h/a?canary is refused";
        assert_eq!(message_without_secrets(message), "a redirect to http://h/a?\u{2026} is refused");
    }

    #[test]
    fn client_with_many_errors_displaces_its_own() {
        let (errors, own) = (RecentErrors::default(), IpAddr::from([192, 0, 2, 1]));
        errors.record(own, "ftp://h/own", "failed");
        let other = IpAddr::from([192, 0, 2, 2]);
        for number in 0..2 * MAX_ERRORS {
            errors.record(other, &format!("ftp://h/{number}"), "failed");
        }
        errors.record(other, &format!("ftp://h/{}", 2 * MAX_ERRORS - 2), "failed");
        assert_eq!(errors.of_client(own).len(), 1);
        let urls: Vec<String> = errors.of_client(other).into_iter().map(|error| error.url).collect();
        assert_eq!((urls.len(), urls[0].as_str(), urls[9].as_str()), (10, "ftp://h/1998", "ftp://h/1990"));
    }
}
