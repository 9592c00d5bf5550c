//! Attributes of an object: returned as metadata, and compared with the attributes in the URL.

use fetch_url_proto::prospero::{AttributesResult, ObjectMetadata, Query};
use fetch_url_proto::text::sanitise;

use super::plan::ProsperoPlan;
use super::query::{QueryError, QueryReply, query_attributes};
use super::response::outcome;
use crate::meta::Repetition;
use crate::net::datagram::DatagramSockets;
use crate::{Code, Content, Error, Meta, Outcome, Phase, RunContext};

/// Queries all attributes of the object and returns them as header fields.
pub(super) async fn fetch_head(
    mut metadata: ObjectMetadata,
    datagrams: DatagramSockets,
    mut meta: Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<Outcome, QueryError> {
    // If the server does not support a query for all attributes, those of the first query are returned.
    if let (Some(all), _) = query_optional(&Query::All, datagrams, plan, ctx).await?
        && !all.attributes.is_empty()
    {
        metadata = all;
    }
    meta.head.size = metadata.size();
    meta.head.modified = metadata.modified();
    let fields = metadata.attributes.iter().map(|attribute| (sanitise(&attribute.name), attribute.text()));
    meta.fields.extend(fields);
    Ok(outcome(meta, Content::Head))
}

/// Sets the size and the modification time in `meta`, if the server returns them.
pub(super) async fn query_size_and_time(
    datagrams: DatagramSockets,
    meta: &mut Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<DatagramSockets, QueryError> {
    let query = Query::Attributes(vec!["SIZE".to_owned(), "LAST-MODIFIED".to_owned()]);
    let (metadata, datagrams) = query_optional(&query, datagrams, plan, ctx).await?;
    if let Some(metadata) = metadata {
        (meta.head.size, meta.head.modified) = (metadata.size(), metadata.modified());
        if meta.head.modified.is_some() {
            meta.repetition = Repetition::Always;
        }
    }
    Ok(datagrams)
}

/// Compares the attributes of the object with the `;field=value` pairs of the URL (RFC 1738 §3.11). An attribute that
/// the server does not return is not compared, and noted in `meta`.
///
/// # Errors
/// `Code::NotFound` if an attribute differs.
pub(super) async fn verify_required(
    datagrams: DatagramSockets,
    meta: &mut Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<DatagramSockets, QueryError> {
    let is_attribute_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let names = plan.required_attributes.iter().map(|(name, _)| name.clone());
    let names: Vec<_> = names.filter(|name| is_attribute_name(name)).collect();
    let mut datagrams = datagrams;
    let mut returned = ObjectMetadata::default();
    if !names.is_empty() {
        let (metadata, rest) = query_optional(&Query::Attributes(names), datagrams, plan, ctx).await?;
        (returned, datagrams) = (metadata.unwrap_or_default(), rest);
    }
    for (name, value) in &plan.required_attributes {
        match returned.attribute(name).map(|attribute| attribute.text()) {
            Some(text) if text == *value => {}
            Some(text) => {
                let (name, value) = (sanitise(name.as_bytes()), sanitise(value));
                let detail = format!("the attribute {name} of the object is not {value}");
                let error = Error::new(Code::NotFound, Phase::Request, detail).with_reply(&text);
                return Err(error.into());
            }
            None => meta
                .notes
                .push("a field of the URL was not verified: the server does not return the attribute".into()),
        }
    }
    Ok(datagrams)
}

/// Sends a query that the server may not support. Returns `None` if the server refuses it or sends an invalid response.
async fn query_optional(
    query: &Query,
    datagrams: DatagramSockets,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<(Option<ObjectMetadata>, DatagramSockets), QueryError> {
    match query_attributes(query, datagrams, plan, ctx).await {
        Ok(QueryReply::Found(AttributesResult::Metadata(metadata), datagrams)) => {
            Ok((Some(metadata), datagrams))
        }
        Ok(QueryReply::Found(_, datagrams) | QueryReply::Rejected(_, datagrams)) => Ok((None, datagrams)),
        Err(QueryError::Failed(error)) if error.code() == Code::PeerMisbehaved => {
            Ok((None, ctx.connector.datagrams(&plan.host, plan.port, &ctx.deadline).await?))
        }
        Err(error) => Err(error),
    }
}
