//! Fetches the metadata of an item: its Gopher+ attributes, or only its type.

use fetch_url_proto::gopher::{GopherRequest, ItemType};
use fetch_url_proto::gopher_plus::Attributes;
use fetch_url_proto::{Details, Head};

use super::plan::GopherPlan;
use super::rejection::rejection_outcome;
use super::response::{ResponseStart, response_meta, send_request};
use crate::{Code, Content, Error, Meta, Outcome, Phase, Response, RunContext};

/// The maximum length of the name of a header field: a block may have many lines, which all get its name.
const MAX_NAME_BYTES: usize = 255;

/// Requests the attributes of the item and returns them as header fields. A server without Gopher+ sends the item
/// itself, which is not read.
pub(super) async fn fetch_head(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let mut response = match request_attributes(request, plan, ctx).await? {
        ResponseStart::Accepted(response) => response,
        ResponseStart::Rejected(rejection) => return rejection_outcome(&rejection, plan),
    };
    let mut meta = response_meta(plan, response.is_gopher_plus());
    let gtype = [plan.gtype];
    let type_name = ItemType::word(plan.gtype);
    meta.fields.push(("Type".to_owned(), [&gtype[..], b" ", type_name.as_bytes()].concat()));
    if response.is_gopher_plus() {
        let entry = ctx.deadline.bound(Phase::Reply, response.read_single_entry()).await?;
        if let Some(entry) = entry {
            meta.head = Head { modified: entry.modified, ..Head::default() };
            if let Details::MenuItem(_, Some(attributes)) = &entry.details {
                add_attribute_fields(&mut meta, attributes);
            }
        }
    }
    Ok(Outcome::Response(Response::new(meta, Content::Head)))
}

/// Requests the attributes of the item, or the item itself from a server without Gopher+ that sends nothing, because
/// the item is empty, or takes the request for another selector, which does not exist.
async fn request_attributes(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<ResponseStart, Error> {
    let response = send_request(request, false, plan, ctx).await;
    let needs_plain_request = match &response {
        Ok(ResponseStart::Accepted(_)) => false,
        Ok(ResponseStart::Rejected(rejection)) => rejection.code.is_none(),
        Err(error) => error.code() == Code::EmptyReply,
    };
    if needs_plain_request { send_request(&request.without_plus(), false, plan, ctx).await } else { response }
}

/// Adds one header field for each line of each attribute block. A long name is cut.
fn add_attribute_fields(meta: &mut Meta, attributes: &Attributes) {
    if !attributes.info.is_empty() {
        meta.fields.push(("INFO".to_owned(), attributes.info.to_vec()));
    }
    for block in &attributes.blocks {
        let name = &block.name[..block.name.len().min(MAX_NAME_BYTES)];
        let name = String::from_utf8_lossy(name).into_owned();
        let inline = Some(&block.inline).filter(|inline| !inline.is_empty());
        for line in inline.into_iter().chain(&block.lines) {
            meta.fields.push((name.clone(), line.to_vec()));
        }
    }
}
