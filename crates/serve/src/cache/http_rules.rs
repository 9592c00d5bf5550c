//! The rules of RFC 9111 for responses of http servers, which `http-cache-semantics` knows. This file gives it the
//! fields in the form that it reads: joined, with directives in lower case, without numbers that overflow.

use std::time::{Duration, SystemTime};

use fetch_url::http::{HeaderField, HttpOptions};
use fetch_url::{Meta, Request};
use fetch_url_proto::http_date;
use http::header::{AGE, DATE};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use http_cache_semantics::{BeforeRequest, CacheOptions, CachePolicy};

use super::directives::{self, MAX_SECONDS};
use super::entry::Entry;
use crate::request_head::RequestHead;

/// The directives of a server that forbid to use a stale object without asking the server (RFC 9111 §4.2.4).
const FORBIDS_STALE: [&str; 4] = ["must-revalidate", "no-cache", "proxy-revalidate", "s-maxage"];
/// The fields that a response with status 304 does not replace, because they describe the bytes (RFC 9111 §3.2).
const KEPT_FIELDS: [&str; 5] =
    ["content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"];

/// The fields of a response with status 304 that are for one client or for the connection only (RFC 9111 §3.1).
const UNSHARED_FIELDS: [&str; 12] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The permitted use of a stored response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Fresh {
        age: u64,
        ttl: u64,
    },
    /// The server must confirm it, because of its age or, with `by_client`, because the client asks for that.
    Stale {
        by_client: bool,
    },
    /// The response depends on fields that this request has with other values (`Vary`).
    OtherVariant,
}

/// Returns the fields of `request` on which a response may depend, and the directives of the client.
pub(super) fn request_fields(request: &Request, head: &RequestHead) -> Vec<(String, Vec<u8>)> {
    let options = request.extra::<HttpOptions>();
    let sent = options.into_iter().flat_map(|options| &options.headers);
    let sent = sent.filter_map(|field| Some((field.name.to_ascii_lowercase(), field.value.clone()?)));
    let own = |name: &str| matches!(name, "cache-control" | "pragma" | "via");
    let directives = ["cache-control", "pragma"].into_iter();
    let directives =
        directives.flat_map(|name| head.values(name).map(move |value| (name.to_owned(), value.to_vec())));
    sent.filter(|(name, _)| !own(name)).chain(directives).collect()
}

/// Returns `true` if the client wants a stored object, or none (`only-if-cached`, RFC 9111 §5.2.1.7).
pub(crate) fn wants_stored_only(head: &RequestHead) -> bool {
    head.values("cache-control").any(|value| directives::contains(value, &["only-if-cached"]))
}

/// Returns `true` if a response with status 200 may be stored and can be confirmed later.
pub(super) fn is_storable(request: &[(String, Vec<u8>)], meta: &Meta, now: SystemTime) -> bool {
    let has = |name: &str| meta.fields.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let has_validator = has("etag") || has("last-modified");
    let is_whole = meta.status == Some(200) && !has("content-range");
    has_validator
        && is_whole
        && !has("set-cookie")
        && !varies_always(&meta.fields)
        && policy(request, &meta.fields, now).is_some_and(|policy| policy.is_storable())
}

/// Returns the fields of `request` that the `Vary` fields of a response name.
pub(super) fn varying_fields(request: &[(String, Vec<u8>)], meta: &Meta) -> Vec<(String, Vec<u8>)> {
    let vary: Vec<String> = names_in(&meta.fields, "vary").collect();
    request.iter().filter(|(name, _)| vary.contains(name)).cloned().collect()
}

/// Returns what may be done with `entry` for `request`.
pub(super) fn freshness(entry: &Entry, request: &[(String, Vec<u8>)], now: SystemTime) -> Freshness {
    let forbids_stale =
        values(&entry.fields, "cache-control").any(|value| directives::contains(value, &FORBIDS_STALE));
    let parts = match forbids_stale {
        true => request_parts(&without_max_stale(request)),
        false => request_parts(request),
    };
    let policy = policy(&entry.request_fields, &entry.fields, confirmed(entry));
    let (Some(policy), Some(parts)) = (policy, parts) else { return Freshness::OtherVariant };
    match policy.before_request(&parts, now) {
        BeforeRequest::Fresh(_) => {
            Freshness::Fresh { age: policy.age(now).as_secs(), ttl: policy.time_to_live(now).as_secs() }
        }
        BeforeRequest::Stale { matches: true, .. } => Freshness::Stale { by_client: !policy.is_stale(now) },
        BeforeRequest::Stale { .. } => Freshness::OtherVariant,
    }
}

/// Returns the fields without the permission of the client to use a stale object.
fn without_max_stale(request: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let change = |(name, value): &(String, Vec<u8>)| match name.as_str() {
        "cache-control" => (name.clone(), directives::without(value, "max-stale")),
        _ => (name.clone(), value.clone()),
    };
    request.iter().map(change).collect()
}

/// Returns `true` if the response with status 304 and these `fields` is about `entry` (RFC 9111 §4.3.4): it has the same
/// ETag or, if one of both has none, the same Last-Modified. Without validators it is about the object that was asked for.
pub(super) fn confirms(entry: &Entry, fields: &[(String, Vec<u8>)]) -> bool {
    if let Some((etag, own)) = values(fields, "etag").next().zip(entry.field("etag")) {
        return opaque_tag(etag) == opaque_tag(own.as_bytes());
    }
    let time = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| http_date::parse(text.trim()));
    let modified = values(fields, "last-modified").next().map(time);
    modified.zip(entry.modified).is_none_or(|(modified, own)| modified == Some(own))
}

/// Returns an entity tag for the weak comparison.
fn opaque_tag(tag: &[u8]) -> &[u8] {
    let tag = tag.trim_ascii();
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// Returns the cookies of a response with status 304, which are for the client whose request it answers.
pub(super) fn cookies(fields: &[(String, Vec<u8>)]) -> impl Iterator<Item = (String, Vec<u8>)> {
    fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).cloned()
}

/// Returns `true` if `entry` may stay stored with the fields that a confirmation has given it.
pub(super) fn may_stay(entry: &Entry, now: SystemTime) -> bool {
    !varies_always(&entry.fields)
        && policy(&entry.request_fields, &entry.fields, now).is_some_and(|policy| policy.is_storable())
}

/// Returns the age of a confirmed `entry` in seconds (RFC 9111 §4.2.3).
pub(super) fn age(entry: &Entry, now: SystemTime) -> u64 {
    let policy = policy(&entry.request_fields, &entry.fields, confirmed(entry));
    policy.map_or(0, |policy| policy.age(now).as_secs())
}

/// Returns the time of the request that stored or confirmed `entry`.
fn confirmed(entry: &Entry) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(entry.confirmed.try_into().unwrap_or_default())
}

/// Replaces the fields of `entry` by those of a response with status 304, except for those of the bytes, of one client
/// and of the connection.
pub(super) fn update(entry: &mut Entry, fields: &[(String, Vec<u8>)]) {
    let listed: Vec<String> = names_in(fields, "connection").collect();
    let is_new = |name: &str| {
        let mut dropped =
            KEPT_FIELDS.iter().chain(&UNSHARED_FIELDS).copied().chain(listed.iter().map(String::as_str));
        !dropped.any(|dropped| name.eq_ignore_ascii_case(dropped))
    };
    let new: Vec<_> = fields.iter().filter(|(name, _)| is_new(name)).cloned().collect();
    // The age is that of the confirmation.
    entry.fields.retain(|(name, _)| {
        !name.eq_ignore_ascii_case("age") && !new.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
    });
    entry.fields.extend(new);
}

/// Returns `request` with the conditions under which `entry` is confirmed, and without those of the client.
pub(super) fn confirming_request(entry: &Entry, request: &Request) -> Request {
    let mut options = request.extra::<HttpOptions>().cloned().unwrap_or_default();
    options.headers.retain(|field| !is_condition(&field.name));
    let whole = request.for_related(request.url().clone());
    if let Some(etag) = entry.field("etag") {
        options.headers.push(HeaderField::new("if-none-match", etag));
    }
    let whole = whole.http(options);
    match entry.modified.filter(|_| entry.field("etag").is_none()) {
        Some(modified) => whole.only_if(fetch_url::Condition::ModifiedSince(modified)),
        None => whole,
    }
}

/// Returns `request` without conditions and ranges.
pub(super) fn whole_request(request: &Request) -> Request {
    let whole = request.for_related(request.url().clone());
    let Some(mut options) = request.extra::<HttpOptions>().cloned() else { return whole };
    options.headers.retain(|field| !is_condition(&field.name));
    whole.http(options)
}

fn is_condition(name: &str) -> bool {
    ["if-none-match", "if-match", "if-modified-since", "if-unmodified-since", "if-range", "range"]
        .iter()
        .any(|condition| name.eq_ignore_ascii_case(condition))
}

fn values<'f>(fields: &'f [(String, Vec<u8>)], name: &'f str) -> impl Iterator<Item = &'f [u8]> {
    fields
        .iter()
        .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_slice())
}

/// Returns the field names that the fields `name` list, in lower case.
fn names_in<'f>(fields: &'f [(String, Vec<u8>)], name: &'f str) -> impl Iterator<Item = String> {
    let listed = values(fields, name).flat_map(|value| value.split(|byte| *byte == b','));
    listed.map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
}

fn varies_always(fields: &[(String, Vec<u8>)]) -> bool {
    values(fields, "vary").any(|value| value.contains(&b'*'))
}

/// Returns `None` for fields that cannot be understood; nothing is stored or used then.
fn policy(
    request: &[(String, Vec<u8>)],
    response: &[(String, Vec<u8>)],
    received: SystemTime,
) -> Option<CachePolicy> {
    let mut parts = http::Response::new(());
    let mut fields = header_map(response)?;
    correct_age(&mut fields, received);
    *parts.headers_mut() = fields;
    let options = CacheOptions { shared: true, ..CacheOptions::default() };
    Some(CachePolicy::new_options(&request_parts(request)?, &parts, received, options))
}

/// Sets `Age` to the time since `Date`, if that is longer (apparent_age, RFC 9111 §4.2.3).
fn correct_age(fields: &mut HeaderMap, received: SystemTime) {
    let date = fields.get(DATE).and_then(|value| http_date::parse(value.to_str().ok()?.trim()));
    let received = received.duration_since(SystemTime::UNIX_EPOCH).ok().map(|time| time.as_secs());
    let apparent =
        received.zip(date).and_then(|(received, date)| received.checked_sub(u64::try_from(date).ok()?));
    let stated = fields.get(AGE).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
    if let Some(apparent) = apparent.filter(|apparent| *apparent > stated) {
        fields.insert(AGE, HeaderValue::from(apparent.min(MAX_SECONDS)));
    }
}

/// The URL is a part of the key, so that of the policy is always the same.
fn request_parts(fields: &[(String, Vec<u8>)]) -> Option<http::Request<()>> {
    let mut request = http::Request::new(());
    *request.uri_mut() = Uri::from_static("http://object.invalid/");
    *request.headers_mut() = header_map(fields)?;
    Some(request)
}

/// Joins fields of one name, which the policy would read only once.
fn header_map(fields: &[(String, Vec<u8>)]) -> Option<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).ok()?;
        let value = match name.as_str() {
            "cache-control" | "pragma" => directives::normalised(value)?,
            // RFC 9111 §5.1: the first field counts.
            "age" if map.contains_key(&name) => continue,
            "age" => {
                let seconds = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
                seconds.unwrap_or(MAX_SECONDS).min(MAX_SECONDS).to_string().into_bytes()
            }
            _ => value.clone(),
        };
        let joined = match map.get(&name) {
            Some(earlier) => [HeaderValue::as_bytes(earlier), b", ", &value].concat(),
            None => value,
        };
        map.insert(name, HeaderValue::from_bytes(&joined).ok()?);
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        text.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
    }

    fn entry(response: &[(&str, &str)], request: &[(&str, &str)]) -> Entry {
        Entry {
            key: String::new(),
            body: String::new(),
            length: 0,
            checksum: 0,
            confirmed: 1_000_000,
            modified: None,
            media_type: None,
            suggested_name: None,
            fields: fields(response),
            request_fields: fields(request),
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
    }

    #[test]
    fn only_shared_responses_with_a_validator_are_stored() {
        let meta = |response: &[(&str, &str)]| {
            let url = fetch_url::url::parse("http://h/").expect("a URL").url.into_owned();
            let mut meta = Meta::new(url);
            (meta.status, meta.fields) = (Some(200), fields(response).into_iter().collect());
            meta
        };
        for (response, request, expected) in [
            (&[("ETag", "\"a\"")][..], &[][..], true),
            (&[("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT")], &[], true),
            (&[("Cache-Control", "max-age=60")], &[], false),
            (&[("ETag", "\"a\""), ("Cache-Control", "no-store")], &[], false),
            (&[("ETag", "\"a\""), ("Cache-Control", "max-age=9"), ("Cache-Control", "NO-Store")], &[], false),
            (&[("ETag", "\"a\""), ("cache-control", "Private")], &[], false),
            (&[("ETag", "\"a\""), ("Cache-Control", "\u{fc}, max-age=1")], &[], false),
            (&[("ETag", "\"a\""), ("Set-Cookie", "a=b"), ("Cache-Control", "public")], &[], false),
            (&[("ETag", "\"a\""), ("Vary", "Accept, *")], &[], false),
            (&[("ETag", "\"a\""), ("Content-Range", "bytes 0-1/2")], &[], false),
            (&[("ETag", "\"a\"")], &[("cache-control", "no-store")], false),
            (&[("ETag", "\"a\""), ("Cache-Control", "no-cache")], &[], true),
        ] {
            assert_eq!(is_storable(&fields(request), &meta(response), at(0)), expected, "{response:?}");
        }
    }

    /// The entry was confirmed 1,000,000 seconds after 1970.
    #[test]
    fn age_is_that_of_the_first_field_or_the_time_since_date() {
        for (age, expected) in [
            (&[("Age", "1000"), ("Age", "1")][..], 1000),
            (&[("Age", "1"), ("Age", "1000")], 1),
            (&[("Date", "Mon, 12 Jan 1970 13:46:30 GMT")], 10),
            (&[("Date", "Mon, 12 Jan 1970 13:46:30 GMT"), ("Age", "30")], 30),
            (&[("Date", "Thu, 15 Jan 1970 00:00:00 GMT")], 0),
            (&[("Date", "no date")], 0),
        ] {
            let response = [&[("ETag", "\"a\""), ("Cache-Control", "max-age=60")], age].concat();
            assert_eq!(super::age(&entry(&response, &[]), at(0)), expected, "{age:?}");
        }
    }

    #[test]
    fn freshness_follows_the_directives_of_both_sides() {
        let stale = Freshness::Stale { by_client: false };
        for (response, request, after, expected) in [
            ("max-age=60", "", 10, Freshness::Fresh { age: 10, ttl: 50 }),
            ("max-age=60", "", 60, Freshness::Stale { by_client: false }),
            ("max-age=60, s-maxage=5", "", 10, Freshness::Stale { by_client: false }),
            ("Max-Age=60", "", 10, Freshness::Fresh { age: 10, ttl: 50 }),
            ("no-cache, max-age=60", "", 0, Freshness::Stale { by_client: false }),
            ("max-age=60", "no-cache", 10, Freshness::Stale { by_client: true }),
            ("max-age=60", "max-age=5", 10, Freshness::Stale { by_client: true }),
            ("no-cache, max-age=60", "max-stale", 0, Freshness::Stale { by_client: false }),
            ("max-age=0, proxy-revalidate", "max-stale=100", 1, Freshness::Stale { by_client: false }),
            ("s-maxage=0", "max-stale, x", 1, Freshness::Stale { by_client: false }),
            ("ext=\"x, max-age=1000\", max-age=0", "", 1, Freshness::Stale { by_client: false }),
            ("", "", 10, stale),
            ("max-age=99999999999999999999", "", 10, Freshness::Fresh { age: 10, ttl: MAX_SECONDS - 10 }),
        ] {
            let entry = entry(&[("ETag", "\"a\""), ("Cache-Control", response)], &[]);
            let request = fields(&[("cache-control", request)]);
            assert_eq!(freshness(&entry, &request, at(after)), expected, "{response}");
        }
        let aged = entry(&[("Cache-Control", "max-age=60"), ("Age", "99999999999999999999")], &[]);
        assert_eq!(freshness(&aged, &[], at(1)), Freshness::Stale { by_client: false });
    }

    #[test]
    fn variant_is_used_only_for_the_same_fields() {
        let response = [("Cache-Control", "max-age=60"), ("Vary", "Accept-Language")];
        let entry = entry(&response, &[("accept-language", "de")]);
        for (language, is_same) in [("de", true), ("fr", false)] {
            let found = freshness(&entry, &fields(&[("accept-language", language), ("accept", "x")]), at(1));
            assert_eq!(found != Freshness::OtherVariant, is_same, "{language}");
        }
        assert_eq!(freshness(&entry, &[], at(1)), Freshness::OtherVariant);
    }

    #[test]
    fn age_of_a_confirmed_object_is_that_of_its_confirmation() {
        let mut entry = entry(&[("ETag", "\"a\""), ("Age", "70")], &[]);
        assert_eq!(age(&entry, at(2)), 72);
        update(&mut entry, &fields(&[("Age", "500")]));
        assert_eq!(age(&entry, at(2)), 502);
        update(&mut entry, &fields(&[]));
        assert_eq!(age(&entry, at(2)), 2);
    }

    #[test]
    fn confirmation_replaces_fields_but_not_those_of_the_bytes() {
        let mut entry =
            entry(&[("ETag", "\"a\""), ("Age", "5"), ("Link", "x"), ("Content-Length", "9")], &[]);
        let confirmation = [("link", "y"), ("Link", "z"), ("content-length", "0"), ("Set-Cookie", "a=b")];
        update(&mut entry, &fields(&confirmation));
        let expected = [("ETag", "\"a\""), ("Content-Length", "9"), ("link", "y"), ("Link", "z")];
        assert_eq!(entry.fields, fields(&expected));
        update(&mut entry, &fields(&[("Connection", "X-Hop, close"), ("x-hop", "1"), ("Keep-Alive", "9")]));
        assert_eq!(entry.fields, fields(&expected));
    }

    #[test]
    fn confirmation_has_the_validator_of_the_object() {
        let (time, other) = ("Thu, 01 Dec 1994 12:34:56 GMT", "Thu, 01 Dec 1994 12:34:57 GMT");
        for (own, response, expected) in [
            (Some("\"a\""), &[("ETag", "W/\"a\"")][..], true),
            (Some("\"a\""), &[("ETag", "\"b\""), ("Last-Modified", time)], false),
            (Some("\"a\""), &[("ETag", "\"a\""), ("Last-Modified", other)], true),
            (Some("\"a\""), &[("Last-Modified", other)], false),
            (Some("\"a\""), &[], true),
            (None, &[("Last-Modified", time)], true),
            (None, &[("Last-Modified", other)], false),
            (None, &[("Last-Modified", "yesterday")], false),
            (None, &[("ETag", "\"a\"")], true),
        ] {
            let own: Vec<_> = own.map(|etag| ("ETag", etag)).into_iter().collect();
            let mut entry = entry(&own, &[]);
            entry.modified = Some(786_285_296);
            assert_eq!(confirms(&entry, &fields(response)), expected, "{own:?} {response:?}");
        }
    }
}
