//! Fetches an item in the view that the caller has chosen ("Gopher+" §2.6).

use fetch_url_proto::Details;
use fetch_url_proto::gopher::GopherRequest;
use fetch_url_proto::gopher_plus::View;
use fetch_url_proto::text::sanitise;

use super::fetch_item::fetch_item;
use super::plan::GopherPlan;
use super::response::{ResponseStart, send_request};
use crate::{Error, Outcome, Phase, RunContext};

/// The attribute block that lists the views.
const VIEWS: &str = "VIEWS";

/// Fetches the item in the view of `request`. Servers silently send another view instead of an unknown one. So the list
/// of views is requested first, and a note is added if the requested view is missing.
pub(super) async fn fetch_view(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let wanted = plan.options.view.as_deref().and_then(View::parse);
    // If the list of views cannot be fetched, no note is added.
    let offered = request_views(request, plan, ctx).await.unwrap_or_default();
    let mut outcome = fetch_item(request, plan, ctx).await?;
    if let (Outcome::Response(response), Some(wanted)) = (&mut outcome, wanted)
        && !offered.is_empty()
        && !offered.iter().any(|view| is_same_view(view, &wanted))
    {
        response.meta.notes.push(missing_view_note(&offered).into());
    }
    Ok(outcome)
}

async fn request_views(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Vec<View>, Error> {
    let ResponseStart::Accepted(mut response) =
        send_request(&request.for_attributes(), false, plan, ctx).await?
    else {
        return Ok(Vec::new());
    };
    // A server without Gopher+ sends the item itself, which is not read.
    if !response.is_gopher_plus() {
        return Ok(Vec::new());
    }
    let entry = ctx.deadline.bound(Phase::Reply, response.read_single_entry()).await?;
    let Some(Details::MenuItem(_, Some(attributes))) = entry.map(|entry| entry.details) else {
        return Ok(Vec::new());
    };
    let lines = attributes.block(VIEWS).map(|block| block.lines.as_slice()).unwrap_or_default();
    Ok(lines.iter().filter_map(|line| View::parse(line)).collect())
}

/// Compares media types without regard to ASCII case; languages only if both are known.
fn is_same_view(offered: &View, wanted: &View) -> bool {
    let is_same = |a: &[u8], b: &[u8]| a.eq_ignore_ascii_case(b);
    let has_language = match (&wanted.language, &offered.language) {
        (Some(wanted), Some(offered)) => is_same(wanted, offered),
        _ => true,
    };
    is_same(&offered.media_type, &wanted.media_type) && has_language
}

fn missing_view_note(offered: &[View]) -> String {
    let names = offered.iter().map(|view| match &view.language {
        Some(language) => [&view.media_type[..], b" ", &language[..]].concat(),
        None => view.media_type.to_vec(),
    });
    let names: Vec<_> = names.map(|name| sanitise(&name)).collect();
    format!("the server may have sent another view, because it offers only: {}", names.join(", "))
}
