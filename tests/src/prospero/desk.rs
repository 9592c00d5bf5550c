//! What dirsrv answers to the text of a request. It knows the objects of the site and opens no file.

use crate::prospero::link::ProsperoLink;
use crate::prospero::object::{Kind, ProsperoObject, Question};
use crate::prospero::place::{Places, ProsperoHost};
use crate::prospero::site::ProsperoSite;
use crate::prospero::token::{Line, Unreadable, joined, next_line};

/// Where requests are answered.
pub(crate) struct Desk<'a> {
    pub(crate) site: &'a ProsperoSite,
    pub(crate) places: &'a Places,
}

/// What a command says; an error ends the message.
type Said = Result<Vec<u8>, Vec<u8>>;
/// An object by hsoname and version.
type Named = (Vec<u8>, u32);

impl Desk<'_> {
    /// The text of the answer: those of all commands behind each other, up to the first that fails.
    pub(crate) fn answer(&self, mut request: &[u8]) -> Vec<u8> {
        if request.is_empty() {
            return b"ERROR ERROR Received empty request\n".to_vec();
        }
        let (mut answer, mut directory) = (Vec::new(), None);
        while let Some(line) = next_line(&mut request) {
            let said = line.map_err(unreadable).and_then(|line| self.command(&line, &mut directory));
            match said {
                Ok(text) => answer.extend(text),
                Err(text) => {
                    answer.extend(text);
                    break;
                }
            }
        }
        answer
    }

    fn command(&self, line: &Line<'_>, directory: &mut Option<Named>) -> Said {
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
            (b"AUTHENTICATE", [options, kind, ..]) => authenticated(options, kind),
            (b"DIRECTORY", [kind, hsoname, version @ ..]) if is_plain(kind) && version.len() < 2 => {
                let version = version.first().map_or(Some(0), |version| number(version));
                *directory = Some((hsoname.to_vec(), version.ok_or_else(|| malformed(line))?));
                Ok(Vec::new())
            }
            (b"LIST", [_, keyword, components @ ..]) if keyword.eq_ignore_ascii_case(b"COMPONENTS") => {
                let parts = components.iter().flat_map(|component| component.split(|octet| *octet == b'/'));
                let parts: Vec<&[u8]> = parts.filter(|part| !part.is_empty()).collect();
                self.list(directory.as_ref().ok_or_else(|| malformed(line))?, &parts)
            }
            (b"GET-OBJECT-INFO", [names, kind, hsoname, version]) if is_plain(kind) => {
                let version = number(version).ok_or_else(|| malformed(line))?;
                self.info(&Question::new(names), &(hsoname.to_vec(), version))
            }
            (b"STATUS", []) => Ok(self.status()),
            (b"PARAMETER", [b"GET", name]) => Ok(told("PARAMETER NOTSET", &[name])),
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
        let name = self.places.host(&ProsperoHost::Here);
        let first = b"Prospero server (PreAlpha.5.3 17 May 94, patchlevel b) ".as_slice();
        self.site.status.clone().unwrap_or_else(|| [first, &name, b"\n"].concat())
    }

    fn info(&self, question: &Question, named: &Named) -> Said {
        let object = self.find(named)?;
        match object.told(question) {
            None => Err(failure("NOT-FOUND")),
            Some(lines) if lines.is_empty() => Ok(b"NONE-FOUND\n".to_vec()),
            Some(lines) => Ok(lines),
        }
    }

    /// The links of a directory, or what a name of several parts leads to.
    fn list(&self, directory: &Named, parts: &[&[u8]]) -> Said {
        let Kind::Directory(links) = &self.find(directory)?.kind else {
            return Err(failure("NOT-A-DIRECTORY"));
        };
        let Some((first, rest)) = parts.split_first() else { return self.links(links.iter()) };
        let found = || links.iter().filter(|link| link.is_union() || fits(first, &link.name));
        if rest.is_empty() {
            return self.links(found());
        }
        let Some(link) = found().find(|link| !link.is_union()) else { return self.links(found()) };
        if !link.leads_on() {
            return Err(failure("NOT-A-DIRECTORY"));
        }
        if link.is_directory() && link.host == ProsperoHost::Here {
            return self.list(&(link.hsoname.clone(), link.version), rest);
        }
        Ok([link.lines(self.places), told("UNRESOLVED", rest)].concat())
    }

    fn links<'l>(&self, links: impl Iterator<Item = &'l ProsperoLink>) -> Said {
        let lines: Vec<u8> = links.flat_map(|link| link.lines(self.places)).collect();
        Ok(if lines.is_empty() { b"NONE-FOUND\n".to_vec() } else { lines })
    }

    /// The object; else, what says why there is none, or where it is.
    fn find(&self, (hsoname, version): &Named) -> Result<&ProsperoObject, Vec<u8>> {
        let object = self.site.find(hsoname, *version).map_err(failure)?;
        let Kind::Forwarded(host, hsoname, version) = &object.kind else { return Ok(object) };
        let (host, version) = (self.places.host(host), version.to_string());
        Err(told("FORWARDED INTERNET-D", &[&host, b"ASCII", hsoname, version.as_bytes()]))
    }
}

fn authenticated(options: &[u8], kind: &[u8]) -> Said {
    let is_mandatory = options.split(|octet| *octet == b'+').any(|option| option == b"MANDATORY");
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

fn told(words: &str, tokens: &[&[u8]]) -> Vec<u8> {
    [words.as_bytes(), b" ", &joined(tokens.iter().copied()), b"\n"].concat()
}

fn failure(code: &str) -> Vec<u8> {
    format!("FAILURE {code}\n").into_bytes()
}

fn error(words: &[u8], about: &[u8]) -> Vec<u8> {
    [b"ERROR ", words, about, b"\n"].concat()
}

fn malformed(line: &Line<'_>) -> Vec<u8> {
    error(b"Malformed input line: ", line.raw)
}

fn unreadable(why: Unreadable) -> Vec<u8> {
    let why: &[u8] = match why {
        Unreadable::EmptyLine => b"Read' an empty line'",
        Unreadable::OpenQuote => b"Read' Prospero message with an unterminated quote'",
    };
    error(b"Malformed input line: ", why)
}

/// Whether a name fits: `*` and `?` are wild. Regular expressions fit nothing.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            fits(rest, name) || name.split_first().is_some_and(|(_, shorter)| fits(pattern, shorter))
        }
        (Some((b'?', pattern)), Some((_, name))) => fits(pattern, name),
        (Some((wanted, pattern)), Some((octet, name))) => wanted == octet && fits(pattern, name),
        _ => false,
    }
}
