//! Prompts for passwords and form answers. The prompter runs on a thread of its own, and only for requests to
//! the server of the caller's URL.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::Url;
use fetch_url_proto::gopher_plus::Question as FormQuestion;

use crate::Deadline;
use crate::credentials::Prompter;
use crate::{Credential, Credentials, Error, Phase, PromptRequest, blocking_threads};

/// The prompter for one request; empty if no prompt is allowed.
#[derive(Clone, Default)]
pub struct PasswordPrompt(Option<Allowed>);

/// A prompt that is allowed.
#[derive(Clone)]
struct Allowed {
    credentials: Credentials,
    /// The login that the request has used last.
    used: Arc<Mutex<Option<Credential>>>,
    /// The number of questions that have no answer yet.
    open: Arc<AtomicUsize>,
}

impl Allowed {
    /// Waits for the answer to a question.
    async fn open_while<T>(&self, answer: impl Future<Output = T>) -> T {
        let _open = OpenQuestion::new(&self.open);
        answer.await
    }
}

/// A question that has no answer yet.
struct OpenQuestion<'o>(&'o AtomicUsize);

impl<'o> OpenQuestion<'o> {
    fn new(open: &'o AtomicUsize) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PasswordPrompt {
    /// Creates a prompt. `origin` is the caller's URL, and `None` after a redirect to another server: no
    /// prompt is then shown, because the password would be sent to a server that the caller did not choose. `login` is the
    /// login of the request.
    pub(crate) fn new(
        credentials: &Credentials,
        origin: Option<&Url<'_>>,
        login: Option<&Credential>,
    ) -> Self {
        Self(origin.filter(|_| credentials.prompter().is_some()).map(|_| Allowed {
            credentials: credentials.clone(),
            used: Arc::new(Mutex::new(login.cloned())),
            open: Arc::default(),
        }))
    }

    /// Asks for the password of `user`, or for user name and password, for the server of `url`. Parallel requests to a
    /// server wait for one answer and use it.
    ///
    /// # Errors
    /// Any error of the prompter, such as [`crate::Code::AuthNeeded`]; [`crate::Code::TimedOut`] when the maximum time
    /// of the request is over.
    pub async fn ask(
        &self,
        url: &Url<'_>,
        user: Option<&[u8]>,
        realm: Option<&[u8]>,
        deadline: &Deadline,
    ) -> Result<Option<Credential>, Error> {
        let Some(allowed) = &self.0 else { return Ok(None) };
        let answer = ask_in_turn(&allowed.credentials, &allowed.used, url, (user, realm));
        allowed.open_while(deadline.bound_total(Phase::Request, answer)).await
    }
}

/// Asks for user name and password when no other request asks for the same server. An answer that another request has got
/// is used, unless it is the login that this request has `used`.
async fn ask_in_turn(
    credentials: &Credentials,
    used: &Mutex<Option<Credential>>,
    url: &Url<'_>,
    (user, realm): (Option<&[u8]>, Option<&[u8]>),
) -> Result<Option<Credential>, Error> {
    let Some(prompter) = credentials.prompter().cloned() else { return Ok(None) };
    let turn = credentials.prompt_lock(url).lock_owned().await;
    let set_used = |login: &Credential| {
        *used.lock().unwrap_or_else(PoisonError::into_inner) = Some(login.clone());
    };
    let refused = used.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(answer) =
        credentials.stored_answer(url, user).filter(|answer| Some(answer) != refused.as_ref())
    {
        set_used(&answer);
        return Ok(Some(answer));
    }
    let (user, realm) = (user.map(<[u8]>::to_vec), realm.map(<[u8]>::to_vec));
    let request = PromptRequest::new(url.redacted().to_string(), user, realm);
    let (credentials, url) = (credentials.clone(), url.clone().into_owned());
    let asked = blocking_threads::try_run(Phase::Request, move || -> Result<_, Error> {
        let answer = prompter.ask(&request)?;
        if let Some(answer) = &answer {
            credentials.store_answer(&url, answer);
        }
        // The prompt stays open if the request has ended.
        drop(turn);
        Ok(answer)
    });
    let answer = asked?.await??;
    answer.as_ref().inspect(|answer| set_used(answer));
    Ok(answer)
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
        let (Some(allowed), Some(prompter)) = (&self.0, self.prompter().cloned()) else { return Ok(None) };
        let (url, questions, given) = (url.redacted().to_string(), questions.to_vec(), given.to_vec());
        let answered = async {
            let fill = move || prompter.fill_form(&url, &questions, &given);
            blocking_threads::try_run(Phase::Request, fill)?.await?
        };
        allowed.open_while(deadline.bound_total(Phase::Request, answered)).await
    }

    /// Returns `true` while a question has no answer.
    pub(crate) fn is_open(&self) -> bool {
        self.0.as_ref().is_some_and(|allowed| allowed.open.load(Ordering::Relaxed) > 0)
    }

    /// Returns `true` if a prompt can be shown to a user.
    pub fn can_prompt(&self) -> bool {
        self.prompter().is_some_and(|prompter| prompter.can_prompt())
    }

    /// Deletes the stored login for the server of `url`, because the server rejected it. An answer that another request has
    /// got since is kept.
    pub fn forget(&self, url: &Url<'_>) {
        let Some(Allowed { credentials, used, .. }) = &self.0 else { return };
        if let Some(refused) = &*used.lock().unwrap_or_else(PoisonError::into_inner) {
            credentials.forget_answer(url, refused);
        }
    }

    fn prompter(&self) -> Option<&Arc<dyn Prompter>> {
        self.0.as_ref()?.credentials.prompter()
    }
}

impl fmt::Debug for PasswordPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "PasswordPrompt(allowed)" } else { "PasswordPrompt(not allowed)" })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Answers with the number of the question as the password.
    #[derive(Default)]
    struct Numbers(AtomicU32);

    impl Prompter for Numbers {
        fn ask(&self, _: &PromptRequest) -> Result<Option<Credential>, Error> {
            let number = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(Some(Credential::login("user", number.to_string())))
        }
    }

    #[tokio::test]
    async fn refused_answer_is_asked_again_once_for_all_requests() {
        let url = fetch_url_core::parse("http://h/").expect("a URL").url;
        let credentials = Credentials::default().prompt_with(Numbers::default());
        let deadline = Deadline::start(crate::Timeouts::default());
        let prompt = |login: Option<&Credential>| PasswordPrompt::new(&credentials, Some(&url), login);
        let ask = async |prompt: &PasswordPrompt| {
            let answer = prompt.ask(&url, None, None, &deadline).await.expect("no error").expect("an answer");
            String::from_utf8(answer.expose_password().expect("a password").to_vec()).expect("text")
        };
        let (first, second) = (prompt(None), prompt(None));
        assert_eq!((ask(&first).await, ask(&second).await), ("1".to_owned(), "1".to_owned()));
        // Both are refused, one after the other.
        first.forget(&url);
        assert_eq!(ask(&first).await, "2");
        second.forget(&url);
        assert_eq!(ask(&second).await, "2", "the later answer is kept");
        let stored = credentials.select(&url, Some(&url));
        let third = prompt(stored.as_ref());
        assert_eq!(ask(&third).await, "3", "the stored answer was refused");
    }
}
