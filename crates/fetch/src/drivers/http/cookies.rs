//! The cookies of a run, shared between its requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url_core::{HttpUrl, Security};
use http::HeaderMap;
use http::header::SET_COOKIE;

use super::jar::Jar;
use crate::{Code, Error, Phase};

/// Keeps cookies, each for the very host that set it. Clones keep them in the same place.
#[derive(Clone, Debug, Default)]
pub struct CookieJar(Arc<Mutex<Jar>>);

impl CookieJar {
    /// The cookies of a file in Netscape's format, as curl and browsers write it.
    ///
    /// # Errors
    /// `limit_reached` when it is too large.
    pub fn from_netscape(text: &[u8]) -> Result<Self, Error> {
        let file = Jar::from_netscape(text)
            .map_err(|error| Error::new(Code::LimitReached, Phase::Plan, error.to_string()))?;
        if file.skipped > 0 || file.narrowed > 0 {
            tracing::info!(skipped = file.skipped, narrowed = file.narrowed, "the cookie file");
        }
        Ok(Self(Arc::new(Mutex::new(file.jar))))
    }

    /// The cookies as a file in the same format.
    pub fn to_netscape(&self) -> Vec<u8> {
        self.jar().to_netscape()
    }

    /// The value of the Cookie field for a request.
    pub(super) fn header(&self, url: &HttpUrl<'_>) -> Option<Vec<u8>> {
        let at = Place::of(url);
        self.jar().header(&at.host, &at.path, at.is_tls, now())
    }

    /// Takes the cookies of an answer; whether there were any.
    pub(super) fn store(&self, url: &HttpUrl<'_>, fields: &HeaderMap) -> bool {
        let at = Place::of(url);
        for cookie in fields.get_all(SET_COOKIE) {
            self.jar().store(&at.host, &at.path, at.is_tls, cookie.as_bytes(), now());
        }
        fields.contains_key(SET_COOKIE)
    }

    fn jar(&self) -> MutexGuard<'_, Jar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a cookie belongs.
struct Place {
    host: String,
    path: String,
    is_tls: bool,
}

impl Place {
    fn of(url: &HttpUrl<'_>) -> Self {
        let target = url.origin_form();
        let path = target.split('?').next().unwrap_or("/").to_owned();
        let host = url.login().at().host().to_string();
        Self { host, path, is_tls: url.scheme().security == Security::Tls }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
