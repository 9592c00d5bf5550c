//! URLs as people type them: a host without a scheme gets one, and errors for paths and misspelt schemes get a hint.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use fetch_url::url::{
    Guess, Note, NoteKind, PercentEncoded, Url, charset, find_scheme, guess, mask_password, parse,
};
use fetch_url::{Code, Error};

use super::gateway;
use crate::error::usage_error;
use crate::flags::{FetchFlags, GatewayFlags};

/// The rules for text without a scheme.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedUrls {
    /// The scheme of `--proto-default`.
    default_scheme: Option<&'static str>,
    /// The schemes that have a gateway. Their URLs may look like a host and a port.
    gateway_schemes: Vec<String>,
}

impl TypedUrls {
    /// Checks the scheme of `--proto-default`.
    pub(super) fn of(flags: &FetchFlags) -> Result<Self, Error> {
        let default_scheme = flags.network.proto_default.as_deref().map(|name| {
            let known = find_scheme(name).filter(|scheme| scheme.default_port.is_some());
            known.map(|scheme| scheme.name).ok_or_else(|| {
                usage_error(format!("--proto-default: {name} is not a scheme of URLs with a host"))
            })
        });
        Ok(Self {
            default_scheme: default_scheme.transpose()?,
            gateway_schemes: gateway::schemes(&flags.gateway),
        })
    }

    /// Returns the URL that a text without a scheme stands for, or `None` if the text has a scheme or is no host.
    pub(crate) fn complete(&self, text: &str) -> Option<String> {
        let Some(Guess::Host(scheme)) = guess(text) else { return None };
        if let Some((name, _)) = text.split_once(':')
            && self.gateway_schemes.iter().any(|own| own.eq_ignore_ascii_case(name))
        {
            return None;
        }
        let url = Guess::Host(self.default_scheme.unwrap_or(scheme)).url(text)?;
        // The host may be another one than that of the guess.
        let is_ambiguous = |note: &Note| note.kind() == NoteKind::QuestionMarkInLogin;
        let is_other = parse(&url).is_ok_and(|parsed| parsed.notes.iter().any(is_ambiguous));
        (!is_other).then_some(url)
    }
}

/// Returns the URL that `explain` explains for a text without a scheme.
pub(crate) fn complete_url(flags: &GatewayFlags, text: &str) -> Option<String> {
    TypedUrls { default_scheme: None, gateway_schemes: gateway::schemes(flags) }.complete(text)
}

/// Adds a hint to the error for a text that is a path or `-`, or a URL with a misspelt scheme or without its colon.
pub(crate) fn with_typed_url_hint(error: Error, text: &str) -> Error {
    if text == "-" {
        return error.with_hint("standard output is the default; omit wget's -O -");
    }
    match guess(text) {
        Some(Guess::Path) => match file_url(Path::new(text)) {
            Some(url) => error.with_hint(format!("the URL of this file is {url}")),
            None => error,
        },
        Some(correction @ Guess::Correction { .. }) => match correction.url(text) {
            Some(url) => error.with_hint(format!("did you mean {}?", mask_password(&url))),
            None => error,
        },
        _ => error,
    }
}

/// Returns the `file:` URL of a path, which may be relative to the current directory. The file need not exist.
fn file_url(path: &Path) -> Option<String> {
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    let resolved = if has_parent { path.canonicalize().ok() } else { None };
    let path =
        resolved.map_or_else(|| std::path::absolute(path), Ok).ok().filter(|_| !path.starts_with("~"))?;
    let encode = |part: &[u8]| PercentEncoded::encode(part, charset::UCHAR).to_string();
    let parts: Vec<String> = path.as_os_str().as_bytes().split(|&byte| byte == b'/').map(encode).collect();
    Some(format!("file://{}", parts.join("/")))
}

/// Adds a hint if the user probably meant another URL; `text` is the URL as it was typed.
pub(crate) fn with_target_hint(error: Error, url: &Url<'_>, text: &str) -> Error {
    match (url, error.code()) {
        (Url::Gopher(_), Code::NotFound) => with_item_type_hint(error, url),
        (Url::Ftp(_), Code::NotFound) if error.hint().is_none() && may_be_directory(text) => {
            error.with_hint("if it is a directory, its URL ends with a slash")
        }
        (_, Code::ResolveFailed) if Path::new(text).is_file() => {
            error.with_hint(format!("{text} is a file; --input-file {text} reads URLs from it"))
        }
        _ => error,
    }
}

/// Returns `true` if the URL ends with a name without a suffix, as those of directories do.
fn may_be_directory(url: &str) -> bool {
    let name = url.rsplit('/').next().unwrap_or_default();
    !name.is_empty() && !name.contains(['.', ';'])
}

/// Adds a hint to the error for a gopher URL whose path probably has no item type: `gopher://h/foo` requests the selector
/// `oo` of the type `f`.
fn with_item_type_hint(error: Error, url: &Url<'_>) -> Error {
    let text = url.redacted().to_string();
    let parts = text.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let Some((host, path)) = parts else { return error };
    let starts_with_a_word = path.bytes().take(2).filter(u8::is_ascii_alphabetic).count() == 2;
    if !starts_with_a_word {
        return error;
    }
    let scheme = url.scheme_name();
    error.with_hint(format!(
        "the path begins with the item type: {scheme}://{host}/1/{path} is a menu, {scheme}://{host}/0/{path} a text"
    ))
}

/// Returns the hint for a missing URL. An option that has no value in wget may have taken the URL as its value.
pub(super) fn missing_url_hint(flags: &FetchFlags) -> &'static str {
    let is_url = |text: &str| text.contains("://");
    let jar = flags.http.cookie_jar.as_ref().and_then(|path| path.to_str());
    let login = flags.login.netrc;
    match jar {
        Some(jar) if is_url(jar) && login => "-nc is -n -c here; wget's -nc is --no-clobber",
        Some(jar) if is_url(jar) => "-c is --cookie-jar here, as in curl; wget's -c is -C -",
        _ => "run fetch-url --help for the options",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By RFC 1738, the login of `ftp://a.test?@b.test` is `a.test?`.
    #[test]
    fn text_that_names_another_host_with_the_default_scheme_is_not_completed() {
        let typed = TypedUrls { default_scheme: Some("ftp"), gateway_schemes: Vec::new() };
        assert_eq!(typed.complete("a.test:1?x:pw@b.test:2/f"), None);
        assert_eq!(typed.complete("a.test/f").as_deref(), Some("ftp://a.test/f"));
    }

    #[test]
    fn hint_for_a_directory_does_not_replace_another_one() {
        let parsed = parse("ftp://h//etc/motd").expect("a URL");
        let error = || Error::new(Code::NotFound, fetch_url::Phase::Reply, "CWD");
        let hint = |error: Error, text: &str| {
            with_target_hint(error, &parsed.url, text).hint().map(ToString::to_string).unwrap_or_default()
        };
        assert_eq!(hint(error().with_hint("use %2F"), "ftp://h//etc/motd"), "use %2F");
        assert!(hint(error(), "ftp://h//etc/motd").contains("slash"));
        for file in ["ftp://h/a.txt", "ftp://h/etc/", "ftp://h/motd;type=a"] {
            assert_eq!(hint(error(), file), "", "{file}");
        }
    }
}
