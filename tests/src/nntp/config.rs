//! The configuration of a news server: its groups, its accounts, its behaviour and its faults.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::cert::ServerCert;
use crate::nntp::article::NntpArticle;
use crate::nntp::group::NntpGroup;
use crate::nntp::rule::{NntpAction, NntpRule, NntpTrigger};
use crate::server::plain_or_tls_connection::Ending;

/// The first article number of sn.
const FIRST_NUMBER_OF_SN: u64 = 10;

/// The configuration of a news server: its groups and its behaviour.
#[derive(Clone, Debug)]
pub struct NntpConfig {
    pub(crate) groups: Vec<NntpGroup>,
    pub(crate) ungrouped: Vec<NntpArticle>,
    /// The number of generated groups.
    pub(crate) generated_groups: u64,
    pub(crate) accounts: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) unknown_commands: Vec<String>,
    pub(crate) rules: Vec<NntpRule>,
    pub(crate) greeting: Option<Vec<u8>>,
    pub(crate) starttls: Option<ServerCert>,
    pub(crate) behaviour: Behaviour,
}

/// How a server behaves on every connection.
#[derive(Clone, Debug)]
pub(crate) struct Behaviour {
    pub(crate) ip: IpAddr,
    pub(crate) offers_compression: bool,
    pub(crate) delay: Duration,
    pub(crate) dialect: NntpDialect,
    pub(crate) requires_login: bool,
    pub(crate) requires_tls_for_login: bool,
    pub(crate) requires_mode_reader: bool,
    pub(crate) supports_over_by_id: bool,
    pub(crate) allows_posting: bool,
    pub(crate) splits_replies: bool,
}

/// Which server is imitated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NntpDialect {
    /// RFC 3977, with the reply texts of INN 2.7.
    Modern,
    /// RFC 977, with the reply texts of sn 0.3.8. It does not know CAPABILITIES, OVER, HDR, AUTHINFO and DATE.
    /// Article numbers start at 10, a missing number is replied with 430, GROUP selects no article, LISTGROUP
    /// ignores its range, an article number before GROUP ends the connection, and group names ignore case.
    Sn,
}

impl Default for NntpConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Groups, articles and accounts.
impl NntpConfig {
    /// A modern server without groups.
    #[must_use]
    pub fn new() -> Self {
        let behaviour = Behaviour {
            ip: Ipv4Addr::LOCALHOST.into(),
            offers_compression: false,
            delay: Duration::ZERO,
            dialect: NntpDialect::Modern,
            requires_login: false,
            requires_tls_for_login: false,
            requires_mode_reader: false,
            supports_over_by_id: false,
            allows_posting: true,
            splits_replies: false,
        };
        Self {
            groups: Vec::new(),
            ungrouped: Vec::new(),
            generated_groups: 0,
            accounts: Vec::new(),
            unknown_commands: Vec::new(),
            rules: Vec::new(),
            greeting: None,
            starttls: None,
            behaviour,
        }
    }

    /// An RFC 977 server without groups, see [`NntpDialect::Sn`]. In groups that are added, articles are
    /// numbered from 10 if their numbers are lower.
    #[must_use]
    pub fn sn() -> Self {
        let mut config = Self::new();
        config.behaviour.dialect = NntpDialect::Sn;
        config
    }

    /// Adds a group.
    #[must_use]
    pub fn group(mut self, group: NntpGroup) -> Self {
        let first = group.bounds().map_or(FIRST_NUMBER_OF_SN, |(first, _)| first);
        let is_sn = self.behaviour.dialect == NntpDialect::Sn;
        let shift = if is_sn { FIRST_NUMBER_OF_SN.saturating_sub(first) } else { 0 };
        self.groups.push(group.shifted(shift));
        self
    }

    /// Adds an article that is in no group. It can be fetched by message-id only.
    #[must_use]
    pub fn ungrouped(mut self, article: NntpArticle) -> Self {
        self.ungrouped.push(article);
        self
    }

    /// Adds `groups` groups to LIST ACTIVE, `many.g0000000` and so on. They cannot be selected.
    #[must_use]
    pub fn generated_groups(mut self, groups: u64) -> Self {
        self.generated_groups = groups;
        self
    }

    /// Adds an account. With an empty password the name is enough.
    #[must_use]
    pub fn account(mut self, name: impl AsRef<[u8]>, password: impl AsRef<[u8]>) -> Self {
        self.accounts.push((name.as_ref().to_vec(), password.as_ref().to_vec()));
        self
    }
}

/// Behaviour.
impl NntpConfig {
    /// Sets the whole greeting, without its last CR LF.
    #[must_use]
    pub fn greeting(mut self, text: impl AsRef<[u8]>) -> Self {
        self.greeting = Some([text.as_ref(), b"\r\n"].concat());
        self
    }

    /// Replies 500 to this command, or 501 to this keyword of LIST, and leaves it out of CAPABILITIES. For
    /// example `CAPABILITIES`, `OVER`, `LIST NEWSGROUPS`, `MODE READER`.
    #[must_use]
    pub fn without(mut self, command: &str) -> Self {
        self.unknown_commands.push(command.to_ascii_uppercase());
        self
    }

    /// Offers STARTTLS and presents this certificate.
    #[must_use]
    pub fn starttls(mut self, cert: &ServerCert) -> Self {
        self.starttls = Some(cert.clone());
        self
    }

    /// Offers COMPRESS DEFLATE (RFC 8054).
    #[must_use]
    pub fn compress(mut self) -> Self {
        self.behaviour.offers_compression = true;
        self
    }

    /// Replies 401 to reading commands before MODE READER.
    #[must_use]
    pub fn requires_mode_reader(mut self) -> Self {
        self.behaviour.requires_mode_reader = true;
        self
    }

    /// Supports OVER with a message-id.
    #[must_use]
    pub fn supports_over_by_id(mut self) -> Self {
        self.behaviour.supports_over_by_id = true;
        self
    }

    /// Replies 480 to reading commands before login.
    #[must_use]
    pub fn requires_login(mut self) -> Self {
        self.behaviour.requires_login = true;
        self
    }

    /// Replies 483 to logins in plaintext.
    #[must_use]
    pub fn requires_tls_for_login(mut self) -> Self {
        self.behaviour.requires_tls_for_login = true;
        self
    }

    /// Greets with 201.
    #[must_use]
    pub fn no_posting(mut self) -> Self {
        self.behaviour.allows_posting = false;
        self
    }

    /// Waits this long before each reply.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.behaviour.delay = delay;
        self
    }

    /// Sends replies byte by byte.
    #[must_use]
    pub fn split_replies(mut self) -> Self {
        self.behaviour.splits_replies = true;
        self
    }

    /// Listens on ::1.
    #[must_use]
    pub fn ipv6(mut self) -> Self {
        self.behaviour.ip = Ipv6Addr::LOCALHOST.into();
        self
    }
}

/// Faults. All of them are rules; these methods are short forms of frequent rules.
impl NntpConfig {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: NntpRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Takes this action on these commands, see [`NntpTrigger::Line`].
    #[must_use]
    pub fn on(self, trigger: impl Into<NntpTrigger>, action: NntpAction) -> Self {
        self.rule(NntpRule::on(trigger, action))
    }

    /// Sends these bytes instead of executing the commands.
    #[must_use]
    pub fn answer(self, trigger: impl Into<NntpTrigger>, bytes: impl Into<Vec<u8>>) -> Self {
        self.on(trigger, NntpAction::Answer(bytes.into()))
    }

    /// Executes the commands, but sends this status line.
    #[must_use]
    pub fn status(self, trigger: impl Into<NntpTrigger>, line: impl Into<Vec<u8>>) -> Self {
        self.on(trigger, NntpAction::StatusLine(line.into()))
    }

    /// Sends nothing for this time instead of a reply.
    #[must_use]
    pub fn stall_at(self, trigger: impl Into<NntpTrigger>, length: Duration) -> Self {
        self.on(trigger, NntpAction::End(Ending::Stall(length)))
    }

    /// Closes the connection instead of replying.
    #[must_use]
    pub fn close_at(self, trigger: impl Into<NntpTrigger>) -> Self {
        self.on(trigger, NntpAction::End(Ending::Close))
    }

    /// Sends these bytes after the reply to STARTTLS, in plaintext and in the same segment.
    #[must_use]
    pub fn inject_after_starttls(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.on("STARTTLS", NntpAction::After(bytes.into()))
    }
}
