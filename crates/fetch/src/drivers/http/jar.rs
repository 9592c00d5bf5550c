//! The cookies of one run (RFC 6265), with one restriction of ours: every cookie goes back to the host
//! that set it and to no other. There is no list of public suffixes, and so no way to be wrong in it.
//!
//! Pure: no file, no clock, no request. Whether there is a jar at all is the user's choice.

mod cookie;
mod date;
mod netscape;
mod set_cookie;

use std::cmp::Reverse;
use std::fmt;

use cookie::{Cookie, canonical_host, request_path};
use netscape::Line;
use set_cookie::Arrival;

/// The most cookies of one host and of all (RFC 6265 §6.1 asks for 50 and 3000 at least).
const MAX_OF_HOST: usize = 180;
const MAX_OF_ALL: usize = 3000;

/// The longest Cookie field. An answer that sets many large cookies must not make every later request
/// too large for its server (curl CVE-2022-32205).
const MAX_FIELD: usize = 8190;

/// The largest cookie file: as many cookies as there can be, of the largest size there can be.
const MAX_FILE: usize = 32 << 20;

/// Cookies in the order in which they were first set.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

/// What was read of a cookie file.
#[derive(Debug, Default)]
pub(crate) struct CookieFile {
    pub(crate) jar: Jar,
    /// Lines that were no cookie, or that found no room.
    pub(crate) skipped: usize,
    /// Cookies that the file meant for subdomains too, and that go to the host alone here.
    pub(crate) narrowed: usize,
}

/// A cookie file is larger than 32 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cookie file larger than 32 MiB")]
pub(crate) struct CookieFileTooLarge;

impl Jar {
    /// Takes a Set-Cookie field of an answer: a cookie is set, set anew, deleted, or not believed.
    pub(crate) fn store(&mut self, host: &str, path: &str, is_tls: bool, set_cookie: &[u8], now: i64) {
        let Some(cookie) = set_cookie::cookie(set_cookie, Arrival { host, path, now }) else { return };
        self.cookies.retain(|kept| !kept.is_expired(now));
        if !is_tls && (cookie.is_secure || self.cookies.iter().any(|kept| kept.is_guarded_from(&cookie))) {
            return;
        }
        if cookie.is_expired(now) {
            self.cookies.retain(|kept| !kept.is_same(&cookie));
            return;
        }
        let host = cookie.host.clone();
        self.put(cookie);
        self.make_room(&host);
    }

    /// The value of the Cookie field for a request: the longest path first, then the oldest.
    pub(crate) fn header(&self, host: &str, path: &str, is_tls: bool, now: i64) -> Option<Vec<u8>> {
        let host = canonical_host(host)?;
        let path = request_path(path);
        let goes = |cookie: &&Cookie| cookie.goes_with(&host, path, is_tls) && !cookie.is_expired(now);
        let mut cookies: Vec<&Cookie> = self.cookies.iter().filter(goes).collect();
        cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
        let mut field = Vec::new();
        for cookie in cookies {
            append(&mut field, cookie);
        }
        (!field.is_empty()).then_some(field)
    }

    /// Reads a cookie file of Netscape's and curl's kind. A line that is no cookie is skipped.
    pub(crate) fn from_netscape(file: &[u8]) -> Result<CookieFile, CookieFileTooLarge> {
        if file.len() > MAX_FILE {
            return Err(CookieFileTooLarge);
        }
        let mut read = CookieFile::default();
        for line in file.split(|&octet| octet == b'\n') {
            read.take(netscape::read(line));
        }
        Ok(read)
    }

    /// The cookies as a file that curl, wget and [`Jar::from_netscape`] read. Cookies of the session
    /// are in it too, as with curl.
    pub(crate) fn to_netscape(&self) -> Vec<u8> {
        netscape::write(self.cookies.iter())
    }

    /// One that is set anew stays as old as it was (RFC 6265 §5.3 step 11).
    fn put(&mut self, cookie: Cookie) {
        match self.cookies.iter_mut().find(|kept| kept.is_same(&cookie)) {
            Some(kept) => *kept = cookie,
            None => self.cookies.push(cookie),
        }
    }

    /// The oldest go (RFC 6265 §5.3), those that are not Secure before those that are: a plain answer
    /// cannot push out what came over TLS.
    fn make_room(&mut self, host: &str) {
        if self.count_of(host) > MAX_OF_HOST {
            self.drop_oldest(|cookie| cookie.host == host);
        }
        if self.cookies.len() > MAX_OF_ALL {
            self.drop_oldest(|_| true);
        }
    }

    fn drop_oldest(&mut self, is_candidate: impl Fn(&Cookie) -> bool) {
        let plain = self.cookies.iter().position(|cookie| is_candidate(cookie) && !cookie.is_secure);
        let oldest = plain.or_else(|| self.cookies.iter().position(is_candidate));
        if let Some(oldest) = oldest {
            self.cookies.remove(oldest);
        }
    }

    fn count_of(&self, host: &str) -> usize {
        self.cookies.iter().filter(|cookie| cookie.host == host).count()
    }

    fn has_room_for(&self, cookie: &Cookie) -> bool {
        self.cookies.len() < MAX_OF_ALL && self.count_of(&cookie.host) < MAX_OF_HOST
    }
}

impl CookieFile {
    fn take(&mut self, line: Line) {
        let (cookie, is_narrowed) = match line {
            Line::Blank => return,
            Line::Broken => return self.skipped += 1,
            Line::Narrowed(cookie) => (cookie, true),
            Line::Whole(cookie) => (cookie, false),
        };
        // A full jar looks at nothing more: a long file is read in a short time.
        if self.jar.has_room_for(&cookie) {
            self.narrowed += usize::from(is_narrowed);
            self.jar.put(cookie);
        } else {
            self.skipped += 1;
        }
    }
}

/// Names only, values never.
impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |cookie: &Cookie| fetch_url_proto::text::printable(&cookie.name);
        f.debug_list().entries(self.cookies.iter().map(name)).finish()
    }
}

/// A cookie that no longer fits is left out, and smaller ones may still follow.
fn append(field: &mut Vec<u8>, cookie: &Cookie) {
    let value = cookie.value.expose();
    let separator: &[u8] = if field.is_empty() { b"" } else { b"; " };
    if field.len() + separator.len() + cookie.name.len() + 1 + value.len() <= MAX_FIELD {
        field.extend([separator, &cookie.name, b"=", value].concat());
    }
}

#[cfg(test)]
mod tests;
