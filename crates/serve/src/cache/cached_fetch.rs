//! Fetches an object with the cache: from the disk, after its server confirmed it, or from its server.

use std::sync::Arc;
use std::time::SystemTime;

use fetch_url::{Code, Content, Error, Fetcher, Request, Response, Url};

use super::blocks::BlockFile;
use super::entry::Entry;
use super::http_rules::{self, Freshness};
use super::mark::CacheMark;
use super::recording::Recording;
use super::store::Store;
use super::stored_answer::{CachedResponse, stored_response};
use super::{Cache, has_ftp_validator, is_selective};
use crate::conditions::has_precondition;
use crate::log::unix_time;
use crate::request_head::RequestHead;

/// A request whose object may be stored.
pub(crate) struct CachedFetch<'r> {
    pub(crate) cache: &'r Arc<Cache>,
    pub(crate) fetcher: &'r Fetcher,
    pub(crate) request: &'r Request,
    pub(crate) head: &'r RequestHead,
    pub(crate) key: String,
}

/// A response, and what the cache did for it.
type Fetched = Result<(CachedResponse, CacheMark), Error>;

const NOT_STORED: (CachedResponse, CacheMark) = (CachedResponse::NotStored, CacheMark::NotStored);

impl CachedFetch<'_> {
    /// Fetches the object.
    ///
    /// # Errors
    /// As for [`Fetcher::fetch`]. Failures of the cache are logged, and the object is fetched from its server.
    pub(crate) async fn run(self) -> Fetched {
        let is_ftp = matches!(self.request.url(), Url::Ftp(_));
        match self.cache.find(&self.key).await {
            Some((entry, file)) if !is_ftp && !has_precondition(self.head) => {
                self.answer_from(entry, file).await
            }
            _ if http_rules::wants_stored_only(self.head) => Ok(NOT_STORED),
            None => self.forward("uri-miss").await,
            Some((entry, file)) if is_ftp => self.confirm_ftp(entry, file).await,
            // The server that has the object checks the condition (RFC 9110 §13.2.1).
            Some(_) => self.forward("request").await,
        }
    }

    /// Uses the stored object of an http server if it is fresh, or after its server has confirmed it.
    async fn answer_from(self, entry: Entry, file: BlockFile) -> Fetched {
        let fields = http_rules::request_fields(self.request, self.head);
        match http_rules::freshness(&entry, &fields, SystemTime::now()) {
            Freshness::Fresh { age, ttl } => Ok((self.stored(&entry, file), CacheMark::Hit { age, ttl })),
            _ if http_rules::wants_stored_only(self.head) => Ok(NOT_STORED),
            Freshness::Stale { by_client } => {
                self.confirm_http(entry, file, if by_client { "request" } else { "stale" }).await
            }
            Freshness::OtherVariant => self.forward("vary-miss").await,
        }
    }

    fn stored(&self, entry: &Entry, file: BlockFile) -> CachedResponse {
        stored_response(self.cache, self.request.url().clone(), self.head, entry, file)
    }

    /// Fetches the object from its server and stores it. A range, and an object that the client already has, is not
    /// stored.
    async fn forward(self, reason: &'static str) -> Fetched {
        if is_selective(self.request, self.head) {
            let response = self.fetcher.fetch(self.request.clone()).await?;
            let response = CachedResponse::Response(Box::new(response), self.request.wanted_range());
            return Ok((response, CacheMark::Forwarded { reason, is_stored: false }));
        }
        let sent = unix_time();
        let response = self.fetcher.fetch(self.request.clone()).await?;
        Ok(self.record(response, sent, reason).await)
    }

    /// Asks an http server whether the stored object is still the same.
    async fn confirm_http(self, mut entry: Entry, file: BlockFile, reason: &'static str) -> Fetched {
        let sent = unix_time();
        let request = http_rules::confirming_request(&entry, self.request);
        let response = self.fetcher.fetch(request).await?;
        if !matches!(response.content, Content::Unchanged) {
            return Ok(self.record(response, sent, reason).await);
        }
        let fields = &response.meta.fields;
        if response.meta.status != Some(304) || !http_rules::confirms(&entry, fields) {
            // The server confirms another object, so this one is of no use.
            let response = self.fetcher.fetch(http_rules::whole_request(self.request)).await?;
            return Ok(self.record(response, sent, reason).await);
        }
        http_rules::update(&mut entry, fields);
        entry.confirmed = sent;
        if http_rules::may_stay(&entry, SystemTime::now()) {
            let updated = entry.clone();
            self.cache.change(&self.key, move |store| store.publish(&updated)).await;
        } else {
            self.remove().await;
        }
        let age = http_rules::age(&entry, SystemTime::now());
        let mut stored = self.stored(&entry, file);
        if let CachedResponse::Response(answer, _) = &mut stored {
            answer.meta.fields.extend(http_rules::cookies(fields));
        }
        Ok((stored, CacheMark::Confirmed { reason, how: "fwd-status=304", age }))
    }

    /// Compares size and time of a stored ftp file with those at its server.
    async fn confirm_ftp(self, entry: Entry, file: BlockFile) -> Fetched {
        let whole = self.request.for_related(self.request.url().clone());
        let found = match self.fetcher.fetch(whole.head()).await {
            Ok(response) => response.meta.head,
            Err(error) => {
                if error.code() == Code::NotFound {
                    self.remove().await;
                }
                return Err(error);
            }
        };
        if found.size == Some(entry.length) && found.modified.is_some() && found.modified == entry.modified {
            let mark = CacheMark::Confirmed { reason: "stale", how: "detail=unchanged", age: 0 };
            return Ok((self.stored(&entry, file), mark));
        }
        self.forward("stale").await
    }

    /// Removes the stored object, which its server no longer has or no longer allows to be stored.
    async fn remove(&self) {
        let key = self.key.clone();
        let remove = move |store: &Arc<Store>| {
            store.remove(&key);
            Ok(())
        };
        self.cache.change(&self.key, remove).await;
    }

    /// Returns `response`, whose body is stored while it is read if it may be stored.
    async fn record(
        self,
        response: Response,
        sent: i64,
        reason: &'static str,
    ) -> (CachedResponse, CacheMark) {
        let forwarded = |response, is_stored| {
            let mark = CacheMark::Forwarded { reason, is_stored };
            (CachedResponse::Response(Box::new(response), None), mark)
        };
        let Some(entry) = self.new_entry(&response, sent) else { return forwarded(response, false) };
        let announced = match &response.content {
            Content::Body(body) => body.expected(),
            _ => return forwarded(response, false),
        };
        let writer = self.cache.change(&self.key, move |store| store.write(announced)).await;
        let Some(writer) = writer else { return forwarded(response, false) };
        let (meta, content) = (response.meta, response.content);
        let content = match content {
            Content::Body(body) => Content::Body(Recording::body(self.cache, writer, entry, body)),
            other => other,
        };
        forwarded(Response::new(meta, content), true)
    }

    /// Returns the entry for `response`, or `None` if it must not be stored or cannot be confirmed later.
    fn new_entry(&self, response: &Response, sent: i64) -> Option<Entry> {
        let meta = &response.meta;
        let is_http = matches!(meta.url, Url::Http(_));
        let request = http_rules::request_fields(self.request, self.head);
        let is_storable = match is_http {
            true => http_rules::is_storable(&request, meta, SystemTime::now()),
            false => has_ftp_validator(meta, sent),
        };
        let is_storable = is_storable && response.status_error.is_none() && meta.offset == 0;
        is_storable.then(|| Entry {
            key: self.key.clone(),
            body: String::new(),
            length: 0,
            checksum: 0,
            confirmed: sent,
            modified: meta.head.modified,
            media_type: meta.media_type.clone(),
            suggested_name: meta.suggested_name.clone(),
            fields: if is_http { meta.fields.to_vec() } else { Vec::new() },
            request_fields: if is_http { http_rules::varying_fields(&request, meta) } else { Vec::new() },
        })
    }
}
