//! A store for cookies (RFC 6265). A cookie with a Domain is sent to the hosts of this domain, unless it is a public
//! suffix.
//!
//! Pure: no I/O, no clock.

mod cookie;
mod date;
mod domain;
mod netscape;
mod set_cookie;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use cookie::{Cookie, canonical_host, request_path};
use netscape::FileLine;
use set_cookie::ResponseOrigin;

/// Maximum number of cookies of one host (RFC 6265 §6.1 requires at least 50). Cookies of a file are all kept.
const MAX_COOKIES_PER_HOST: usize = 180;
/// Maximum number of cookies in the store (RFC 6265 §6.1 requires at least 3000). Cookies of a file are all kept.
const MAX_COOKIES: usize = 3000;

/// The number of cookies that a host may set even if the file has [`MAX_COOKIES_PER_HOST`] or more of it.
const MIN_NEW_COOKIES_PER_HOST: usize = 50;
/// The number of cookies that hosts may set even if the file has [`MAX_COOKIES`] or more.
const MIN_NEW_COOKIES: usize = 180;

/// Maximum length of a Cookie header, in bytes. Without a limit, one response with many large cookies could make every
/// later request too large for its server (curl CVE-2022-32205).
const MAX_COOKIE_HEADER: usize = 8190;

/// Maximum size of a cookie file, in bytes: enough for [`MAX_COOKIES`] cookies of the largest size.
pub(super) const MAX_FILE_SIZE: usize = 32 << 20;

/// The start of a header line in a cookie file.
const SET_COOKIE: &[u8] = b"set-cookie:";

/// Cookies, in the order in which they were first set.
#[derive(Clone, Default)]
pub(crate) struct CookieStore {
    cookies: Vec<Cookie>,
    /// The number of cookies from a cookie file. They are the first ones of `cookies`, and are not evicted.
    file_count: usize,
}

/// The result of reading a cookie file.
#[derive(Debug, Default)]
pub(crate) struct CookieFile {
    pub(crate) store: CookieStore,
    /// The number of invalid lines.
    pub(crate) skipped: usize,
    /// The number of cookies that the file assigns to all subdomains of a public suffix. They are sent to the host
    /// only.
    pub(crate) narrowed_to_host: usize,
}

/// The error for a cookie file larger than 32 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cookie file larger than 32 MiB")]
pub(crate) struct CookieFileTooLarge;

impl CookieStore {
    /// Applies a Set-Cookie header: sets, replaces or deletes a cookie. An invalid header is ignored.
    pub(crate) fn store_cookie(&mut self, host: &str, path: &str, is_tls: bool, set_cookie: &[u8], now: i64) {
        let Some(cookie) = set_cookie::parse_set_cookie(set_cookie, ResponseOrigin { host, path, now })
        else {
            return;
        };
        self.retain(|kept| !kept.is_expired(now));
        if !is_tls && (cookie.is_secure || self.cookies.iter().any(|kept| kept.is_protected_from(&cookie))) {
            return;
        }
        if cookie.is_expired(now) {
            self.retain(|kept| !kept.replaces(&cookie));
            return;
        }
        let host = cookie.host.clone();
        self.insert(cookie);
        self.evict_oldest(&host);
    }

    /// Returns the value of the Cookie header for a request: longest path first, then oldest first (RFC 6265 §5.4).
    pub(crate) fn cookie_header(&self, host: &str, path: &str, is_tls: bool, now: i64) -> Option<Vec<u8>> {
        let host = canonical_host(host)?;
        let path = request_path(path);
        let applies = |cookie: &&Cookie| cookie.applies_to(&host, path, is_tls) && !cookie.is_expired(now);
        let mut cookies: Vec<&Cookie> = self.cookies.iter().filter(applies).collect();
        cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
        let mut field = Vec::new();
        for cookie in cookies {
            append_cookie(&mut field, cookie);
        }
        (!field.is_empty()).then_some(field)
    }

    /// Reads a cookie file in the format of Netscape and curl, or of HTTP header lines. Invalid lines are skipped.
    pub(crate) fn from_file(file: &[u8], now: i64) -> Result<CookieFile, CookieFileTooLarge> {
        if file.len() > MAX_FILE_SIZE {
            return Err(CookieFileTooLarge);
        }
        let (mut read, mut index) = (CookieFile::default(), CookieIndex::default());
        for line in file.split(|&byte| byte == b'\n') {
            read.add_line(parse_file_line(line, now), &mut index);
        }
        // A cookie that has expired replaces an earlier line of its name (RFC 6265 §5.3).
        read.store.cookies.retain(|cookie| !cookie.is_expired(now));
        read.store.file_count = read.store.cookies.len();
        Ok(read)
    }

    /// Returns the cookies as a file in the format of Netscape and curl. Session cookies are included, as with curl.
    pub(crate) fn to_netscape(&self) -> Vec<u8> {
        netscape::write_file(self.cookies.iter())
    }

    /// Inserts a cookie. A cookie that replaces another keeps its age (RFC 6265 §5.3 step 11).
    fn insert(&mut self, cookie: Cookie) {
        match self.cookies.iter_mut().find(|kept| kept.replaces(&cookie)) {
            Some(kept) => *kept = cookie,
            None => self.cookies.push(cookie),
        }
    }

    /// Removes the cookies for which `is_kept` returns `false`.
    fn retain(&mut self, is_kept: impl Fn(&Cookie) -> bool) {
        let removed = self.cookies[..self.file_count].iter().filter(|cookie| !is_kept(cookie)).count();
        self.cookies.retain(is_kept);
        self.file_count -= removed;
    }

    /// Removes the oldest cookies above the limits (RFC 6265 §5.3), Secure cookies last, so that a response without TLS
    /// cannot evict a cookie that was set over TLS. Cookies of the file are not removed.
    fn evict_oldest(&mut self, host: &str) {
        let is_of_host = |cookie: &Cookie| cookie.host == host;
        self.evict_above(MAX_COOKIES_PER_HOST, MIN_NEW_COOKIES_PER_HOST, is_of_host);
        self.evict_above(MAX_COOKIES, MIN_NEW_COOKIES, |_| true);
    }

    /// Removes the oldest of the counted cookies that is not from the file, if there are more than `max`. Even if the
    /// file has that many, hosts may set `min_new` others.
    fn evict_above(&mut self, max: usize, min_new: usize, is_counted: impl Fn(&Cookie) -> bool) {
        let (of_file, new) = self.cookies.split_at(self.file_count);
        let count = |cookies: &[Cookie]| cookies.iter().filter(|cookie| is_counted(cookie)).count();
        if count(new) <= max.saturating_sub(count(of_file)).max(min_new) {
            return;
        }
        let plain = new.iter().position(|cookie| is_counted(cookie) && !cookie.is_secure);
        if let Some(oldest) = plain.or_else(|| new.iter().position(is_counted)) {
            self.cookies.remove(self.file_count + oldest);
        }
    }
}

/// The positions of the cookies of a file in the store, by the hash of their identity, so that a large file is read in
/// linear time.
#[derive(Default)]
struct CookieIndex {
    positions: HashMap<u64, usize>,
    hasher: RandomState,
}

impl CookieIndex {
    /// Inserts a cookie, as [`CookieStore::insert`] does.
    fn insert(&mut self, cookie: Cookie, store: &mut CookieStore) {
        let place =
            *self.positions.entry(self.hasher.hash_one(cookie.identity())).or_insert(store.cookies.len());
        match store.cookies.get_mut(place) {
            None => store.cookies.push(cookie),
            Some(kept) if kept.replaces(&cookie) => *kept = cookie,
            // Two identities have the same hash.
            Some(_) => store.insert(cookie),
        }
    }
}

impl CookieFile {
    fn add_line(&mut self, line: FileLine, index: &mut CookieIndex) {
        let (cookie, is_narrowed) = match line {
            FileLine::Blank => return,
            FileLine::Invalid => return self.skipped += 1,
            FileLine::Narrowed(cookie) => (cookie, true),
            FileLine::Cookie(cookie) => (cookie, false),
        };
        self.narrowed_to_host += usize::from(is_narrowed);
        index.insert(cookie, &mut self.store);
    }
}

impl PartialEq for CookieStore {
    fn eq(&self, other: &Self) -> bool {
        self.cookies == other.cookies
    }
}

/// Shows the names of the cookies, never their values.
impl fmt::Debug for CookieStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |cookie: &Cookie| fetch_url_proto::text::sanitise(&cookie.name);
        f.debug_list().entries(self.cookies.iter().map(name)).finish()
    }
}

/// Parses a line of a cookie file: `Set-Cookie: …`, or seven fields separated by tabs.
fn parse_file_line(line: &[u8], now: i64) -> FileLine {
    match line.split_at_checked(SET_COOKIE.len()) {
        Some((name, field)) if name.eq_ignore_ascii_case(SET_COOKIE) => {
            let field = field.strip_suffix(b"\r").unwrap_or(field);
            set_cookie::parse_set_cookie_of_file(field, now).map_or(FileLine::Invalid, FileLine::Cookie)
        }
        _ => netscape::parse_line(line),
    }
}

/// Appends a cookie unless the header would become too long; a smaller one may still fit.
fn append_cookie(field: &mut Vec<u8>, cookie: &Cookie) {
    let value = cookie.value.expose();
    let separator: &[u8] = if field.is_empty() { b"" } else { b"; " };
    if field.len() + separator.len() + cookie.name.len() + 1 + value.len() <= MAX_COOKIE_HEADER {
        field.extend([separator, &cookie.name, b"=", value].concat());
    }
}

#[cfg(test)]
mod tests;
