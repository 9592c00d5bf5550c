//! The responses to requests before rules change them. They imitate dirsrv.

use crate::prospero::config::ProsperoConfig;
use crate::prospero::host::{Addresses, ProsperoHost};
use crate::prospero::link::ProsperoLink;
use crate::prospero::object::{AttributeQuery, Kind, ProsperoObject};
use crate::prospero::token::{LineError, RequestLine, join_quoted, next_line};

/// Answers requests.
pub(crate) struct RequestHandler<'a> {
    pub(crate) config: &'a ProsperoConfig,
    pub(crate) addresses: &'a Addresses,
}

/// The response to a command. After an error the rest of the request is ignored.
type CommandResult = Result<Vec<u8>, Vec<u8>>;
/// The hsoname and the version of an object.
type ObjectId = (Vec<u8>, u32);

impl RequestHandler<'_> {
    /// Returns the responses to all commands, up to the first that fails.
    pub(crate) fn answer(&self, mut request: &[u8]) -> Vec<u8> {
        if request.is_empty() {
            return b"ERROR ERROR Received empty request\n".to_vec();
        }
        let (mut answer, mut directory) = (Vec::new(), None);
        while let Some(line) = next_line(&mut request) {
            let result = line.map_err(line_error).and_then(|line| self.command(&line, &mut directory));
            match result {
                Ok(text) => answer.extend(text),
                Err(text) => {
                    answer.extend(text);
                    break;
                }
            }
        }
        answer
    }

    fn command(&self, line: &RequestLine<'_>, directory: &mut Option<ObjectId>) -> CommandResult {
        let words: Vec<&[u8]> = line.tokens.iter().map(Vec::as_slice).collect();
        let command = words[0].to_ascii_uppercase();
        match (command.as_slice(), &words[1..]) {
            (b"VERSION", []) => Ok(b"VERSION 5 P53.17May94b\n".to_vec()),
            (b"VERSION", [version, ..])
                if number(version).is_some_and(|version| (1..=5).contains(&version)) =>
            {
                Ok(Vec::new())
            }
            (b"VERSION", _) => Err(b"VERSION-NOT-SUPPORTED TRY 1-5".to_vec()),
            (b"AUTHENTICATE", [options, kind, ..]) => authenticate(options, kind),
            (b"DIRECTORY", [kind, hsoname, version @ ..]) if is_plain(kind) && version.len() < 2 => {
                let version = version.first().map_or(Some(0), |version| number(version));
                *directory = Some((hsoname.to_vec(), version.ok_or_else(|| malformed(line))?));
                Ok(Vec::new())
            }
            (b"LIST", [options, keyword, components @ ..]) if keyword.eq_ignore_ascii_case(b"COMPONENTS") => {
                let parts = components.iter().flat_map(|component| component.split(|byte| *byte == b'/'));
                let parts: Vec<&[u8]> = parts.filter(|part| !part.is_empty()).collect();
                let sends_all = options.to_ascii_uppercase().starts_with(b"ATTRIBUTES");
                self.list(directory.as_ref().ok_or_else(|| malformed(line))?, &parts, sends_all)
            }
            (b"GET-OBJECT-INFO", [names, kind, hsoname, version]) if is_plain(kind) => {
                let version = number(version).ok_or_else(|| malformed(line))?;
                self.object_info(&AttributeQuery::new(names), &(hsoname.to_vec(), version))
            }
            (b"STATUS", []) => Ok(self.status()),
            (b"PARAMETER", [b"GET", name]) => Ok(response_line("PARAMETER NOTSET", &[name])),
            (b"CREATE-LINK" | b"DELETE-LINK" | b"EDIT-LINK-INFO" | b"EDIT-OBJECT-INFO", _) => {
                Err(failure("NOT-AUTHORIZED"))
            }
            (b"AUTHENTICATE" | b"DIRECTORY" | b"LIST" | b"GET-OBJECT-INFO" | b"STATUS", _) => {
                Err(malformed(line))
            }
            _ => Err(error(b"Unknown message: ", line.raw)),
        }
    }

    fn status(&self) -> Vec<u8> {
        let name = self.addresses.text(&ProsperoHost::Here);
        let first = b"Prospero server (PreAlpha.5.3 17 May 94, patchlevel b) ".as_slice();
        self.config.status.clone().unwrap_or_else(|| [first, &name, b"\n"].concat())
    }

    fn object_info(&self, query: &AttributeQuery, id: &ObjectId) -> CommandResult {
        let object = self.find(id)?;
        match object.attributes(query) {
            None => Err(failure("NOT-FOUND")),
            Some(lines) if lines.is_empty() => Ok(b"NONE-FOUND\n".to_vec()),
            Some(lines) => Ok(lines),
        }
    }

    /// Returns the links of a directory, or those that a path from it leads to. `sends_all`: with all attributes.
    fn list(&self, directory: &ObjectId, parts: &[&[u8]], sends_all: bool) -> CommandResult {
        let Kind::Directory(links) = &self.find(directory)?.kind else {
            return Err(failure("NOT-A-DIRECTORY"));
        };
        let Some((first, rest)) = parts.split_first() else { return self.links(links.iter(), sends_all) };
        let found = || links.iter().filter(|link| link.is_union() || matches(first, &link.name));
        if rest.is_empty() {
            return self.links(found(), sends_all);
        }
        let Some(link) = found().find(|link| !link.is_union()) else {
            return self.links(found(), sends_all);
        };
        if !link.can_have_components() {
            return Err(failure("NOT-A-DIRECTORY"));
        }
        if link.is_directory() && link.host == ProsperoHost::Here {
            return self.list(&(link.hsoname.clone(), link.version), rest, sends_all);
        }
        Ok([link.lines(self.addresses, sends_all), response_line("UNRESOLVED", rest)].concat())
    }

    fn links<'l>(&self, links: impl Iterator<Item = &'l ProsperoLink>, sends_all: bool) -> CommandResult {
        let lines: Vec<u8> = links.flat_map(|link| link.lines(self.addresses, sends_all)).collect();
        Ok(if lines.is_empty() { b"NONE-FOUND\n".to_vec() } else { lines })
    }

    /// Returns an object.
    ///
    /// # Errors
    /// The FAILURE line, or the FORWARDED line with the new location of the object.
    fn find(&self, (hsoname, version): &ObjectId) -> Result<&ProsperoObject, Vec<u8>> {
        let object = self.config.find(hsoname, *version).map_err(failure)?;
        let Kind::Forwarded(host, hsoname, version) = &object.kind else { return Ok(object) };
        let (host, version) = (self.addresses.text(host), version.to_string());
        Err(response_line("FORWARDED INTERNET-D", &[&host, b"ASCII", hsoname, version.as_bytes()]))
    }
}

fn authenticate(options: &[u8], kind: &[u8]) -> CommandResult {
    let is_mandatory = options.split(|byte| *byte == b'+').any(|option| option == b"MANDATORY");
    if is_mandatory && kind != b"UNAUTHENTICATED" {
        return Err(failure("AUTHENTICATION-DATA"));
    }
    Ok(Vec::new())
}

fn is_plain(kind: &[u8]) -> bool {
    kind.eq_ignore_ascii_case(b"ASCII")
}

fn number(token: &[u8]) -> Option<u32> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

fn response_line(keywords: &str, tokens: &[&[u8]]) -> Vec<u8> {
    [keywords.as_bytes(), b" ", &join_quoted(tokens.iter().copied()), b"\n"].concat()
}

fn failure(code: &str) -> Vec<u8> {
    format!("FAILURE {code}\n").into_bytes()
}

fn error(message: &[u8], detail: &[u8]) -> Vec<u8> {
    [b"ERROR ", message, detail, b"\n"].concat()
}

fn malformed(line: &RequestLine<'_>) -> Vec<u8> {
    error(b"Malformed input line: ", line.raw)
}

fn line_error(why: LineError) -> Vec<u8> {
    let why: &[u8] = match why {
        LineError::EmptyLine => b"Read' an empty line'",
        LineError::OpenQuote => b"Read' Prospero message with an unterminated quote'",
    };
    error(b"Malformed input line: ", why)
}

/// Returns `true` if a name matches a pattern with the wildcards `*` and `?`. Regular expressions never match.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, shorter)| matches(pattern, shorter))
        }
        (Some((b'?', pattern)), Some((_, name))) => matches(pattern, name),
        (Some((wanted, pattern)), Some((byte, name))) => wanted == byte && matches(pattern, name),
        _ => false,
    }
}
