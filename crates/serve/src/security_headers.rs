//! The header fields that every answer has, so that a browser gives content of other servers no power.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};

use crate::pages::style::STYLE_HASH;

/// Where the content of an answer comes from, which decides what it may do in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentOrigin {
    /// This server.
    Gateway,
    /// Another server. The content gets an origin of its own (`sandbox`), without scripts and further requests.
    Sandboxed,
    /// The http server that a proxy's client asked. The content stays in the origin of that server, with its fields.
    Upstream,
}

const CORS_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const FOREIGN_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; \
                              form-action 'none'; frame-ancestors 'none'";

/// Adds the fields for content of this `origin`.
pub(crate) fn add_security_headers(headers: &mut HeaderMap, origin: ContentOrigin) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if origin == ContentOrigin::Upstream {
        headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
        return;
    }
    let policy_text;
    let policy = match origin {
        ContentOrigin::Gateway => {
            policy_text = format!(
                "default-src 'none'; style-src '{STYLE_HASH}'; form-action 'self'; base-uri 'none'; \
                 frame-ancestors 'none'"
            );
            policy_text.as_str()
        }
        _ => FOREIGN_POLICY,
    };
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CORS_RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
}
