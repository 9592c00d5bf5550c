//! A model server behind a link that loses, duplicates, delays and reorders datagrams, in virtual time and with fixed
//! seeds. The received text is the text in order, complete or truncated, and the number of datagrams that the client
//! sends is limited.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::time::Duration;

use crate::prospero::transcript::Random;
use fetch_url_proto::ardp::{Action, Exchange};

const RUNS: u64 = 4000;
const TIMEOUT: Duration = Duration::from_secs(60);
const DATA: usize = 1250;

/// The faults of the link, in percent.
#[derive(Clone, Copy, Debug)]
struct LinkFaults {
    lost: usize,
    duplicated: usize,
    delayed: usize,
    foreign: usize,
}

/// A server that follows §10, with the headers of dirsrv (§4).
struct Server {
    id: u16,
    request: BTreeMap<u16, Vec<u8>>,
    answer: Vec<Vec<u8>>,
    window: u16,
    through: u16,
    expected_request: Vec<u8>,
    asks_for_time: bool,
    /// The time in milliseconds at which it last sent a part of its answer.
    replies: Option<u64>,
}

impl Server {
    /// Returns the datagrams that answer a datagram.
    fn receive(&mut self, datagram: &[u8], now: u64) -> Vec<Vec<u8>> {
        let (header, data) = datagram.split_at(usize::from(datagram[0] & 63));
        assert_eq!((header.len(), &header[1..3]), (9, &self.id.to_be_bytes()[..]));
        let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let (number, total, through) = (field(3), field(5), field(7));
        if number > 0 {
            assert!(number <= total && data.len() <= DATA);
            self.request.insert(number, data.to_vec());
        }
        if self.request.is_empty() || self.request.len() < usize::from(self.total()) {
            let has = (1..).take_while(|number| self.request.contains_key(number)).last();
            return has.map(|has| self.control(has, 0)).into_iter().collect();
        }
        let complete_text: Vec<u8> = self.request.values().flatten().copied().collect();
        assert_eq!(complete_text, self.expected_request, "the request");
        assert!(through <= self.answer.len() as u16);
        if std::mem::take(&mut self.asks_for_time) {
            return vec![self.control(0, 9)];
        }
        // Repeats within the same second are ignored (§4); otherwise duplicated windows would multiply.
        if through <= self.through && self.replies.is_some_and(|replies| now < replies + 1000) {
            return Vec::new();
        }
        self.through = self.through.max(through);
        self.replies = Some(now);
        self.packets()
    }

    fn total(&self) -> u16 {
        (self.expected_request.len().div_ceil(DATA)) as u16
    }

    fn control(&self, through: u16, wait: u16) -> Vec<u8> {
        let fields = [self.id, 0, 0, through, wait];
        [&[11][..], &fields.map(u16::to_be_bytes).concat()].concat()
    }

    /// Returns a window of the answer that starts after the packets that the client has acknowledged.
    fn packets(&self) -> Vec<Vec<u8>> {
        let last = self.answer.len() as u16;
        let from = self.through + 1;
        let to = (self.through + self.window).min(last);
        (from..=to).map(|number| self.packet(number, number == to && to < last)).collect()
    }

    fn packet(&self, number: u16, is_end_of_window: bool) -> Vec<u8> {
        let total = self.answer.len() as u16;
        let data = &self.answer[usize::from(number) - 1];
        let fields = |fields: &[u16]| fields.iter().flat_map(|field| field.to_be_bytes()).collect::<Vec<_>>();
        let header = match (total, is_end_of_window) {
            (1, _) => [vec![3], fields(&[self.id])].concat(),
            (_, true) => [vec![12], fields(&[self.id, number, total, 1, 0]), vec![0x80]].concat(),
            // While the answer is being generated, its length is unknown.
            _ if number % 3 == 1 && number < total => [vec![7], fields(&[self.id, number, 0])].concat(),
            _ => [vec![9], fields(&[self.id, number, total, 1])].concat(),
        };
        [header, data.clone()].concat()
    }
}

/// The datagrams in transit, with their arrival time in milliseconds and their destination.
struct Link {
    faults: LinkFaults,
    random: Random,
    order: u64,
    in_transit: BTreeMap<(u64, u64), (bool, Vec<u8>)>,
}

impl Link {
    fn send(&mut self, now: u64, is_for_server: bool, datagram: &[u8]) {
        let copies = 1 + usize::from(self.random.below(100) < self.faults.duplicated);
        for _ in 0..copies {
            if self.random.below(100) < self.faults.lost {
                continue;
            }
            let delay =
                if self.random.below(100) < self.faults.delayed { self.random.below(9000) } else { 20 };
            self.order += 1;
            self.in_transit.insert((now + delay as u64, self.order), (is_for_server, datagram.to_vec()));
        }
        if self.random.below(100) < self.faults.foreign {
            let foreign = self.foreign(datagram);
            self.order += 1;
            self.in_transit.insert((now + 30, self.order), (false, foreign));
        }
    }

    /// Returns a datagram of another exchange, or one that is not valid ARDP.
    fn foreign(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut foreign = datagram.to_vec();
        match self.random.below(4) {
            0 => foreign[2] ^= 1,
            1 => foreign[0] = [0, 32, 63, 0x81, 0xc9][self.random.below(5)],
            2 => foreign.truncate(self.random.below(3)),
            _ => foreign = [vec![0x41], self.random.bytes(40)].concat(),
        }
        foreign
    }
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Done,
    GaveUp,
}

fn random_faults(random: &mut Random) -> LinkFaults {
    let lost = [0, 0, 5, 20, 50, 80, 100][random.below(7)];
    let duplicated = [0, 10, 50][random.below(3)];
    let delayed = [0, 10, 60][random.below(3)];
    LinkFaults { lost, duplicated, delayed, foreign: [0, 20][random.below(2)] }
}

fn random_server(random: &mut Random, id: u16) -> Server {
    let most = if random.below(10) == 0 { 60_000 } else { 6000 };
    let text = random.bytes(most);
    let size = [1, 100, 700, DATA][random.below(4)];
    let text = &text[..text.len().min(size * 300)];
    let mut answer: Vec<_> = text.chunks(size).map(<[u8]>::to_vec).collect();
    if random.below(5) == 0 || answer.is_empty() {
        answer.insert(random.below(answer.len() + 1), Vec::new());
    }
    let most = [40, 40, 1250, 4000][random.below(4)];
    let mut expected_request = random.bytes(most);
    expected_request.push(b'\n');
    let asks_for_time = random.below(4) == 0;
    let window = [1, 4, 16, 256][random.below(4)];
    Server {
        id,
        request: BTreeMap::new(),
        answer,
        window,
        through: 0,
        expected_request,
        asks_for_time,
        replies: None,
    }
}

/// Runs one exchange and checks that the received text is always a prefix of the text.
fn run(seed: u64) -> (End, LinkFaults) {
    let mut random = Random(seed);
    let id = 1 + random.below(0xffff) as u16;
    let (faults, mut server) = (random_faults(&mut random), random_server(&mut random, id));
    let complete_text = server.answer.concat();
    let mut link = Link { faults, random, order: 0, in_transit: BTreeMap::new() };
    let at = |now: u64| Duration::from_millis(now);
    let mut exchange =
        Exchange::new(NonZeroU16::new(id).expect("an id"), &server.expected_request, TIMEOUT, at(0));
    let (mut now, mut text, mut sent, mut received, mut tries, mut last_new) = (0, Vec::new(), 0, 0, 1, 0);
    let end = loop {
        assert!(sent + received < 20_000, "seed {seed}: endless exchange");
        match exchange.next(at(now)) {
            Action::Send(datagram) => {
                sent += 1;
                link.send(now, true, &datagram);
                // Each try may send the complete request, and each received datagram may cause one acknowledgement.
                assert!(
                    sent <= received + tries * usize::from(server.total()),
                    "seed {seed}: {sent} {received} {tries}"
                );
            }
            Action::Piece(bytes) => {
                assert!(!bytes.is_empty(), "seed {seed}");
                text.extend_from_slice(&bytes);
                assert!(complete_text.starts_with(&text), "seed {seed}: another text");
            }
            Action::Wait(until) => match link.in_transit.pop_first() {
                Some(((time, _), (is_for_server, datagram))) if at(time) <= until => {
                    now = time.max(now);
                    if is_for_server {
                        let replies = if datagram[0] == 9 && datagram[1..3] == id.to_be_bytes() {
                            server.receive(&datagram, now)
                        } else {
                            Vec::new()
                        };
                        replies.iter().for_each(|datagram| link.send(now, false, datagram));
                    } else {
                        received += 1;
                        let is_ours = datagram.get(1..3) == Some(&id.to_be_bytes());
                        let is_new = exchange.receive(&datagram, at(now)).expect("no contradiction");
                        assert!(is_ours || !is_new, "seed {seed}");
                        last_new = if is_new { now } else { last_new };
                    }
                }
                later => {
                    if let Some((key, value)) = later {
                        link.in_transit.insert(key, value);
                    }
                    now = until.as_millis() as u64 + u64::from(until.subsec_nanos() % 1_000_000 > 0);
                    tries += 1;
                }
            },
            Action::Done => break End::Done,
            Action::TimedOut => break End::GaveUp,
            other => panic!("seed {seed}: {other:?}"),
        }
    };
    assert_end(&end, seed, &text, &server, now - last_new.min(now));
    (end, faults)
}

/// Checks that a complete exchange has the complete text, and that no exchange was given up early. `silence` is the time
/// since the last new datagram, in ms.
fn assert_end(end: &End, seed: u64, text: &[u8], server: &Server, silence: u64) {
    let complete_text = server.answer.concat();
    match end {
        End::Done => assert!(text == complete_text, "seed {seed}: incomplete text"),
        End::GaveUp => {
            assert!(silence >= 59_990, "seed {seed}: gave up {silence} ms after the last new datagram");
            assert!(
                text.len() < complete_text.len()
                    || complete_text.is_empty()
                    || server.answer.last().is_some_and(Vec::is_empty)
                    || server.answer.len() > 1,
                "seed {seed}"
            );
        }
    }
}

#[test]
fn text_over_a_lossy_link_is_a_prefix_in_order() {
    let mut ends = BTreeMap::<usize, (u64, u64)>::new();
    for seed in 0..RUNS {
        let (end, faults) = run(seed);
        let (done, gave_up) = ends.entry(faults.lost).or_default();
        *if end == End::Done { done } else { gave_up } += 1;
    }
    assert_eq!(ends.keys().copied().collect::<BTreeSet<_>>(), BTreeSet::from([0, 5, 20, 50, 80, 100]));
    // The exchange succeeds as long as one of four tries arrives.
    assert_eq!(ends[&0].1, 0, "{ends:?}");
    assert!(ends[&5].0 > 99 * ends[&5].1, "{ends:?}");
    assert_eq!(ends[&100].0, 0, "{ends:?}");
    assert!(ends[&20].0 > 9 * ends[&20].1, "{ends:?}");
}

/// Random datagrams with the right id: the client sends at most a fixed number of datagrams for each one received, and
/// never withdraws delivered text.
#[test]
fn random_datagrams_cause_a_bounded_number_of_replies() {
    let mut random = Random(1525);
    for round in 0..2000 {
        let id = NonZeroU16::new(0x011a).expect("an id");
        let mut exchange = Exchange::new(id, b"x\n", TIMEOUT, Duration::ZERO);
        let (mut sent, mut received, mut kept) = (0, 0, BTreeMap::new());
        let (mut text, mut end) = (Vec::new(), None);
        for second in 0..60 {
            let now = Duration::from_millis(second);
            let mut datagram = [
                vec![1 + random.below(31) as u8, 1, 0x1a, 0, random.below(4) as u8],
                vec![0, random.below(2) as u8 * 3],
                random.bytes(40),
            ]
            .concat();
            datagram.truncate(if random.below(9) == 0 { random.below(50) } else { 50 });
            received += 1;
            match exchange.receive(&datagram, now) {
                Ok(true) => {
                    let (header, data) = datagram.split_at(usize::from(datagram[0]));
                    let number = if header.len() < 5 { 1 } else { header[4] };
                    let is_control = header.get(11).is_some_and(|flags| flags & 0x40 != 0);
                    let data = if is_control { Vec::new() } else { data.to_vec() };
                    assert!(kept.insert(number, data).is_none(), "round {round}: twice");
                }
                Ok(false) => {}
                Err(_) => break,
            }
            loop {
                match exchange.next(now) {
                    Action::Send(_) => sent += 1,
                    Action::Piece(bytes) => text.extend_from_slice(&bytes),
                    other => break end = Some(other),
                }
            }
            if matches!(end, Some(Action::Done | Action::Refused | Action::Redirect(_))) {
                break;
            }
        }
        let in_order = (1..).map_while(|number| kept.get(&number)).flatten().copied().collect::<Vec<u8>>();
        assert!(in_order.starts_with(&text), "round {round}");
        if end == Some(Action::Done) {
            assert_eq!(
                (text, kept.len() == kept.keys().max().map_or(0, |last| usize::from(*last))),
                (in_order, true),
                "round {round}"
            );
        }
        // The first datagram is the request. A datagram that says that the server lost the request causes a
        // retransmission, and may also cause an acknowledgement.
        assert!(sent <= 1 + 2 * received, "round {round}: {sent} {received}");
    }
}
