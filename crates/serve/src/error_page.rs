//! The answer that reports an error: a page for people, `application/problem+json` (RFC 9457) for programs.

use bytes::Bytes;
use fetch_url::{Code, Error, Hint, Phase};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER, VARY};
use serde_json::json;

use crate::answer::Answer;
use crate::answer_body::AnswerContent;
use crate::link::Form;
use crate::log::error_for_log;
use crate::pages::error::{ErrorPage, error_page};
use crate::request_head::{HeadFault, RequestHead};
use crate::security_headers::ContentOrigin;
use crate::status::{is_refusal_of_proxy, status_of};

/// The hint for targets in private networks.
const PRIVATE: &str = "a server started with --allow-private reaches private and loopback addresses";

/// Returns the answer for an error of a request. `url` is the URL of the request without its password.
pub(crate) fn error_answer(head: &RequestHead, form: Form, error: &Error, url: Option<&str>) -> Answer {
    let status = status_of(error);
    let hint = hint_text(error);
    let detail = match is_refusal_of_proxy(error) {
        true => format!("the proxy that this server uses: {error}"),
        false => error.to_string(),
    };
    let page =
        ErrorPage { status, code: error.code().name(), detail: &detail, hint: hint.as_deref(), url, form };
    let mut answer = problem(Some(head), &page);
    if let Some(wait) = error.retry_after() {
        answer = answer.with(RETRY_AFTER, &wait.as_secs().to_string());
    }
    answer.error = Some(error_for_log(error));
    answer
}

/// Returns a sentence about what helps: with the options of `fetch-url serve`, which people at a browser do not give.
fn hint_text(error: &Error) -> Option<String> {
    match error.hint() {
        Some(Hint::Text(text)) => Some(text.clone()),
        Some(Hint::Port(port)) => Some(format!("a server started with --allow-port {port} allows it")),
        Some(Hint::NewsServer) => {
            Some("start the server with --news-server HOST, or name one: news://HOST/GROUP".to_owned())
        }
        Some(Hint::Login | Hint::InsecureLogin) => {
            Some("give a user name and a password; a news server needs nntps: for it".to_owned())
        }
        Some(Hint::ProxyLogin) => {
            Some("start the server with a login for its proxy: --proxy-user USER:PASSWORD".to_owned())
        }
        Some(Hint::PrivateRedirect) => Some(PRIVATE.to_owned()),
        None if error.code() == Code::Policy && matches!(error.phase(), Phase::Connect | Phase::Proxy) => {
            Some(PRIVATE.to_owned())
        }
        _ => None,
    }
}

/// Returns the answer for a request that is refused before anything is fetched.
pub(crate) fn fault_answer(head: Option<&RequestHead>, fault: &HeadFault) -> Answer {
    let code = match fault.status {
        StatusCode::PRECONDITION_FAILED => "precondition_failed",
        // only-if-cached (RFC 9111 §5.2.1.7).
        StatusCode::GATEWAY_TIMEOUT => "not_stored",
        _ => "bad_request",
    };
    let page = ErrorPage {
        status: fault.status,
        code,
        detail: &fault.detail,
        hint: None,
        url: None,
        form: Form::Path,
    };
    let mut answer = problem(head, &page);
    answer.error = Some((code, fault.detail.clone()));
    answer
}

fn problem(head: Option<&RequestHead>, page: &ErrorPage<'_>) -> Answer {
    if head.is_some_and(RequestHead::accepts_html) {
        return Answer::page(page.status, error_page(page));
    }
    let title = page.status.canonical_reason().unwrap_or("error");
    let problem = json!({
        "type": "about:blank",
        "title": title,
        "status": page.status.as_u16(),
        "detail": page.detail,
        "code": page.code,
        "hint": page.hint,
        "instance": page.url,
    });
    let mut answer = Answer::new(page.status, ContentOrigin::Gateway)
        .with(CONTENT_TYPE, "application/problem+json")
        .with(VARY, "Accept");
    answer.content = AnswerContent::Whole(Bytes::from(format!("{problem}\n")));
    answer
}

/// The fault of a request for which a client has no permission.
pub(crate) fn forbidden(detail: &str) -> HeadFault {
    HeadFault::new(StatusCode::FORBIDDEN, detail)
}
