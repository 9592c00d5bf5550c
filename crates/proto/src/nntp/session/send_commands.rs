//! Chooses the commands to send next.

use super::{ConnectionState, Overview, PendingReply, Session};
use crate::nntp::command::{Command, Verb};
use crate::nntp::{ArticleAddress, ArticlePart, GroupName, NewsRequest};

/// Maximum number of pipelined commands. With articles of 2 kB and a round trip of 50 ms, 128 allow 5 MB/s. Their
/// commands fit into a socket buffer, so client and server cannot block each other.
const MAX_PIPELINED_COMMANDS: usize = 128;
/// Minimum number of articles for which compression is worth another round trip.
const MIN_ARTICLES_TO_COMPRESS: u64 = 200;

impl Session {
    /// Returns the commands to send now, or `None` if a reply must arrive first or no request is left.
    pub(super) fn next_commands(&mut self) -> Option<Vec<Command>> {
        if self.state == ConnectionState::Closed {
            return None;
        }
        if !self.pending.is_empty()
            && (self.state == ConnectionState::New || self.pending.len() > MAX_PIPELINED_COMMANDS / 2)
        {
            return None;
        }
        if let Some(verb) = self.preparing.pop_front() {
            return Some(vec![self.preparing_command(verb)]);
        }
        let commands = match self.requests.front()? {
            NewsRequest::Article(..) => self.article_commands(),
            _ if !self.pending.is_empty() && self.progress.heads.is_none() => Vec::new(),
            NewsRequest::Group(group) => {
                let group = group.clone();
                if self.progress.is_selected { Vec::new() } else { vec![self.select(group)] }
            }
            NewsRequest::Groups(pattern, _) => {
                let pattern = pattern.clone();
                self.list_commands(pattern.as_ref())
            }
            NewsRequest::Overview(group, ..) => {
                let group = group.clone();
                self.overview_commands(group)
            }
        };
        (!commands.is_empty()).then_some(commands)
    }

    /// Returns a preparing command and records that it was sent.
    fn preparing_command(&mut self, verb: Verb) -> Command {
        self.pending.push_back(PendingReply::Command(verb));
        self.server.is_mode_reader_done |= verb == Verb::ModeReader;
        self.server.sent_starttls |= verb == Verb::StartTls;
        self.server.sent_login |= verb == Verb::User;
        self.server.sent_compress |= verb == Verb::Compress;
        match (verb, &self.options.login) {
            (Verb::User, Some(login)) => Command::with(verb, &login.user),
            (Verb::Pass, Some(login)) => Command::with(verb, &login.password),
            _ => Command::new(verb),
        }
    }

    fn select(&mut self, group: GroupName) -> Command {
        self.progress.is_selected = true;
        let command = Command::with(Verb::Group, group.as_bytes());
        self.pending.push_back(PendingReply::Group(group));
        command
    }

    fn article_commands(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        while self.pending.len() < MAX_PIPELINED_COMMANDS {
            let Some(NewsRequest::Article(at, part)) = self.requests.get(self.sent_requests).cloned() else {
                break;
            };
            let argument = match &at {
                ArticleAddress::Id(id) => id.bracketed(),
                ArticleAddress::Number(group, number) => {
                    if !self.is_selected(group) {
                        // An article number refers to the selected group, so pending replies for another group are
                        // awaited first.
                        if !self.pending.is_empty() {
                            break;
                        }
                        commands.push(self.select(group.clone()));
                        // Only the first request sends GROUP and ARTICLE together; later requests await the reply to
                        // GROUP, so that one refusal does not count twice.
                        if self.server.selected.is_some() || self.state != ConnectionState::New {
                            break;
                        }
                    }
                    number.to_string().into_bytes()
                }
            };
            let verb = verb_of(part);
            commands.push(Command::with(verb, &argument));
            self.pending.push_back(PendingReply::Command(verb));
            self.sent_requests += 1;
            if self.state == ConnectionState::New {
                break;
            }
        }
        commands
    }

    fn is_selected(&self, group: &GroupName) -> bool {
        self.server.selected.as_ref().is_some_and(|selected| selected.group == *group)
    }

    fn list_commands(&mut self, pattern: Option<&GroupName>) -> Vec<Command> {
        if self.sent_requests > 0 {
            return Vec::new();
        }
        // Servers list only the groups that the user may see, without a 480, so a known login is sent
        // first.
        // MODE READER may not follow a login (RFC 4643 §2.2).
        if self.options.login.is_some() && !self.server.sent_login && self.may_log_in() {
            let verb = if self.server.is_mode_reader_done { Verb::User } else { Verb::ModeReader };
            return vec![self.preparing_command(verb)];
        }
        let Some(capabilities) = self.server.capabilities else {
            return vec![self.preparing_command(Verb::Capabilities)];
        };
        if capabilities.mode_reader && self.may_need_mode_reader() {
            return vec![self.preparing_command(Verb::ModeReader)];
        }
        if self.can_deflate() {
            return vec![self.preparing_command(Verb::Compress)];
        }
        let verb = if self.progress.lacks_list_active { Verb::List } else { Verb::ListActive };
        self.pending.push_back(PendingReply::Command(verb));
        self.sent_requests += 1;
        vec![match (verb, pattern) {
            (Verb::ListActive, Some(pattern)) => Command::with(verb, pattern.as_bytes()),
            _ => Command::new(verb),
        }]
    }

    fn overview_commands(&mut self, group: GroupName) -> Vec<Command> {
        if self.progress.heads.is_some() {
            return self.head_commands();
        }
        if !self.progress.is_selected {
            let asks = self.server.capabilities.is_none().then(|| self.preparing_command(Verb::Capabilities));
            return asks.into_iter().chain([self.select(group)]).collect();
        }
        if self.sent_requests > 0 { Vec::new() } else { self.over_commands() }
    }

    /// Sends HEAD for each article if the server has no overview.
    fn head_commands(&mut self) -> Vec<Command> {
        let room = MAX_PIPELINED_COMMANDS.saturating_sub(self.pending.len());
        let numbers: Vec<u64> = self.progress.heads.iter_mut().flatten().take(room).collect();
        self.pending.extend(numbers.iter().map(|number| PendingReply::HeadOf(*number)));
        if self.pending.is_empty() {
            self.finish_empty();
        }
        numbers.iter().map(|number| Command::with(Verb::Head, number.to_string().as_bytes())).collect()
    }

    /// Sends OVER or XOVER for the selected group.
    fn over_commands(&mut self) -> Vec<Command> {
        self.lacks_heads = false;
        let (Some(selected), Some(NewsRequest::Overview(_, numbers, _))) =
            (&self.server.selected, self.requests.front())
        else {
            return Vec::new();
        };
        let (first, last) = numbers.unwrap_or((0, u64::MAX));
        let (count, first, last) = (selected.count, first.max(selected.low), last.min(selected.high));
        if count == 0 || last < first {
            self.finish_empty();
            return Vec::new();
        }
        if count.min((last - first).saturating_add(1)) >= MIN_ARTICLES_TO_COMPRESS && self.can_deflate() {
            return vec![self.preparing_command(Verb::Compress)];
        }
        let verb = match self.progress.overview.unwrap_or_else(|| self.best_overview()) {
            Overview::Over => Verb::Over,
            Overview::Xover => Verb::Xover,
            Overview::Heads => {
                self.progress.heads = Some(first..=last);
                self.state = ConnectionState::Pipelining;
                self.emit_head();
                return self.head_commands();
            }
        };
        self.pending.push_back(PendingReply::Command(verb));
        self.sent_requests += 1;
        vec![Command::with(verb, format!("{first}-{last}").as_bytes())]
    }

    /// Skips OVER if the capability list does not contain it.
    fn best_overview(&self) -> Overview {
        match self.server.capabilities {
            Some(known) if known.reader && !known.over => Overview::Xover,
            _ => Overview::Over,
        }
    }

    /// Returns `true` if a login may be sent now.
    fn may_log_in(&self) -> bool {
        self.state == ConnectionState::New
            && self.pending.is_empty()
            && (self.options.is_secure || self.options.allow_plaintext_login)
    }

    fn can_deflate(&self) -> bool {
        let offers = self.server.capabilities.is_some_and(|known| known.deflate);
        // A login is impossible on a compressed connection (RFC 8054 §2.2.2), so compression waits until
        // it is no longer needed.
        let may_log_in =
            self.state == ConnectionState::New && self.options.login.is_some() && !self.server.is_logged_in;
        let wants = !self.server.sent_compress && !self.options.uncompressed_lists && !may_log_in;
        offers && wants && self.pending.is_empty()
    }
}

pub(super) const fn verb_of(part: ArticlePart) -> Verb {
    match part {
        ArticlePart::Article => Verb::Article,
        ArticlePart::Body => Verb::Body,
        ArticlePart::Head => Verb::Head,
    }
}
