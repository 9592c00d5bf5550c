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
    /// Creates a prompt. `origin` is the caller's URL, and `None` after a redirect to another server: no
    /// prompt is then shown, because the password would be sent to a server that the caller did not choose.
    pub(crate) fn new(credentials: &Credentials, origin: Option<&Url<'_>>) -> Self {
        Self(origin.map(|_| credentials.clone()))
    }

    /// Asks for the password of `user`, or for user name and password, for the server of `url`.
    ///
    /// # Errors
    /// Any error of the prompter, such as [`Code::AuthNeeded`]; [`Code::TimedOut`] when the maximum time of the request
    /// is over.
    pub async fn ask(
        &self,
        url: &Url<'_>,
        user: Option<&[u8]>,
        realm: Option<&[u8]>,
        deadline: &Deadline,
    ) -> Result<Option<Credential>, Error> {
        let Some(credentials) = &self.0 else { return Ok(None) };
        let Some(prompter) = credentials.prompter().cloned() else { return Ok(None) };
        let (user, realm) = (user.map(<[u8]>::to_vec), realm.map(<[u8]>::to_vec));
        let request = PromptRequest::new(url.redacted().to_string(), user, realm);
        let answered = async {
            let answer = spawn_blocking(move || prompter.ask(&request)).await;
            answer.map_err(|error| Error::new(Code::Internal, Phase::Request, error.to_string()))?
        };
        let answer = deadline.bound_total(Phase::Request, answered).await?;
        if let Some(answer) = &answer {
            credentials.store_answer(url, answer);
        }
        Ok(answer)
    }
}

impl PasswordPrompt {
    /// Asks the user the questions of a form that have no answer in `given` (`None`).
    ///
    /// # Errors
    /// As for [`PasswordPrompt::ask`].
    pub async fn fill_form(
        &self,
        url: &Url<'_>,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
        deadline: &Deadline,
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let Some(prompter) = self.0.as_ref().and_then(Credentials::prompter).cloned() else {
            return Ok(None);
        };
        let (url, questions, given) = (url.redacted().to_string(), questions.to_vec(), given.to_vec());
        let answered = async {
            let answer = spawn_blocking(move || prompter.fill_form(&url, &questions, &given)).await;
            answer.map_err(|error| Error::new(Code::Internal, Phase::Request, error.to_string()))?
        };
        deadline.bound_total(Phase::Request, answered).await
    }

    /// Returns `true` if a prompt can be shown to a user.
    pub fn can_prompt(&self) -> bool {
        self.0.as_ref().and_then(Credentials::prompter).is_some_and(|prompter| prompter.can_prompt())
    }

    /// Deletes the stored login for the server of `url`, because the server rejected it.
    pub fn forget(&self, url: &Url<'_>) {
        if let Some(credentials) = &self.0 {
            credentials.forget_answer(url);
        }
    }
}

impl fmt::Debug for PasswordPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "PasswordPrompt(allowed)" } else { "PasswordPrompt(not allowed)" })
    }
}
