//! Makes the request for another server from the request of a client.

use std::net::IpAddr;

use fetch_url::ftp::{FtpListing, FtpOptions};
use fetch_url::gopher::GopherOptions;
use fetch_url::http::{HeaderField, HttpOptions};
use fetch_url::news::NewsOptions;
use fetch_url::url::{PercentEncoded, WaisResource, charset, guess, parse};
use fetch_url::{Code, Condition, Credential, Error, Phase, Request, Url};

use crate::authorization::login_for;
use crate::conditions::{modified_since, wanted_range};
use crate::link::Form;
use crate::request_head::RequestHead;
use crate::request_target::RequestedUrl;
use crate::shared::Shared;

/// The request fields that are forwarded to http servers in path form: no cookies and no logins, which a browser keeps
/// for the host of this server.
const FORWARDED_FIELDS: [&str; 7] = [
    "accept",
    "accept-language",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "user-agent",
];
/// The request fields that are not forwarded in proxy form, because the fetcher makes its own. `If-Range` is left out
/// together with its range.
const OWN_FIELDS: [&str; 7] =
    ["content-length", "expect", "host", "if-range", "range", "via", "proxy-connection"];

/// The object that a client asks for.
#[derive(Debug)]
pub(crate) struct GatewayRequest {
    /// The URL, after a form of this server was applied to it.
    pub(crate) url: Url<'static>,
    pub(crate) request: Request,
    pub(crate) login: Option<Credential>,
}

/// Returns the URL that `requested` means.
///
/// # Errors
/// `Code::BadUrl`.
pub(crate) fn requested_url(requested: &RequestedUrl) -> Result<Url<'static>, Error> {
    let url = parse(&requested.text)?.url.into_owned();
    match requested.field("words").map(str::trim) {
        Some(words) if !words.is_empty() => with_words(url, words),
        _ => Ok(url),
    }
}

/// Returns the path to which a text in path form is redirected: a URL for text that a person typed, and a path that
/// names the server for a URL without a path, so that a browser sends a login for it to no other server.
pub(crate) fn corrected_path(text: &str) -> Option<String> {
    if parse(text).is_err() {
        let url = guess(text)?.url(text)?;
        return parse(&url).is_ok().then(|| format!("/{url}"));
    }
    let (_, rest) = text.split_once("://")?;
    if rest.is_empty() || rest.contains('/') {
        return None;
    }
    // A `?` ends the authority of a URL, unless it is part of a login (RFC 1738 §5).
    let ends = [text.find('?'), Some(text.len())];
    let mut with_slash = ends.into_iter().flatten().map(|end| format!("{}/{}", &text[..end], &text[end..]));
    with_slash.find(|url| has_same_server(url, text)).map(|url| format!("/{url}"))
}

/// Returns `true` if both texts are URLs of one server, with the same login.
fn has_same_server(url: &str, other: &str) -> bool {
    let (Ok(url), Ok(other)) = (parse(url), parse(other)) else { return false };
    url.url.same_origin(&other.url) && url.url.user_info() == other.url.user_info()
}

/// Adds the words of a search to the URL of a gopher search, a WAIS database or a list of newsgroups.
fn with_words(url: Url<'static>, words: &str) -> Result<Url<'static>, Error> {
    let text = match &url {
        Url::Gopher(gopher) => {
            let base = url.to_string();
            let base = base.split("%09").next().unwrap_or_default();
            let plus = gopher.gopher_plus().map(|plus| format!("%09{plus}")).unwrap_or_default();
            format!("{base}%09{}{plus}", PercentEncoded::encode(words.as_bytes(), charset::FPATH))
        }
        Url::Wais(_) => {
            let base = url.to_string();
            let base = base.split('?').next().unwrap_or_default();
            format!("{base}?{}", PercentEncoded::encode(words.as_bytes(), charset::FPATH))
        }
        Url::News(_) => {
            let base = url.to_string();
            let list = base.rsplit_once(['/', ':']).map_or("news:", |(list, _)| &base[..list.len() + 1]);
            let is_pattern = words.contains(['*', '?']);
            let pattern = if is_pattern { words.to_owned() } else { format!("*{words}*") };
            let words: Vec<String> = pattern
                .split('*')
                .map(|part| PercentEncoded::encode(part.as_bytes(), charset::GROUP).to_string())
                .collect();
            format!("{list}{}", words.join("*"))
        }
        _ => return Err(Error::new(Code::Usage, Phase::Plan, "this URL has no search")),
    };
    Ok(parse(&text)?.url.into_owned())
}

/// Returns `true` if `url` is a search without words: its form is shown, and no server is asked.
pub(crate) fn is_search_form(url: &Url<'_>) -> bool {
    match url {
        Url::Gopher(url) => url.gtype() == b'7' && url.search().is_none_or(|words| words.is_empty()),
        Url::Wais(url) => matches!(url.resource(), WaisResource::Database),
        _ => false,
    }
}

impl GatewayRequest {
    /// Makes the request of `client` for `requested`.
    ///
    /// # Errors
    /// `Code::BadUrl`; `Code::Policy` and `Code::NotFound` for local files that are not served.
    pub(crate) fn new(
        shared: &Shared,
        client: IpAddr,
        head: &RequestHead,
        requested: &RequestedUrl,
    ) -> Result<Self, Error> {
        let url = requested_url(requested)?;
        let login = login_for(client, head, requested.form, &url, &shared.known_logins);
        let mut request = Request::from_url(url.clone());
        if let Some(server) = &shared.news_server {
            request = request.news_server(server.clone());
        }
        let is_head = head.method == "HEAD";
        // A local file is opened for HEAD, too: only its first bytes show whether it is a directory, and its charset.
        if is_head && !matches!(url, Url::File(_)) {
            request = request.head();
        }
        // A range has no meaning for HEAD (RFC 9110 §14.2).
        if let Some(range) =
            wanted_range(head).filter(|_| !is_head && has_ranges(&url) && head.field("if-range").is_none())
        {
            request = request.range(range);
        }
        // An http server gets the fields of all conditions.
        if let Some(since) = modified_since(head).filter(|_| !matches!(url, Url::Http(_))) {
            request = request.only_if(Condition::ModifiedSince(since));
        }
        match &url {
            Url::Http(_) => request = request.http(http_options(shared, head, requested.form)),
            Url::Gopher(_) => request = request.gopher(gopher_options(requested)),
            Url::Ftp(_) => {
                request = request.ftp(ftp_options()).http(forwarded_options(shared, head));
            }
            Url::File(_) => request = request.with_extra(shared.fetchers.file_root()?.clone()),
            Url::Nntp(_) => request = request.news(news_options()),
            _ => {}
        }
        Ok(Self { url, request, login })
    }
}

/// Returns `true` for schemes whose protocols have byte ranges.
const fn has_ranges(url: &Url<'_>) -> bool {
    matches!(url, Url::File(_) | Url::Ftp(_) | Url::Http(_) | Url::Wais(_))
}

fn http_options(shared: &Shared, head: &RequestHead, form: Form) -> HttpOptions {
    let mut options = HttpOptions::default();
    options.deliver_error_body = true;
    let is_forwarded = |name: &str| match form {
        Form::Path => FORWARDED_FIELDS.contains(&name),
        Form::Proxy => !OWN_FIELDS.contains(&name),
    };
    options.headers = head
        .end_to_end_fields()
        .filter(|(name, _)| is_forwarded(name))
        .map(|(name, value)| HeaderField::new(name.clone(), value.clone()))
        .collect();
    options.headers.push(via_field(shared, head));
    options
}

/// Returns the options of an ftp request, which an HTTP proxy may get: it recognises loops by `Via`.
fn forwarded_options(shared: &Shared, head: &RequestHead) -> HttpOptions {
    let mut options = HttpOptions::default();
    options.headers = vec![via_field(shared, head)];
    options
}

/// Returns the field `Via` of a request that this server passes on.
fn via_field(shared: &Shared, head: &RequestHead) -> HeaderField {
    let via = head.values("via").map(|value| String::from_utf8_lossy(value).into_owned());
    let own = format!("1.{} {}", head.version, shared.via_name);
    let via = via.chain([own]).collect::<Vec<_>>().join(", ");
    HeaderField::new("via", via)
}

/// Returns the options for listings with sizes and times.
fn ftp_options() -> FtpOptions {
    let mut options = FtpOptions::default();
    options.listing = FtpListing::Long;
    options
}

/// Returns the options with which several articles are a list.
fn news_options() -> NewsOptions {
    let mut options = NewsOptions::default();
    options.list_ranges = true;
    options
}

/// Returns the view and the answers of a form.
fn gopher_options(requested: &RequestedUrl) -> GopherOptions {
    let mut options = GopherOptions::default();
    options.view = requested.field("view").map(|view| view.as_bytes().to_vec());
    let answers = requested.fields.iter().filter_map(|(name, value)| {
        let number = name.strip_prefix("answer-").filter(|number| number.parse::<u16>().is_ok())?;
        Some((number.as_bytes().to_vec(), value.replace("\r\n", "\n").into_bytes()))
    });
    options.answers = answers.collect();
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_part_of_the_url() {
        for (text, words, expected) in [
            ("gopher://h/7/s", "a b%?", "gopher://h/7/s%09a%20b%25?"),
            ("gopher://h/7/s%09old", "new", "gopher://h/7/s%09new"),
            ("wais://h/d", "a&b c", "wais://h/d?a&b%20c"),
            ("news:*", "rust", "news:*rust*"),
            ("news://h/*", "comp.*", "news://h/comp.*"),
        ] {
            let form = Form::Path;
            let fields = vec![("words".to_owned(), words.to_owned())];
            let requested = RequestedUrl { form, text: text.to_owned(), fields };
            assert_eq!(requested_url(&requested).expect(text).to_string(), expected);
        }
    }

    #[test]
    fn typed_text_is_corrected() {
        for (text, expected) in [
            ("example.com/x", Some("/http://example.com/x")),
            ("ftp.example.org", Some("/ftp://ftp.example.org")),
            ("ftp://h", Some("/ftp://h/")),
            ("http://h?a=b", Some("/http://h/?a=b")),
            ("http://h?a=b?c@d", Some("/http://h/?a=b?c@d")),
            // The login of RFC 1738 §5 goes to no other server.
            ("ftp://a:1?x:secret@b:2", Some("/ftp://a:1?x:secret@b:2/")),
            ("telnet://a?x@b", Some("/telnet://a?x@b/")),
            ("ftp.a.test?@b.test", None),
            ("ftp://h/", None),
            ("news:a.b", None),
        ] {
            assert_eq!(corrected_path(text).as_deref(), expected, "{text}");
        }
    }
}
