//! What a URL asks of a news server, and who asks. Pure.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use fetch_url_core::{Host, NewsPart, Security, Url};
use fetch_url_proto::nntp::{
    ArticleAt, Ask, GroupName, ListForm, Login, MOST_NUMBER, MessageId, NameError, Part,
};
use fetch_url_proto::text::escaped;

use super::io;
use super::options::{ArticleShape, NntpOptions};
use super::servers::Servers;
use crate::driver::RunFuture;
use crate::{Code, Condition, Credential, Ctx, Error, Phase, Plan, Request, Want};

/// What stands for a whole group.
pub(super) const ALL_NUMBERS: RangeInclusive<u64> = 1..=MOST_NUMBER;

/// One errand at one server.
#[derive(Clone)]
pub(super) struct NntpPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// TLS from the first octet.
    pub(super) is_tls: bool,
    pub(super) login: Option<Credential>,
    pub(super) errand: Errand,
    pub(super) wants_head: bool,
    pub(super) condition: Option<Condition>,
    pub(super) options: NntpOptions,
    pub(super) servers: Arc<Servers>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// One article.
    Article(ArticleAt),
    /// Those of these numbers that there are.
    Articles(GroupName, RangeInclusive<u64>),
    /// The list of a group's articles, or of those between two numbers.
    Group(GroupName, Option<(u64, u64)>),
    /// The list of groups, of this pattern or all.
    Groups(Option<GroupName>),
}

impl NntpPlan {
    /// What `request` asks of the server at `host`.
    pub(super) fn new(
        request: &Request,
        (host, port): (Host<'static>, u16),
        servers: Arc<Servers>,
    ) -> Result<Self, Error> {
        let url = request.url();
        if request.wanted_range().is_some() && request.want() == Want::Object {
            return Err(Error::new(Code::RangeRefused, Phase::Plan, "NNTP knows no parts of an article"));
        }
        let options = request.extra::<NntpOptions>().cloned().unwrap_or_default();
        let this = Self {
            url: url.clone(),
            host,
            port,
            is_tls: url.scheme().security == Security::Tls,
            login: request.login().cloned(),
            errand: errand(url)?.wanted_as(&options),
            wants_head: request.want() == Want::Head,
            condition: request.condition(),
            options,
            servers,
        };
        // What would end a line is found before anything is sent.
        this.session_login()?;
        this.check_wish()?;
        Ok(this)
    }

    /// What is of articles alone is not wanted of a list.
    fn check_wish(&self) -> Result<(), Error> {
        let usage = |detail| Err(Error::new(Code::Usage, Phase::Plan, detail));
        match self.errand {
            Errand::Groups(_) if self.options.shape == ArticleShape::Mbox => {
                usage("an mbox is of articles: this is a list of groups")
            }
            Errand::Group(..) | Errand::Groups(_) if self.options.part != Part::Article => {
                usage("a part is of articles: this is a list")
            }
            _ => Ok(()),
        }
    }

    /// Who asks, where that is known with a password.
    pub(super) fn session_login(&self) -> Result<Option<Login>, Error> {
        self.login.as_ref().map_or(Ok(None), login_of)
    }

    /// How a list comes.
    pub(super) const fn list_form(&self) -> ListForm {
        if self.options.raw_lists { ListForm::Octets } else { ListForm::Entries }
    }

    /// What is asked for first.
    pub(super) fn ask(&self) -> Ask {
        match &self.errand {
            Errand::Article(at) if self.wants_head => Ask::Article(at.clone(), Part::Head),
            Errand::Article(at) => Ask::Article(at.clone(), self.options.part),
            Errand::Articles(group, _) | Errand::Group(group, _) if self.wants_head => {
                Ask::Group(group.clone())
            }
            Errand::Articles(group, numbers) => {
                let first = ArticleAt::Number(group.clone(), *numbers.start());
                Ask::Article(first, self.options.part)
            }
            Errand::Group(group, numbers) => Ask::Overview(group.clone(), *numbers, self.list_form()),
            Errand::Groups(pattern) if self.wants_head => Ask::Groups(pattern.clone(), ListForm::Entries),
            Errand::Groups(pattern) => Ask::Groups(pattern.clone(), self.list_form()),
        }
    }

    /// The articles that will be asked for next, as long as they are this server's, from the `done`-th on.
    pub(super) fn next_asks(&self, done: usize) -> impl Iterator<Item = Ask> + '_ {
        let is_alone = self.wants_head || !matches!(self.errand, Errand::Article(_));
        let urls = if is_alone { &[] } else { self.options.next.urls() };
        let articles = urls.iter().map_while(|url| match errand(url) {
            Ok(Errand::Article(at)) if self.is_at(url) => Some(Ask::Article(at, self.options.part)),
            _ => None,
        });
        articles.skip(done)
    }

    fn is_at(&self, url: &Url<'_>) -> bool {
        let is_tls = url.scheme().security == Security::Tls;
        url.host().is_some_and(|host| host == self.host)
            && url.port() == Some(self.port)
            && is_tls == self.is_tls
    }
}

/// A user and a password, for the session.
pub(super) fn login_of(login: &Credential) -> Result<Option<Login>, Error> {
    let Some(password) = login.expose() else { return Ok(None) };
    Ok(Some(Login::new(login.user(), password)?))
}

impl Errand {
    /// A group may stand for its articles, and articles for their list.
    fn wanted_as(self, options: &NntpOptions) -> Self {
        match self {
            Self::Group(group, _) if options.shape == ArticleShape::Mbox => {
                Self::Articles(group, ALL_NUMBERS)
            }
            Self::Articles(group, numbers) if options.lists_ranges => {
                Self::Group(group, Some((*numbers.start(), *numbers.end())))
            }
            this => this,
        }
    }
}

fn errand(url: &Url<'_>) -> Result<Errand, Error> {
    match url {
        Url::News(url) => match url.part() {
            NewsPart::Article(id) => {
                let id = MessageId::new(&id.decode()).map_err(bad_name)?;
                Ok(Errand::Article(ArticleAt::Id(id)))
            }
            // An @ that was escaped is one all the same: no group has any.
            NewsPart::Group(id) if id.decode().contains(&b'@') => {
                let id = MessageId::new(&id.decode()).map_err(bad_name)?;
                Ok(Errand::Article(ArticleAt::Id(id)))
            }
            NewsPart::Group(group) => {
                let group = group_name(&group.decode())?;
                Ok(if group.is_pattern() { Errand::Groups(Some(group)) } else { Errand::Group(group, None) })
            }
            _ => Ok(Errand::Groups(None)),
        },
        Url::Nntp(url) => {
            let group = group_name(&url.group().decode())?;
            Ok(match url.articles() {
                None if group.is_pattern() => Errand::Groups(Some(group)),
                Some(_) if group.is_pattern() => {
                    let detail = "a number is of one group: this is a pattern of several";
                    return Err(Error::new(Code::BadUrl, Phase::Plan, detail));
                }
                None => Errand::Group(group, None),
                Some(numbers) if numbers.first == numbers.last => {
                    Errand::Article(ArticleAt::Number(group, numbers.first))
                }
                Some(numbers) => Errand::Articles(group, numbers.first..=numbers.last),
            })
        }
        _ => Err(Error::unsupported("the nntp driver reads news only")),
    }
}

fn group_name(octets: &[u8]) -> Result<GroupName, Error> {
    GroupName::new(octets).map_err(bad_name)
}

fn bad_name(error: NameError) -> Error {
    match error {
        NameError::Forbidden(octet) => octet.into(),
        error => Error::new(Code::BadUrl, Phase::Plan, error.to_string()),
    }
}

impl Plan for NntpPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(io::run(*self, ctx))
    }

    fn speaks_for_itself(&self) -> bool {
        true
    }
}

impl fmt::Display for NntpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&commands(&self.errand, self.options.part, self.wants_head))
    }
}

/// What is asked for, a line for each command.
fn commands(errand: &Errand, part: Part, wants_head: bool) -> String {
    let part = match part {
        _ if wants_head => "HEAD",
        Part::Article => "ARTICLE",
        Part::Body => "BODY",
        Part::Head => "HEAD",
    };
    let name = |group: &GroupName| escaped(group.octets());
    match errand {
        Errand::Article(ArticleAt::Id(id)) => format!("{part} <{}>", escaped(id.octets())),
        Errand::Article(ArticleAt::Number(group, number)) => {
            format!("GROUP {}\n{part} {number}", name(group))
        }
        Errand::Articles(group, numbers) => {
            format!("GROUP {}\n{part} {}\n…\n{part} {}", name(group), numbers.start(), numbers.end())
        }
        Errand::Group(group, _) => format!("GROUP {}\nOVER", name(group)),
        Errand::Groups(None) => "LIST ACTIVE".to_owned(),
        Errand::Groups(Some(pattern)) => format!("LIST ACTIVE {}", name(pattern)),
    }
}

/// A URL that names no server, where the caller has named none: it can be read, and not be asked for.
pub(super) struct Homeless {
    commands: String,
    scheme: String,
}

impl Homeless {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let url = request.url();
        let commands = commands(&errand(url)?, Part::Article, request.want() == Want::Head);
        Ok(Self { commands, scheme: url.scheme_name().to_owned() })
    }
}

impl Plan for Homeless {
    fn run(self: Box<Self>, _: Ctx) -> RunFuture {
        let detail = format!("{}: names no server", self.scheme);
        let error = Error::new(Code::Usage, Phase::Plan, detail)
            .with_hint("--news-server HOST or the environment's NNTPSERVER says which one to ask");
        Box::pin(async move { Err(error) })
    }

    fn speaks_for_itself(&self) -> bool {
        true
    }
}

impl fmt::Display for Homeless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.commands)
    }
}
