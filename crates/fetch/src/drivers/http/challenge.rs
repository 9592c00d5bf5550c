//! The credentials to send after a 401 response: Basic (RFC 7617) or Digest (RFC 7616), for the strongest challenge.

use fetch_url_proto::ForbiddenSet;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_auth::digest::{Algorithm as DigestAlgorithm, DigestClient, Qop};
use http_auth::{ChallengeRef, PasswordClient, PasswordParams};

use super::authorization::{basic_authorization, sensitive_header_value};
use super::digest_realm::OriginalRealm;
use super::options::AuthMode;
use super::plan::HttpPlan;
use crate::sink::digest::Digest;
use crate::{Algorithm, Code, Credential, Error, Phase, RunContext};

/// The algorithms of Digest (RFC 7616 §3.3).
const ALGORITHMS: [&str; 6] =
    ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"];

/// Returns the Authorization value to send after a 401, and the login in it, or `None` if a second request would not
/// help.
///
/// The user is asked for a password if none is known. A second 401 is final, unless it says that only the nonce of the
/// first is too old (`stale=true`, RFC 7616 §3.3).
pub(super) async fn authorization_after_challenge(
    plan: &HttpPlan,
    status: StatusCode,
    headers: &HeaderMap,
    ctx: &RunContext,
) -> Result<Option<(HeaderValue, Credential)>, Error> {
    if status != StatusCode::UNAUTHORIZED || plan.has_own_authorization {
        return Ok(None);
    }
    let sent_login = plan.authorization.is_some();
    // Basic credentials were sent in full already; Digest needs the nonce of the challenge.
    let is_useful = |client: &PasswordClient| !sent_login || !matches!(client, PasswordClient::Basic(_));
    let is_stale = has_stale_nonce(headers);
    let may_answer = plan.answered_challenges < if is_stale { 2 } else { 1 };
    let Some(mut client) =
        challenge_client(headers, plan.options.auth).filter(|client| may_answer && is_useful(client))
    else {
        if sent_login && !is_stale {
            // The password was wrong. It is deleted, so that the user is asked again for the next URL.
            ctx.password_prompt.forget(&plan.url);
        }
        return Ok(None);
    };
    let Some(login) = credential_or_prompt(plan, headers, ctx).await? else { return Ok(None) };
    respond_to_challenge(&mut client, plan, headers, &login).map(|authorization| Some((authorization, login)))
}

/// Returns `true` if the request was sent without a login because only Digest is allowed, and the server offers no Digest
/// that is supported.
pub(super) fn lacks_digest(plan: &HttpPlan, headers: &HeaderMap) -> bool {
    let may_answer = plan.authorization.is_none() && !plan.has_own_authorization;
    may_answer
        && plan.options.auth == AuthMode::DigestOnly
        && challenge_client(headers, AuthMode::DigestOnly).is_none()
}

/// Returns a client for the strongest challenge that takes a user name and a password, and that `auth` allows.
fn challenge_client(headers: &HeaderMap, auth: AuthMode) -> Option<PasswordClient> {
    let texts = challenge_texts(headers);
    let builder = texts.iter().fold(PasswordClient::builder(), |builder, text| builder.challenges(text));
    let is_allowed =
        |client: &PasswordClient| auth != AuthMode::DigestOnly || matches!(client, PasswordClient::Digest(_));
    // The client prefers Digest to Basic.
    builder.build().ok().filter(is_allowed)
}

fn challenge_texts(headers: &HeaderMap) -> Vec<String> {
    headers.get_all(WWW_AUTHENTICATE).iter().map(challenge_text).collect()
}

/// Returns a challenge as text of the same length. A realm may hold any bytes; each byte outside printable ASCII becomes
/// `?` if the parser rejects the text otherwise.
fn challenge_text(challenge: &HeaderValue) -> String {
    if let Ok(text) = std::str::from_utf8(challenge.as_bytes())
        && let Some(text) = with_canonical_algorithm(text)
    {
        return text;
    }
    let printable = |&byte: &u8| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '?' };
    let text: String = challenge.as_bytes().iter().map(printable).collect();
    with_canonical_algorithm(&text).unwrap_or(text)
}

/// Returns the challenges with the names of algorithms in the spelling of the client library, which does not know `md5`
/// and `sha-256` in lower case. Returns `None` if the parser rejects the text.
fn with_canonical_algorithm(text: &str) -> Option<String> {
    let mut canonical = text.to_owned();
    for challenge in http_auth::parse_challenges(text).ok()? {
        for (name, value) in challenge.params {
            let value = value.as_escaped();
            let known = ALGORITHMS.iter().find(|known| known.eq_ignore_ascii_case(value));
            if let Some(known) = known.filter(|_| name.eq_ignore_ascii_case("algorithm")) {
                // `value` is a slice of `text`, and `known` has the same length.
                let start = value.as_ptr().addr() - text.as_ptr().addr();
                canonical.replace_range(start..start + value.len(), known);
            }
        }
    }
    Some(canonical)
}

/// Returns `true` if a Digest challenge accepts the password, but not the nonce.
fn has_stale_nonce(headers: &HeaderMap) -> bool {
    let texts = challenge_texts(headers);
    texts.iter().any(|text| http_auth::parse_challenges(text).is_ok_and(|all| all.iter().any(is_stale)))
}

fn is_stale(challenge: &ChallengeRef<'_>) -> bool {
    let is_digest = challenge.scheme.eq_ignore_ascii_case("digest");
    is_digest
        && challenge.params.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("stale") && value.to_unescaped().eq_ignore_ascii_case("true")
        })
}

async fn credential_or_prompt(
    plan: &HttpPlan,
    headers: &HeaderMap,
    ctx: &RunContext,
) -> Result<Option<Credential>, Error> {
    // The user is not asked again for a nonce that was too old.
    match plan.login_after_challenge.as_ref().or(plan.login.as_ref()) {
        Some(login) if login.expose_password().is_some() => Ok(Some(login.clone())),
        login => {
            let user = login.map(Credential::user);
            let realm = challenge_realm(headers);
            ctx.password_prompt.ask(&plan.url, user, realm.as_deref().map(str::as_bytes), &ctx.deadline).await
        }
    }
}

/// Returns the realm of the first challenge, to be shown when the user is asked for the password.
fn challenge_realm(headers: &HeaderMap) -> Option<String> {
    let text = challenge_text(headers.get(WWW_AUTHENTICATE)?);
    let challenges = http_auth::parse_challenges(&text).ok()?;
    let params = &challenges.first()?.params;
    params.iter().find(|(name, _)| name.eq_ignore_ascii_case("realm")).map(|(_, value)| value.to_unescaped())
}

fn respond_to_challenge(
    client: &mut PasswordClient,
    plan: &HttpPlan,
    headers: &HeaderMap,
    login: &Credential,
) -> Result<HeaderValue, Error> {
    let PasswordClient::Digest(digest) = client else { return basic_authorization(login) };
    let protected = protected_body(digest, plan);
    ForbiddenSet::LINE.check("user", login.user())?;
    ForbiddenSet::LINE.check("password", login.expose_password().unwrap_or_default())?;
    let text = |bytes: &'_ [u8]| String::from_utf8(bytes.to_vec()).ok();
    let (user, password) = (text(login.user()), text(login.expose_password().unwrap_or_default()));
    let failed = |why: &str| Error::new(Code::AuthNeeded, Phase::Request, why);
    let (Some(user), Some(password)) = (user, password) else {
        return Err(failed("Digest authentication requires user and password in UTF-8"));
    };
    let params = PasswordParams {
        username: &user,
        password: &password,
        uri: &plan.target,
        method: plan.method.as_str(),
        body: protected.as_ref().map(String::as_bytes),
    };
    let challenges: Vec<&HeaderValue> = headers.get_all(WWW_AUTHENTICATE).iter().collect();
    let realm = OriginalRealm::of(digest, &challenges, &challenge_texts(headers));
    let answer = digest.respond(&params).map_err(|why| failed(&why))?;
    let Some(realm) = realm else { return sensitive_header_value(answer.as_bytes()) };
    let answer = realm.replace_in(&answer, digest, &params);
    sensitive_header_value(&answer.ok_or_else(|| failed("the realm of the server is not ASCII"))?)
}

/// Returns the digest of the body for `qop=auth-int`, which is used only if the server does not offer `auth`. The
/// client library expects the digest in place of the body (RFC 7616 §3.4.3). Returns `None` for a body that is read
/// from a file, and for algorithms other than MD5 and SHA-256.
fn protected_body(client: &DigestClient, plan: &HttpPlan) -> Option<String> {
    if client.qop() & Qop::Auth {
        return None;
    }
    let algorithm = match client.algorithm() {
        DigestAlgorithm::Md5 => Algorithm::Md5,
        DigestAlgorithm::Sha256 => Algorithm::Sha256,
        _ => return None,
    };
    let mut digest = Digest::new(algorithm);
    if let Some(body) = &plan.body {
        digest.update(body.bytes()?);
    }
    Some(digest.hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_algorithm_of_a_challenge_is_rewritten() {
        for (challenge, expected) in [
            (
                &b"Digest realm=\"algorithm=md5\", nonce=\"md5\", Algorithm=\"md5\""[..],
                "Digest realm=\"algorithm=md5\", nonce=\"md5\", Algorithm=\"MD5\"",
            ),
            (
                b"Basic realm=r, digest algorithm=sha-256, realm=r",
                "Basic realm=r, digest algorithm=SHA-256, realm=r",
            ),
            (b"Digest realm=\"\xe9\", algorithm=md5-SESS", "Digest realm=\"?\", algorithm=MD5-sess"),
            (b"Digest algorithm=md4", "Digest algorithm=md4"),
        ] {
            let value = HeaderValue::from_bytes(challenge).expect("a value");
            assert_eq!(challenge_text(&value), expected);
        }
    }
}
