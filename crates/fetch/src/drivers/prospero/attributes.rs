//! What servers know of objects: for whoever asks for that alone, and to tell whether it is the object that is meant.

use fetch_url_proto::prospero::{Inquired, ObjectFacts, Question};
use fetch_url_proto::text::printable;

use super::io::{self, Said, Stop};
use super::plan::ProsperoPlan;
use crate::net::datagram::Datagrams;
use crate::{Code, Content, Ctx, Error, Meta, Outcome, Phase};

/// All that is known of the object.
pub(super) async fn head(
    mut facts: ObjectFacts,
    datagrams: Datagrams,
    mut meta: Meta,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Outcome, Stop> {
    // A server that does not tell all has told something.
    if let (Some(all), _) = ask(&Question::All, datagrams, plan, ctx).await?
        && !all.attributes.is_empty()
    {
        facts = all;
    }
    meta.head.size = facts.size();
    meta.head.modified = facts.modified();
    let fields = facts.attributes.iter().map(|attribute| (printable(&attribute.name), attribute.text()));
    meta.fields.extend(fields);
    Ok(io::answer(meta, Content::Head))
}

/// Size and time of the object go into `meta`, where the server tells them.
pub(super) async fn describe(
    datagrams: Datagrams,
    meta: &mut Meta,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Datagrams, Stop> {
    let question = Question::Attributes(vec!["SIZE".to_owned(), "LAST-MODIFIED".to_owned()]);
    let (facts, datagrams) = ask(&question, datagrams, plan, ctx).await?;
    if let Some(facts) = facts {
        (meta.head.size, meta.head.modified) = (facts.size(), facts.modified());
    }
    Ok(datagrams)
}

/// Whether the object is what the fields of its URL say. What the server does not tell is not compared.
///
/// # Errors
/// `not_found`: it is another one.
pub(super) async fn check(
    datagrams: Datagrams,
    meta: &mut Meta,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Datagrams, Stop> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet))
    };
    let names: Vec<_> =
        plan.fields.iter().map(|(name, _)| name.clone()).filter(|name| is_name(name)).collect();
    let mut datagrams = datagrams;
    let mut told = ObjectFacts::default();
    if !names.is_empty() {
        let (facts, rest) = ask(&Question::Attributes(names), datagrams, plan, ctx).await?;
        (told, datagrams) = (facts.unwrap_or_default(), rest);
    }
    for (name, value) in &plan.fields {
        match told.attribute(name).map(|attribute| attribute.text()) {
            Some(text) if text == *value => {}
            Some(text) => {
                let detail = format!("its {} is not {}", printable(name.as_bytes()), printable(value));
                let error = Error::new(Code::NotFound, Phase::Request, detail).with_reply(&text);
                return Err(error.into());
            }
            None => meta.notes.push("a field of the URL was not compared: the server does not tell it"),
        }
    }
    Ok(datagrams)
}

/// Asks something that the server need not know, nor understand.
async fn ask(
    question: &Question,
    datagrams: Datagrams,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<(Option<ObjectFacts>, Datagrams), Stop> {
    match io::inquire(question, datagrams, plan, ctx).await {
        Ok(Said::Answer(Inquired::Facts(facts), datagrams)) => Ok((Some(facts), datagrams)),
        Ok(Said::Answer(_, datagrams) | Said::Refused(_, datagrams)) => Ok((None, datagrams)),
        Err(Stop::Failed(error)) if error.code() == Code::PeerMisbehaved => {
            Ok((None, ctx.dial.datagrams(&plan.host, plan.port, &ctx.deadline).await?))
        }
        Err(stop) => Err(stop),
    }
}
