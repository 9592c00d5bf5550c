//! What a URL asks of an FTP server, and who asks. Pure.

use std::fmt;
use std::sync::Arc;

use fetch_url_core::{FtpUrl, Host, Security, Url};
use fetch_url_proto::ftp::{Command, Errand, Login, Method, Pace, Verb, Wish};

use super::options::{FtpOptions, FtpWalk};
use super::servers::Servers;
use super::wording::Wording;
use crate::driver::RunFuture;
use crate::{ByteRange, Code, Condition, Credential, Ctx, Error, Phase, Plan, Request, Resume, Want};

/// What an anonymous login gives when the caller has said nothing.
const NOBODYS_ADDRESS: &[u8] = b"anonymous@";

/// One errand at one server.
#[derive(Clone)]
pub(super) struct FtpPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// TLS from the first octet.
    pub(super) is_implicit: bool,
    pub(super) login: Option<Credential>,
    pub(super) errand: Errand,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    pub(super) condition: Option<Condition>,
    pub(super) wants_head: bool,
    pub(super) options: FtpOptions,
    pub(super) wording: Wording,
    pub(super) servers: Arc<Servers>,
}

impl FtpPlan {
    pub(super) fn new(request: &Request, servers: Arc<Servers>) -> Result<Self, Error> {
        let Url::Ftp(url) = request.url() else {
            return Err(Error::unsupported("the ftp driver reads ftp URLs only"));
        };
        let options = request.extra::<FtpOptions>().cloned().unwrap_or_default();
        let wants_head = request.want() == Want::Head;
        let wording = Wording::default();
        let this = Self {
            url: request.url().clone(),
            host: url.login().at().host().clone(),
            port: request.url().port().unwrap_or(21),
            is_implicit: url.scheme().security == Security::Tls,
            login: request.login().cloned(),
            errand: errand(url, &options, wants_head, wording)?,
            range: request.wanted_range().filter(|_| !wants_head),
            resume: request.resume().filter(|_| !wants_head).cloned(),
            condition: request.condition(),
            wants_head,
            options,
            wording,
            servers,
        };
        // What would end a line is found before anything is sent.
        this.session_login(false)?;
        Ok(this)
    }

    /// The same errand in other words.
    pub(super) fn worded(mut self, wording: Wording) -> Result<Self, Error> {
        if let Url::Ftp(url) = &self.url {
            self.errand = errand(url, &self.options, self.wants_head, wording)?;
        }
        self.wording = wording;
        Ok(self)
    }

    /// The caller's account, or netrc's.
    pub(super) fn account(&self) -> Option<&[u8]> {
        let known = self.login.as_ref().and_then(Credential::expose_account);
        self.options.account.as_deref().or(known)
    }

    /// Who asks: nobody in particular unless a user is known.
    pub(super) fn session_login(&self, protects: bool) -> Result<Login, Error> {
        let account = self.account();
        let login = match &self.login {
            Some(login) => Login::new(login.user(), login.expose(), account)?,
            None => {
                let address = self.options.anonymous_address.as_deref().unwrap_or(NOBODYS_ADDRESS);
                Login::anonymous(address, account)?
            }
        };
        Ok(if protects { login.protecting() } else { login })
    }

    /// Whether all of the object is wanted, whatever is known of it.
    pub(super) const fn wants_all(&self) -> bool {
        !self.wants_head && self.range.is_none() && self.resume.is_none() && self.condition.is_none()
    }

    /// Whether it is not to begin at the beginning.
    pub(super) const fn asks_for_part(&self) -> bool {
        self.range.is_some() || self.resume.is_some()
    }

    /// The octets before `first` that the server is to send once more, to show that it begins there.
    pub(super) fn repeated(&self, first: u64) -> &[u8] {
        match &self.resume {
            Some(Resume { tail, .. }) => {
                let most = usize::try_from(first).unwrap_or(usize::MAX);
                &tail[tail.len().saturating_sub(most)..]
            }
            None => &[],
        }
    }

    /// How many commands may be under way.
    pub(super) fn pace(&self, way_is_long: bool) -> Pace {
        if self.wording.one_by_one || self.servers.take_one_by_one(&self.host, self.port) {
            return Pace::OneByOne;
        }
        if way_is_long { Pace::Ahead } else { Pace::Together }
    }
}

fn errand(
    url: &FtpUrl<'_>,
    options: &FtpOptions,
    facts_only: bool,
    wording: Wording,
) -> Result<Errand, Error> {
    let is_auto = options.walk == FtpWalk::Auto;
    let method = if is_auto && wording.without_cwd { Method::NoCwd } else { options.walk.method() };
    let list_by = wording.list_by.unwrap_or_else(|| options.listing.verb());
    let wish = Wish { method, facts_only, ascii: options.ascii, list: options.lists, list_by };
    Ok(Errand::new(url, &wish)?)
}

impl Plan for FtpPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(super::io::run(*self, ctx))
    }

    fn speaks_for_itself(&self) -> bool {
        true
    }
}

impl fmt::Display for FtpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.login.as_ref().map_or(&b"anonymous"[..], Credential::user);
        let user = Command::with(Verb::User, user).map_err(|_| fmt::Error)?;
        writeln!(f, "{user}")?;
        match &self.login {
            None => writeln!(f, "PASS (the e-mail address)")?,
            Some(login) if login.expose().is_none() => writeln!(f, "PASS (asked for)")?,
            Some(_) => writeln!(f, "PASS ***")?,
        }
        let commands = self.errand.commands().map_err(|_| fmt::Error)?;
        for (index, command) in commands.iter().enumerate() {
            let end = if index + 1 == commands.len() { "" } else { "\n" };
            match command.verb() {
                Verb::Epsv if self.options.active.is_some() => write!(f, "EPRT (an address of ours){end}")?,
                Verb::Epsv if self.options.no_epsv => write!(f, "PASV{end}")?,
                _ => write!(f, "{command}{end}")?,
            }
        }
        Ok(())
    }
}

/// What cannot be asked for together.
pub(super) fn check_part(plan: &FtpPlan) -> Result<(), Error> {
    use fetch_url_proto::ftp::{Form, Task};
    let is_part = plan.range.is_some();
    match &plan.errand.task {
        Task::Retrieve { form: Form::Image, .. } | Task::Facts { .. } | Task::Reach => Ok(()),
        _ if is_part => Err(Error::new(
            Code::RangeRefused,
            Phase::Plan,
            "only a file of type image has parts: lines and listings are counted otherwise",
        )),
        _ => Ok(()),
    }
}
