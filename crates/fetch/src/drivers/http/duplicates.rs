//! The duplicate URLs and the digest of an object in header fields (RFC 6249, RFC 3230, RFC 9530).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url_core::{parse, resolve_reference};
use fetch_url_proto::field_links;

use crate::sink::digest::to_hex;
use crate::{Checksum, Meta};

/// Maximum number of duplicates of an object.
const MAX_DUPLICATES: usize = 100;
/// The priority of a duplicate whose link states none: the lowest (RFC 6249 §3.1).
const LOWEST_PRIORITY: u32 = 999_999;
/// The algorithms, the strongest first: the name in Digest and Repr-Digest, and the name in [`Checksum`].
const ALGORITHMS: [(&str, &str); 4] =
    [("sha-512", "sha512"), ("sha-256", "sha256"), ("sha", "sha1"), ("md5", "md5")];

/// Returns the URLs of the same object that `Link: <URL>; rel=duplicate` names, the preferred one first. They are chosen
/// by the server: pass them to [`Request::from_response`](crate::Request::from_response).
pub fn duplicates(meta: &Meta) -> Vec<String> {
    let base = meta.url.without_password().to_string();
    let values =
        meta.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link")).map(|(_, value)| value);
    let mut found: Vec<(u32, String)> = Vec::new();
    for value in values {
        let text = String::from_utf8_lossy(value);
        for link in field_links(&text).filter(|link| link.has_relation("duplicate")) {
            if found.len() == MAX_DUPLICATES {
                break;
            }
            let priority =
                link.parameter("pri").and_then(|text| text.parse().ok()).unwrap_or(LOWEST_PRIORITY);
            let url = resolve_reference(&base, link.target);
            // The error of an invalid URL must not replace that of the first server.
            found.extend(parse(&url).is_ok().then_some((priority, url.clone())));
        }
    }
    found.sort_by_key(|(priority, _)| *priority);
    found.into_iter().map(|(_, url)| url).collect()
}

/// Returns the strongest digest of the object in Repr-Digest or Digest, or `None` if there is none, or if the object has a
/// content coding, to which the digest would apply.
pub fn digest(meta: &Meta) -> Option<Checksum> {
    let named = |name: &'static str| {
        meta.fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    if named("content-encoding").next().is_some() {
        return None;
    }
    let texts: Vec<String> = named("repr-digest")
        .chain(named("digest"))
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect();
    let instances =
        || texts.iter().flat_map(|text| text.split(',')).filter_map(|text| text.trim().split_once('='));
    ALGORITHMS.iter().find_map(|(name, own)| {
        let (_, encoded) = instances().find(|(algorithm, _)| algorithm.eq_ignore_ascii_case(name))?;
        let bytes = STANDARD.decode(encoded.trim_matches(':')).ok()?;
        format!("{own}:{}", to_hex(&bytes)).parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(fields: &[(&str, &str)]) -> Meta {
        let url = parse("http://h.test/dir/x").expect("a URL").into_owned().url;
        let mut meta = Meta::new(url);
        meta.fields =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        meta
    }

    #[test]
    fn duplicates_are_resolved_and_ordered_by_priority() {
        let meta = meta(&[
            (
                "Link",
                "<http://a.test/x>; rel=duplicate, <ftp://b.test/x,y>; rel=\"duplicate\"; pri=1; geo=de",
            ),
            ("link", "</style.css>; rel=stylesheet, <other>; pri=2; rel=\"x Duplicate\""),
            ("Link", "<htp://x\u{9b}2J>; rel=duplicate, <http://h.test:x/>; rel=duplicate"),
            ("Link", "<unclosed; rel=duplicate"),
        ]);
        assert_eq!(duplicates(&meta), ["ftp://b.test/x,y", "http://h.test/dir/other", "http://a.test/x"]);
    }

    #[test]
    fn strongest_digest_is_read_from_both_fields() {
        let md5 = "md5=kAFQmDzST7DWlj99KOF/cg==";
        let sha = "SHA-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        let text = |meta: &Meta| digest(meta).map(|checksum| checksum.to_string());
        let sha_hex = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(text(&meta(&[("Digest", &format!("{md5},{sha}"))])).as_deref(), Some(sha_hex));
        let structured = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
        assert_eq!(text(&meta(&[("Repr-Digest", structured)])).as_deref(), Some(sha_hex));
        assert_eq!(text(&meta(&[("Digest", sha), ("Content-Encoding", "gzip")])), None);
        assert_eq!(text(&meta(&[("Digest", "SHA-256=abc")])), None);
    }
}
