//! What a news server of the tests is told: its groups, who may log in, its manners and its faults.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::cert::ServerCert;
use crate::ftp::rule::Ending;
use crate::nntp::article::NntpArticle;
use crate::nntp::group::NntpGroup;
use crate::nntp::rule::{NntpAct, NntpOn, NntpRule};

/// Where the numbers of an sn begin.
const FIRST_OF_SN: u64 = 10;

/// A site.
#[derive(Clone, Debug)]
pub struct NntpSite {
    pub(crate) groups: Vec<NntpGroup>,
    pub(crate) strays: Vec<NntpArticle>,
    pub(crate) crowd: u64,
    pub(crate) accounts: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) refused: Vec<String>,
    pub(crate) rules: Vec<NntpRule>,
    pub(crate) greeting: Option<Vec<u8>>,
    pub(crate) starttls: Option<ServerCert>,
    pub(crate) manners: Manners,
}

/// What a server does all the time.
#[derive(Clone, Debug)]
pub(crate) struct Manners {
    pub(crate) ip: IpAddr,
    pub(crate) compresses: bool,
    pub(crate) delay: Duration,
    pub(crate) dialect: NntpDialect,
    pub(crate) login_first: bool,
    pub(crate) logins_under_tls: bool,
    pub(crate) mode_reader_first: bool,
    pub(crate) over_by_id: bool,
    pub(crate) posting: bool,
    pub(crate) splits: bool,
}

/// Which kind of server it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NntpDialect {
    /// RFC 3977, in the words of INN 2.7.
    Modern,
    /// RFC 977, in the words of sn 0.3.8: knows no CAPABILITIES, OVER, HDR, AUTHINFO, DATE; numbers begin with
    /// 10; 430 for a number that is not there; GROUP selects no article; LISTGROUP knows no range; an article
    /// number before GROUP ends the connection; group names in any case.
    Sn,
}

impl Default for NntpSite {
    fn default() -> Self {
        Self::new()
    }
}

/// What there is, and for whom.
impl NntpSite {
    /// A modern server with nothing on it.
    #[must_use]
    pub fn new() -> Self {
        let manners = Manners {
            ip: Ipv4Addr::LOCALHOST.into(),
            compresses: false,
            delay: Duration::ZERO,
            dialect: NntpDialect::Modern,
            login_first: false,
            logins_under_tls: false,
            mode_reader_first: false,
            over_by_id: false,
            posting: true,
            splits: false,
        };
        Self {
            groups: Vec::new(),
            strays: Vec::new(),
            crowd: 0,
            accounts: Vec::new(),
            refused: Vec::new(),
            rules: Vec::new(),
            greeting: None,
            starttls: None,
            manners,
        }
    }

    /// A server of the days of RFC 977 with nothing on it, see [`NntpDialect::Sn`]. Groups that are added and
    /// whose numbers begin lower get numbers from 10 on.
    #[must_use]
    pub fn sn() -> Self {
        let mut site = Self::new();
        site.manners.dialect = NntpDialect::Sn;
        site
    }

    /// A group.
    #[must_use]
    pub fn group(mut self, group: NntpGroup) -> Self {
        let first = group.bounds().map_or(FIRST_OF_SN, |(first, _)| first);
        let shift =
            if self.manners.dialect == NntpDialect::Sn { FIRST_OF_SN.saturating_sub(first) } else { 0 };
        self.groups.push(group.shifted(shift));
        self
    }

    /// An article in no group: by message-id only.
    #[must_use]
    pub fn stray(mut self, article: NntpArticle) -> Self {
        self.strays.push(article);
        self
    }

    /// So many more groups in LIST ACTIVE, `crowd.g0000000` and so on; they cannot be entered.
    #[must_use]
    pub fn crowd(mut self, groups: u64) -> Self {
        self.crowd = groups;
        self
    }

    /// Somebody who may log in. With an empty password the name is enough.
    #[must_use]
    pub fn account(mut self, name: impl AsRef<[u8]>, password: impl AsRef<[u8]>) -> Self {
        self.accounts.push((name.as_ref().to_vec(), password.as_ref().to_vec()));
        self
    }
}

/// How the server is.
impl NntpSite {
    /// The whole greeting, without its last CR LF.
    #[must_use]
    pub fn greeting(mut self, text: impl AsRef<[u8]>) -> Self {
        self.greeting = Some([text.as_ref(), b"\r\n"].concat());
        self
    }

    /// Does not know a command: 500, or 501 for a keyword of LIST, and CAPABILITIES is silent about it. Such as
    /// `CAPABILITIES`, `OVER`, `LIST NEWSGROUPS`, `MODE READER`.
    #[must_use]
    pub fn no(mut self, command: &str) -> Self {
        self.refused.push(command.to_ascii_uppercase());
        self
    }

    /// Offers STARTTLS and shows this certificate.
    #[must_use]
    pub fn starttls(mut self, cert: &ServerCert) -> Self {
        self.starttls = Some(cert.clone());
        self
    }

    /// Offers COMPRESS DEFLATE (RFC 8054).
    #[must_use]
    pub fn compress(mut self) -> Self {
        self.manners.compresses = true;
        self
    }

    /// Wants MODE READER before anything is read: 401.
    #[must_use]
    pub fn mode_reader_first(mut self) -> Self {
        self.manners.mode_reader_first = true;
        self
    }

    /// Tells the overview of a message-id.
    #[must_use]
    pub fn over_by_id(mut self) -> Self {
        self.manners.over_by_id = true;
        self
    }

    /// Wants a login before anything is read: 480.
    #[must_use]
    pub fn login_first(mut self) -> Self {
        self.manners.login_first = true;
        self
    }

    /// Takes no login in clear: 483.
    #[must_use]
    pub fn logins_under_tls(mut self) -> Self {
        self.manners.logins_under_tls = true;
        self
    }

    /// Greets with 201.
    #[must_use]
    pub fn no_posting(mut self) -> Self {
        self.manners.posting = false;
        self
    }

    /// Waits so long before each answer.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.manners.delay = delay;
        self
    }

    /// Sends its answers octet by octet.
    #[must_use]
    pub fn split_replies(mut self) -> Self {
        self.manners.splits = true;
        self
    }

    /// Listens on ::1.
    #[must_use]
    pub fn ipv6(mut self) -> Self {
        self.manners.ip = Ipv6Addr::LOCALHOST.into();
        self
    }
}

/// Faults. All of them are rules; those with a name here are frequent.
impl NntpSite {
    /// One more rule.
    #[must_use]
    pub fn rule(mut self, rule: NntpRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// What happens on these commands, see [`NntpOn::Line`].
    #[must_use]
    pub fn on(self, on: impl Into<NntpOn>, act: NntpAct) -> Self {
        self.rule(NntpRule::on(on, act))
    }

    /// The exact octets of the answer to these commands, which are not carried out.
    #[must_use]
    pub fn answer(self, on: impl Into<NntpOn>, octets: impl Into<Vec<u8>>) -> Self {
        self.on(on, NntpAct::Answer(octets.into()))
    }

    /// The first line of the answer to these commands, which are carried out.
    #[must_use]
    pub fn status(self, on: impl Into<NntpOn>, line: impl Into<Vec<u8>>) -> Self {
        self.on(on, NntpAct::Status(line.into()))
    }

    /// Silence instead of the answer.
    #[must_use]
    pub fn stall_at(self, on: impl Into<NntpOn>, length: Duration) -> Self {
        self.on(on, NntpAct::End(Ending::Stall(length)))
    }

    /// The end of the connection instead of the answer.
    #[must_use]
    pub fn close_at(self, on: impl Into<NntpOn>) -> Self {
        self.on(on, NntpAct::End(Ending::Close))
    }

    /// These octets right behind the reply to STARTTLS, in clear and in the same segment.
    #[must_use]
    pub fn inject_after_starttls(self, octets: impl Into<Vec<u8>>) -> Self {
        self.on("STARTTLS", NntpAct::After(octets.into()))
    }
}
