//! The NNTP request for a news URL, and its login. No I/O.

use std::fmt;
use std::ops::RangeInclusive;

use fetch_url_core::{Host, NewsResource, Security, Url};
use fetch_url_proto::nntp::{
    ArticleAddress, ArticlePart, GroupName, ListForm, Login, MAX_ARTICLE_NUMBER, MessageId, NameError,
    NewsRequest,
};
use fetch_url_proto::text::escape_non_ascii;

use super::options::{ArticleFormat, NewsOptions};
use crate::{Code, Condition, Credential, Error, Phase, Request, Want};

/// The range of article numbers that means all articles of a group.
pub(super) const ALL_NUMBERS: RangeInclusive<u64> = 1..=MAX_ARTICLE_NUMBER;

/// A request to one news server.
#[derive(Clone)]
pub(super) struct NntpPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// The connection starts with a TLS handshake (`nntps:`, `snews:`).
    pub(super) is_tls: bool,
    pub(super) login: Option<Credential>,
    pub(super) operation: NewsOperation,
    pub(super) wants_head: bool,
    pub(super) condition: Option<Condition>,
    pub(super) options: NewsOptions,
}

/// What is requested of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NewsOperation {
    /// Retrieve one article.
    Article(ArticleAddress),
    /// Retrieve the existing articles of a range of numbers.
    ArticleRange(GroupName, RangeInclusive<u64>),
    /// List the articles of a group, or those between two numbers, both included.
    ListArticles(GroupName, Option<(u64, u64)>),
    /// List all groups, or those that match a pattern.
    ListGroups(Option<GroupName>),
}

impl NntpPlan {
    /// Plans the request for the server at `host` and `port`.
    pub(super) fn new(request: &Request, (host, port): (Host<'static>, u16)) -> Result<Self, Error> {
        let url = request.url();
        if request.wanted_range().is_some() && request.want() == Want::Object {
            return Err(Error::new(Code::RangeRefused, Phase::Plan, "NNTP cannot transfer byte ranges"));
        }
        let options = request.extra::<NewsOptions>().cloned().unwrap_or_default();
        let this = Self {
            url: url.clone(),
            host,
            port,
            is_tls: url.scheme().security == Security::Tls,
            login: request.login().cloned(),
            operation: operation_of_url(url)?.with_options(&options),
            wants_head: request.want() == Want::Head,
            condition: request.condition(),
            options,
        };
        // A line end in user name or password is an error before the connection is opened.
        this.session_login()?;
        this.check_options()?;
        Ok(this)
    }

    /// Fails with `Code::Usage` if an option for articles is set for a list.
    fn check_options(&self) -> Result<(), Error> {
        let usage_error = |detail| Err(Error::new(Code::Usage, Phase::Plan, detail));
        match self.operation {
            NewsOperation::ListGroups(_) if self.options.format == ArticleFormat::Mbox => {
                usage_error("an mbox contains articles, but the URL names a list of groups")
            }
            NewsOperation::ListArticles(..) | NewsOperation::ListGroups(_)
                if self.options.part != ArticlePart::Article =>
            {
                usage_error("a part of an article is requested, but the URL names a list")
            }
            _ => Ok(()),
        }
    }

    /// Returns user name and password for AUTHINFO, if both are known.
    pub(super) fn session_login(&self) -> Result<Option<Login>, Error> {
        self.login.as_ref().map_or(Ok(None), session_login)
    }

    pub(super) const fn list_form(&self) -> ListForm {
        if self.options.raw_lists { ListForm::Raw } else { ListForm::Entries }
    }

    /// Returns the first request of this plan.
    pub(super) fn first_request(&self) -> NewsRequest {
        match &self.operation {
            NewsOperation::Article(at) if self.wants_head => {
                NewsRequest::Article(at.clone(), ArticlePart::Head)
            }
            NewsOperation::Article(at) => NewsRequest::Article(at.clone(), self.options.part),
            NewsOperation::ArticleRange(group, _) | NewsOperation::ListArticles(group, _)
                if self.wants_head =>
            {
                NewsRequest::Group(group.clone())
            }
            NewsOperation::ArticleRange(group, numbers) => {
                let first = ArticleAddress::Number(group.clone(), *numbers.start());
                NewsRequest::Article(first, self.options.part)
            }
            NewsOperation::ListArticles(group, numbers) => {
                NewsRequest::Overview(group.clone(), *numbers, self.list_form())
            }
            NewsOperation::ListGroups(pattern) if self.wants_head => {
                NewsRequest::Groups(pattern.clone(), ListForm::Entries)
            }
            NewsOperation::ListGroups(pattern) => NewsRequest::Groups(pattern.clone(), self.list_form()),
        }
    }

    /// Returns the requests for the upcoming articles, up to the first one that is on another server, without the first
    /// `skipped` ones.
    pub(super) fn upcoming_requests(&self, skipped: usize) -> impl Iterator<Item = NewsRequest> + '_ {
        let is_single_article = !self.wants_head && matches!(self.operation, NewsOperation::Article(_));
        let urls = if is_single_article { self.options.upcoming.urls() } else { &[] };
        let requests = urls.iter().map_while(|url| match operation_of_url(url) {
            Ok(NewsOperation::Article(at)) if self.is_on_same_server(url) => {
                Some(NewsRequest::Article(at, self.options.part))
            }
            _ => None,
        });
        requests.skip(skipped)
    }

    fn is_on_same_server(&self, url: &Url<'_>) -> bool {
        let is_tls = url.scheme().security == Security::Tls;
        url.host().is_some_and(|host| host == self.host)
            && url.port() == Some(self.port)
            && is_tls == self.is_tls
    }
}

/// Returns user name and password for AUTHINFO, or `None` if the password is unknown.
pub(super) fn session_login(login: &Credential) -> Result<Option<Login>, Error> {
    let Some(password) = login.expose_password() else { return Ok(None) };
    Ok(Some(Login::new(login.user(), password)?))
}

impl NewsOperation {
    /// Applies the options that turn a group into all its articles, or a range of articles into a list.
    fn with_options(self, options: &NewsOptions) -> Self {
        match self {
            Self::ListArticles(group, _) if options.format == ArticleFormat::Mbox => {
                Self::ArticleRange(group, ALL_NUMBERS)
            }
            Self::ArticleRange(group, numbers) if options.list_ranges => {
                Self::ListArticles(group, Some((*numbers.start(), *numbers.end())))
            }
            this => this,
        }
    }
}

/// Returns the operation for a `news:` or `nntp:` URL (RFC 5538).
pub(super) fn operation_of_url(url: &Url<'_>) -> Result<NewsOperation, Error> {
    match url {
        Url::News(url) => match url.resource() {
            NewsResource::Article(id) => {
                let id = MessageId::new(&id.decode()).map_err(name_error)?;
                Ok(NewsOperation::Article(ArticleAddress::Id(id)))
            }
            // No group name contains an @, so an escaped @ marks a message-id too.
            NewsResource::Group(id) if id.decode().contains(&b'@') => {
                let id = MessageId::new(&id.decode()).map_err(name_error)?;
                Ok(NewsOperation::Article(ArticleAddress::Id(id)))
            }
            NewsResource::Group(group) => {
                let group = group_name(&group.decode())?;
                Ok(match group.is_pattern() {
                    true => NewsOperation::ListGroups(Some(group)),
                    false => NewsOperation::ListArticles(group, None),
                })
            }
            _ => Ok(NewsOperation::ListGroups(None)),
        },
        Url::Nntp(url) => {
            let group = group_name(&url.group().decode())?;
            Ok(match url.articles() {
                None if group.is_pattern() => NewsOperation::ListGroups(Some(group)),
                Some(_) if group.is_pattern() => {
                    let detail = "article numbers need the name of one group, not a pattern";
                    return Err(Error::new(Code::BadUrl, Phase::Plan, detail));
                }
                None => NewsOperation::ListArticles(group, None),
                Some(numbers) if numbers.first == numbers.last => {
                    NewsOperation::Article(ArticleAddress::Number(group, numbers.first))
                }
                Some(numbers) => NewsOperation::ArticleRange(group, numbers.first..=numbers.last),
            })
        }
        _ => Err(Error::unsupported("the nntp driver supports news and nntp URLs only")),
    }
}

fn group_name(bytes: &[u8]) -> Result<GroupName, Error> {
    GroupName::new(bytes).map_err(name_error)
}

fn name_error(error: NameError) -> Error {
    match error {
        NameError::Forbidden(byte) => byte.into(),
        error => Error::new(Code::BadUrl, Phase::Plan, error.to_string()),
    }
}

impl fmt::Display for NntpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&command_lines(&self.operation, self.options.part, self.wants_head))
    }
}

/// Returns the commands of a request, one per line.
pub(super) fn command_lines(operation: &NewsOperation, part: ArticlePart, wants_head: bool) -> String {
    let verb = match part {
        _ if wants_head => "HEAD",
        ArticlePart::Article => "ARTICLE",
        ArticlePart::Body => "BODY",
        ArticlePart::Head => "HEAD",
    };
    let name = |group: &GroupName| escape_non_ascii(group.as_bytes());
    match operation {
        NewsOperation::Article(ArticleAddress::Id(id)) => {
            format!("{verb} <{}>", escape_non_ascii(id.as_bytes()))
        }
        NewsOperation::Article(ArticleAddress::Number(group, number)) => {
            format!("GROUP {}\n{verb} {number}", name(group))
        }
        NewsOperation::ArticleRange(group, numbers) => {
            format!("GROUP {}\n{verb} {}\n…\n{verb} {}", name(group), numbers.start(), numbers.end())
        }
        NewsOperation::ListArticles(group, _) => format!("GROUP {}\nOVER", name(group)),
        NewsOperation::ListGroups(None) => "LIST ACTIVE".to_owned(),
        NewsOperation::ListGroups(Some(pattern)) => format!("LIST ACTIVE {}", name(pattern)),
    }
}
