//! Fetches an object and maps the response to an answer.

use std::net::IpAddr;
use std::sync::Arc;

use fetch_url::driver::SchemeSupport;
use fetch_url::response::Content;
use fetch_url::{ByteRange, Code, Credential, Error, Fetcher, Meta, Phase, Request, Response, Url};
use fetch_url_proto::http_date;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY};

use crate::answer::{Answer, HTML};
use crate::answer_body::AnswerContent;
use crate::article::{article_answer, article_charset};
use crate::cache::{Cache, CacheMark, CachedFetch, CachedResponse, wants_stored_only};
use crate::conditions::{fails_precondition, is_unmodified, matches_etag};
use crate::disposition::attachment;
use crate::error_page::fault_answer;
use crate::gateway_request::{GatewayRequest, is_search_form};
use crate::media_type::{essence, is_shown, media_type, text_charset};
use crate::pages;
use crate::request_head::{HeadFault, RequestHead};
use crate::request_target::RequestedUrl;
use crate::security_headers::ContentOrigin;
use crate::shared::Shared;

mod byte_range;
mod http_answer;

use byte_range::{fetch_without_range, unsatisfied_range, with_known_range, with_range};

/// Fetches the object that `requested` names for `client`.
pub(super) async fn fetch(
    shared: &Arc<Shared>,
    client: IpAddr,
    head: &RequestHead,
    requested: &RequestedUrl,
) -> Result<Answer, Error> {
    let GatewayRequest { url, request, login } = GatewayRequest::new(shared, client, head, requested)?;
    if is_search_form(&url) {
        return Ok(Answer::page(StatusCode::OK, pages::search::search_page(requested.form, &url)));
    }
    let key = cache_key(shared, head, requested, &request, login.as_ref());
    let fetcher = shared.fetchers.fetcher_for(request.url(), login)?;
    if fetcher.support(request.url()) != SchemeSupport::BuiltIn {
        let detail = format!("the scheme {} is not supported", url.scheme_name());
        return Err(Error::new(Code::Unsupported, Phase::Plan, detail));
    }
    if let Some((cache, key)) = key {
        let fetch = CachedFetch { cache, fetcher: &fetcher, request: &request, head, key };
        return cached_answer(shared, head, requested, &url, fetch).await;
    }
    if shared.cache.is_some() && wants_stored_only(head) && !matches!(url, Url::File(_)) {
        return Ok(not_stored_answer(head, CacheMark::NotStored));
    }
    let answer = uncached_answer(shared, head, requested, &url, &fetcher, &request).await?;
    let answer = if head.method == "HEAD" { without_stream(answer) } else { answer };
    Ok(if shared.cache.is_some() { CacheMark::Bypassed.add_to(answer) } else { answer })
}

/// Returns the cache and the key of the object, if it may be stored.
fn cache_key<'s>(
    shared: &'s Shared,
    head: &RequestHead,
    requested: &RequestedUrl,
    request: &Request,
    login: Option<&Credential>,
) -> Option<(&'s Arc<Cache>, String)> {
    let cache = shared.cache.as_ref()?;
    let has_login = shared.fetchers.has_login_for(request.url());
    let key = cache.key_for(request.url(), head, login)?;
    (requested.fields.is_empty() && !has_login).then_some((cache, key))
}

/// Answers with the cache.
async fn cached_answer(
    shared: &Arc<Shared>,
    head: &RequestHead,
    requested: &RequestedUrl,
    url: &Url<'static>,
    fetch: CachedFetch<'_>,
) -> Result<Answer, Error> {
    let (fetcher, request) = (fetch.fetcher, fetch.request);
    let (response, range, mark) = match fetch.run().await {
        Ok((CachedResponse::UnsatisfiedRange(size), mark)) => {
            return Ok(mark.add_to(unsatisfied_range(size)));
        }
        Ok((CachedResponse::NotStored, mark)) => return Ok(not_stored_answer(head, mark)),
        Ok((CachedResponse::Response(response, range), mark)) => (*response, range, mark),
        Err(error) if error.code() == Code::RangeRefused => {
            let mark = CacheMark::Forwarded { reason: "uri-miss", is_stored: false };
            match fetch_without_range(fetcher, request, head, error).await? {
                Ok(response) => (response, None, mark),
                Err(size) => return Ok(mark.add_to(unsatisfied_range(size))),
            }
        }
        Err(error) => return Err(error),
    };
    let (response, range) = with_known_range(fetcher, request, response, range).await?;
    Ok(mark.add_to(answer(shared, head, requested, url, response, range).await?))
}

/// Returns the answer for a client that wants a stored object, if there is none.
fn not_stored_answer(head: &RequestHead, mark: CacheMark) -> Answer {
    let detail = "the cache has no object for only-if-cached that may be used without its server";
    mark.add_to(fault_answer(Some(head), &HeadFault::new(StatusCode::GATEWAY_TIMEOUT, detail)))
}

/// Answers without the cache.
async fn uncached_answer(
    shared: &Arc<Shared>,
    head: &RequestHead,
    requested: &RequestedUrl,
    url: &Url<'static>,
    fetcher: &Fetcher,
    request: &Request,
) -> Result<Answer, Error> {
    let range = request.wanted_range();
    let response = match fetcher.fetch(request.clone()).await {
        Err(error) if error.code() == Code::RangeRefused => {
            match fetch_without_range(fetcher, request, head, error).await? {
                Ok(response) => return answer(shared, head, requested, url, response, None).await,
                Err(size) => return Ok(unsatisfied_range(size)),
            }
        }
        fetched => fetched?,
    };
    let (response, range) = with_known_range(fetcher, request, response, range).await?;
    answer(shared, head, requested, url, response, range).await
}

/// Maps the response to an answer.
async fn answer(
    shared: &Arc<Shared>,
    head: &RequestHead,
    requested: &RequestedUrl,
    url: &Url<'static>,
    response: Response,
    range: Option<ByteRange>,
) -> Result<Answer, Error> {
    let Response { meta, content, status_error, .. } = response;
    if let Url::Http(_) = meta.url {
        return http_answer::http_answer(shared, head, requested.form, *meta, content, status_error).await;
    }
    if fails_precondition(head, meta.head.modified) {
        let detail = "the object is not the version that If-Match or If-Unmodified-Since requires";
        let fault = HeadFault::new(StatusCode::PRECONDITION_FAILED, detail);
        return Ok(with_validators(fault_answer(Some(head), &fault), &meta));
    }
    if is_unchanged(head, &meta) {
        return Ok(with_validators(Answer::new(StatusCode::NOT_MODIFIED, ContentOrigin::Sandboxed), &meta));
    }
    match content {
        Content::Unchanged => {
            Ok(with_validators(Answer::new(StatusCode::NOT_MODIFIED, ContentOrigin::Sandboxed), &meta))
        }
        Content::Head => Ok(head_answer(url, &meta)),
        Content::Listing(listing) => pages::listing_answer(shared, requested, url, &meta, listing).await,
        Content::Advice(advice) => {
            Ok(Answer::page(StatusCode::OK, pages::advice::advice_page(requested.form, url, &advice)))
        }
        Content::Body(body) if is_article_page(head, requested, &meta) => {
            article_answer(requested, url, body).await
        }
        Content::Body(mut body) => {
            let length = body.expected();
            let first = body.chunk().await?;
            let content = AnswerContent::Stream { first, source: Box::pin(body), length };
            Ok(object_answer(url, &meta, content, range))
        }
        _ => Err(Error::new(Code::Unsupported, Phase::Plan, "a session cannot be served")),
    }
}

/// Returns `true` if the client has this version of an object of another protocol than http.
fn is_unchanged(head: &RequestHead, meta: &Meta) -> bool {
    etag(meta).is_some_and(|etag| matches_etag(head, &etag)) || is_unmodified(head, meta.head.modified)
}

/// Returns `true` if a news article is shown as a page: for people, unless they ask for its source.
fn is_article_page(head: &RequestHead, requested: &RequestedUrl, meta: &Meta) -> bool {
    matches!(meta.url, Url::News(_) | Url::Nntp(_))
        && head.accepts_html()
        && requested.field("source").is_none()
}

/// Returns the answer with an object of a protocol other than http.
fn object_answer(url: &Url<'_>, meta: &Meta, content: AnswerContent, range: Option<ByteRange>) -> Answer {
    let beginning: &[u8] = match &content {
        AnswerContent::Stream { first: Some(first), .. } => first,
        _ => &[],
    };
    let answer = Answer::new(StatusCode::OK, ContentOrigin::Sandboxed);
    let answer = with_range(with_validators(answer, meta), meta, &content, range);
    let beginning = Some(beginning).filter(|_| answer.status == StatusCode::OK);
    let mut answer = with_type(answer, url, meta, beginning);
    answer.content = content;
    answer
}

/// Removes content that is streamed from an answer, but keeps its length: the answer to HEAD.
fn without_stream(mut answer: Answer) -> Answer {
    let AnswerContent::Stream { length, .. } = answer.content else { return answer };
    answer.content = AnswerContent::None;
    length.into_iter().fold(answer, |answer, length| answer.with(CONTENT_LENGTH, &length.to_string()))
}

/// Returns the answer to HEAD.
fn head_answer(url: &Url<'_>, meta: &Meta) -> Answer {
    if is_directory(url) {
        return Answer::new(StatusCode::OK, ContentOrigin::Gateway)
            .with(CONTENT_TYPE, HTML)
            .with(VARY, "Accept");
    }
    let answer = with_type(Answer::new(StatusCode::OK, ContentOrigin::Sandboxed), url, meta, None);
    let answer = with_validators(answer, meta);
    match meta.head.size {
        Some(size) => answer.with(CONTENT_LENGTH, &size.to_string()),
        None => answer,
    }
}

/// Returns `true` for URLs whose objects are shown as a page of entries.
fn is_directory(url: &Url<'_>) -> bool {
    match url {
        Url::Gopher(url) => matches!(url.gtype(), b'1' | b'7'),
        Url::Ftp(url) => url.path().is_none_or(|path| path.name().is_empty()),
        _ => false,
    }
}

/// Adds type and name. Objects that no browser shows are saved under a sanitised name. The charset of a text follows
/// from the beginning of the object; without it (HEAD, 206), none is stated, because it could be another one than that
/// of GET.
fn with_type(answer: Answer, url: &Url<'_>, meta: &Meta, beginning: Option<&[u8]>) -> Answer {
    let media_type = media_type(url, meta.media_type.as_deref());
    let essence = essence(&media_type);
    // Mail and articles are text; a browser would save them.
    let (essence, media_type) = match essence.as_str() {
        "message/rfc822" => ("text/plain".to_owned(), "text/plain".into()),
        _ => (essence, media_type),
    };
    let has_charset = media_type.to_ascii_lowercase().contains("charset=");
    let is_article = matches!(meta.url, Url::News(_) | Url::Nntp(_));
    let media_type = match beginning.filter(|_| essence.starts_with("text/") && !has_charset) {
        Some(beginning) => {
            let stated = article_charset(beginning).filter(|_| is_article);
            let charset = stated.unwrap_or_else(|| text_charset(beginning).to_owned());
            format!("{media_type}; charset={charset}")
        }
        None => media_type.into_owned(),
    };
    let answer = if is_article { answer.with(VARY, "Accept") } else { answer };
    let answer = answer.with(CONTENT_TYPE, &media_type);
    with_name(answer, url, meta, &essence)
}

fn with_name(answer: Answer, url: &Url<'_>, meta: &Meta, essence: &str) -> Answer {
    if is_shown(essence) {
        return answer;
    }
    let suggested = meta.suggested_name.as_deref().and_then(fetch_url::output::safe_name);
    let name = suggested.or_else(|| fetch_url::output::file_name(url)).unwrap_or_else(|| "object".to_owned());
    answer.with(CONTENT_DISPOSITION, &attachment(&name))
}

/// Returns the validator of an object whose protocol has none: its size and time, which together rarely stay the same.
fn etag(meta: &Meta) -> Option<String> {
    let (size, modified) = meta.head.size.zip(meta.head.modified)?;
    Some(format!("W/\"{size:x}-{modified:x}\""))
}

fn with_validators(answer: Answer, meta: &Meta) -> Answer {
    let answer = match meta.head.modified.and_then(http_date::format) {
        Some(time) => answer.with(LAST_MODIFIED, &time),
        None => answer,
    };
    match etag(meta) {
        Some(etag) => answer.with(ETAG, &etag),
        None => answer,
    }
}
