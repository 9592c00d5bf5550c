//! What can be said now.

use super::{Asked, Overview, Session, Stage};
use crate::nntp::command::{Command, Verb};
use crate::nntp::{ArticleAt, Ask, GroupName, Part};

/// So many articles are asked for ahead: at two kilobytes each and a round trip of 50 ms that is five
/// megabytes a second. Their commands fit into any socket's buffer, so that neither side waits for the other.
const WINDOW: usize = 128;
/// A list of fewer articles is not worth another round trip to have it compressed.
const WORTH_DEFLATING: u64 = 200;

impl Session {
    /// The commands that can go out now; none when a reply must come first, or nothing is to be said.
    pub(super) fn say(&mut self) -> Option<Vec<Command>> {
        if self.stage == Stage::Over {
            return None;
        }
        if !self.asked.is_empty() && (self.stage == Stage::New || self.asked.len() > WINDOW / 2) {
            return None;
        }
        if let Some(verb) = self.first.pop_front() {
            return Some(vec![self.own(verb)]);
        }
        let commands = match self.asks.front()? {
            Ask::Article(..) => self.say_articles(),
            _ if !self.asked.is_empty() && self.progress.heads.is_none() => Vec::new(),
            Ask::Group(group) => {
                let group = group.clone();
                if self.progress.is_selected { Vec::new() } else { vec![self.select(group)] }
            }
            Ask::Groups(pattern, _) => {
                let pattern = pattern.clone();
                self.say_list(pattern.as_ref())
            }
            Ask::Overview(group, ..) => {
                let group = group.clone();
                self.say_overview(group)
            }
        };
        (!commands.is_empty()).then_some(commands)
    }

    /// One of those that prepare the way.
    fn own(&mut self, verb: Verb) -> Command {
        self.asked.push_back(Asked::Command(verb));
        self.known.said_mode_reader |= verb == Verb::ModeReader;
        self.known.said_starttls |= verb == Verb::StartTls;
        self.known.said_login |= verb == Verb::User;
        self.known.said_compress |= verb == Verb::Compress;
        match (verb, &self.terms.login) {
            (Verb::User, Some(login)) => Command::with(verb, &login.user),
            (Verb::Pass, Some(login)) => Command::with(verb, &login.password),
            _ => Command::new(verb),
        }
    }

    fn select(&mut self, group: GroupName) -> Command {
        self.progress.is_selected = true;
        let command = Command::with(Verb::Group, group.octets());
        self.asked.push_back(Asked::Group(group));
        command
    }

    fn say_articles(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        while self.asked.len() < WINDOW {
            let Some(Ask::Article(at, part)) = self.asks.get(self.begun).cloned() else { break };
            let argument = match &at {
                ArticleAt::Id(id) => id.bracketed(),
                ArticleAt::Number(group, number) => {
                    if !self.is_selected(group) {
                        // A number means another article in the group before: where there is one, the next is
                        // waited for.
                        if !self.asked.is_empty() {
                            break;
                        }
                        commands.push(self.select(group.clone()));
                        // Only where no other errand is under way, a refusal of both is told from one of another.
                        if self.known.selected.is_some() || self.stage != Stage::New {
                            break;
                        }
                    }
                    number.to_string().into_bytes()
                }
            };
            let verb = verb_of(part);
            commands.push(Command::with(verb, &argument));
            self.asked.push_back(Asked::Command(verb));
            self.begun += 1;
            if self.stage == Stage::New {
                break;
            }
        }
        commands
    }

    fn is_selected(&self, group: &GroupName) -> bool {
        self.known.selected.as_ref().is_some_and(|selected| selected.group == *group)
    }

    fn say_list(&mut self, pattern: Option<&GroupName>) -> Vec<Command> {
        if self.begun > 0 {
            return Vec::new();
        }
        // A server lists what who asks may see, and does not say that it knows more.
        // MODE READER may not follow a login (RFC 4643 §2.2).
        if self.terms.login.is_some() && !self.known.said_login && self.may_log_in() {
            let verb = if self.known.said_mode_reader { Verb::User } else { Verb::ModeReader };
            return vec![self.own(verb)];
        }
        if self.known.capabilities.is_none() {
            return vec![self.own(Verb::Capabilities)];
        }
        if self.can_deflate() {
            return vec![self.own(Verb::Compress)];
        }
        let verb = if self.progress.by_list { Verb::List } else { Verb::ListActive };
        self.asked.push_back(Asked::Command(verb));
        self.begun += 1;
        vec![match (verb, pattern) {
            (Verb::ListActive, Some(pattern)) => Command::with(verb, pattern.octets()),
            _ => Command::new(verb),
        }]
    }

    fn say_overview(&mut self, group: GroupName) -> Vec<Command> {
        if self.progress.heads.is_some() {
            return self.say_heads();
        }
        if !self.progress.is_selected {
            let asks = self.known.capabilities.is_none().then(|| self.own(Verb::Capabilities));
            return asks.into_iter().chain([self.select(group)]).collect();
        }
        if self.begun > 0 { Vec::new() } else { self.say_over() }
    }

    /// A server without an overview is asked for one header after another.
    fn say_heads(&mut self) -> Vec<Command> {
        let room = WINDOW.saturating_sub(self.asked.len());
        let numbers: Vec<u64> = self.progress.heads.iter_mut().flatten().take(room).collect();
        self.asked.extend(numbers.iter().map(|number| Asked::HeadOf(*number)));
        if self.asked.is_empty() {
            self.finish_empty();
        }
        numbers.iter().map(|number| Command::with(Verb::Head, number.to_string().as_bytes())).collect()
    }

    /// The group is selected: its articles are listed.
    fn say_over(&mut self) -> Vec<Command> {
        let (Some(selected), Some(Ask::Overview(_, numbers, _))) = (&self.known.selected, self.asks.front())
        else {
            return Vec::new();
        };
        let (first, last) = numbers.unwrap_or((0, u64::MAX));
        let (count, first, last) = (selected.count, first.max(selected.low), last.min(selected.high));
        if count == 0 || last < first {
            self.finish_empty();
            return Vec::new();
        }
        if count.min(last - first + 1) >= WORTH_DEFLATING && self.can_deflate() {
            return vec![self.own(Verb::Compress)];
        }
        let verb = match self.progress.overview.unwrap_or_else(|| self.best_overview()) {
            Overview::Over => Verb::Over,
            Overview::Xover => Verb::Xover,
            Overview::Heads => {
                self.progress.heads = Some(first..=last);
                self.stage = Stage::Answering;
                self.tell_head();
                return self.say_heads();
            }
        };
        self.asked.push_back(Asked::Command(verb));
        self.begun += 1;
        vec![Command::with(verb, format!("{first}-{last}").as_bytes())]
    }

    /// A server that says what it can do, and does not say OVER, is not asked for it.
    fn best_overview(&self) -> Overview {
        match self.known.capabilities {
            Some(known) if known.reader && !known.over => Overview::Xover,
            _ => Overview::Over,
        }
    }

    /// Whether a login may go out at once.
    fn may_log_in(&self) -> bool {
        self.stage == Stage::New && self.asked.is_empty() && (self.terms.is_secure || self.terms.clear_login)
    }

    fn can_deflate(&self) -> bool {
        let offers = self.known.capabilities.is_some_and(|known| known.deflate);
        // Nobody can log in on a compressed connection (RFC 8054 §2.2.2): who may have to waits with it.
        let may_log_in = self.stage == Stage::New && self.terms.login.is_some() && !self.known.is_logged_in;
        let wants = !self.known.said_compress && !self.terms.plain_lists && !may_log_in;
        offers && wants && self.asked.is_empty()
    }
}

pub(super) const fn verb_of(part: Part) -> Verb {
    match part {
        Part::Article => Verb::Article,
        Part::Body => Verb::Body,
        Part::Head => Verb::Head,
    }
}
