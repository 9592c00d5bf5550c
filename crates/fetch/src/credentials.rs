//! Who we are to a server: the URL's own user and password, the caller's, netrc's, or what somebody
//! answers when asked. Decided anew for each hop.

pub(crate) mod netrc;
pub(crate) mod secret;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::{Login, Url};
use fetch_url_proto::gopher_plus::Question as FormQuestion;

use crate::{Code, Error, Phase};
use netrc::Netrc;
use secret::SecretBytes;

/// A user and, where it is known, a password: octets, as the server is to see them.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    user: Vec<u8>,
    password: Option<SecretBytes>,
    /// RFC 959 §4.1.1: what some FTP servers want besides.
    account: Option<SecretBytes>,
}

impl Credential {
    /// A user, and a password or none yet.
    pub fn new(user: impl Into<Vec<u8>>, password: Option<Vec<u8>>) -> Self {
        Self { user: user.into(), password: password.map(SecretBytes::from), account: None }
    }

    /// Reads `USER[:PASSWORD]`.
    pub fn from_text(text: &str) -> Self {
        match text.split_once(':') {
            Some((user, password)) => Self::new(user, Some(password.into())),
            None => Self::new(text, None),
        }
    }

    /// What a URL says, decoded.
    pub(crate) fn of_login(login: &Login<'_>) -> Option<Self> {
        let password = login.password().map(|password| password.expose().decode().into_owned());
        login.user().map(|user| Self::new(user.decode(), password))
    }

    /// The user.
    pub fn user(&self) -> &[u8] {
        &self.user
    }

    /// The password. Only for the command that needs it.
    pub fn expose(&self) -> Option<&[u8]> {
        self.password.as_ref().map(SecretBytes::expose)
    }

    /// The account. Only for the command that needs it.
    pub(crate) fn expose_account(&self) -> Option<&[u8]> {
        self.account.as_ref().map(SecretBytes::expose)
    }

    /// The same user with this password.
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

/// What is asked of a person, or of a program in their place.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// Where the answer goes, without a password.
    pub url: String,
    /// The user, where that is known: then only the password is asked for.
    pub user: Option<Vec<u8>>,
    /// What the server says it is for: octets of a stranger.
    pub realm: Option<Vec<u8>>,
}

impl Question {
    /// For the server of `url`.
    pub fn new(url: impl Into<String>, user: Option<Vec<u8>>, realm: Option<Vec<u8>>) -> Self {
        Self { url: url.into(), user, realm }
    }
}

/// Asks for a user and a password.
pub trait Ask: Send + Sync {
    /// The answer; none when there is nobody to ask. It may wait for a person: it is called on a
    /// thread of its own.
    ///
    /// # Errors
    /// Asking itself failed.
    fn ask(&self, question: &Question) -> Result<Option<Credential>, Error>;

    /// Whether there is anybody to ask.
    fn is_attended(&self) -> bool {
        true
    }

    /// The answers to those of the questions of the form at `url` that have none in `given`, in their
    /// order; none when there is nobody to ask. What only is to be read has its place in both, and needs
    /// no answer.
    ///
    /// # Errors
    /// Asking itself failed.
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

/// Where users and passwords come from when the URL does not say.
#[derive(Clone, Default)]
pub struct Credentials {
    own: Option<Credential>,
    netrc: Option<(Netrc, bool)>,
    ask: Option<Arc<dyn Ask>>,
    /// What was answered so far, by server.
    answers: Arc<Mutex<BTreeMap<String, Credential>>>,
}

impl Credentials {
    /// The caller's own: for the server of the caller's URL, and no other.
    #[must_use]
    pub fn own(mut self, own: Credential) -> Self {
        self.own = Some(own);
        self
    }

    /// The text of a netrc file; its `default` entry only when `default_too`.
    ///
    /// # Errors
    /// `usage` when it cannot be read.
    pub fn netrc(mut self, text: &[u8], default_too: bool) -> Result<Self, Error> {
        let netrc = Netrc::parse(text)
            .map_err(|error| Error::new(Code::Usage, Phase::Plan, format!("the netrc file: {error}")))?;
        self.netrc = Some((netrc, default_too));
        Ok(self)
    }

    /// Somebody who is asked when nothing else is known and the server wants it.
    #[must_use]
    pub fn ask(mut self, ask: impl Ask + 'static) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// Who we are to the server of `url`. `home` is the caller's URL, as long as no hop has left its
    /// server: abroad, the caller's own credentials are nobody's. netrc names its servers itself.
    pub(crate) fn for_hop(&self, url: &Url<'_>, home: Option<&Url<'_>>) -> Option<Credential> {
        let login = |url: &Url<'_>| url.login().and_then(Credential::of_login);
        let said = login(url).or_else(|| home.and_then(login));
        // As with curl, the caller's option is before the URL.
        let own = self.own.as_ref().filter(|_| home.is_some());
        let user = own.or(said.as_ref()).map(|known| known.user.as_slice());
        let is_whole = |known: &&Credential| known.password.is_some() && Some(known.user.as_slice()) == user;
        if let Some(whole) = own.filter(is_whole).or(said.as_ref().filter(is_whole)) {
            return Some(whole.clone());
        }
        let answered = home.and_then(|_| self.answered(url, user));
        self.of_netrc(url, user).or(answered).or_else(|| own.cloned()).or(said)
    }

    /// What somebody answered before for the server of `url` and this user.
    fn answered(&self, url: &Url<'_>, user: Option<&[u8]>) -> Option<Credential> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&server(url)).filter(|known| user.is_none_or(|user| user == known.user)).cloned()
    }

    /// Keeps an answer, so that nobody is asked twice for one server.
    pub(crate) fn keep_answer(&self, url: &Url<'_>, answer: &Credential) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(server(url), answer.clone());
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

    pub(crate) fn asker(&self) -> Option<&Arc<dyn Ask>> {
        self.ask.as_ref()
    }
}

/// Scheme, host and port: whom an answer is for.
fn server(url: &Url<'_>) -> String {
    let host = url.host().map(|host| host.to_string().to_ascii_lowercase());
    format!("{}://{}:{:?}", url.scheme_name(), host.unwrap_or_default(), url.port())
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("own", &self.own).finish_non_exhaustive()
    }
}
