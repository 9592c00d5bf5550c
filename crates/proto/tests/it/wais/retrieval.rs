//! Retrievals, piece by piece; nothing is done before its time.

use std::ops::Range;

use crate::wais::transcript::{
    ID, all, answer, asked_for, check, diagnostic, field, framed, full, group, play,
};
use crate::wais::transcript::{response, response_to, retrieval, search, sf, text};
use fetch_url_proto::{Event, RecvBuffer, Step};

/// §9, "End of the document".
#[test]
fn ranges_within_at_and_over_the_end() {
    let check =
        |wanted, records: &[Vec<u8>], expected| check(&retrieval(wanted), &[answer(records)], expected);
    check(0..3, &[text(b"abc")], "ask 0-3 | head | body abc | done");
    check(0..7, &[text(b"abcdefg")], "ask 0-7 | head | body abcdefg | done");
    check(4..9, &[text(b"efg"), sf()], "ask 4-9 | head | body efg | done");
    check(7..9, &[text(b""), sf()], "ask 7-9 | refused SF Request out of range | done");
    check(8..9, &[sf()], "ask 8-9 | refused SF Request out of range | done");
    check(0..u64::MAX, &[text(b"abc"), sf()], "ask 0-10000 | head | body abc | done");
    check(0..u64::MAX, &[sf(), text(b"abc")], "ask 0-10000 | head | body abc | done");
    check(5..u64::MAX, &[text(b"abc"), sf()], "ask 5-10005 | head | body abc | done");
    check(0..u64::MAX, &[text(b""), sf()], "ask 0-10000 | head | done");
    // A server that only gives less.
    check(0..u64::MAX, &[text(b"abc")], "ask 0-10000 | head | body abc | unmarked | done");
    check(0..u64::MAX, &[text(b"")], "ask 0-10000 | head | unmarked | done");
    let end = u64::MAX;
    check(Range { start: 5, end: 3 }, &[text(b"")], "ask 5-5 | refused | done");
    check(5..5, &[sf()], "ask 5-5 | refused SF Request out of range | done");
    let last = format!("ask {}-{end} | head | body abc | done", end - 3);
    check(end - 3..end, &[text(b"abc")], &last);
}

/// The document of §14, of 24029 bytes.
#[test]
fn documents_of_several_pieces() {
    let begun = "ask 0-10000 | ask 10000-20000 | head | body 10000*a | ask 20000-30000 | body 10000*b";
    let pieces = |rest: &[Vec<u8>]| [answer(&[full(b'a')]), answer(&[full(b'b')]), answer(rest)];
    let tail = || text(&[b'c'; 4029]);
    let known = format!("{} | body 4029*c | done", begun.replace("30000", "24029"));
    check(&retrieval(0..24_029), &pieces(&[tail()]), &known);
    let ended = format!("{begun} | body 4029*c");
    all(&pieces(&[tail(), sf()]), &format!("{ended} | done"));
    all(&pieces(&[tail()]), &format!("{ended} | unmarked | done"));
    // What is longer than it was said to be is not asked for; shorter is the end.
    check(
        &retrieval(0..20_000),
        &pieces(&[])[..2],
        &format!("{} | done", begun.replace("ask 20000-30000 | ", "")),
    );
    for end in [&[text(b""), sf()][..], &[sf()]] {
        all(&pieces(end), &format!("{begun} | done"));
    }
    for end in [&[text(b"")][..], &[]] {
        all(&pieces(end), &format!("{begun} | unmarked | done"));
    }
    let no_group = [answer(&[full(b'a')]), response(b"")];
    all(&no_group, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | unmarked | done");
    all(&[answer(&[full(b'a')])], "ask 0-10000 | ask 10000-20000 | head | body 10000*a | waits");
    // Out of range on a piece that is full is the end, too.
    all(&[answer(&[full(b'a'), sf()])], "ask 0-10000 | ask 10000-20000 | head | body 10000*a | done");
}

#[test]
fn out_of_range_at_the_start_is_an_empty_document() {
    all(&[answer(&[sf()])], "ask 0-10000 | head | done");
    check(&retrieval(3..9), &[answer(&[sf()])], "ask 3-9 | refused SF Request out of range | done");
}

#[test]
fn an_answer_without_text_is_no_document() {
    for (information, words) in [
        (group(99, &[]), ""),
        (Vec::new(), ""),
        (group(99, &[group(153, &[field(116, ID)])]), ""),
        (group(99, &[group(150, &[field(116, ID)])]), ""),
        (group(99, &[diagnostic("SFMissing DocID in request")]), " SF Missing DocID in request"),
        (group(99, &[diagnostic("S1no")]), " S1 no"),
        (group(99, &[diagnostic("T4")]), " T4"),
    ] {
        all(&[response(&information)], &format!("ask 0-10000 | refused{words} | done"));
    }
    all(&[framed(b"")], "ask 0-10000 | refused | done");
    check(&search, &[framed(b"")], "search | refused | done");
}

/// §9.3: a zero-length message is an error, first and later.
#[test]
fn a_message_of_length_0_is_no_end() {
    let answers = [answer(&[full(b'a')]), framed(b"")];
    all(&answers, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | refused | done");
}

/// §9.6: the text stays, and its reader is told. A complaint in the place of bytes is no end of a document.
#[test]
fn complaints_beside_text() {
    let complaint = || diagnostic("S1x");
    let is_told = |answers: &[Vec<u8>], expected: &str| {
        let told = play(&retrieval(0..u64::MAX), answers, &|_| false, None);
        let is_talk = |word: &&String| *word == "note" || *word == "heard S1 x";
        assert_eq!(told.iter().filter(is_talk).count(), 2, "{told:?}");
        let rest: Vec<_> = told.iter().filter(|word| !is_talk(word)).map(String::as_str).collect();
        assert_eq!(rest.join(" | "), expected);
    };
    is_told(&[answer(&[text(b"a"), complaint()])], "ask 0-10000 | head | body a | refused S1 x | done");
    is_told(&[answer(&[complaint(), text(b"a")])], "ask 0-10000 | head | body a | refused S1 x | done");
    is_told(&[answer(&[text(b"a"), complaint(), sf()])], "ask 0-10000 | head | body a | done");
    is_told(&[answer(&[text(b"a"), sf(), complaint()])], "ask 0-10000 | head | body a | done");
    let more = "ask 0-10000 | ask 10000-20000 | head | body 10000*a";
    let told = format!("{more} | body b | done");
    is_told(&[answer(&[full(b'a'), complaint()]), answer(&[text(b"b"), sf()])], &told);
    let refused = format!("{more} | body b | refused S1 x | done");
    is_told(&[answer(&[full(b'a')]), answer(&[text(b"b"), complaint()])], &refused);
    let failed = format!("{more} | refused S1 x | done");
    all(&[answer(&[full(b'a')]), answer(&[complaint()])], &failed);
    all(&[answer(&[full(b'a')]), answer(&[text(b""), complaint()])], &failed);
    all(&[answer(&[full(b'a')]), answer(&[sf(), complaint()])], &failed);
    all(&[answer(&[text(b""), complaint()])], "ask 0-10000 | refused S1 x | done");
}

#[test]
fn more_than_was_asked_for() {
    check(&retrieval(0..3), &[answer(&[text(b"abcd")])], "ask 0-3 | unexpected");
    all(&[answer(&[text(&[b'a'; 10_001])])], "ask 0-10000 | ask 10000-20000 | unexpected");
    let later = [answer(&[full(b'a')]), answer(&[text(&[b'b'; 10_001])])];
    all(&later, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | ask 20000-30000 | unexpected");
}

/// Bytes that have come are told or refused, but not lost.
#[test]
fn several_text_records() {
    let told = play(&retrieval(0..9), &[answer(&[text(b"abc"), text(b"de")])], &|_| false, None);
    let body: String = told.iter().filter_map(|word| word.strip_prefix("body ")).collect();
    assert!(body == "abcde" || told.ends_with(&["unexpected".to_owned()]), "{told:?}");
}

/// There is no end to it but what was asked for.
#[test]
fn endless_pieces() {
    for (end, count) in [(u64::MAX, None), (4_005_000, Some(401)), (3_000_000, Some(300))] {
        let (mut machine, mut buffer) = (retrieval(0..end)(), RecvBuffer::new());
        let (mut asked, mut requested, mut received) = (0, 0, 0);
        let is_done = loop {
            match machine.step(&mut buffer).expect("an answer") {
                Step::Send(_) if asked == 500 => break false,
                Step::Send(request) => {
                    let to = end.min(requested + 10_000);
                    assert_eq!(asked_for(&request), format!("ask {requested}-{to}"));
                    asked += 1;
                    buffer.push(&answer(&[text(&vec![b'a'; (to - requested) as usize])]));
                    requested = to;
                    assert!(requested <= received + 20_000, "more than two requests are pending");
                }
                Step::Emit(Event::Body(bytes)) => received += bytes.len() as u64,
                Step::Emit(_) => {}
                Step::Done => break true,
                step => panic!("{step:?}"),
            }
        };
        assert_eq!(is_done.then_some(asked), count);
        assert!(!is_done || received == end);
    }
}

/// An answer that comes twice is none to the next request.
#[test]
fn answers_to_other_requests() {
    let piece = |reference: &str, byte| response_to(Some(reference), &group(99, &[full(byte)]));
    let told = |answers: &[Vec<u8>]| play(&retrieval(0..u64::MAX), answers, &|_| false, None).join(" | ");
    let first = "ask 0-10000 | ask 10000-20000 | head | body 10000*a";
    let end = response_to(Some("5"), &group(99, &[sf()]));
    assert_eq!(
        told(&[piece("3", b'a'), piece("4", b'b'), end]),
        format!("{first} | ask 20000-30000 | body 10000*b | done")
    );
    let asked = format!("{first} | ask 20000-30000 | unexpected");
    assert_eq!(told(&[piece("3", b'a'), piece("3", b'a')]), asked);
    // A server that says which request it answers says so always; and of which document the bytes are.
    assert_eq!(told(&[piece("3", b'a'), answer(&[full(b'a')])]), asked);
    let other = group(153, &[field(116, b"\x03\x01y"), field(127, b"abc")]);
    assert_eq!(told(&[answer(&[other])]), "ask 0-10000 | unexpected");
    // What arrives before it was requested is no answer either, whatever its reference is.
    let short = response_to(Some("3"), &group(99, &[text(b"abc"), sf()]));
    let both = [short, piece("4", b'b')].concat();
    assert_eq!(told(&[both]), "ask 0-10000 | head | body abc | done");
    let (mut machine, mut buffer) = (retrieval(0..u64::MAX)(), RecvBuffer::new());
    buffer.push(&piece("3", b'a'));
    assert!(machine.step(&mut buffer).is_err());
}
