//! What becomes of an errand that a server refuses: other words, an empty directory, or an error.

use fetch_url_proto::ftp::{Fault, Verb};
use fetch_url_proto::text::Reply;

use super::line::{Line, Trouble};
use super::plan::FtpPlan;
use super::serve::range_refused;
use super::wording::Wording;
use super::{fault, listing};
use crate::engine::dialogue;
use crate::engine::waiting::Key;
use crate::{Again, Code, Content, Ctx, Error, Meta, Outcome, Response};

/// A refusal: for the caller, or a reason to put it in other words.
pub(super) async fn refused(
    trouble: Trouble,
    mut line: Line,
    key: Key,
    plan: FtpPlan,
    ctx: &Ctx,
) -> Result<Outcome, Error> {
    line.forget_data();
    if let Some((wording, why)) = Wording::after(&trouble, &line, &plan) {
        dialogue::decided(&why);
        if is_of_errand(&trouble) {
            plan.servers.put(key, line);
        }
        let plan = plan.worded(wording)?;
        let answer = Response::new(Meta::new(plan.url.clone()), Content::Head);
        return Ok(Outcome::Again(Again::new(answer, Box::new(plan))));
    }
    if listing::may_be_empty(&trouble, &plan) {
        let meta = Meta::new(plan.url.clone());
        return listing::empty(meta, line, key, &plan, ctx).await;
    }
    if plan.asks_for_part() && is_of_place(&trouble) {
        // What REST has set may still hold on this connection.
        return Err(range_refused("the server cannot begin there"));
    }
    if is_of_errand(&trouble) {
        plan.servers.put(key, line);
    }
    Err(fault::error(trouble))
}

/// Whether it is the position that REST has set which is refused (RFC 3659 §5).
fn is_of_place(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Fault(Fault::Refused { asked: Some(command), reply, .. })
        if command.verb() == Verb::Retr && reply.code == 554)
}

/// Whether it is a connection's fault that was used before: the server closed it while it waited, it is out
/// of step, or there is no way back in it. A new one tells.
pub(super) const fn is_of_line(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Silent => true,
        Trouble::Lost(error) => {
            matches!(error.code(), Code::EmptyReply | Code::PeerMisbehaved | Code::TimedOut | Code::Policy)
        }
        Trouble::Fault(fault) => matches!(
            fault,
            Fault::Closing(_) | Fault::OutOfStep { .. } | Fault::Refused { is_way_home: true, .. }
                // The data connection that was begun ahead has waited too long.
                | Fault::Refused { reply: Reply { code: 425, .. }, .. }
        ),
        Trouble::NoData(_) => false,
    }
}

/// Whether only the errand was refused, so that the connection is good for others.
const fn is_of_errand(trouble: &Trouble) -> bool {
    use Verb::{Acct, Pass, Pbsz, Prot, User};
    match trouble {
        Trouble::Fault(Fault::Refused { asked: Some(command), .. }) => {
            !matches!(command.verb(), User | Pass | Acct | Pbsz | Prot)
        }
        _ => false,
    }
}
