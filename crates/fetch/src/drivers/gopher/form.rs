//! Items behind a form (Gopher+ `+ASK`, RFC 1738 §3.4.9): the form is fetched, filled, and sent.

use fetch_url_proto::gopher::{GopherRequest, Plus};
use fetch_url_proto::gopher_plus::{Question, answers};
use fetch_url_proto::text::printable;
use fetch_url_proto::{Details, Entry};

use super::plan::GopherPlan;
use super::talk::{Begun, Talk, begin, keep};
use super::{io, refusal};
use crate::engine::{dialogue, retry};
use crate::{Code, Content, Ctx, Error, Listing, Outcome, Phase, Response};

/// The form's attribute.
const ASK: &str = "ASK";

/// Fills the form of an item with what the caller gave, or the person at the terminal; where there is
/// neither, the form itself is the answer.
pub(super) async fn fill(request: &GopherRequest, plan: &GopherPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let mut talk = match begin(&request.for_attributes(), false, plan, ctx).await? {
        Begun::Talk(talk) => talk,
        Begun::Refused(refused) => return refusal::outcome(&refused, plan),
    };
    if !talk.is_plus() {
        return without_forms(talk, request, plan);
    }
    let form = form(&mut talk, ctx).await?;
    if form.questions.is_empty() {
        return Err(no_form());
    }
    let Some(values) = values(&form.questions, plan, ctx).await? else {
        return Ok(Outcome::Answer(shown(form.entry, plan)));
    };
    let data = answers(&form.questions, &values)
        .map_err(|error| Error::new(Code::Usage, Phase::Plan, format!("the form: {error}")))?;
    dialogue::said(&"(the form, filled)");
    send(&request.filled_with(data), plan, ctx).await
}

/// Sends a filled form once: it may have done something, whatever becomes of the answer.
async fn send(filled: &GopherRequest, plan: &GopherPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    io::fetch(filled, plan, ctx).await.map_err(retry::once_only)
}

/// Sends a form that came filled in a URL. Its lines could be commands to some other server, so it is
/// sent only where the item has that form, and never to where an answer pointed.
pub(super) async fn send_again(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &Ctx,
) -> Result<Outcome, Error> {
    if plan.is_abroad {
        let detail = "a filled form is not sent to where another server points";
        return Err(Error::new(Code::Policy, Phase::Plan, detail));
    }
    let mut talk = match begin(&request.for_attributes(), false, plan, ctx).await? {
        Begun::Talk(talk) => talk,
        Begun::Refused(refused) => return refusal::outcome(&refused, plan),
    };
    if !talk.is_plus() || form(&mut talk, ctx).await?.questions.is_empty() {
        return Err(no_form());
    }
    send(request, plan, ctx).await
}

/// A server without Gopher+ has no forms: its answer is the item, unless answers were given for one.
fn without_forms(talk: Box<Talk>, request: &GopherRequest, plan: &GopherPlan) -> Result<Outcome, Error> {
    if plan.options.answers.is_empty() && request.plus() == Some(Plus::Form) {
        return Ok(io::arriving(talk, plan, Vec::new()));
    }
    Err(no_form())
}

fn no_form() -> Error {
    Error::new(Code::NotFound, Phase::Request, "the item has no form to be filled")
}

/// An item and the questions of its form.
struct Form {
    entry: Option<Entry>,
    questions: Vec<Question>,
}

async fn form(talk: &mut Talk, ctx: &Ctx) -> Result<Form, Error> {
    let entry = ctx.deadline.bound(Phase::Reply, talk.only_entry()).await?;
    let questions = match entry.as_ref().map(|entry| &entry.details) {
        Some(Details::MenuItem(_, Some(attributes))) => {
            let lines = attributes.block(ASK).map(|block| block.lines.as_slice()).unwrap_or_default();
            lines.iter().filter_map(|line| Question::parse(line)).collect()
        }
        _ => Vec::new(),
    };
    Ok(Form { entry, questions })
}

/// The form as a listing of its item.
fn shown(entry: Option<Entry>, plan: &GopherPlan) -> Response {
    let entries = entry.into_iter().map(|mut entry| {
        keep(&mut entry, &[ASK.as_bytes().to_vec()]);
        Ok(entry)
    });
    Response::new(io::meta(plan, true), Content::Listing(Listing::from_entries(entries)))
}

/// What answers the questions, in their order; none when nobody answers any.
async fn values(questions: &[Question], plan: &GopherPlan, ctx: &Ctx) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let answers = &plan.options.answers;
    check_names(&answered(questions), answers)?;
    let given = given(questions, answers);
    let wants_more =
        questions.iter().zip(&given).any(|(question, value)| question.is_answered() && value.is_none());
    if wants_more && let Some(values) = ctx.asking.fill(&plan.url, questions, &given, &ctx.deadline).await? {
        return Ok(Some(values));
    }
    if answers.is_empty() {
        return Ok(None);
    }
    let asked = questions.iter().zip(given).filter(|(question, _)| question.is_answered()).enumerate();
    asked
        .map(|(index, (question, value))| value.map_or_else(|| default(index, question), Ok))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn answered(questions: &[Question]) -> Vec<&Question> {
    questions.iter().filter(|question| question.is_answered()).collect()
}

/// The caller's answer to each question: by its number from 1, or its text.
fn given(questions: &[Question], answers: &[(Vec<u8>, Vec<u8>)]) -> Vec<Option<Vec<u8>>> {
    let mut index = 0;
    let value = |question: &Question| {
        if !question.is_answered() {
            return None;
        }
        let answer = answers.iter().rev().find(|(name, _)| is_named(index, question, name));
        index += 1;
        answer.map(|(_, value)| value.clone())
    };
    questions.iter().map(value).collect()
}

fn is_named(index: usize, question: &Question, name: &[u8]) -> bool {
    name == (index + 1).to_string().as_bytes() || plain(name).eq_ignore_ascii_case(plain(&question.prompt))
}

/// A question without what is only there to look good.
fn plain(prompt: &[u8]) -> &[u8] {
    let mut prompt = prompt.trim_ascii();
    while let Some((b':' | b'?' | b' ', rest)) = prompt.split_last() {
        prompt = rest;
    }
    prompt
}

/// An answer to a question that is not asked is a mistake of the caller's.
fn check_names(asked: &[&Question], answers: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Error> {
    let is_known =
        |name: &[u8]| asked.iter().enumerate().any(|(index, question)| is_named(index, question, name));
    let Some((name, _)) = answers.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
    let prompts: Vec<String> =
        asked.iter().map(|question| format!("\"{}\"", printable(&question.prompt))).collect();
    let detail = format!("the form does not ask \"{}\"", printable(name));
    let hint = format!("it asks {}", prompts.join(", "));
    Err(Error::new(Code::Usage, Phase::Plan, detail).with_hint(hint))
}

fn default(index: usize, question: &Question) -> Result<Vec<u8>, Error> {
    question.default_value().map(<[u8]>::to_vec).ok_or_else(|| {
        let detail = format!("no answer to \"{}\"", printable(&question.prompt));
        let hint = format!("--form {}=VALUE answers it", index + 1);
        Error::new(Code::Usage, Phase::Plan, detail).with_hint(hint)
    })
}
