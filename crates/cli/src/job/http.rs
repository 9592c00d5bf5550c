//! The HTTP options.

use std::path::Path;

use fetch_url::http::{AuthMode, CookieJar, HeaderField, HttpOptions, HttpVersion};
use fetch_url::{Code, Error, Phase};

use super::data;
use super::option_file::{read_option_file, read_option_text, read_stdin, read_stdin_text};
use crate::error::usage_error;
use crate::flags::{FetchFlags, GivenOptions, HttpFlags};

/// Makes the HTTP options from the flags.
pub(super) fn options(flags: &FetchFlags, given: &GivenOptions) -> Result<HttpOptions, Error> {
    let http = &flags.http;
    let mut options = HttpOptions::default();
    options.method.clone_from(&http.method);
    options.compressed = http.compressed;
    options.version = match &http.version {
        version if version.http1_0 => HttpVersion::Http10,
        version if version.http1_1 => HttpVersion::Http1,
        version if version.http2_prior_knowledge => HttpVersion::Http2PriorKnowledge,
        _ => HttpVersion::Any,
    };
    (options.raw, options.transfer_coding) = (http.raw, http.tr_encoding);
    options.ignore_content_length = http.ignore_content_length;
    options.auth = match http {
        http if http.digest => AuthMode::DigestOnly,
        http if http.anyauth => AuthMode::AfterChallenge,
        _ => AuthMode::Preemptive,
    };
    options.index_as_listing = flags.list;
    // Only a response that is delivered has headers for -i, -I, -w, -D, -v, --trace and --metalink-over-http.
    let needs_headers = flags.include
        || flags.head
        || flags.messages.write_out.is_some()
        || http.dump_header.is_some()
        || flags.messages.verbose > 0
        || flags.messages.trace.is_some()
        || flags.batch.metalink_over_http;
    options.deliver_error_body = flags.no_fail || flags.fail_with_body || needs_headers;
    options.cookies = jar(http)?;
    let own = own_fields(http)?;
    let (referer, follows_redirects) = referer(http);
    options.referer_follows_redirects = follows_redirects && !has_field(&own, "Referer");
    options.headers = with_named_fields(http, referer, own);
    if !http.get {
        options.body = data::body(http, given)?;
    }
    if flags.head && (options.body.is_some() || !http.upload_file.is_empty()) {
        return Err(usage_error("-I cannot be combined with data to send"));
    }
    add_types(http, &mut options);
    if let Some(tag) = http.etag_compare.as_deref().map(saved_etag).transpose()?.flatten() {
        options.headers.push(HeaderField::new("If-None-Match", tag));
    }
    Ok(options)
}

/// Returns the ETag in the file of `--etag-compare`, or `None` if there is none.
fn saved_etag(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let file = read_option_file("--etag-compare", path)?;
    // An entity tag may have bytes above 0x7F, in any encoding (RFC 9110 §8.8.3).
    let tag = file.trim_ascii();
    if tag.iter().any(u8::is_ascii_control) {
        return Err(usage_error(format!("--etag-compare {}: not an ETag", path.display())));
    }
    Ok(Some(tag.to_vec()).filter(|tag| !tag.is_empty()))
}

/// Returns the query that `-G` adds to the URL.
pub(super) fn search(http: &HttpFlags, given: &GivenOptions) -> Result<Option<Vec<u8>>, Error> {
    let data = if http.get { data::joined(http, given)? } else { None };
    Ok(data.filter(|data| !data.is_empty()))
}

/// Returns the value of `-e` as it is sent, and whether the Referer follows redirects (`URL;auto`).
fn referer(http: &HttpFlags) -> (Option<String>, bool) {
    match http.referer.as_deref().map(|text| (text, text.split_once(";auto"))) {
        None => (None, false),
        Some((text, None)) => (Some(without_user_info(text)), false),
        // Like curl, everything from `;auto` on is cut.
        Some((_, Some((url, _)))) => (Some(url).filter(|url| !url.is_empty()).map(without_user_info), true),
    }
}

/// Returns a URL without user, password and fragment, which a Referer must not contain (RFC 9110 §10.1.3).
fn without_user_info(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let Some(start) = url.find("//").map(|slashes| slashes + 2) else { return url.to_owned() };
    let end = url[start..].find(['/', '?', '\\']).map_or(url.len(), |end| start + end);
    let host = url[start..end].rfind('@').map_or(start, |at_sign| start + at_sign + 1);
    format!("{}{}", &url[..start], &url[host..])
}

/// Returns the headers in the order of curl: the named ones first, so that those of `-H` can replace them.
fn with_named_fields(http: &HttpFlags, referer: Option<String>, own: Vec<HeaderField>) -> Vec<HeaderField> {
    let mut named = Vec::new();
    named.extend(http.user_agent.iter().map(|name| header_field("User-Agent", name)));
    named.extend(referer.map(|url| header_field("Referer", &url)));
    named.extend(
        http.oauth2_bearer.iter().map(|token| header_field("Authorization", &format!("Bearer {token}"))),
    );
    let pairs: Vec<&str> = http.cookie.iter().filter(|text| text.contains('=')).map(String::as_str).collect();
    if !pairs.is_empty() {
        named.push(header_field("Cookie", &pairs.join("; ")));
    }
    named.retain(|field| !has_field(&own, &field.name));
    named.extend(own);
    named
}

fn has_field(fields: &[HeaderField], name: &str) -> bool {
    fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
}

/// Returns the headers of `-H`.
fn own_fields(http: &HttpFlags) -> Result<Vec<HeaderField>, Error> {
    let mut own = Vec::new();
    for text in &http.header {
        match text.strip_prefix('@') {
            None => own.push(field(text).map_err(|detail| usage_error(format!("-H: {detail}")))?),
            Some(path) => {
                let (text, name) = match path {
                    "-" => (read_stdin_text("-H")?, "standard input"),
                    _ => (read_option_text("-H", path.as_ref())?, path),
                };
                for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                    let wrong = |detail| usage_error(format!("-H: {name}:{}: {detail}", index + 1));
                    own.push(field(line).map_err(wrong)?);
                }
            }
        }
    }
    Ok(own)
}

/// Returns a header; an empty value removes it.
fn header_field(name: &str, value: &str) -> HeaderField {
    if value.is_empty() { HeaderField::without(name) } else { HeaderField::new(name, value) }
}

/// Parses `-H`: `Name: value`; `Name:` removes a default header; `Name;` sends it empty.
fn field(text: &str) -> Result<HeaderField, &'static str> {
    if let Some((name, value)) = text.split_once(':') {
        let value = value.trim_matches([' ', '\t']);
        return Ok(header_field(name.trim_end(), value));
    }
    match text.strip_suffix(';') {
        Some(name) => Ok(HeaderField::new(name, "")),
        // The text may contain a secret, so it is not repeated.
        None => Err("expected \"Name: value\""),
    }
}

/// Adds the content type of the data, unless `-H` sets one. For JSON, also adds `Accept`; both even if the data are a part of
/// the query (`-G`), as in curl.
fn add_types(http: &HttpFlags, options: &mut HttpOptions) {
    let (kind, accept) = match (&options.body, http.json.is_empty()) {
        (None, true) => return,
        (Some(_), true) => ("application/x-www-form-urlencoded", None),
        (_, false) => ("application/json", Some("application/json")),
    };
    let mut add = |name: &str, value: &str| {
        if !has_field(&options.headers, name) {
            options.headers.push(HeaderField::new(name, value));
        }
    };
    add("Content-Type", kind);
    if let Some(accept) = accept {
        add("Accept", accept);
    }
}

/// Returns the cookie jar for `-c`, or for `-b` with files. A missing file is an empty jar.
fn jar(http: &HttpFlags) -> Result<Option<CookieJar>, Error> {
    let files: Vec<&Path> = http.cookie.iter().filter(|text| !text.contains('=')).map(Path::new).collect();
    if files.is_empty() {
        return Ok(http.cookie_jar.as_ref().map(|_| CookieJar::default()));
    }
    let is_stdin = |file: &Path| file.as_os_str() == "-";
    let files: Vec<&Path> = files.into_iter().filter(|file| is_stdin(file) || file.exists()).collect();
    let size: u64 = files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum();
    if size > CookieJar::MAX_FILE_SIZE {
        return Err(Error::new(Code::LimitReached, Phase::Plan, "a cookie file larger than 32 MiB"));
    }
    let mut lines = Vec::new();
    for file in files {
        let read = if is_stdin(file) { read_stdin("-b")? } else { read_option_file("-b", file)? };
        if lines.is_empty() {
            lines = read;
        } else {
            lines.push(b'\n');
            lines.extend(read);
        }
    }
    if lines.is_empty() { Ok(Some(CookieJar::default())) } else { CookieJar::from_netscape(&lines).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn referer_has_no_user_password_and_fragment() {
        for (given, sent) in [
            ("http://u:PW@ref/", "http://ref/"),
            ("http://u:P@W@ref:8/a@b?c@d", "http://ref:8/a@b?c@d"),
            ("https://u@ref", "https://ref"),
            ("//u:PW@ref/x#top", "//ref/x"),
            ("http://ref/a@b", "http://ref/a@b"),
            ("http://ref?u:x@b", "http://ref?u:x@b"),
            ("about:blank", "about:blank"),
            ("/a#u@b", "/a"),
            ("", ""),
        ] {
            assert_eq!(without_user_info(given), sent, "{given}");
        }
    }

    #[test]
    fn header_options_are_parsed_or_rejected() {
        let shown = |text| {
            let field = field(text).ok()?;
            Some((field.name, field.value.map(|value| String::from_utf8_lossy(&value).into_owned())))
        };
        let is = |name: &str, value: Option<&str>| Some((name.to_owned(), value.map(str::to_owned)));
        assert_eq!(shown("A: b"), is("A", Some("b")));
        assert_eq!(shown("A:b:c"), is("A", Some("b:c")));
        assert_eq!(shown("A:"), is("A", None));
        assert_eq!(shown("A;"), is("A", Some("")));
        assert_eq!(shown("geheim"), None);
    }
}
