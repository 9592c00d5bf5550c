//! Retrievals in pieces. No request is sent early, and no data is delivered early.

use std::ops::Range;

use crate::wais::transcript::{
    ID, answer, asked_for, check, check_retrieval, diagnostic, field, framed, full, group, play,
};
use crate::wais::transcript::{response, response_to, retrieval, search, sf, text};
use fetch_url_proto::{Event, RecvBuffer, Step};

/// §9, "End of the document".
#[test]
fn range_beyond_the_end_is_truncated_and_at_the_end_refused() {
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
    // The server sends fewer bytes than requested and no diagnostic at the end.
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
fn long_document_is_requested_in_pieces_of_10_000_bytes() {
    let begun = "ask 0-10000 | ask 10000-20000 | head | body 10000*a | ask 20000-30000 | body 10000*b";
    let pieces = |rest: &[Vec<u8>]| [answer(&[full(b'a')]), answer(&[full(b'b')]), answer(rest)];
    let tail = || text(&[b'c'; 4029]);
    let known = format!("{} | body 4029*c | done", begun.replace("30000", "24029"));
    check(&retrieval(0..24_029), &pieces(&[tail()]), &known);
    let ended = format!("{begun} | body 4029*c");
    check_retrieval(&pieces(&[tail(), sf()]), &format!("{ended} | done"));
    check_retrieval(&pieces(&[tail()]), &format!("{ended} | unmarked | done"));
    // Bytes beyond the announced length are not requested; a shorter document ends earlier.
    check(
        &retrieval(0..20_000),
        &pieces(&[])[..2],
        &format!("{} | done", begun.replace("ask 20000-30000 | ", "")),
    );
    for end in [&[text(b""), sf()][..], &[sf()]] {
        check_retrieval(&pieces(end), &format!("{begun} | done"));
    }
    for end in [&[text(b"")][..], &[]] {
        check_retrieval(&pieces(end), &format!("{begun} | unmarked | done"));
    }
    let no_group = [answer(&[full(b'a')]), response(b"")];
    check_retrieval(&no_group, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | unmarked | done");
    check_retrieval(&[answer(&[full(b'a')])], "ask 0-10000 | ask 10000-20000 | head | body 10000*a | waits");
    // A diagnostic "out of range" after a full piece ends the document, too.
    check_retrieval(
        &[answer(&[full(b'a'), sf()])],
        "ask 0-10000 | ask 10000-20000 | head | body 10000*a | done",
    );
}

#[test]
fn range_refused_at_byte_0_is_an_empty_document() {
    check_retrieval(&[answer(&[sf()])], "ask 0-10000 | head | done");
    check(&retrieval(3..9), &[answer(&[sf()])], "ask 3-9 | refused SF Request out of range | done");
}

#[test]
fn answer_without_text_is_a_refusal() {
    for (information, words) in [
        (group(99, &[]), ""),
        (Vec::new(), ""),
        (group(99, &[group(153, &[field(116, ID)])]), ""),
        (group(99, &[group(150, &[field(116, ID)])]), ""),
        (group(99, &[diagnostic("SFMissing DocID in request")]), " SF Missing DocID in request"),
        (group(99, &[diagnostic("S1no")]), " S1 no"),
        (group(99, &[diagnostic("T4")]), " T4"),
    ] {
        check_retrieval(&[response(&information)], &format!("ask 0-10000 | refused{words} | done"));
    }
    check_retrieval(&[framed(b"")], "ask 0-10000 | refused | done");
    check(&search, &[framed(b"")], "search | refused | done");
}

/// §9.3: a zero-length message is an error, both as the first and as a later response.
#[test]
fn empty_message_is_a_refusal() {
    let answers = [answer(&[full(b'a')]), framed(b"")];
    check_retrieval(&answers, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | refused | done");
}

/// §9.6: the text is delivered with a note. A diagnostic instead of text does not end a document successfully.
#[test]
fn diagnostics_together_with_text_are_reported() {
    let complaint = || diagnostic("S1x");
    let check_note = |answers: &[Vec<u8>], expected: &str| {
        let events = play(&retrieval(0..u64::MAX), answers, &|_| false, None);
        let is_note = |word: &&String| *word == "note" || *word == "received S1 x";
        assert_eq!(events.iter().filter(is_note).count(), 2, "{events:?}");
        let rest: Vec<_> = events.iter().filter(|word| !is_note(word)).map(String::as_str).collect();
        assert_eq!(rest.join(" | "), expected);
    };
    check_note(&[answer(&[text(b"a"), complaint()])], "ask 0-10000 | head | body a | refused S1 x | done");
    check_note(&[answer(&[complaint(), text(b"a")])], "ask 0-10000 | head | body a | refused S1 x | done");
    check_note(&[answer(&[text(b"a"), complaint(), sf()])], "ask 0-10000 | head | body a | done");
    check_note(&[answer(&[text(b"a"), sf(), complaint()])], "ask 0-10000 | head | body a | done");
    let more = "ask 0-10000 | ask 10000-20000 | head | body 10000*a";
    let events = format!("{more} | body b | done");
    check_note(&[answer(&[full(b'a'), complaint()]), answer(&[text(b"b"), sf()])], &events);
    let refused = format!("{more} | body b | refused S1 x | done");
    check_note(&[answer(&[full(b'a')]), answer(&[text(b"b"), complaint()])], &refused);
    let failed = format!("{more} | refused S1 x | done");
    check_retrieval(&[answer(&[full(b'a')]), answer(&[complaint()])], &failed);
    check_retrieval(&[answer(&[full(b'a')]), answer(&[text(b""), complaint()])], &failed);
    check_retrieval(&[answer(&[full(b'a')]), answer(&[sf(), complaint()])], &failed);
    check_retrieval(&[answer(&[text(b""), complaint()])], "ask 0-10000 | refused S1 x | done");
}

/// Row 9.38: freeWAIS sends the code SF for every error of a retrieval.
#[test]
fn other_sf_than_out_of_range_after_a_piece_is_a_refusal() {
    let begun = "ask 0-10000 | ask 10000-20000 | head | body 10000*a";
    for words in ["SFMissing DocID in request", "SFFile not present in specified database", "SF"] {
        let gone = || diagnostic(words);
        let line = format!("SF {}", &words[2..]);
        let refused = format!("{begun} | refused {} | done", line.trim_end());
        for records in [&[gone()][..], &[text(b""), gone()], &[sf(), gone()]] {
            check_retrieval(&[answer(&[full(b'a')]), answer(records)], &refused);
        }
        // The words do not say that the document ends here. The text is kept.
        let received = format!("received {line} | note");
        let short = [answer(&[full(b'a')]), answer(&[text(b"b"), gone()])];
        check_retrieval(&short, &format!("{begun} | {received} | body b | unmarked | done"));
        let more = [answer(&[full(b'a'), gone()]), answer(&[text(b"b"), sf()])];
        let noted = begun.replace("head", &format!("{received} | head"));
        check_retrieval(&more, &format!("{noted} | body b | done"));
    }
    let end = diagnostic("SFRange is out of range");
    check_retrieval(&[answer(&[full(b'a')]), answer(&[end])], &format!("{begun} | done"));
}

#[test]
fn text_longer_than_requested_is_unexpected() {
    check(&retrieval(0..3), &[answer(&[text(b"abcd")])], "ask 0-3 | unexpected");
    check_retrieval(&[answer(&[text(&[b'a'; 10_001])])], "ask 0-10000 | ask 10000-20000 | unexpected");
    let later = [answer(&[full(b'a')]), answer(&[text(&[b'b'; 10_001])])];
    check_retrieval(
        &later,
        "ask 0-10000 | ask 10000-20000 | head | body 10000*a | ask 20000-30000 | unexpected",
    );
}

/// No received byte is lost: it is delivered, or the response is rejected.
#[test]
fn several_text_records_are_delivered_or_rejected() {
    let events = play(&retrieval(0..9), &[answer(&[text(b"abc"), text(b"de")])], &|_| false, None);
    let body: String = events.iter().filter_map(|word| word.strip_prefix("body ")).collect();
    assert!(body == "abcde" || events.ends_with(&["unexpected".to_owned()]), "{events:?}");
}

/// The server never ends the document: it ends only at the requested length.
#[test]
fn endless_document_is_requested_piece_by_piece() {
    for (end, count) in [(u64::MAX, None), (4_005_000, Some(401)), (3_000_000, Some(300))] {
        let (mut machine, mut buffer) = (retrieval(0..end)(), RecvBuffer::new());
        let (mut request_count, mut requested, mut received) = (0, 0, 0);
        let is_done = loop {
            match machine.step(&mut buffer).expect("an answer") {
                Step::Send(_) if request_count == 500 => break false,
                Step::Send(request) => {
                    let to = end.min(requested + 10_000);
                    assert_eq!(asked_for(&request), format!("ask {requested}-{to}"));
                    request_count += 1;
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
        assert_eq!(is_done.then_some(request_count), count);
        assert!(!is_done || received == end);
    }
}

/// A second copy of a response does not answer the next request.
#[test]
fn repeated_answer_is_not_taken_for_the_next() {
    let piece = |reference: &str, byte| response_to(Some(reference), &group(99, &[full(byte)]));
    let events = |answers: &[Vec<u8>]| play(&retrieval(0..u64::MAX), answers, &|_| false, None).join(" | ");
    let first = "ask 0-10000 | ask 10000-20000 | head | body 10000*a";
    let end = response_to(Some("5"), &group(99, &[sf()]));
    assert_eq!(
        events(&[piece("3", b'a'), piece("4", b'b'), end]),
        format!("{first} | ask 20000-30000 | body 10000*b | done")
    );
    let expected = format!("{first} | ask 20000-30000 | unexpected");
    assert_eq!(events(&[piece("3", b'a'), piece("3", b'a')]), expected);
    // If a server has sent one reference id, all its responses must have one, and the text must be of the requested
    // document.
    assert_eq!(events(&[piece("3", b'a'), answer(&[full(b'a')])]), expected);
    let other = group(153, &[field(116, b"\x03\x01y"), field(127, b"abc")]);
    assert_eq!(events(&[answer(&[other])]), "ask 0-10000 | unexpected");
    // A response that arrives before its request is rejected, whatever its reference id is.
    let short = response_to(Some("3"), &group(99, &[text(b"abc"), sf()]));
    let both = [short, piece("4", b'b')].concat();
    assert_eq!(events(&[both]), "ask 0-10000 | head | body abc | done");
    let (mut machine, mut buffer) = (retrieval(0..u64::MAX)(), RecvBuffer::new());
    buffer.push(&piece("3", b'a'));
    assert!(machine.step(&mut buffer).is_err());
}
