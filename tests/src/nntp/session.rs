//! The session of a client with the news server, and its replies about groups and articles. Lists and
//! overviews are in `lists.rs`, logins and capabilities in `login.rs`.

use std::borrow::Cow;

use crate::nntp::article::{NntpArticle, Part};
use crate::nntp::config::{NntpConfig, NntpDialect};
use crate::nntp::group::NntpGroup;
use crate::nntp::login::Login;
use crate::nntp::reply::{Next, Reply};

/// Maximum length of a command line, with CR LF (RFC 3977 §3.1).
const MAX_COMMAND: usize = 512;
/// Maximum length of a message-id, with its angle brackets (RFC 3977 §3.6).
const MAX_ID: usize = 250;
/// Commands that need MODE READER and a login, if the server requires them.
const READING: [&str; 14] = [
    "ARTICLE",
    "BODY",
    "GROUP",
    "HDR",
    "HEAD",
    "LAST",
    "LIST",
    "LISTGROUP",
    "NEXT",
    "OVER",
    "POST",
    "STAT",
    "XHDR",
    "XOVER",
];
/// Commands that sn does not know.
const UNKNOWN_TO_SN: [&str; 7] = ["AUTHINFO", "CAPABILITIES", "COMPRESS", "DATE", "HDR", "OVER", "STARTTLS"];

/// The state of a client.
pub(crate) struct Session<'a> {
    pub(crate) config: &'a NntpConfig,
    pub(crate) login: Login,
    pub(crate) is_tls: bool,
    pub(crate) is_compressed: bool,
    pub(crate) is_reader: bool,
    pub(crate) group: Option<&'a NntpGroup>,
    /// The number of the current article.
    pub(crate) current: Option<u64>,
}

/// An article that was found.
pub(crate) struct Found<'a> {
    /// The number in the reply.
    pub(crate) number: u64,
    pub(crate) article: Cow<'a, NntpArticle>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(config: &'a NntpConfig) -> Self {
        Self {
            config,
            login: Login::None,
            is_tls: false,
            is_compressed: false,
            is_reader: !config.behaviour.requires_mode_reader,
            group: None,
            current: None,
        }
    }

    pub(crate) fn greeting(&self) -> Reply<'a> {
        match &self.config.greeting {
            Some(bytes) => Reply { status: bytes.clone(), block: None, next: Next::Command },
            None => self.welcome(),
        }
    }

    /// Returns the reply to MODE READER, which is also the greeting.
    pub(crate) fn welcome(&self) -> Reply<'a> {
        match (self.is_sn(), self.config.behaviour.allows_posting) {
            (true, true) => Reply::line("200 Hi, you can post (sn version 0.3.8)"),
            (true, false) => Reply::line("201 Hi, you can't post (sn version 0.3.8)"),
            (false, true) => Reply::line("200 fetch-url test server ready"),
            (false, false) => Reply::line("201 fetch-url test server ready (no posting)"),
        }
    }

    pub(crate) fn execute(&mut self, line: &[u8]) -> Reply<'a> {
        if line.len() + 2 > MAX_COMMAND {
            return Reply::line(if self.is_sn() { "501 Line too long" } else { "500 Line too long" });
        }
        let words: Vec<&[u8]> =
            line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty()).collect();
        let Some((verb, arguments)) = words.split_first() else { return self.unknown() };
        let verb = String::from_utf8_lossy(verb).to_ascii_uppercase();
        if self.is_unknown(&verb, arguments) {
            return if verb == "LIST" { self.unknown_list() } else { self.unknown() };
        }
        if let Some(reply) = self.missing_permission(&verb) {
            return reply;
        }
        match (verb.as_str(), arguments) {
            ("GROUP", [name]) => self.select_group(name, false).unwrap_or_else(|reply| reply),
            ("GROUP", _) => Reply::line("501 Syntax is: GROUP newsgroup"),
            ("LISTGROUP", [] | [_] | [_, _]) => self.list_group(arguments),
            ("ARTICLE" | "BODY" | "HEAD" | "STAT", [] | [_]) => {
                self.article(&verb, arguments.first().copied())
            }
            ("NEXT" | "LAST", []) => self.step(verb == "NEXT"),
            ("OVER" | "XOVER", [] | [_]) => self.overview(&verb, arguments.first().copied()),
            ("HDR" | "XHDR", [name] | [name, _]) => self.headers(&verb, name, arguments.get(1).copied()),
            ("LIST", _) => self.list(arguments),
            ("MODE", [mode]) if mode.eq_ignore_ascii_case(b"READER") => {
                self.is_reader = true;
                self.welcome()
            }
            ("MODE", _) => Reply::line("501 Unknown MODE variant"),
            ("CAPABILITIES", _) => self.capabilities(),
            ("AUTHINFO", _) => self.authinfo(line, arguments),
            ("STARTTLS", []) => self.starttls(),
            ("COMPRESS", _) => self.compress(arguments),
            ("DATE", []) => Reply::line("111 20261121003806"),
            ("HELP", _) => {
                Reply::line("100 Legal commands").with(std::iter::once(b"  RFC 3977\r\n".to_vec()))
            }
            ("POST", []) => Reply::line("440 Posting not permitted"),
            ("QUIT", _) => Reply::line("205 Bye!").then(Next::Close),
            (verb, _) if READING.contains(&verb) => Reply::line("501 Syntax error"),
            _ => self.unknown(),
        }
    }

    pub(crate) fn is_sn(&self) -> bool {
        self.config.behaviour.dialect == NntpDialect::Sn
    }

    pub(crate) fn is_unknown(&self, verb: &str, arguments: &[&[u8]]) -> bool {
        let keyword = arguments.first().map(|word| String::from_utf8_lossy(word).to_ascii_uppercase());
        let with_keyword = format!("{verb} {}", keyword.unwrap_or_default());
        let unknown = &self.config.unknown_commands;
        unknown.iter().any(|command| *command == verb || *command == with_keyword)
            || self.is_sn() && UNKNOWN_TO_SN.contains(&verb)
    }

    fn unknown(&self) -> Reply<'a> {
        Reply::line(if self.is_sn() { "500 unimplemented" } else { "500 What?" })
    }

    /// Returns the refusal of a command that needs MODE READER or a login first.
    fn missing_permission(&self, verb: &str) -> Option<Reply<'a>> {
        if !READING.contains(&verb) {
            return None;
        }
        if !self.is_reader {
            return Some(Reply::line("401 MODE-READER"));
        }
        let needs_login = self.config.behaviour.requires_login && !self.login.is_done();
        needs_login.then(|| Reply::line("480 Authentication required"))
    }

    pub(crate) fn may_read(&self, group: &NntpGroup) -> bool {
        !group.is_private() || self.login.is_done()
    }

    pub(crate) fn low_number_of_empty_group(&self) -> u64 {
        u64::from(!self.is_sn())
    }

    /// Selects a group. Returns the reply to GROUP, or the first line of the reply to LISTGROUP.
    ///
    /// # Errors
    /// The refusal.
    pub(crate) fn select_group(&mut self, name: &[u8], is_listed: bool) -> Result<Reply<'a>, Reply<'a>> {
        let is_named = |group: &&NntpGroup| match self.is_sn() {
            true => group.name().eq_ignore_ascii_case(name),
            false => group.name() == name,
        };
        let Some(group) = self.config.groups.iter().find(is_named) else {
            return Err(Reply::line([b"411 No such group ", name].concat()));
        };
        if !self.may_read(group) {
            return Err(Reply::line("480 Read access denied"));
        }
        self.group = Some(group);
        self.current = if self.is_sn() { None } else { group.bounds().map(|(first, _)| first) };
        if is_listed && self.is_sn() {
            return Ok(Reply::line("211 Article numbers follow"));
        }
        let [count, low, high] = group.counts(self.low_number_of_empty_group());
        Ok(Reply::line([format!("211 {count} {low} {high} ").as_bytes(), group.name()].concat()))
    }

    fn article(&mut self, verb: &str, argument: Option<&[u8]>) -> Reply<'a> {
        let found = match self.find(argument) {
            Ok(found) => found,
            Err(reply) => return reply,
        };
        let (code, modern, sn, part) = match verb {
            "ARTICLE" => (220, "article", "Article follows", Some(Part::Article)),
            "HEAD" => (221, "head", "Head follows", Some(Part::Head)),
            "BODY" => (222, "body", "Body follows", Some(Part::Body)),
            _ => (223, "status", "Request text separately", None),
        };
        let reply = self.article_status(code, &found, if self.is_sn() { sn } else { modern });
        match part {
            Some(part) => reply.with(found.article.blocks(part)),
            None => reply,
        }
    }

    fn article_status(&self, code: u16, found: &Found<'_>, text: &str) -> Reply<'a> {
        let start = format!("{code} {} ", found.number);
        Reply::line([start.as_bytes(), found.article.id(), b" ", text.as_bytes()].concat())
    }

    /// Finds the article of an argument. A number makes it the current article.
    ///
    /// # Errors
    /// The refusal.
    pub(crate) fn find(&mut self, argument: Option<&[u8]>) -> Result<Found<'a>, Reply<'a>> {
        let number = match argument {
            None => self.current,
            Some(id) if id.starts_with(b"<") => return self.find_by_id(id),
            Some(digits) => match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
                Some(number) => Some(number),
                None if self.is_sn() => return Err(Reply::line("501 Invalid range")),
                None => return Err(Reply::line("501 Syntax error in Message-ID")),
            },
        };
        let Some(group) = self.group else {
            return Err(match (self.is_sn(), argument) {
                (true, Some(_)) => Reply::close(),
                (true, None) => Reply::line("412 No group selected"),
                (false, _) => Reply::line("412 Not in a newsgroup"),
            });
        };
        let Some(number) = number else {
            return Err(match self.is_sn() {
                true => Reply::line("420 No article selected"),
                false => Reply::line("420 Current article number 0 is invalid"),
            });
        };
        let missing = || match (self.is_sn(), argument) {
            (true, _) => Reply::line("430 No such article"),
            (false, Some(_)) => Reply::line(format!("423 No such article number {number}")),
            (false, None) => Reply::line(format!("420 Current article number {number} is invalid")),
        };
        let article = group.find(number).ok_or_else(missing)?;
        self.current = Some(number);
        Ok(Found { number, article })
    }

    fn find_by_id(&self, id: &[u8]) -> Result<Found<'a>, Reply<'a>> {
        let is_valid = id.ends_with(b">") && (self.is_sn() || id.len() <= MAX_ID);
        if !is_valid {
            return Err(Reply::line(if self.is_sn() {
                "501 Invalid range"
            } else {
                "501 Syntax error in Message-ID"
            }));
        }
        let is_same = |known: &[u8]| if self.is_sn() { known == id } else { is_same_id(known, id) };
        let mut needs_login = false;
        for group in &self.config.groups {
            let Some(number) = group.number_of(is_same, id) else { continue };
            let Some(article) = group.find(number) else { continue };
            if self.may_read(group) {
                return Ok(Found { number: if self.is_sn() { number } else { 0 }, article });
            }
            needs_login = true;
        }
        match self.config.ungrouped.iter().find(|article| is_same(article.id())) {
            Some(article) => Ok(Found { number: 0, article: Cow::Borrowed(article) }),
            None if needs_login => Err(Reply::line("480 Read access denied for this article")),
            None => Err(Reply::line("430 No such article")),
        }
    }

    /// Executes NEXT and LAST.
    fn step(&mut self, is_next: bool) -> Reply<'a> {
        let Some(group) = self.group else { return Reply::line("412 Not in a newsgroup") };
        let Some(current) = self.current else { return Reply::line("420 No article selected") };
        let neighbour = group.neighbour(current, is_next);
        let Some((number, article)) = neighbour.and_then(|number| Some((number, group.find(number)?))) else {
            return Reply::line(if is_next {
                "421 No next to retrieve"
            } else {
                "422 No previous to retrieve"
            });
        };
        self.current = Some(number);
        self.article_status(223, &Found { number, article }, "Article retrieved; request text separately")
    }
}

/// Compares message-ids. The domain ignores case, as in INN.
fn is_same_id(one: &[u8], other: &[u8]) -> bool {
    let at = |id: &[u8]| id.iter().rposition(|byte| *byte == b'@').unwrap_or(id.len());
    let (left, right) = (one.split_at(at(one)), other.split_at(at(other)));
    left.0 == right.0 && left.1.eq_ignore_ascii_case(right.1)
}
