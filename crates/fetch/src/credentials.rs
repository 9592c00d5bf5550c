//! User names and passwords: from the URL, the caller, a netrc file, or a prompt. They are chosen again for each
//! redirect.

pub(crate) mod netrc;
pub(crate) mod prompt;
pub(crate) mod secret;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::{Url, UserInfo};
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
    /// Returns a user name, with a password or without.
    pub fn new(user: impl Into<Vec<u8>>, password: Option<Vec<u8>>) -> Self {
        Self { user: user.into(), password: password.map(SecretBytes::from), account: None }
    }

    /// Returns a user name with a password.
    pub fn login(user: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        Self::new(user, Some(password.into()))
    }

    /// Reads `USER[:PASSWORD]`.
    pub fn from_text(text: &str) -> Self {
        match text.split_once(':') {
            Some((user, password)) => Self::new(user, Some(password.into())),
            None => Self::new(text, None),
        }
    }

    /// Returns the user information of a URL, percent-decoded.
    pub(crate) fn of_user_info(user_info: &UserInfo<'_>) -> Self {
        let password = user_info.password().map(|password| password.expose().decode().into_owned());
        Self::new(user_info.user().decode(), password)
    }

    /// Returns the user name.
    pub fn user(&self) -> &[u8] {
        &self.user
    }

    /// Returns the password. Use it only for the command that sends it.
    pub fn expose(&self) -> Option<&[u8]> {
        self.password.as_ref().map(SecretBytes::expose)
    }

    /// Returns the account. Use it only for the command that sends it.
    pub(crate) fn expose_account(&self) -> Option<&[u8]> {
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
    /// The URL that needs the password, without a password.
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
    /// Returns the answer, or `None` if no prompt can be shown. It may block: it is called on a blocking thread.
    ///
    /// # Errors
    /// An error of the prompt itself.
    fn ask(&self, question: &PromptRequest) -> Result<Option<Credential>, Error>;

    /// Returns `true` if a prompt can be shown.
    fn is_attended(&self) -> bool {
        true
    }

    /// Returns the answers to the questions of the form at `url` that have none in `given`, in their order, or `None`
    /// if no prompt can be shown. Items without input have an element in both lists and need no answer.
    ///
    /// # Errors
    /// An error of the prompt itself.
    fn fill(
        &self,
        url: &str,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let _ = (url, questions, given);
        Ok(None)
    }
}

/// The sources of user names and passwords for URLs without them: the caller, one credential per host, a netrc file, a
/// prompt. In this order.
#[derive(Clone, Default)]
pub struct Credentials {
    own: Option<Credential>,
    /// By host name in lower case.
    hosts: BTreeMap<String, Credential>,
    netrc: Option<(Netrc, bool)>,
    ask: Option<Arc<dyn Prompter>>,
    /// Answers of the prompt, by server.
    answers: Arc<Mutex<BTreeMap<String, Credential>>>,
}

impl Credentials {
    /// Sets the credential for the server of the caller's URL. It is not sent to other servers after a redirect.
    #[must_use]
    pub fn own(mut self, own: Credential) -> Self {
        self.own = Some(own);
        self
    }

    /// Sets the credential for one host, whatever the scheme and port. It is sent to no other host.
    #[must_use]
    pub fn host(mut self, host: &str, credential: Credential) -> Self {
        self.hosts.insert(host.to_ascii_lowercase(), credential);
        self
    }

    /// Adds the text of a netrc file; its `default` entry is used only with `default_too`.
    ///
    /// # Errors
    /// [`Code::Usage`] if the text is not a valid netrc file.
    pub fn netrc(mut self, text: &[u8], default_too: bool) -> Result<Self, Error> {
        let netrc = Netrc::parse(text)
            .map_err(|error| Error::new(Code::Usage, Phase::Plan, format!("the netrc file: {error}")))?;
        self.netrc = Some((netrc, default_too));
        Ok(self)
    }

    /// Sets the prompt that is used when no other source has a password and the server requires one.
    #[must_use]
    pub fn ask(mut self, ask: impl Prompter + 'static) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// Chooses the credential for `url`. `home` is the caller's URL until a redirect leaves its server; after that,
    /// only netrc entries and credentials per host apply.
    pub(crate) fn for_request(&self, url: &Url<'_>, home: Option<&Url<'_>>) -> Option<Credential> {
        let login = |url: &Url<'_>| url.user_info().map(Credential::of_user_info);
        let from_netrc = login(url).or_else(|| home.and_then(login));
        // As in curl, the caller's credential takes precedence over the URL's.
        let own = self.own.as_ref().filter(|_| home.is_some());
        let user = own.or(from_netrc.as_ref()).map(|known| known.user.as_slice());
        let is_whole = |known: &&Credential| known.password.is_some() && Some(known.user.as_slice()) == user;
        if let Some(whole) = own.filter(is_whole).or(from_netrc.as_ref().filter(is_whole)) {
            return Some(whole.clone());
        }
        let answered = home.and_then(|_| self.answered(url, user));
        self.of_host(url, user)
            .or_else(|| self.of_netrc(url, user))
            .or(answered)
            .or_else(|| own.cloned())
            .or(from_netrc)
    }

    /// Returns an earlier answer of the prompt for the server of `url` and this user.
    fn answered(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&server(url)).filter(|known| user.is_none_or(|user| user == known.user)).cloned()
    }

    /// Stores an answer, so that the user is asked only once for each server.
    pub(crate) fn keep_answer(&self, url: &Url<'_>, answer: &Credential) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(server(url), answer.clone());
    }

    /// Returns the credential that the caller set for the host of `url`, if it is for `user`.
    fn of_host(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let known = self.hosts.get(&url.host()?.to_string().to_ascii_lowercase())?;
        user.is_none_or(|user| user == known.user).then(|| known.clone())
    }

    fn of_netrc(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let (netrc, default_too) = self.netrc.as_ref()?;
        let entry = netrc.find(&url.host()?.to_string(), user, *default_too)?;
        let user = entry.login.or(user)?;
        let password = entry.password.map(|password| password.expose().to_vec());
        Some(Credential { account: entry.account.cloned(), ..Credential::new(user, password) })
    }

    pub(crate) fn forget_answer(&self, url: &Url<'_>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&server(url));
    }

    pub(crate) fn asker(&self) -> Option<&Arc<dyn Prompter>> {
        self.ask.as_ref()
    }
}

/// Returns scheme, host and port as the key of an answer.
fn server(url: &Url<'_>) -> String {
    let host = url.host().map(|host| host.to_string().to_ascii_lowercase());
    format!("{}://{}:{:?}", url.scheme_name(), host.unwrap_or_default(), url.port())
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("own", &self.own).finish_non_exhaustive()
    }
}
