//! User names and passwords: from the URL, the caller, a netrc file, or a prompt. They are selected again
//! after each redirect.

pub(crate) mod masking;
pub(crate) mod netrc;
pub(crate) mod prompt;
pub(crate) mod secret;

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::{Url, UserInfo, parse};
pub use fetch_url_proto::gopher_plus::Question as FormQuestion;

use crate::{Code, Error, Phase};
use netrc::Netrc;
use secret::SecretBytes;

/// A user name and, if known, a password, as bytes that the server receives. `Debug` hides the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    user: Vec<u8>,
    password: Option<SecretBytes>,
    /// The account that some FTP servers require (RFC 959 §4.1.1).
    account: Option<SecretBytes>,
}

impl Credential {
    /// Creates a credential from a user name and an optional password.
    pub fn new(user: impl Into<Vec<u8>>, password: Option<Vec<u8>>) -> Self {
        Self { user: user.into(), password: password.map(SecretBytes::from), account: None }
    }

    /// Creates a credential from a user name and a password.
    pub fn login(user: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        Self::new(user, Some(password.into()))
    }

    /// Parses `USER[:PASSWORD]`.
    pub fn from_text(text: &str) -> Self {
        match text.split_once(':') {
            Some((user, password)) => Self::new(user, Some(password.into())),
            None => Self::new(text, None),
        }
    }

    /// Returns the user information of a URL, percent-decoded.
    pub(crate) fn from_user_info(user_info: &UserInfo<'_>) -> Self {
        let password = user_info.password().map(|password| password.expose().decode().into_owned());
        Self::new(user_info.user().decode(), password)
    }

    /// Returns the user name.
    pub fn user(&self) -> &[u8] {
        &self.user
    }

    /// Returns the password. Use it only for the command that sends it.
    pub fn expose_password(&self) -> Option<&[u8]> {
        self.password.as_ref().map(SecretBytes::expose)
    }

    /// Returns the account. Use it only for the command that sends it.
    pub(crate) fn account(&self) -> Option<&[u8]> {
        self.account.as_ref().map(SecretBytes::expose)
    }

    /// Replaces the password.
    #[must_use]
    pub fn with_password(mut self, password: Option<Vec<u8>>) -> Self {
        self.password = password.map(SecretBytes::from);
        self
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = if self.password.is_some() { ":***" } else { "" };
        write!(f, "Credential({}{password})", String::from_utf8_lossy(&self.user))
    }
}

/// A request for a password, shown to a person or passed to a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The URL whose server requires the password; a password in the URL is removed.
    pub url: String,
    /// The user name, if known: then only the password is requested.
    pub user: Option<Vec<u8>>,
    /// The realm as the server sent it: untrusted bytes.
    pub realm: Option<Vec<u8>>,
}

impl PromptRequest {
    /// Returns a request for the server of `url`.
    pub fn new(url: impl Into<String>, user: Option<Vec<u8>>, realm: Option<Vec<u8>>) -> Self {
        Self { url: url.into(), user, realm }
    }
}

/// Asks a person or a program for user names and passwords.
pub trait Prompter: Send + Sync {
    /// Returns the answer, or `None` if no prompt can be shown. It may block: it is called on a thread of its own.
    ///
    /// # Errors
    /// An error of the prompt itself.
    fn ask(&self, request: &PromptRequest) -> Result<Option<Credential>, Error>;

    /// Returns `true` if a prompt can be shown.
    fn can_prompt(&self) -> bool {
        true
    }

    /// Asks the questions of the form at `url` that have no answer in `given`. Returns the new answers in the order of
    /// the form, or `None` if no prompt can be shown. `questions` and `given` also have an element for each item
    /// without input, which needs no answer.
    ///
    /// # Errors
    /// An error of the prompt itself.
    fn fill_form(
        &self,
        url: &str,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let _ = (url, questions, given);
        Ok(None)
    }
}

/// The sources of user names and passwords, in order of precedence: the caller's credential with a password,
/// the URL with a password, the credential of the host, a netrc file, an earlier answer of the prompt, and
/// finally a user name without a password.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The credential for the caller's URLs. With a [`server_key`], it applies only to URLs of that server.
    origin_credential: Option<(Option<String>, Credential)>,
    /// By host name in lower case.
    hosts: BTreeMap<String, Credential>,
    /// The netrc file, and whether its `default` entry may be used.
    netrc: Option<(Netrc, bool)>,
    prompter: Option<Arc<dyn Prompter>>,
    /// Answers of the prompt, by [`server_key`].
    answers: Arc<Mutex<BTreeMap<String, Credential>>>,
    /// The locks of prompts, by [`server_key`]: each server has at most one open prompt.
    turns: Arc<Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>>,
}

impl Credentials {
    /// Sets the credential for requests to one server: scheme, host and port of `url`. It is sent to no other server.
    ///
    /// # Errors
    /// [`Code::BadUrl`] if `url` is not a URL.
    pub fn for_origin(mut self, url: &str, credential: Credential) -> Result<Self, Error> {
        let parsed = parse(url).map_err(|error| Error::new(Code::BadUrl, Phase::Plan, error.to_string()))?;
        self.origin_credential = Some((Some(server_key(&parsed.url)), credential));
        Ok(self)
    }

    /// Sets the credential for the server of **every** URL that the caller requests, as curl's `-u` does. It is not
    /// sent to another server after a redirect.
    ///
    /// Use it only if all URLs are for the same server or come from the same person as the credential; otherwise use
    /// [`Credentials::for_origin`] or [`Credentials::for_host`].
    #[must_use]
    pub fn for_every_url(mut self, credential: Credential) -> Self {
        self.origin_credential = Some((None, credential));
        self
    }

    /// Sets the credential for one host, for all schemes and ports. It is sent to no other host. An IPv6 address may have
    /// square brackets.
    #[must_use]
    pub fn for_host(mut self, host: &str, credential: Credential) -> Self {
        let without_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let host = match without_brackets.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => host.to_ascii_lowercase(),
        };
        self.hosts.insert(host, credential);
        self
    }

    /// Sets the netrc file from its text; its `default` entry is used only if `allow_default` is `true`.
    ///
    /// # Errors
    /// [`Code::Usage`] if the text is not a valid netrc file.
    pub fn netrc(mut self, text: &[u8], allow_default: bool) -> Result<Self, Error> {
        let netrc = Netrc::parse(text)
            .map_err(|error| Error::new(Code::Usage, Phase::Plan, format!("the netrc file: {error}")))?;
        self.netrc = Some((netrc, allow_default));
        Ok(self)
    }

    /// Sets the prompt that is used when no other source has a password and the server requires one.
    #[must_use]
    pub fn prompt_with(mut self, prompter: impl Prompter + 'static) -> Self {
        self.prompter = Some(Arc::new(prompter));
        self
    }

    /// Returns `true` if a request for `url` has a login: one of the URL itself, of its server, or of the netrc file.
    pub fn has_login_for(&self, url: &Url<'_>) -> bool {
        self.select(url, Some(url)).is_some()
    }

    /// Selects the credential for `url`. `origin` is the caller's URL, or `None` after a redirect to another
    /// server: then only the login in `url`, netrc entries and credentials per host apply.
    pub(crate) fn select(&self, url: &Url<'_>, origin: Option<&Url<'_>>) -> Option<Credential> {
        let user_info = |url: &Url<'_>| url.user_info().map(Credential::from_user_info);
        let from_url = user_info(url).or_else(|| origin.and_then(user_info));
        // As in curl, the caller's credential takes precedence over the URL's.
        let from_caller = origin.and_then(|origin| self.origin_credential_for(origin));
        let user = from_caller.or(from_url.as_ref()).map(|credential| credential.user.as_slice());
        let is_complete = |credential: &&Credential| {
            credential.password.is_some() && Some(credential.user.as_slice()) == user
        };
        if let Some(complete) = from_caller.filter(is_complete).or(from_url.as_ref().filter(is_complete)) {
            return Some(complete.clone());
        }
        let stored_answer = origin.and_then(|_| self.stored_answer(url, user));
        self.host_credential(url, user)
            .or_else(|| self.netrc_credential(url, user))
            .or(stored_answer)
            .or_else(|| from_caller.cloned())
            .or(from_url)
    }

    /// Returns the credential for the origin of the caller's URL.
    fn origin_credential_for(&self, origin: &Url<'_>) -> Option<&Credential> {
        let (key, credential) = self.origin_credential.as_ref()?;
        key.as_ref().is_none_or(|key| *key == server_key(origin)).then_some(credential)
    }

    /// Returns an earlier answer of the prompt for the server of `url` and this user.
    pub(crate) fn stored_answer(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.is_empty() {
            return None;
        }
        answers.get(&server_key(url)).filter(|answer| user.is_none_or(|user| user == answer.user)).cloned()
    }

    /// Stores an answer, so that the user is asked only once for each server.
    pub(crate) fn store_answer(&self, url: &Url<'_>, answer: &Credential) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(server_key(url), answer.clone());
    }

    /// Returns the credential that the caller set for the host of `url`, if it is for `user`.
    fn host_credential(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        if self.hosts.is_empty() {
            return None;
        }
        let credential = self.hosts.get(&url.host()?.to_string().to_ascii_lowercase())?;
        user.is_none_or(|user| user == credential.user).then(|| credential.clone())
    }

    /// Returns the credential that the netrc file contains for the host of `url` and `user`.
    fn netrc_credential(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let (netrc, allow_default) = self.netrc.as_ref()?;
        let entry = netrc.find(&url.host()?.to_string(), user, *allow_default)?;
        let user = entry.login.or(user)?;
        let password = entry.password.map(|password| password.expose().to_vec());
        Some(Credential { account: entry.account.cloned(), ..Credential::new(user, password) })
    }

    /// Removes the stored answer for the server of `url` if it is `refused`.
    pub(crate) fn forget_answer(&self, url: &Url<'_>, refused: &Credential) {
        let (mut answers, key) =
            (self.answers.lock().unwrap_or_else(PoisonError::into_inner), server_key(url));
        if answers.get(&key) == Some(refused) {
            answers.remove(&key);
        }
    }

    /// Returns the lock of prompts for the server of `url`. It is held while the user is asked.
    pub(crate) fn prompt_lock(&self, url: &Url<'_>) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(server_key(url)).or_default().clone()
    }

    pub(crate) fn prompter(&self) -> Option<&Arc<dyn Prompter>> {
        self.prompter.as_ref()
    }
}

/// Returns scheme, host and port, which identify a server.
fn server_key(url: &Url<'_>) -> String {
    let host = url.host().map(|host| host.to_string().to_ascii_lowercase());
    format!("{}://{}:{:?}", url.scheme_name(), host.unwrap_or_default(), url.port())
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("origin_credential", &self.origin_credential)
            .finish_non_exhaustive()
    }
}
