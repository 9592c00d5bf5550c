//! The cookie jar that the requests of a run share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url_core::{HttpUrl, Security};
use http::HeaderMap;
use http::header::SET_COOKIE;

use super::cookie_store::{self, CookieStore};
use crate::{Code, Error, Phase};

/// A cookie jar (RFC 6265). Clones share their cookies, so one jar can serve all requests of a program.
///
/// A cookie is sent to the host that set it, or with a Domain attribute to all hosts of this domain, unless it is a
/// public suffix such as `co.uk`. The jar holds at most 180 cookies for each host and 3000 in all. The cookies of a
/// cookie file are kept even above these limits; hosts can then set 50 more each, and 180 more in all.
#[derive(Clone, Debug, Default)]
pub struct CookieJar(Arc<Mutex<CookieStore>>);

impl CookieJar {
    /// The maximum size of a cookie file, in bytes: 32 MiB.
    pub const MAX_FILE_SIZE: u64 = cookie_store::MAX_FILE_SIZE as u64;

    /// Reads a cookie file in the Netscape format, as curl writes it, or with HTTP header lines: `Set-Cookie: a=b;
    /// domain=example.com`. Header lines without a domain and other lines are skipped.
    ///
    /// # Errors
    /// `Code::LimitReached` if the file is larger than 32 MiB.
    pub fn from_netscape(text: &[u8]) -> Result<Self, Error> {
        let file = CookieStore::from_file(text, current_unix_time())
            .map_err(|error| Error::new(Code::LimitReached, Phase::Plan, error.to_string()))?;
        if file.skipped > 0 || file.narrowed_to_host > 0 {
            tracing::info!(skipped = file.skipped, narrowed = file.narrowed_to_host, "read a cookie file");
        }
        Ok(Self(Arc::new(Mutex::new(file.store))))
    }

    /// Returns the cookies as a file in the Netscape format. Session cookies are included, as with curl.
    pub fn to_netscape(&self) -> Vec<u8> {
        self.lock().to_netscape()
    }

    /// Returns the value of the Cookie header for a request.
    pub(super) fn cookie_header(&self, url: &HttpUrl<'_>) -> Option<Vec<u8>> {
        let origin = CookieOrigin::from_url(url);
        self.lock().cookie_header(&origin.host, &origin.path, origin.is_tls, current_unix_time())
    }

    /// Stores the cookies of a response. Returns `true` if it has a Set-Cookie header.
    pub(super) fn store_response_cookies(&self, url: &HttpUrl<'_>, headers: &HeaderMap) -> bool {
        let origin = CookieOrigin::from_url(url);
        for cookie in headers.get_all(SET_COOKIE) {
            self.lock().store_cookie(
                &origin.host,
                &origin.path,
                origin.is_tls,
                cookie.as_bytes(),
                current_unix_time(),
            );
        }
        headers.contains_key(SET_COOKIE)
    }

    fn lock(&self) -> MutexGuard<'_, CookieStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host, path and security of a request, which decide about its cookies.
struct CookieOrigin {
    host: String,
    path: String,
    is_tls: bool,
}

impl CookieOrigin {
    fn from_url(url: &HttpUrl<'_>) -> Self {
        let target = url.origin_form();
        let path = target.split('?').next().unwrap_or("/").to_owned();
        let host = url.authority().host_port().host().to_string();
        Self { host, path, is_tls: url.scheme().security == Security::Tls }
    }
}

fn current_unix_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
