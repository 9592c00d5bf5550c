//! One errand at a server: a connection that waits or a new one, the conversation, and what its end
//! means.

use std::net::IpAddr;

use fetch_url_proto::ftp::{Command, DataRoad, Fault, Step, Task, Verb, port_argument};
use fetch_url_proto::text::Reply;
use tokio::net::TcpStream;

use super::body::Transfer;
use super::line::{Line, Trouble};
use super::options::ActiveAddress;
use super::plan::{FtpPlan, check_part};
use super::servers::Key;
use super::wording::Wording;
use super::{fault, listing};
use crate::engine::{dialogue, part};
use crate::net::data::Door;
use crate::{
    Again, Body, Code, Content, Credential, Ctx, Error, Meta, Outcome, Phase, Proof, Response, Validator,
};

/// How the data connection comes about.
enum Opening {
    ByUs,
    ByServer(Door),
}

/// Fetches what the plan says; a server that does not understand gets it in other words.
pub(super) async fn run(plan: FtpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    check_part(&plan)?;
    let key = plan.servers.key(&plan, &ctx);
    while let Some(mut line) = plan.servers.take(&key, &plan.errand) {
        if !line.is_quiet().await {
            continue;
        }
        match serve(&mut line, &plan, &ctx).await {
            Ok(answer) => return finish(answer, line, key, plan, &ctx).await,
            Err(trouble) if is_of_line(&trouble) => {}
            Err(trouble) => return refused(trouble, line, key, plan, &ctx).await,
        }
    }
    let mut line = Line::open(&plan, &ctx).await?;
    match serve(&mut line, &plan, &ctx).await {
        Ok(answer) => finish(answer, line, key, plan, &ctx).await,
        Err(trouble) => refused(trouble, line, key, plan, &ctx).await,
    }
}

/// What a line has come to.
enum Served {
    /// All that was wanted is known.
    Known(Response),
    /// Octets arrive.
    Arriving { meta: Meta, stream: TcpStream, end: Option<u64> },
    /// The listing is empty, and no data connection was needed to say so.
    EmptyListing(Meta),
}

async fn serve(line: &mut Line, plan: &FtpPlan, ctx: &Ctx) -> Result<Served, Trouble> {
    let (road, opening) = data_road(line.ends(), plan).await?;
    if line.has_begun_to_connect() {
        // Where all of it is wanted, nothing that is known of it changes what is said; and where nothing
        // stands before it that could be refused, it is the right one.
        let is_straight = plan.wants_all() && line.is_ready_for(&plan.errand);
        line.go(&plan.errand, &DataRoad::Begun)?;
        if is_straight {
            line.transfer(0, true);
            let step = line.advance(ctx).await?;
            let stream = line.connect_data(ctx).await?;
            return arriving(step, Some(stream), opening, 0, line, plan, ctx).await;
        }
    } else {
        line.go(&plan.errand, &road)?;
    }
    until_ready(line, plan, ctx).await?;
    let meta = meta(line, plan);
    if let Some(content) = without_transfer(line, plan, &meta)? {
        return Ok(Served::Known(Response::new(meta, content)));
    }
    if meta.head.size.is_none() && plan.range.is_some() {
        known(line, plan)?;
    }
    let first = wanted(plan, &meta)?.0;
    let (stream, is_passive) = match opening {
        Opening::ByUs => (Some(line.connect_data(ctx).await.map_err(Trouble::NoData)?), true),
        Opening::ByServer(_) => (None, false),
    };
    line.transfer(first - plan.repeated(first).len() as u64, is_passive);
    ctx.dial.contact().note(|facts| facts.sent = Some(std::time::Instant::now()));
    let step = line.advance(ctx).await?;
    arriving(step, stream, opening, first, line, plan, ctx).await
}

/// Goes on until the transfer can begin.
async fn until_ready(line: &mut Line, plan: &FtpPlan, ctx: &Ctx) -> Result<(), Trouble> {
    loop {
        match line.advance(ctx).await? {
            Step::AskPassword => line.password(&ask(plan, ctx).await?)?,
            Step::Ready => return Ok(()),
            _ => return Err(internal().into()),
        }
    }
}

/// The transfer has begun, or was over before it began.
async fn arriving(
    step: Step,
    stream: Option<TcpStream>,
    opening: Opening,
    first: u64,
    line: &mut Line,
    plan: &FtpPlan,
    ctx: &Ctx,
) -> Result<Served, Trouble> {
    ctx.dial.contact().note(|facts| facts.replied = Some(std::time::Instant::now()));
    let mut meta = meta(line, plan);
    let end = wanted(plan, &meta)?.1;
    let is_from_start = line.began_at_start();
    let stream = match (step, stream, opening) {
        (Step::Done, ..) => return Ok(Served::EmptyListing(meta)),
        (Step::Receive, Some(stream), _) => stream,
        (Step::Receive, None, Opening::ByServer(door)) => door.enter(&ctx.deadline).await?,
        _ => return Err(internal().into()),
    };
    meta.offset = if is_from_start { 0 } else { first };
    if meta.offset != first && plan.resume.is_none() {
        return Err(range_refused("the server does not begin inside a file").into());
    }
    if meta.offset != first {
        dialogue::decided(&"REST was refused: from the start");
    }
    Ok(Served::Arriving { meta, stream, end })
}

/// Where to begin, and where to end where that is known.
fn wanted(plan: &FtpPlan, meta: &Meta) -> Result<(u64, Option<u64>), Error> {
    match meta.head.size {
        Some(size) => {
            let (first, end) = part::wanted(plan.resume.as_ref(), plan.range, meta, size)?;
            Ok((first, Some(end)))
        }
        None => Ok((unsized_part(plan)?, None)),
    }
}

async fn data_road((peer, local): (IpAddr, IpAddr), plan: &FtpPlan) -> Result<(DataRoad, Opening), Error> {
    let Some(active) =
        plan.options.active.filter(|_| !matches!(plan.errand.task, Task::Facts { .. } | Task::Reach))
    else {
        return Ok((
            if plan.options.no_epsv || plan.wording.by_pasv {
                DataRoad::PassiveV4
            } else {
                DataRoad::Passive
            },
            Opening::ByUs,
        ));
    };
    let local = match active {
        ActiveAddress::SameAsControl => local,
        ActiveAddress::At(address) => address,
    };
    let door = Door::open(local, peer).await?;
    let address = door.address()?;
    let extended = if plan.options.no_eprt { None } else { port_argument(address, true) };
    let road = DataRoad::Active { extended, plain: port_argument(address, false) };
    Ok((road, Opening::ByServer(door)))
}

/// The password, from whoever can be asked (RFC 1738 §3.2.1).
async fn ask(plan: &FtpPlan, ctx: &Ctx) -> Result<Vec<u8>, Error> {
    let user = plan.login.as_ref().map(Credential::user);
    let answer = ctx.asking.ask(&plan.url, user, None, &ctx.deadline).await?;
    let password = answer.as_ref().and_then(Credential::expose);
    password.map(<[u8]>::to_vec).ok_or_else(|| {
        Error::new(Code::AuthNeeded, Phase::Request, "the server wants a password, and nobody can be asked")
    })
}

/// What is known before the transfer.
fn meta(line: &Line, plan: &FtpPlan) -> Meta {
    let facts = line.facts();
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("FTP");
    meta.head.size = facts.size;
    meta.head.modified = facts.modified.as_ref().map(|modified| modified.seconds);
    meta.validator = facts.modified.as_ref().map(|modified| Validator::Modified(modified.words.clone()));
    meta.is_resumable = meta.validator.is_some() && meta.head.size.is_some();
    meta
}

/// The answer, when no octet need come.
fn without_transfer(line: &Line, plan: &FtpPlan, meta: &Meta) -> Result<Option<Content>, Trouble> {
    if plan.wants_head {
        if matches!(plan.errand.task, Task::Facts { .. }) {
            known(line, plan)?;
        }
        return Ok(Some(Content::Head));
    }
    let holds = plan.condition.is_none_or(|condition| condition.holds(meta.head.modified));
    Ok((!holds).then_some(Content::Unchanged))
}

/// 550 to SIZE and to MDTM: there is no such file, or it is a directory.
fn known(line: &Line, plan: &FtpPlan) -> Result<(), Trouble> {
    let facts = line.facts();
    let is_known = facts.size.is_some() || facts.modified.is_some();
    let refusal = facts.refusal.as_ref().filter(|reply| reply.code == 550 && !is_known);
    let (Some(reply), Task::Facts { name } | Task::Retrieve { name, .. }) = (refusal, &plan.errand.task)
    else {
        return Ok(());
    };
    let asked = Some(Command::with(Verb::Size, name.clone()).map_err(Error::from)?);
    Err(Trouble::Fault(Fault::Refused { asked, is_way_home: false, reply: reply.clone() }))
}

/// Where to begin in a file whose size is not known.
fn unsized_part(plan: &FtpPlan) -> Result<u64, Error> {
    match plan.range {
        None => Ok(0),
        Some(crate::ByteRange::Span { first, last: None }) => Ok(first),
        Some(_) => Err(range_refused("the server does not tell the size")),
    }
}

fn range_refused(detail: &str) -> Error {
    Error::new(Code::RangeRefused, Phase::Request, detail)
}

fn internal() -> Error {
    Error::new(Code::Internal, Phase::Request, "the session and its line disagree")
}

/// The answer for the engine; the line goes with the body, or waits for another errand.
async fn finish(
    served: Served,
    mut line: Line,
    key: Key,
    plan: FtpPlan,
    ctx: &Ctx,
) -> Result<Outcome, Error> {
    let (meta, stream, end) = match served {
        Served::Known(response) => {
            plan.servers.put(key, line);
            return Ok(Outcome::Answer(response));
        }
        Served::EmptyListing(meta) => return listing::empty(meta, line, key, &plan, ctx).await,
        Served::Arriving { meta, stream, end } => (meta, stream, end),
    };
    let mut arrival = line.receive(stream, &plan, ctx).await?;
    let repeated = plan.repeated(meta.offset);
    let begins = async {
        let begins = arrival.begins_with(repeated).await;
        begins.map_err(|error| Error::io(Code::Truncated, Phase::Body, "the data connection", error))
    };
    if !ctx.deadline.bound(Phase::Body, begins).await? {
        return Err(range_refused("the server does not begin where it was told to"));
    }
    let stop = end.filter(|&end| meta.head.size != Some(end)).map(|end| end - meta.offset);
    let expected = end.map(|end| end - meta.offset);
    let transfer = Transfer::new(arrival, line, key, &plan, ctx);
    let content = match &plan.errand.task {
        Task::List { .. } if plan.options.raw_listing => {
            Content::Body(Body::from_source(transfer, None, Proof::Proven("the reply 226")))
        }
        Task::List { name, by } => Content::Listing(listing::of(transfer, name.as_deref(), *by, &plan, ctx)),
        Task::Retrieve { form, .. } => Content::Body(transfer.into_body(form, expected, stop)),
        Task::Facts { .. } | Task::Reach => return Err(internal()),
    };
    Ok(Outcome::Answer(Response::new(meta, content)))
}

/// A refusal: for the caller, or a reason to put it in other words.
async fn refused(
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
const fn is_of_line(trouble: &Trouble) -> bool {
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
