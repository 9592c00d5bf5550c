//! The cache on disk: objects of http and ftp servers that have a validator.
//!
//! `store` keeps the files, `http_rules` decides by RFC 9111 whether a response may be used. An ftp file is used if SIZE
//! and MDTM are still the same. The other schemes have no validator, so their objects are not stored. `recording` stores
//! an object while it is sent.

use std::hash::Hasher as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use fetch_url::internal::run_on_thread;
use fetch_url::{Credential, Error, Meta, Request, Url};
use serde_json::json;

use crate::conditions::has_precondition;
use crate::log::Logs;
use crate::options::ServeOptions;
use crate::request_head::RequestHead;

mod blocks;
mod cached_fetch;
mod contents;
mod directives;
mod entry;
mod files;
mod http_rules;
mod mark;
mod recording;
mod store;
mod stored_answer;
mod writer;

pub(crate) use cached_fetch::CachedFetch;
pub(crate) use http_rules::wants_stored_only;
pub(crate) use mark::CacheMark;
pub(crate) use stored_answer::CachedResponse;

use self::blocks::BlockFile;
use self::entry::Entry;
use self::store::Store;

/// The least age of an ftp file in seconds. MDTM counts seconds, so a file that was changed just now may change again
/// without another time.
const MIN_AGE: i64 = 60;

/// The cache of a server.
#[derive(Debug)]
pub(crate) struct Cache {
    store: Arc<Store>,
    /// The settings that objects depend on besides their URLs: the network policy and the TLS options. A server that may contact
    /// private addresses shares no objects with one that may not.
    options: u64,
    /// Answers over TLS may depend on the certificate of this client.
    has_identity: bool,
    logs: Logs,
}

impl Cache {
    /// Opens the cache in `directory`.
    ///
    /// # Errors
    /// `Code::Usage` if it cannot be used.
    pub(crate) fn open(directory: &Path, options: &ServeOptions, logs: Logs) -> Result<Arc<Self>, Error> {
        let store = Store::open(directory, options.cache_size)?;
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(format!("{:?} {:?}", options.policy.network, options.tls).as_bytes());
        let (options, has_identity) = (hasher.finish(), options.tls.has_identity());
        Ok(Arc::new(Self { store, options, has_identity, logs }))
    }

    /// Returns the key of `url`, or `None` if its objects are never stored: they depend on a login, or have no
    /// validator.
    pub(crate) fn key_for(
        &self,
        url: &Url<'_>,
        head: &RequestHead,
        login: Option<&Credential>,
    ) -> Option<String> {
        let is_plain_http = matches!(url, Url::Http(_)) && url.scheme_name() == "http";
        let has_validator = matches!(url, Url::Http(_) | Url::Ftp(_));
        let has_login = login.is_some()
            || url.user_info().is_some()
            || head.field("authorization").is_some()
            || head.field("cookie").is_some();
        let may_be_stored =
            has_validator && head.method == "GET" && !has_login && (!self.has_identity || is_plain_http);
        may_be_stored.then(|| format!("{:016x} {url}", self.options))
    }

    /// Opens the object for `key`. A damaged one is removed and counts as missing.
    async fn find(self: &Arc<Self>, key: &str) -> Option<(Entry, BlockFile)> {
        let (store, name) = (self.store.clone(), key.to_owned());
        let found = run_on_thread(move || store.find(&name)).await;
        match found.map_err(io::Error::other) {
            Ok(Ok(found)) => found,
            Ok(Err(error)) | Err(error) => {
                self.note(key, &error);
                None
            }
        }
    }

    /// Calls `change` on a thread. A failure is logged.
    async fn change<T: Send + 'static>(
        &self,
        key: &str,
        change: impl FnOnce(&Arc<Store>) -> io::Result<T> + Send + 'static,
    ) -> Option<T> {
        let store = self.store.clone();
        let changed = run_on_thread(move || change(&store)).await;
        changed.map_err(io::Error::other).flatten().inspect_err(|error| self.note(key, error)).ok()
    }

    /// Logs a failure of the cache. The answer is sent without it.
    fn note(&self, key: &str, error: &io::Error) {
        let url = key.split_once(' ').map_or(key, |(_, url)| url);
        self.logs.event(|| json!({"event": "cache", "url": url, "message": error.to_string()}));
    }
}

/// Returns `true` if `meta` describes an ftp file whose changes can be noticed.
fn has_ftp_validator(meta: &Meta, now: i64) -> bool {
    meta.head.size.is_some() && meta.head.modified.is_some_and(|modified| modified + MIN_AGE <= now)
}

/// Returns `true` if the client asks for a part of the object, or only for a certain version of it.
fn is_selective(request: &Request, head: &RequestHead) -> bool {
    request.wanted_range().is_some()
        || has_precondition(head)
        || ["if-none-match", "if-modified-since", "if-range", "range"]
            .iter()
            .any(|name| head.field(name).is_some())
}
