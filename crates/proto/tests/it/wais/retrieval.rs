//! Retrievals, piece by piece.

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
    // The server returns fewer bytes than requested and does not report the end.
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
    let begun = "ask 0-10000 | head | body 10000*a | ask 10000-20000 | body 10000*b";
    let pieces = |rest: &[Vec<u8>]| [answer(&[full(b'a')]), answer(&[full(b'b')]), answer(rest)];
    let tail = || text(&[b'c'; 4029]);
    let known = format!("{begun} | ask 20000-24029 | body 4029*c | done");
    check(&retrieval(0..24_029), &pieces(&[tail()]), &known);
    let ended = format!("{begun} | ask 20000-30000 | body 4029*c");
    all(&pieces(&[tail(), sf()]), &format!("{ended} | done"));
    all(&pieces(&[tail()]), &format!("{ended} | unmarked | done"));
    // If the range ends with a complete piece, no further piece is requested; a short piece is the end.
    check(&retrieval(0..20_000), &pieces(&[])[..2], &format!("{begun} | done"));
    for end in [&[text(b""), sf()][..], &[sf()]] {
        all(&pieces(end), &format!("{begun} | ask 20000-30000 | done"));
    }
    for end in [&[text(b"")][..], &[]] {
        all(&pieces(end), &format!("{begun} | ask 20000-30000 | unmarked | done"));
    }
    let no_group = [answer(&[full(b'a')]), response(b"")];
    all(&no_group, "ask 0-10000 | head | body 10000*a | ask 10000-20000 | unmarked | done");
    all(&[answer(&[full(b'a')])], "ask 0-10000 | head | body 10000*a | ask 10000-20000 | waits");
    // A diagnostic "out of range" together with a full piece is the end, too.
    all(&[answer(&[full(b'a'), sf()])], "ask 0-10000 | head | body 10000*a | done");
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

/// §9.3: a zero-length message is an error, as the first and as a later answer.
#[test]
fn a_message_of_length_0_is_no_end() {
    let answers = [answer(&[full(b'a')]), framed(b"")];
    all(&answers, "ask 0-10000 | head | body 10000*a | ask 10000-20000 | refused | done");
}

/// §9.6: the text is delivered together with a note. A diagnostic without data is not the end of the document.
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
    let more = "ask 0-10000 | head | body 10000*a | ask 10000-20000";
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
    all(&[answer(&[text(&[b'a'; 10_001])])], "ask 0-10000 | unexpected");
    let later = [answer(&[full(b'a')]), answer(&[text(&[b'b'; 10_001])])];
    all(&later, "ask 0-10000 | head | body 10000*a | ask 10000-20000 | unexpected");
}

/// Received bytes are delivered or rejected, but never dropped.
#[test]
fn several_text_records() {
    let told = play(&retrieval(0..9), &[answer(&[text(b"abc"), text(b"de")])], &|_| false, None);
    let body: String = told.iter().filter_map(|word| word.strip_prefix("body ")).collect();
    assert!(body == "abcde" || told.ends_with(&["unexpected".to_owned()]), "{told:?}");
}

/// The retrieval continues until the end of the requested range.
#[test]
fn endless_pieces() {
    for (end, count) in [(u64::MAX, None), (4_005_000, Some(401)), (3_000_000, Some(300))] {
        let (mut machine, mut buffer) = (retrieval(0..end)(), RecvBuffer::new());
        let (mut asked, mut received) = (0, 0);
        let is_done = loop {
            match machine.step(&mut buffer).expect("an answer") {
                Step::Send(_) if asked == 500 => break false,
                Step::Send(request) => {
                    let to = end.min(received + 10_000);
                    assert_eq!(asked_for(&request), format!("ask {received}-{to}"));
                    asked += 1;
                    buffer.push(&answer(&[text(&vec![b'a'; (to - received) as usize])]));
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

/// A duplicate answer is not accepted for the next request.
#[test]
fn answers_to_other_requests() {
    let piece = |reference: &str, byte| response_to(Some(reference), &group(99, &[full(byte)]));
    let told = |answers: &[Vec<u8>]| play(&retrieval(0..u64::MAX), answers, &|_| false, None).join(" | ");
    let first = "ask 0-10000 | head | body 10000*a | ask 10000-20000";
    let end = response_to(Some("5"), &group(99, &[sf()]));
    assert_eq!(
        told(&[piece("3", b'a'), piece("4", b'b'), end]),
        format!("{first} | body 10000*b | ask 20000-30000 | done")
    );
    assert_eq!(told(&[piece("3", b'a'), piece("3", b'a')]), format!("{first} | unexpected"));
    // A server that returns reference ids must do so in every answer, and the data must be of the requested document.
    assert_eq!(told(&[piece("3", b'a'), answer(&[full(b'a')])]), format!("{first} | unexpected"));
    let other = group(153, &[field(116, b"\x03\x01y"), field(127, b"abc")]);
    assert_eq!(told(&[answer(&[other])]), "ask 0-10000 | unexpected");
    // An answer that arrives before its request is rejected, whatever its reference id.
    let both = [piece("3", b'a'), piece("4", b'b')].concat();
    assert_eq!(told(&[both]), "ask 0-10000 | head | body 10000*a | unexpected");
}
