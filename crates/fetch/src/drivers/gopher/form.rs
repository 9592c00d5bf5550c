//! Gopher+ forms (`+ASK`, RFC 1738 §3.4.9): fetches the form of an item, fills it, and sends it.

use fetch_url_proto::gopher::{GopherRequest, PlusRequest};
use fetch_url_proto::gopher_plus::{Question, encode_answers};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry};

use super::fetch_item::fetch_item;
use super::plan::GopherPlan;
use super::rejection::rejection_outcome;
use super::response::{GopherResponse, ResponseStart, keep_attributes, response_meta, send_request};
use crate::net::trace;
use crate::{Code, Content, Error, Hint, Listing, Outcome, Phase, Response, RunContext};

/// The attribute block that contains the form.
const ASK: &str = "ASK";

/// Fetches the form of an item, fills it with the answers of the caller or of the user at the terminal, and sends it.
/// If answers are needed and there are none, the form itself is the response.
pub(super) async fn fill_form(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let mut response = match send_request(&request.for_attributes(), false, plan, ctx).await? {
        ResponseStart::Accepted(response) => response,
        ResponseStart::Rejected(rejection) => return rejection_outcome(&rejection, plan),
    };
    if !response.is_gopher_plus() {
        return outcome_without_gopher_plus(*response, request, plan);
    }
    let form = read_form(&mut response, ctx).await?;
    if form.questions.is_empty() {
        return Err(no_form_error());
    }
    let Some(values) = collect_answers(&form.questions, plan, ctx).await? else {
        return Ok(Outcome::Response(form_listing(form.entry, plan)));
    };
    let data = encode_answers(&form.questions, &values)
        .map_err(|error| Error::new(Code::Usage, Phase::Plan, format!("the form: {error}")))?;
    trace::sent(&"(the filled form)");
    let mut outcome = send_filled_form(&request.filled_with(data), plan, ctx).await?;
    if let (Outcome::Response(response), true) = (&mut outcome, values.is_empty()) {
        let notes = form.questions.iter().map(|note| format!("note of the form: {}", sanitise(&note.prompt)));
        response.meta.notes.extend(notes.map(Into::into));
    }
    Ok(outcome)
}

/// Sends a filled form. It is not sent a second time after an error, because the server may have processed it.
async fn send_filled_form(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    fetch_item(request, plan, ctx).await.map_err(Error::retry_only_if_unsent)
}

/// Sends the filled form that the URL contains. Its lines could be commands of another protocol, so it is sent only if
/// the item has a form, and never after a redirect to another server.
pub(super) async fn send_form_of_url(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    if plan.is_cross_origin {
        let detail = "a filled form is not sent after a redirect to another server";
        return Err(Error::new(Code::Policy, Phase::Plan, detail));
    }
    let mut response = match send_request(&request.for_attributes(), false, plan, ctx).await? {
        ResponseStart::Accepted(response) => response,
        ResponseStart::Rejected(rejection) => return rejection_outcome(&rejection, plan),
    };
    if !response.is_gopher_plus() || read_form(&mut response, ctx).await?.questions.is_empty() {
        return Err(no_form_error());
    }
    send_filled_form(request, plan, ctx).await
}

/// A server without Gopher+ has no forms. Its response is the item, which is returned unless the caller gave answers.
fn outcome_without_gopher_plus(
    response: GopherResponse,
    request: &GopherRequest,
    plan: &GopherPlan,
) -> Result<Outcome, Error> {
    if plan.options.answers.is_empty() && request.plus() == Some(PlusRequest::RequestForm) {
        return Ok(response.into_outcome(plan, Vec::new()));
    }
    Err(no_form_error())
}

fn no_form_error() -> Error {
    Error::new(Code::NotFound, Phase::Request, "the item has no form")
}

/// A menu item and the questions of its form.
struct Form {
    entry: Option<Entry>,
    questions: Vec<Question>,
}

async fn read_form(response: &mut GopherResponse, ctx: &RunContext) -> Result<Form, Error> {
    let entry = ctx.deadline.bound(Phase::Reply, response.read_single_entry()).await?;
    let questions = match entry.as_ref().map(|entry| &entry.details) {
        Some(Details::MenuItem(_, Some(attributes))) => {
            let lines = attributes.block(ASK).map(|block| block.lines.as_slice()).unwrap_or_default();
            lines.iter().filter_map(|line| Question::parse(line)).collect()
        }
        _ => Vec::new(),
    };
    Ok(Form { entry, questions })
}

/// Returns the form as a listing with one entry.
fn form_listing(entry: Option<Entry>, plan: &GopherPlan) -> Response {
    let entries = entry.into_iter().map(|mut entry| {
        keep_attributes(&mut entry, &[ASK.as_bytes().to_vec()]);
        Ok(entry)
    });
    Response::new(response_meta(plan, true), Content::Listing(Listing::from_entries(entries)))
}

/// Returns the answers in the order of the questions, or `None` if neither the caller nor the user gives any.
async fn collect_answers(
    questions: &[Question],
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let answers = &plan.options.answers;
    let asked: Vec<&Question> = questions.iter().filter(|question| question.needs_answer()).collect();
    check_question_names(&asked, answers)?;
    if asked.is_empty() {
        // A form of notes is sent without answers.
        return Ok(Some(Vec::new()));
    }
    let given = match_answers(questions, answers);
    let is_incomplete =
        questions.iter().zip(&given).any(|(question, answer)| question.needs_answer() && answer.is_none());
    if is_incomplete
        && let Some(answers) =
            ctx.password_prompt.fill_form(&plan.url, questions, &given, &ctx.deadline).await?
    {
        return Ok(Some(answers));
    }
    if answers.is_empty() {
        return Ok(None);
    }
    let asked = questions.iter().zip(given).filter(|(question, _)| question.needs_answer()).enumerate();
    asked
        .map(|(index, (question, answer))| answer.map_or_else(|| default_answer(index, question), Ok))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Returns the caller's answer to each question.
fn match_answers(questions: &[Question], answers: &[(Vec<u8>, Vec<u8>)]) -> Vec<Option<Vec<u8>>> {
    let mut index = 0;
    let answer_to = |question: &Question| {
        if !question.needs_answer() {
            return None;
        }
        let answer = answers.iter().rev().find(|(name, _)| is_question_name(index, question, name));
        index += 1;
        answer.map(|(_, answer)| answer.clone())
    };
    questions.iter().map(answer_to).collect()
}

/// Returns `true` if `name` is the number of the question, counted from 1, or its text.
fn is_question_name(index: usize, question: &Question, name: &[u8]) -> bool {
    name == (index + 1).to_string().as_bytes()
        || trim_prompt(name).eq_ignore_ascii_case(trim_prompt(&question.prompt))
}

/// Removes white space and the punctuation at the end of a prompt, such as `: `.
fn trim_prompt(prompt: &[u8]) -> &[u8] {
    let mut prompt = prompt.trim_ascii();
    while let Some((b':' | b'?' | b' ', rest)) = prompt.split_last() {
        prompt = rest;
    }
    prompt
}

/// Fails with `Code::Usage` if the caller answers a question that the form does not contain.
fn check_question_names(asked: &[&Question], answers: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Error> {
    let is_known = |name: &[u8]| {
        asked.iter().enumerate().any(|(index, question)| is_question_name(index, question, name))
    };
    let Some((name, _)) = answers.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
    let prompts: Vec<String> =
        asked.iter().map(|question| format!("\"{}\"", sanitise(&question.prompt))).collect();
    let detail = format!("the form has no question \"{}\"", sanitise(name));
    let hint = format!("the questions of the form are {}", prompts.join(", "));
    Err(Error::new(Code::Usage, Phase::Plan, detail).with_hint(hint))
}

fn default_answer(index: usize, question: &Question) -> Result<Vec<u8>, Error> {
    question.default_value().map(<[u8]>::to_vec).ok_or_else(|| {
        let detail = format!("no answer to \"{}\"", sanitise(&question.prompt));
        Error::new(Code::Usage, Phase::Plan, detail).with_hint(Hint::AnswerForm(index + 1))
    })
}
