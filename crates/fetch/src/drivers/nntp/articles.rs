//! Articles as octets: one, or those of a range, one after another.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::nntp::{ArticleAt, Ask, GroupName, HeaderReader, Part};
use fetch_url_proto::{Event, Refused, Step};

use super::io::{answer, meta};
use super::line::{Begun, Line, disagree};
use super::plan::{ALL_NUMBERS, Errand, NntpPlan};
use super::refusal;
use super::shape::Shaper;
use crate::{Body, ByteSource, Content, Ctx, Error, Outcome, Phase, Proof, Response};

/// So many articles of a range are named ahead; the session asks for as many as it sees fit.
const AHEAD: usize = 192;
/// In so many octets the date is looked for.
const HEADER_OCTETS: usize = 64 * 1024;
/// How the end of an article is known.
const PROOF: Proof = Proof::Proven("the line of one dot at its end");

/// The article whose answer has begun; where its header is a part of it, with the time when it was written.
pub(super) async fn one(line: Line, plan: &NntpPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let mut incoming = Incoming::new(line, plan, ctx, None);
    let mut meta = meta(plan);
    if plan.options.part != Part::Body {
        meta.head.modified = incoming.written().await?;
    }
    let holds = plan.condition.is_none_or(|condition| condition.holds(meta.head.modified));
    let content =
        if holds { Content::Body(Body::from_source(incoming, None, PROOF)) } else { Content::Unchanged };
    Ok(Outcome::Answer(Response::new(meta, content)))
}

/// The articles of a range, of which the answer for the first has begun.
pub(super) fn several(line: Line, plan: NntpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let rest = rest(&line, &plan)?;
    let body = Body::from_source(Incoming::new(line, &plan, &ctx, Some(rest)), None, PROOF);
    Ok(answer(&plan, Content::Body(body)))
}

/// The first number of a range is none of an article: the next one that is begins the answer.
pub(super) async fn after_a_gap(
    refused: &Refused,
    mut line: Line,
    plan: NntpPlan,
    ctx: Ctx,
) -> Result<Outcome, Error> {
    if line.pump.machine().selected().is_some_and(|group| group.count == 0) {
        return without_articles(refused, &plan, &ctx);
    }
    if !refusal::is_gap(refused) {
        return Err(refusal::error(refused, &plan, &ctx));
    }
    let mut rest = rest(&line, &plan)?;
    loop {
        rest.ask_ahead(&mut line);
        if line.pump.machine().asks().len() == 0 {
            line.wait(&plan, &ctx);
            return without_articles(refused, &plan, &ctx);
        }
        line = match line.answered(&plan, &ctx).await? {
            Begun::Line(line) => {
                let body = Body::from_source(Incoming::new(*line, &plan, &ctx, Some(rest)), None, PROOF);
                return Ok(answer(&plan, Content::Body(body)));
            }
            Begun::Refused(refused, line) if refusal::is_gap(&refused) => *line,
            Begun::Refused(refused, _) => return Err(refusal::error(&refused, &plan, &ctx)),
        };
    }
}

/// A group may have no articles, but there should be some where they were asked for by their numbers.
fn without_articles(refused: &Refused, plan: &NntpPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    if matches!(&plan.errand, Errand::Articles(_, numbers) if *numbers == ALL_NUMBERS) {
        return Ok(answer(plan, Content::Body(Body::from_bytes(Bytes::new()))));
    }
    Err(refusal::error(refused, plan, ctx))
}

/// The numbers behind the first, as far as the group has any.
fn rest(line: &Line, plan: &NntpPlan) -> Result<Rest, Error> {
    let Errand::Articles(group, numbers) = &plan.errand else { return Err(disagree()) };
    let (low, high) = line.pump.machine().selected().map_or((0, u64::MAX), |group| (group.low, group.high));
    let first = (*numbers.start() + 1).max(low);
    Ok(Rest { group: group.clone(), numbers: first..=high.min(*numbers.end()), part: plan.options.part })
}

/// What has not been asked for yet.
struct Rest {
    group: GroupName,
    numbers: RangeInclusive<u64>,
    part: Part,
}

impl Rest {
    /// Names some more to the session.
    fn ask_ahead(&mut self, line: &mut Line) {
        let session = line.pump.machine_mut();
        let named = session.asks().len();
        // Seldom, and many at a time.
        if named > AHEAD / 2 {
            return;
        }
        for number in self.numbers.by_ref().take(AHEAD - named) {
            session.ask(Ask::Article(ArticleAt::Number(self.group.clone(), number), self.part));
        }
    }
}

/// Octets of articles as they arrive.
struct Incoming {
    /// What arrived while the header was read.
    seen: VecDeque<Bytes>,
    /// As long as it is read.
    header: Option<HeaderReader>,
    /// None after the end.
    line: Option<Line>,
    shaper: Shaper,
    /// None for one article.
    rest: Option<Rest>,
    plan: NntpPlan,
    ctx: Ctx,
}

impl Incoming {
    fn new(line: Line, plan: &NntpPlan, ctx: &Ctx, rest: Option<Rest>) -> Self {
        Self {
            seen: VecDeque::new(),
            header: None,
            line: Some(line),
            shaper: Shaper::new(plan.options.shape),
            rest,
            plan: plan.clone(),
            ctx: ctx.clone(),
        }
    }

    /// When the article was written, by its header.
    async fn written(&mut self) -> Result<Option<i64>, Error> {
        let (deadline, mut looked) = (self.ctx.deadline, 0);
        self.header = Some(HeaderReader::new(0));
        while looked < HEADER_OCTETS && self.header.as_ref().is_some_and(|header| !header.is_done()) {
            let octets = deadline.bound(Phase::Body, poll_fn(|cx| self.poll_octets(cx))).await?;
            let Some(octets) = octets else { break };
            looked += octets.len();
            self.seen.push_back(octets);
        }
        Ok(self.header.take().and_then(|header| header.finish().modified))
    }

    /// The next octets; none at the end.
    fn poll_octets(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let Some(line) = &mut self.line else { return Poll::Ready(Ok(None)) };
            if let Some(rest) = &mut self.rest {
                rest.ask_ahead(line);
            }
            match ready!(line.pump.poll_step(cx))? {
                Step::Emit(Event::Body(octets)) => {
                    if let Some(header) = &mut self.header {
                        header.push(&octets);
                    }
                    match self.shaper.turn(octets) {
                        // Some are held back.
                        turned if turned.is_empty() => {}
                        turned => return Poll::Ready(Ok(Some(turned))),
                    }
                }
                Step::Done => {
                    let separator = self.separator();
                    self.end_if_last();
                    let turned = [self.shaper.turn(separator), self.shaper.end()].concat();
                    if !turned.is_empty() {
                        return Poll::Ready(Ok(Some(turned.into())));
                    }
                }
                Step::Emit(Event::Head(_)) if self.rest.is_some() => {}
                Step::Emit(Event::Refused(refused)) if self.rest.is_some() => {
                    self.take_gap(&refused)?;
                    self.end_if_last();
                }
                _ => return Poll::Ready(Err(disagree())),
            }
        }
    }

    /// What stands between several headers: where one ends could not be seen.
    fn separator(&self) -> Bytes {
        let is_header = self.rest.as_ref().is_some_and(|rest| rest.part == Part::Head);
        Bytes::from_static(if is_header { b"\r\n" } else { b"" })
    }

    /// One of several is not there: that is no fault.
    fn take_gap(&mut self, refused: &Refused) -> Result<(), Error> {
        if refusal::is_gap(refused) {
            return Ok(());
        }
        Err(refusal::error(refused, &self.plan, &self.ctx))
    }

    /// Where nothing more is to come, the connection waits for the next URL.
    fn end_if_last(&mut self) {
        if let (Some(rest), Some(line)) = (&mut self.rest, &mut self.line) {
            rest.ask_ahead(line);
            if line.pump.machine().asks().len() > 0 {
                return;
            }
        }
        if let Some(line) = self.line.take() {
            line.wait(&self.plan, &self.ctx);
        }
    }
}

impl ByteSource for Incoming {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(octets) = self.seen.pop_front() {
            return Poll::Ready(Some(Ok(octets)));
        }
        let octets = ready!(self.poll_octets(cx));
        if octets.is_err() {
            self.line = None;
        }
        Poll::Ready(octets.transpose())
    }
}
