//! Masks secrets that a server repeats, in texts, URLs and errors.

use std::borrow::Cow;

use bytes::Bytes;
use fetch_url_core::{Url, parse};
use fetch_url_proto::text::mask_secret;

use super::secret::SecretBytes;
use crate::Error;

/// Returns `text` with every occurrence of a secret, as it is or percent-encoded, replaced by `***`.
pub(crate) fn mask_secrets(text: &[u8], secrets: &[SecretBytes]) -> Bytes {
    secrets.iter().fold(Bytes::copy_from_slice(text), |text, secret| {
        let text = mask_secret(&text, secret.expose());
        mask_secret(&text, percent_encoded(secret.expose()).as_bytes())
    })
}

/// Returns `text` with the secrets masked as by [`mask_secrets`].
pub(crate) fn mask_secrets_in_text(text: &str, secrets: &[SecretBytes]) -> String {
    String::from_utf8_lossy(&mask_secrets(text.as_bytes(), secrets)).into_owned()
}

/// Returns `url` for messages, with the secrets masked. If it is no URL without them, only its scheme is left of it.
pub(crate) fn mask_secrets_in_url<'u>(
    url: &'u Url<'static>,
    secrets: &[SecretBytes],
) -> Cow<'u, Url<'static>> {
    if secrets.is_empty() {
        return Cow::Borrowed(url);
    }
    let text = url.to_string();
    let masked = mask_secrets_in_text(&text, secrets);
    if masked == text {
        return Cow::Borrowed(url);
    }
    let without_rest = format!("{}://masked.invalid/", url.scheme().name);
    let parsed = parse(&masked).or_else(|_| parse(&without_rest)).map(|parsed| parsed.into_owned().url);
    parsed.map_or(Cow::Borrowed(url), Cow::Owned)
}

/// Returns the bytes as a component of a URL: all but unreserved characters are percent-encoded (RFC 3986 §2.1).
fn percent_encoded(bytes: &[u8]) -> String {
    let encode = |&byte: &u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(encode).collect()
}

/// Masks secrets of requests that a server may have repeated in the target of a redirect.
pub(crate) fn mask_secrets_in_error(error: Error, secrets: &[SecretBytes]) -> Error {
    if secrets.is_empty() {
        return error;
    }
    error.map_texts(|text| mask_secrets_in_text(text, secrets))
}

#[cfg(test)]
mod tests {
    use super::{SecretBytes, mask_secrets_in_text, mask_secrets_in_url};

    #[test]
    fn secrets_are_masked_as_they_are_and_percent_encoded() {
        let secrets = [SecretBytes::from(b"ca/nary=".to_vec()), SecretBytes::from(b"tok".to_vec())];
        assert_eq!(mask_secrets_in_text("/?a=ca/nary=&b=ca%2Fnary%3D&tok", &secrets), "/?a=***&b=***&***");
        for (url, shown) in [
            ("http://h/x?k=tok", "http://h/x?k=***"),
            ("http://h/x", "http://h/x"),
            ("http://[::1]:80/", "http://[::1]:80/"),
        ] {
            let url = fetch_url_core::parse(url).expect("a URL").into_owned().url;
            assert_eq!(mask_secrets_in_url(&url, &secrets).to_string(), shown);
        }
    }
}
