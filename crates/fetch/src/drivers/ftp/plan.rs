//! The plan of an FTP request: server, user and commands. Pure: no I/O, no clock, no connections.

use std::fmt;

use fetch_url_core::{FtpUrl, Host, Security, Url};
use fetch_url_proto::ftp::{
    Command, CwdMethod, FtpRequest, Login, Operation, Pipelining, RequestOptions, TransferType, Verb,
};

use super::fallbacks::Fallbacks;
use super::options::{FtpMethod, FtpOptions};
use crate::{ByteRange, Code, Condition, Credential, Error, Phase, PrecedingBytes, Request, Resume, Want};

/// The password of an anonymous login, unless the caller gives another.
const DEFAULT_ANONYMOUS_PASSWORD: &[u8] = b"anonymous@";

/// One request to one FTP server. `Display` shows its commands, with passwords replaced by `***`.
#[derive(Clone)]
pub(super) struct FtpPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// The connection starts with a TLS handshake (`ftps:`).
    pub(super) is_implicit_tls: bool,
    pub(super) login: Option<Credential>,
    pub(super) ftp_request: FtpRequest,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    /// The bytes before the range, if the caller has them.
    preceding: Option<PrecedingBytes>,
    pub(super) condition: Option<Condition>,
    /// The caller wants the metadata only.
    pub(super) wants_head: bool,
    pub(super) options: FtpOptions,
    pub(super) fallbacks: Fallbacks,
}

impl FtpPlan {
    /// Builds the plan for `request`.
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Ftp(url) = request.url() else {
            return Err(Error::unsupported("the ftp driver handles ftp: and ftps: URLs only"));
        };
        let options = request.extra::<FtpOptions>().cloned().unwrap_or_default();
        let wants_head = request.want() == Want::Head;
        let fallbacks = Fallbacks::default();
        let plan = Self {
            url: request.url().clone(),
            host: url.authority().host_port().host().clone(),
            port: request.url().port().unwrap_or(21),
            is_implicit_tls: url.scheme().security == Security::Tls,
            login: request.login().cloned(),
            ftp_request: ftp_request(url, &options, wants_head, request.condition(), fallbacks)?,
            range: request.wanted_range().filter(|_| !wants_head),
            resume: request.resume().filter(|_| !wants_head).cloned(),
            preceding: request.preceding().cloned(),
            condition: request.condition(),
            wants_head,
            options,
            fallbacks,
        };
        // A user name or password that contains a line break is rejected before anything is sent.
        plan.session_login(false)?;
        Ok(plan)
    }

    /// Returns the same plan with other fallbacks.
    pub(super) fn with_fallbacks(mut self, fallbacks: Fallbacks) -> Result<Self, Error> {
        if let Url::Ftp(url) = &self.url {
            self.ftp_request = ftp_request(url, &self.options, self.wants_head, self.condition, fallbacks)?;
        }
        self.fallbacks = fallbacks;
        Ok(self)
    }

    /// Returns the argument of ACCT: from the options, or else from the credentials (`.netrc`).
    pub(super) fn account(&self) -> Option<&[u8]> {
        let known = self.login.as_ref().and_then(Credential::account);
        self.options.account.as_deref().or(known)
    }

    /// Returns the login; anonymous if no user is known. With `protects_data`, data connections use TLS too.
    pub(super) fn session_login(&self, protects_data: bool) -> Result<Login, Error> {
        let account = self.account();
        let login = match &self.login {
            Some(login) => Login::new(login.user(), login.expose_password(), account)?,
            None => {
                let password =
                    self.options.anonymous_password.as_deref().unwrap_or(DEFAULT_ANONYMOUS_PASSWORD);
                Login::anonymous(password, account)?
            }
        };
        Ok(if protects_data { login.with_protection() } else { login })
    }

    /// Returns `true` if the whole file is fetched, regardless of its size and modification time.
    pub(super) const fn wants_whole_file(&self) -> bool {
        !self.wants_head && self.range.is_none() && self.resume.is_none() && self.condition.is_none()
    }

    /// Returns `true` if the caller requests a part of the file.
    pub(super) const fn is_partial(&self) -> bool {
        self.range.is_some() || self.resume.is_some()
    }

    /// Returns the known bytes before offset `first`. They are downloaded again and compared, to verify that the
    /// server starts at the offset of REST.
    pub(super) fn overlap_bytes(&self, first: u64) -> &[u8] {
        let is_start_of_range =
            matches!(self.range, Some(ByteRange::Span { first: start, .. }) if start == first);
        let known: &[u8] = match &self.resume {
            Some(Resume { tail, .. }) if !tail.is_empty() => tail,
            _ if is_start_of_range => self.preceding.as_ref().map_or(&[], PrecedingBytes::bytes),
            _ => &[],
        };
        last_bytes(known, usize::try_from(first).unwrap_or(usize::MAX))
    }

    /// Returns `false` if the bytes before the range do not show whether the server has ignored REST.
    pub(super) fn overlap_proves_offset(&self) -> bool {
        self.preceding.as_ref().is_none_or(PrecedingBytes::prove_offset)
    }

    /// Returns when commands may be sent before the replies to earlier commands arrive.
    pub(super) const fn pipelining(&self, is_distant: bool, is_known_sequential: bool) -> Pipelining {
        if self.fallbacks.sequential || is_known_sequential {
            return Pipelining::Off;
        }
        if is_distant { Pipelining::BeforeGreeting } else { Pipelining::AfterLogin }
    }

    /// Returns `true` if the port of the next data connection may be requested during the transfer.
    pub(super) const fn may_prefetch_port(&self) -> bool {
        self.options.prefetch_port && !self.options.no_epsv && !self.fallbacks.pasv_only
    }

    /// Checks that the object can be fetched in parts, if the caller asks for a byte range.
    pub(super) fn check_range_supported(&self) -> Result<(), Error> {
        match &self.ftp_request.operation {
            Operation::Retrieve { transfer_type: TransferType::Image, .. }
            | Operation::Stat { .. }
            | Operation::ChangeDir => Ok(()),
            _ if self.range.is_some() => Err(Error::new(
                Code::RangeRefused,
                Phase::Plan,
                "byte ranges require a binary transfer (TYPE I): the size of a text or a listing is not known",
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the last `most` bytes, or all if there are fewer.
fn last_bytes(bytes: &[u8], most: usize) -> &[u8] {
    &bytes[bytes.len().saturating_sub(most)..]
}

fn ftp_request(
    url: &FtpUrl<'_>,
    options: &FtpOptions,
    stat_only: bool,
    condition: Option<Condition>,
    fallbacks: Fallbacks,
) -> Result<FtpRequest, Error> {
    let is_auto = options.method == FtpMethod::Auto;
    let method = if is_auto && fallbacks.no_cwd { CwdMethod::NoCwd } else { options.method.cwd_method() };
    let list_verb = fallbacks.list_verb.unwrap_or_else(|| options.listing.verb());
    let options = RequestOptions {
        method,
        stat_only,
        ascii: options.ascii,
        list: options.force_listing,
        list_verb,
        queries_time_of_text: condition.is_some() || options.text_time,
    };
    Ok(FtpRequest::new(url, &options)?)
}

impl fmt::Display for FtpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.login.as_ref().map_or(&b"anonymous"[..], Credential::user);
        let user = Command::with_argument(Verb::User, user).map_err(|_| fmt::Error)?;
        writeln!(f, "{user}")?;
        match &self.login {
            None => writeln!(f, "PASS *** (anonymous login)")?,
            Some(login) if login.expose_password().is_none() => writeln!(f, "PASS *** (from a prompt)")?,
            Some(_) => writeln!(f, "PASS ***")?,
        }
        let commands = self.ftp_request.commands().map_err(|_| fmt::Error)?;
        for (index, command) in commands.iter().enumerate() {
            let end = if index + 1 == commands.len() { "" } else { "\n" };
            match command.verb() {
                Verb::Epsv if self.options.active.is_some() => {
                    write!(f, "EPRT (an address of this machine){end}")?;
                }
                Verb::Epsv if self.options.no_epsv => write!(f, "PASV{end}")?,
                _ => write!(f, "{command}{end}")?,
            }
        }
        Ok(())
    }
}
