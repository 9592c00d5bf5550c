//! What is known of an item without fetching it: what Gopher+ tells, else its type.

use fetch_url_proto::gopher::{GopherRequest, ItemType};
use fetch_url_proto::gopher_plus::Attributes;
use fetch_url_proto::{Details, Head};

use super::plan::GopherPlan;
use super::talk::{Begun, begin};
use super::{io, refusal};
use crate::{Content, Ctx, Error, Meta, Outcome, Phase, Response};

/// Asks for the attributes of the item; a server that does not speak Gopher+ would send the item.
pub(super) async fn ask(request: &GopherRequest, plan: &GopherPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let mut talk = match begin(request, false, plan, ctx).await? {
        Begun::Talk(talk) => talk,
        Begun::Refused(refused) => return refusal::outcome(&refused, plan),
    };
    let mut meta = io::meta(plan, talk.is_plus());
    let gtype = [plan.gtype];
    let word = ItemType::word(plan.gtype);
    meta.fields.push(("Type".to_owned(), [&gtype[..], b" ", word.as_bytes()].concat()));
    if talk.is_plus() {
        let entry = ctx.deadline.bound(Phase::Reply, talk.only_entry()).await?;
        if let Some(entry) = entry {
            meta.head = Head { size: None, modified: entry.modified };
            if let Details::MenuItem(_, Some(attributes)) = &entry.details {
                describe(&mut meta, attributes);
            }
        }
    }
    Ok(Outcome::Answer(Response::new(meta, Content::Head)))
}

/// Block by block, a field for each line.
fn describe(meta: &mut Meta, attributes: &Attributes) {
    if !attributes.info.is_empty() {
        meta.fields.push(("INFO".to_owned(), attributes.info.to_vec()));
    }
    for block in &attributes.blocks {
        let name = String::from_utf8_lossy(&block.name).into_owned();
        let inline = Some(&block.inline).filter(|inline| !inline.is_empty());
        for line in inline.into_iter().chain(&block.lines) {
            meta.fields.push((name.clone(), line.to_vec()));
        }
    }
}
