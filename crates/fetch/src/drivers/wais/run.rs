//! Runs a plan: a search, or the retrieval of a document.

use std::borrow::Cow;

use fetch_url_core::PercentEncoded;
use fetch_url_proto::wais::{DocumentId, Retrieval, WaisName};
use fetch_url_proto::{Event, Step};

use super::document::document_body;
use super::exchange::start_exchange;
use super::plan::{WaisOperation, WaisPlan, new_search};
use super::search_results::search_listing;
use crate::driver::RunFuture;
use crate::{Content, Error, Meta, Outcome, Phase, Plan, Response, RunContext};

impl Plan for WaisPlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(run_plan(*self, ctx))
    }
}

async fn run_plan(plan: WaisPlan, ctx: RunContext) -> Result<Outcome, Error> {
    match &plan.operation {
        WaisOperation::Search { database, words } => run_search(database, words.as_ref(), &plan, &ctx).await,
        WaisOperation::Retrieve { database, wtype, id, range } => {
            // Requesting one byte is enough to check that the document exists.
            let requested = if plan.wants_head { 0..1 } else { range.clone() };
            let retrieval = Retrieval::new(database.clone(), wtype.clone(), id.clone(), requested);
            let mut outcome =
                run_retrieval(retrieval, range.start, media_type(wtype.as_bytes()), &plan, &ctx).await?;
            if let (Outcome::Response(response), true) = (&mut outcome, plan.wants_head) {
                response.meta.fields.extend(document_fields(database, wtype, id));
            }
            Ok(outcome)
        }
    }
}

async fn run_search(
    database: &WaisName,
    words: Option<&PercentEncoded<'_>>,
    plan: &WaisPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let (mut connection, notes) = start_exchange(new_search(database, words)?, plan, ctx).await?;
    let mut meta = response_meta(plan, notes);
    if words.is_none() {
        meta.notes.push("this describes the database; to search it, add ?WORDS to the URL".into());
    }
    if !plan.wants_head {
        return Ok(outcome(meta, Content::Listing(search_listing(connection, plan))));
    }
    let mut count = 0_u64;
    while let Step::Emit(event) = ctx.deadline.bound(Phase::Reply, connection.step()).await? {
        match event {
            Event::Entry(_) => count += 1,
            Event::Note(note) if !meta.notes.contains(&note) => meta.notes.push(note),
            _ => {}
        }
    }
    meta.fields.push(("Documents".to_owned(), count.to_string().into()));
    Ok(outcome(meta, Content::Head))
}

async fn run_retrieval(
    retrieval: Retrieval,
    offset: u64,
    media_type: Option<&str>,
    plan: &WaisPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let (connection, notes) = start_exchange(retrieval, plan, ctx).await?;
    let mut meta = response_meta(plan, notes);
    meta.offset = offset;
    meta.media_type = media_type.map(str::to_owned);
    let content = if plan.wants_head { Content::Head } else { Content::Body(document_body(connection)) };
    Ok(outcome(meta, content))
}

/// Returns the known properties of a document as header fields: servers report neither its size nor its time.
fn document_fields<'d>(
    database: &'d WaisName,
    wtype: &'d WaisName,
    id: &'d DocumentId,
) -> impl Iterator<Item = (String, Vec<u8>)> + 'd {
    let names = [("Database", database.as_bytes()), ("Type", wtype.as_bytes())];
    names.into_iter().chain(id.parts()).map(|(name, value)| (name.to_owned(), value.to_vec()))
}

/// Returns the media type for the document types that the WAIS gateways of early browsers supported.
fn media_type(wtype: &[u8]) -> Option<&'static str> {
    match wtype.to_ascii_uppercase().as_slice() {
        b"GIF" => Some("image/gif"),
        b"HTML" => Some("text/html"),
        b"TEXT" => Some("text/plain"),
        b"WSRC" => Some("application/x-wais-source"),
        _ => None,
    }
}

fn outcome(meta: Meta, content: Content) -> Outcome {
    Outcome::Response(Response::new(meta, content))
}

fn response_meta(plan: &WaisPlan, notes: Vec<Cow<'static, str>>) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("WAIS");
    meta.notes = notes;
    meta
}
