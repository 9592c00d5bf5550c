//! Prompts for passwords and form answers. The prompter runs on a blocking thread, and only for requests to
//! the server of the caller's URL.

use std::fmt;

use fetch_url_core::Url;
use fetch_url_proto::gopher_plus::Question as FormQuestion;
use tokio::task::spawn_blocking;

use crate::Deadline;
use crate::{Code, Credential, Credentials, Error, Phase, PromptRequest};

/// The prompter for one request; empty if no prompt is allowed.
#[derive(Clone, Default)]
pub struct PasswordPrompt(Option<Credentials>);

impl PasswordPrompt {
    /// Creates a prompt. `caller_url` is `None` after a redirect to another server; then nobody is asked, because the
    /// password would be sent to a server that the caller did not name.
    pub(crate) fn new(credentials: &Credentials, caller_url: Option<&Url<'_>>) -> Self {
        Self(caller_url.map(|_| credentials.clone()))
    }

    /// Asks for the password of `user`, or for user name and password, for the server of `url`.
    ///
    /// # Errors
    /// Every error of the prompter, such as `auth_needed`; `timed_out` at the end of the total time.
    pub async fn ask(
        &self,
        url: &Url<'_>,
        user: Option<&[u8]>,
        realm: Option<&[u8]>,
        deadline: &Deadline,
    ) -> Result<Option<Credential>, Error> {
        let Some(credentials) = &self.0 else { return Ok(None) };
        let Some(asker) = credentials.asker().cloned() else { return Ok(None) };
        let (user, realm) = (user.map(<[u8]>::to_vec), realm.map(<[u8]>::to_vec));
        let question = PromptRequest::new(url.redacted().to_string(), user, realm);
        let asked = async {
            let asked = spawn_blocking(move || asker.ask(&question)).await;
            asked.map_err(|error| Error::new(Code::Internal, Phase::Request, error.to_string()))?
        };
        let answer = deadline.bound_total(Phase::Request, asked).await?;
        if let Some(answer) = &answer {
            credentials.keep_answer(url, answer);
        }
        Ok(answer)
    }
}

impl PasswordPrompt {
    /// Asks for the answers to the questions of a form that have no answer in `given`.
    ///
    /// # Errors
    /// As for [`PasswordPrompt::ask`].
    pub async fn fill(
        &self,
        url: &Url<'_>,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
        deadline: &Deadline,
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let Some(asker) = self.0.as_ref().and_then(Credentials::asker).cloned() else { return Ok(None) };
        let (url, questions, given) = (url.redacted().to_string(), questions.to_vec(), given.to_vec());
        let asked = async {
            let asked = spawn_blocking(move || asker.fill(&url, &questions, &given)).await;
            asked.map_err(|error| Error::new(Code::Internal, Phase::Request, error.to_string()))?
        };
        deadline.bound_total(Phase::Request, asked).await
    }

    /// Returns `true` if a prompt can be shown to a user.
    pub fn can_ask(&self) -> bool {
        self.0.as_ref().and_then(Credentials::asker).is_some_and(|asker| asker.is_attended())
    }

    /// Forgets the answer for the server of `url`, because the server rejected it.
    pub fn forget(&self, url: &Url<'_>) {
        if let Some(credentials) = &self.0 {
            credentials.forget_answer(url);
        }
    }
}

impl fmt::Debug for PasswordPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Asking" } else { "Nobody to ask" })
    }
}
