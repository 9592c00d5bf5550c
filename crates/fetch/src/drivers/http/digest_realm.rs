//! The realm of a Digest challenge, if it has bytes that are not ASCII: it is returned unchanged (RFC 7616 §3.4).
//!
//! The client library rejects such challenges. It gets another realm of the same length, and the values that depend on
//! the realm are computed again here.

use http::HeaderValue;
use http_auth::digest::{Algorithm as DigestAlgorithm, DigestClient};
use http_auth::{ChallengeRef, ParamValue, PasswordParams};

use crate::Algorithm;
use crate::sink::digest::Digest;

/// The realm in a challenge.
pub(super) struct OriginalRealm {
    /// The bytes between the quotes.
    quoted: Vec<u8>,
    /// The bytes without the backslashes of quoted pairs.
    bytes: Vec<u8>,
}

impl OriginalRealm {
    /// Returns the realm of the challenge that `client` answers, or `None` if the client got this realm unchanged.
    /// `texts` are the challenges as the client got them, with one ASCII character for each byte that it rejects.
    pub(super) fn of(client: &DigestClient, challenges: &[&HeaderValue], texts: &[String]) -> Option<Self> {
        challenges.iter().zip(texts).find_map(|(challenge, text)| {
            let parsed = http_auth::parse_challenges(text).ok()?;
            let is_answered = |challenge: &ChallengeRef<'_>| {
                DigestClient::try_from(challenge).is_ok_and(|other| other == *client)
            };
            let value = parameter(parsed.iter().find(|challenge| is_answered(challenge))?, "realm")?;
            let quoted =
                challenge.as_bytes().get(position(value, text)..)?.get(..value.as_escaped().len())?;
            (quoted != value.as_escaped().as_bytes()).then(|| Self::new(quoted))
        })
    }

    fn new(quoted: &[u8]) -> Self {
        let (mut bytes, mut rest) = (Vec::with_capacity(quoted.len()), quoted.iter());
        while let Some(&byte) = rest.next() {
            bytes.push(if byte == b'\\' { rest.next().copied().unwrap_or(byte) } else { byte });
        }
        Self { quoted: quoted.to_vec(), bytes }
    }

    /// Returns `answer`, which `client` has made for `params`, with the values for this realm.
    pub(super) fn replace_in(
        &self,
        answer: &str,
        client: &DigestClient,
        params: &PasswordParams<'_>,
    ) -> Option<Vec<u8>> {
        let parsed = http_auth::parse_challenges(answer).ok()?;
        let parsed = parsed.first()?;
        let response = self.response(parsed, client, params)?;
        let mut new_values = vec![("realm", self.quoted.clone()), ("response", response.into_bytes())];
        if parameter(parsed, "userhash").is_some() {
            let user = hash(client, &[params.username.as_bytes(), &self.bytes]);
            new_values.push(("username", user.into_bytes()));
        }
        let replaced = |(name, new): (&str, Vec<u8>)| {
            let value = parameter(parsed, name)?;
            let start = position(value, answer);
            Some((start..start + value.as_escaped().len(), new))
        };
        let mut replaced: Vec<_> = new_values.into_iter().map(replaced).collect::<Option<_>>()?;
        // From the last one to the first, so that the positions stay valid.
        replaced.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut bytes = answer.as_bytes().to_vec();
        for (range, new) in replaced {
            bytes.splice(range, new);
        }
        Some(bytes)
    }

    /// Returns the value of `response` (RFC 7616 §3.4.1, RFC 2069 §2.1.2 if the server sent no `qop`). The other values
    /// are those of `answer`.
    fn response(
        &self,
        answer: &ChallengeRef<'_>,
        client: &DigestClient,
        params: &PasswordParams<'_>,
    ) -> Option<String> {
        let of = |name: &str| parameter(answer, name).map(|value| value.to_unescaped().into_bytes());
        let (nonce, uri) = (client.nonce().as_bytes(), params.uri.as_bytes());
        let mut user_hash =
            hash(client, &[params.username.as_bytes(), &self.bytes, params.password.as_bytes()]);
        if client.session() {
            user_hash = hash(client, &[user_hash.as_bytes(), nonce, &of("cnonce")?]);
        }
        let mut request = vec![params.method.as_bytes(), uri];
        if of("qop").is_some_and(|qop| qop == b"auth-int") {
            request.push(params.body?);
        }
        let request_hash = hash(client, &request);
        if client.rfc2069_compat() {
            return Some(hash(client, &[user_hash.as_bytes(), nonce, request_hash.as_bytes()]));
        }
        let (nc, cnonce, qop) = (of("nc")?, of("cnonce")?, of("qop")?);
        Some(hash(client, &[user_hash.as_bytes(), nonce, &nc, &cnonce, &qop, request_hash.as_bytes()]))
    }
}

/// Returns the digest of the parts, joined by colons, by the algorithm of `client`.
fn hash(client: &DigestClient, parts: &[&[u8]]) -> String {
    let mut digest = match client.algorithm() {
        DigestAlgorithm::Md5 => Digest::new(Algorithm::Md5),
        DigestAlgorithm::Sha512Trunc256 => Digest::sha512_256(),
        _ => Digest::new(Algorithm::Sha256),
    };
    digest.update(&parts.join(&b':'));
    digest.hex()
}

fn parameter<'c>(challenge: &'c ChallengeRef<'_>, name: &str) -> Option<&'c ParamValue<'c>> {
    let found = challenge.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

/// Returns the position of a parsed value in the text that was parsed.
fn position(value: &ParamValue<'_>, text: &str) -> usize {
    value.as_escaped().as_ptr().addr() - text.as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a realm that the library supports, the values computed here are those of the library.
    #[test]
    fn answer_for_a_realm_in_ascii_is_that_of_the_client_library() {
        for parameters in [
            "qop=\"auth\"",
            "qop=\"auth\", algorithm=SHA-256, userhash=true",
            "qop=\"auth\", algorithm=MD5-sess, opaque=\"o\"",
            "qop=\"auth-int\", algorithm=SHA-512-256-sess",
            "algorithm=MD5",
        ] {
            let text = format!("Digest realm=\"a \\\"b\", nonce=\"n\", {parameters}");
            let parsed = http_auth::parse_challenges(&text).expect("a challenge");
            let mut client = DigestClient::try_from(&parsed[0]).expect("a client");
            let params = PasswordParams {
                username: "u, v",
                password: "pw",
                uri: "/x?a=\"b,c\"",
                method: "GET",
                body: Some(b"0123"),
            };
            let answer = client.respond(&params).expect("an answer");
            let realm = OriginalRealm::new(b"a \\\"b");
            let replaced = realm.replace_in(&answer, &client, &params).expect("an answer");
            assert_eq!(String::from_utf8_lossy(&replaced), answer, "{parameters}");
        }
    }
}
