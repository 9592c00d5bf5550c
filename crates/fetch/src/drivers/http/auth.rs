//! Who we are, in HTTP's words: Basic (RFC 7617) at once, Digest (RFC 7616) when the server asks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url_proto::Octets;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_auth::{PasswordClient, PasswordParams};

use super::plan::HttpPlan;
use crate::{Code, Credential, Ctx, Error, Phase};

/// User and password as Basic, octet for octet.
pub(super) fn basic(login: &Credential) -> Result<HeaderValue, Error> {
    let user = Octets::BASIC_USER.check("user", login.user())?;
    let password = Octets::LINE.check("password", login.expose().unwrap_or_default())?;
    secret(&format!("Basic {}", STANDARD.encode([user, b":", password].concat())))
}

/// What the server is to be shown after it refused; none when there is nothing new to show. Nobody is
/// asked twice.
pub(super) async fn after_refusal(
    plan: &HttpPlan,
    status: StatusCode,
    fields: &HeaderMap,
    ctx: &Ctx,
) -> Result<Option<HeaderValue>, Error> {
    if status != StatusCode::UNAUTHORIZED || plan.fields.contains_key(http::header::AUTHORIZATION) {
        return Ok(None);
    }
    let was_shown = plan.authorization.is_some();
    let can_be_told_more =
        |client: &PasswordClient| !was_shown || !matches!(client, PasswordClient::Basic(_));
    let Some(mut client) = client(fields).filter(|client| !plan.is_second && can_be_told_more(client)) else {
        if was_shown {
            // What somebody answered before is wrong: for the next URL they may be asked again.
            ctx.asking.forget(&plan.url);
        }
        return Ok(None);
    };
    let Some(login) = known_or_asked(plan, fields, ctx).await? else { return Ok(None) };
    answer(&mut client, plan, &login).map(Some)
}

/// The strongest of the server's challenges that can be answered with a password.
fn client(fields: &HeaderMap) -> Option<PasswordClient> {
    let texts: Vec<String> = fields.get_all(WWW_AUTHENTICATE).iter().map(as_text).collect();
    let builder = texts.iter().fold(PasswordClient::builder(), |builder, text| builder.challenges(text));
    builder.build().ok()
}

/// A challenge as text. A realm may hold any octets; for those that cannot be read a question mark
/// stands.
fn as_text(challenge: &HeaderValue) -> String {
    if let Ok(text) = std::str::from_utf8(challenge.as_bytes())
        && http_auth::parse_challenges(text).is_ok()
    {
        return text.to_owned();
    }
    let readable = |&octet: &u8| if (b' '..=b'~').contains(&octet) { char::from(octet) } else { '?' };
    challenge.as_bytes().iter().map(readable).collect()
}

async fn known_or_asked(plan: &HttpPlan, fields: &HeaderMap, ctx: &Ctx) -> Result<Option<Credential>, Error> {
    match &plan.login {
        Some(login) if login.expose().is_some() => Ok(Some(login.clone())),
        login => {
            let user = login.as_ref().map(Credential::user);
            let realm = realm(fields);
            ctx.asking.ask(&plan.url, user, realm.as_deref().map(str::as_bytes), &ctx.deadline).await
        }
    }
}

/// What the first challenge says it is for.
fn realm(fields: &HeaderMap) -> Option<String> {
    let text = as_text(fields.get(WWW_AUTHENTICATE)?);
    let challenges = http_auth::parse_challenges(&text).ok()?;
    let params = &challenges.first()?.params;
    params.iter().find(|(name, _)| name.eq_ignore_ascii_case("realm")).map(|(_, value)| value.to_unescaped())
}

fn answer(client: &mut PasswordClient, plan: &HttpPlan, login: &Credential) -> Result<HeaderValue, Error> {
    if matches!(client, PasswordClient::Basic(_)) {
        return basic(login);
    }
    Octets::LINE.check("user", login.user())?;
    Octets::LINE.check("password", login.expose().unwrap_or_default())?;
    let text = |octets: &'_ [u8]| String::from_utf8(octets.to_vec()).ok();
    let (user, password) = (text(login.user()), text(login.expose().unwrap_or_default()));
    let failed = |why: &str| Error::new(Code::AuthNeeded, Phase::Request, why);
    let (Some(user), Some(password)) = (user, password) else {
        return Err(failed("Digest takes user and password in UTF-8 only"));
    };
    let params = PasswordParams {
        username: &user,
        password: &password,
        uri: &plan.target,
        method: plan.method.as_str(),
        body: Some(plan.body.as_deref().unwrap_or_default()),
    };
    secret(&client.respond(&params).map_err(|why| failed(&why))?)
}

fn secret(text: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_bytes(text.as_bytes())
        .map_err(|error| Error::new(Code::AuthNeeded, Phase::Request, error.to_string()))?;
    value.set_sensitive(true);
    Ok(value)
}
