//! An errand on one line, from where the line is to the first octet that arrives.

use std::net::IpAddr;

use fetch_url_proto::ftp::{Command, DataRoad, Fault, Step, Task, Verb, port_argument};
use tokio::net::TcpStream;

use super::line::{Line, Trouble};
use super::options::ActiveAddress;
use super::plan::FtpPlan;
use crate::engine::{dialogue, part};
use crate::net::data::Door;
use crate::{Code, Content, Credential, Ctx, Error, Meta, Phase, Response, Validator};

/// How the data connection comes about.
enum Opening {
    ByUs,
    ByServer(Door),
}

/// What a line has come to.
pub(super) enum Served {
    /// All that was wanted is known.
    Known(Box<Response>),
    /// Octets arrive.
    Arriving { meta: Meta, stream: TcpStream, end: Option<u64> },
    /// The listing is empty, and no data connection was needed to say so.
    EmptyListing(Meta),
}

/// The errand, as far as to the first octet that arrives.
pub(super) async fn serve(line: &mut Line, plan: &FtpPlan, ctx: &Ctx) -> Result<Served, Trouble> {
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
        return Ok(Served::Known(Box::new(Response::new(meta, content))));
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
    let talk = |ctx: &Ctx| Ctx { deadline: ctx.deadline.talking(), ..ctx.clone() };
    let mut talking = talk(ctx);
    loop {
        let step = line.advance(&talking).await?;
        // Whoever types a password takes time of their own.
        if step == Step::AskPassword {
            line.password(&ask(plan, ctx).await?)?;
            talking = talk(ctx);
            continue;
        }
        match step {
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

/// How the data connection is to come about; by the server only where the caller wants it so.
async fn data_road((peer, local): (IpAddr, IpAddr), plan: &FtpPlan) -> Result<(DataRoad, Opening), Error> {
    let needs_data = !matches!(plan.errand.task, Task::Facts { .. } | Task::Reach);
    let local = match plan.options.active.filter(|_| needs_data) {
        None if plan.options.no_epsv || plan.wording.by_pasv => {
            return Ok((DataRoad::PassiveV4, Opening::ByUs));
        }
        None => return Ok((DataRoad::Passive, Opening::ByUs)),
        Some(ActiveAddress::SameAsControl) => local,
        Some(ActiveAddress::At(address)) => address,
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

pub(super) fn range_refused(detail: &str) -> Error {
    Error::new(Code::RangeRefused, Phase::Request, detail)
}

pub(super) fn internal() -> Error {
    Error::new(Code::Internal, Phase::Request, "the session and its line disagree")
}
