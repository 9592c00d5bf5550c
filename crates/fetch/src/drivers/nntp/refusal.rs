//! A server's refusal, in everybody's words.

use fetch_url_proto::Refused;

use super::plan::NntpPlan;
use crate::{Code, Ctx, Error, Phase, StartTls};

/// The error that a refusal is.
pub(super) fn error(refused: &Refused, plan: &NntpPlan, ctx: &Ctx) -> Error {
    let asked = refused.asked.unwrap_or_default();
    let is_login = asked.starts_with("AUTHINFO");
    let reply = refused.code.unwrap_or_default();
    let insists_on_tls = plan.is_tls || ctx.dial.start_tls() == StartTls::Require;
    let code = match (asked, reply) {
        (_, 400) => Code::Busy,
        ("STARTTLS", _) if insists_on_tls => Code::TlsFailed,
        ("STARTTLS", _) => Code::AuthNeeded,
        _ if is_login => Code::AuthNeeded,
        _ => code(reply),
    };
    if is_login {
        // What somebody has typed was wrong; what is known is not sent again.
        ctx.asking.forget(&plan.url);
        if plan.login.is_some() {
            plan.servers.refuses(plan.servers.key(plan, plan.login.as_ref(), ctx));
        }
    }
    let phase = if code == Code::TlsFailed { Phase::Tls } else { Phase::Request };
    let error = Error::new(code, phase, asked).with_reply(&refused.words);
    let is_clear = asked == "STARTTLS" || (matches!(reply, 480 | 483) && !insists_on_tls);
    match code {
        Code::AuthNeeded if plan.login.is_none() => error.with_hint("-u USER:PASSWORD says who asks"),
        Code::AuthNeeded if is_clear && !plan.options.clear_login => error.with_hint(
            "no login goes out in the clear; nntps: protects it, --insecure-auth sends it all the same",
        ),
        _ => error,
    }
}

/// RFC 3977 §3.2.1, RFC 4643 §2.2.
const fn code(reply: u32) -> Code {
    match reply {
        403 => Code::Busy,
        // 412: the group has no articles, so none is selected.
        411 | 412 | 420 | 423 | 430 => Code::NotFound,
        480 | 481 | 483 => Code::AuthNeeded,
        401 | 500 | 501 | 503 => Code::Unsupported,
        502 => Code::Denied,
        _ => Code::PeerMisbehaved,
    }
}

/// Whether it says that there is no such article: others of its group may be there.
pub(super) fn is_gap(refused: &Refused) -> bool {
    let is_article = matches!(refused.asked, Some("ARTICLE" | "BODY" | "HEAD"));
    is_article && matches!(refused.code, Some(420 | 423 | 430))
}

/// Whether it is about the errand alone, and the connection can take another.
pub(super) fn is_harmless(refused: &Refused) -> bool {
    is_gap(refused) || (refused.asked == Some("GROUP") && refused.code == Some(411))
}
