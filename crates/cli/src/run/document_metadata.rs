//! Compares an object with the size and checksum that a Metalink document, the header of the response or the listing of
//! a mirror states.

use fetch_url::ftp::FtpOptions;
use fetch_url::url::{FtpPath, Typecode, Url};
use fetch_url::{Code, Content, Error, Meta, Phase, Request, Response};

use super::content_coding::has_content_coding;
use super::context::Run;
use crate::job::Transfer;
use crate::report::TransferReport;

/// Fails if the object has another size than the document states that named its URL.
pub(super) fn check_size(transfer: &Transfer, meta: &Meta) -> Result<(), Error> {
    match (transfer.size, meta.head.size) {
        (Some(stated), Some(size)) if stated != size => {
            let detail = format!("the object has {size} bytes, not {stated} as the metalink states");
            Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail).with_url(&meta.url))
        }
        _ => Ok(()),
    }
}

/// Returns `true` if the digest of a whole object that the server states is checked.
pub(super) fn checks_digest(run: &Run) -> bool {
    run.options.uses_duplicates && run.options.range.is_none()
}

/// Returns the size that the listing states for the file of `request`, or `None` if the file may have another one: a text
/// whose line ends are converted, a link, or an entry of another protocol, whose size may be rounded.
pub(super) fn listed_size(transfer: &Transfer, request: &Request) -> Option<u64> {
    let entry = transfer.entry.as_deref().filter(|entry| entry.uncertain_kind.is_none())?;
    let is_exact = match &entry.url {
        Url::Ftp(url) => {
            let typecode = url.path().and_then(FtpPath::typecode);
            matches!(typecode, None | Some(Typecode::Image))
                && !request.extra::<FtpOptions>().is_some_and(|options| options.ascii)
        }
        Url::Http(_) => true,
        _ => false,
    };
    entry.size.filter(|_| is_exact)
}

/// Checks at the end of the body that it is not shorter than the listing states. With a content coding the sizes cannot
/// be compared.
pub(super) fn with_listed_size(mut response: Response, report: &mut TransferReport) -> Response {
    // The header fields are parsed at their first access, so they are read only if there is a size.
    report.listed_size = report.listed_size.filter(|_| !has_content_coding(&response.meta));
    response.content = match (response.content, report.listed_size) {
        (Content::Body(body), Some(size)) => Content::Body(body.with_listed_size(size)),
        (content, _) => content,
    };
    response
}
