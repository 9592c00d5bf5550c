//! The faults of packets as data: the file comes in 24 packets, the short text in one.

use std::time::Duration;

use crate::prospero::fault_sites::{
    BRIEF, NOT_FOUND, act, addr, contents, first, honest, lose, no_size, only, packets, patched,
    patched_contents, redirect,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::place::ProsperoHost;
use crate::prospero::rule::{ProsperoAct, ProsperoOn, ProsperoPackets};

const ALL: ProsperoPackets = ProsperoPackets::ALL;
const LAST: ProsperoPackets = ProsperoPackets::LAST;

const fn nth(number: u16) -> ProsperoPackets {
    ProsperoPackets::number(number)
}

const fn millis(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Every fault of packets, and some oddities that are none (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_FAULTS: &[ProsperoFault] = &[
    // Nothing wrong, however it looks.
    ProsperoFault::file("honest", 0, honest),
    ProsperoFault::short("honest_short", 0, honest),
    ProsperoFault::file("window_1", 0, |s| act(s, ProsperoAct::Window(1))),
    ProsperoFault::file("window_4", 0, |s| act(s, ProsperoAct::Window(4))),
    ProsperoFault::file("window_of_all", 0, |s| act(s, ProsperoAct::Window(24))),
    ProsperoFault::file("no_flags", 0, |s| act(s, ProsperoAct::NoFlags)),
    ProsperoFault::file("headers_of_9", 0, |s| act(s, ProsperoAct::Headers(9))),
    ProsperoFault::file("headers_of_13", 0, |s| act(s, ProsperoAct::Headers(13))),
    ProsperoFault::file("small_pieces", 0, |s| act(s, ProsperoAct::Pieces(200))),
    ProsperoFault::short("smallest_pieces", 0, |s| act(s, ProsperoAct::Pieces(1))),
    ProsperoFault::file("large_pieces", 0, |s| act(s, ProsperoAct::Pieces(8_000))).or(&[8]),
    ProsperoFault::file("one_piece", 0, |s| act(s, ProsperoAct::Pieces(60_000))).or(&[8]),
    ProsperoFault::short("pause", 0, |s| act(s, ProsperoAct::Pause(millis(250)))),
    ProsperoFault::file("drip", 0, |s| act(s, ProsperoAct::Drip(millis(5)))),
    ProsperoFault::file("slow_drip", 0, |s| contents(s, ProsperoAct::Drip(millis(30)))),
    ProsperoFault::file("drip_too_slow", 28, |s| contents(s, ProsperoAct::Drip(millis(300)))).with(BRIEF),
    // Lost.
    ProsperoFault::file("lost_1", 0, |s| lose(s, nth(1).times(1))),
    ProsperoFault::file("lost_2", 0, |s| lose(s, nth(2).times(1))),
    ProsperoFault::file("lost_flagged", 0, |s| lose(s, nth(16).times(1))),
    ProsperoFault::file("lost_17", 0, |s| lose(s, nth(17).times(1))),
    ProsperoFault::file("lost_last", 0, |s| lose(s, LAST.times(1))),
    ProsperoFault::file("lost_last_twice", 0, |s| lose(s, LAST.times(2))),
    ProsperoFault::file("lost_all", 0, |s| lose(s, ALL.times(1))),
    ProsperoFault::file("lost_from_9", 0, |s| lose(s, ProsperoPackets::from(9).times(1))),
    ProsperoFault::short("lost_all_twice", 0, |s| lose(s, ALL.times(2))),
    ProsperoFault::short("lost_all_three_times", 0, |s| lose(s, ALL.times(3))).or(&[28]),
    ProsperoFault::file("lost_contents_twice", 0, |s| contents(s, ProsperoAct::Lose(ALL.times(2)))),
    ProsperoFault::short("lost_and_deaf", 0, |s| lose(s, ALL.times(1)).deaf(millis(200))),
    ProsperoFault::file("always_lost_1", 28, |s| lose(s, nth(1))),
    ProsperoFault::file("always_lost_flagged", 28, |s| lose(s, nth(16))).with(BRIEF),
    ProsperoFault::file("always_lost_17", 28, |s| lose(s, nth(17))).with(BRIEF),
    ProsperoFault::file("always_lost_last", 28, |s| contents(s, ProsperoAct::Lose(LAST))).with(BRIEF),
    ProsperoFault::file("always_lost_contents", 28, |s| contents(s, ProsperoAct::Lose(ALL))).with(BRIEF),
    ProsperoFault::file("silence", 28, |s| honest(s).silent()),
    ProsperoFault::file("silence_after_1", 28, |s| contents(s, ProsperoAct::SilenceAfter(1))).with(BRIEF),
    ProsperoFault::file("silence_after_16", 28, |s| contents(s, ProsperoAct::SilenceAfter(16))).with(BRIEF),
    ProsperoFault::file("silence_after_23", 28, |s| contents(s, ProsperoAct::SilenceAfter(23))).with(BRIEF),
    ProsperoFault::file("silence_after_24", 0, |s| contents(s, ProsperoAct::SilenceAfter(24))),
    // Doubled, out of order, late, from elsewhere.
    ProsperoFault::file("twice", 0, |s| act(s, ProsperoAct::Twice(ALL))),
    ProsperoFault::file("last_twice", 0, |s| act(s, ProsperoAct::Twice(LAST))),
    ProsperoFault::file("reversed", 0, |s| act(s, ProsperoAct::Reversed)),
    ProsperoFault::file("shuffled", 0, |s| act(s, ProsperoAct::Shuffled(1))),
    ProsperoFault::file("shuffled_twice", 0, |s| act(s, ProsperoAct::Twice(ALL)).always(ProsperoAct::Shuffled(2))),
    ProsperoFault::file("shuffled_and_lost", 0, |s| lose(s, ProsperoPackets::from(10).times(1)).always(ProsperoAct::Shuffled(3))),
    ProsperoFault::file("first_is_late", 0, |s| act(s, ProsperoAct::Delay(nth(1), millis(100)))),
    ProsperoFault::file("last_is_late", 0, |s| act(s, ProsperoAct::Delay(LAST, millis(200)))),
    ProsperoFault::file("flagged_is_late", 0, |s| act(s, ProsperoAct::Delay(nth(16), millis(100)))),
    ProsperoFault::file("all_are_late", 0, |s| act(s, ProsperoAct::Delay(ALL, millis(400)))),
    ProsperoFault::file("all_are_too_late", 28, |s| act(s, ProsperoAct::Delay(ALL, s.late))).with(BRIEF),
    ProsperoFault::file("last_is_too_late", 28, |s| contents(s, ProsperoAct::Delay(LAST, s.late))).with(BRIEF),
    ProsperoFault::file("other_port", 0, |s| act(s, ProsperoAct::From(ALL, ProsperoHost::OtherPort))).or(&[28]),
    ProsperoFault::file("other_port_packet", 0, |s| act(s, ProsperoAct::From(nth(5).times(1), ProsperoHost::OtherPort))),
    ProsperoFault::file("other_address", 0, |s| act(s, ProsperoAct::From(ALL, ProsperoHost::OtherAddress))).or(&[28]),
    ProsperoFault::file("other_address_packet", 0, |s| act(s, ProsperoAct::From(nth(5).times(1), ProsperoHost::OtherAddress))),
    // Datagrams that are no answer, and then the right one.
    ProsperoFault::file("other_id_first", 0, |s| first(s, ProsperoPacket::data(1, 1, NOT_FOUND).other_id(1))),
    ProsperoFault::file("id_0_first", 0, |s| first(s, ProsperoPacket::raw(*b"\x01FAILURE NOT-FOUND\n"))),
    ProsperoFault::file("empty_first", 0, |s| first(s, ProsperoPacket::raw(*b""))),
    ProsperoFault::file("octet_0_first", 0, |s| first(s, ProsperoPacket::raw(*b"\0"))),
    ProsperoFault::file("octet_63_first", 0, |s| first(s, ProsperoPacket::raw(*b"\x3f"))),
    ProsperoFault::file("version_1_first", 0, |s| first(s, ProsperoPacket::raw(*b"\x81\0\x05\0\x0b\0\x01\0\x01\0\x01x"))),
    ProsperoFault::file("text_first", 0, |s| first(s, ProsperoPacket::raw(*b"HTTP/1.1 400 Bad Request\r\n\r\n"))),
    ProsperoFault::file("header_cut_first", 0, |s| first(s, ProsperoPacket::raw(*b"\x09\0\x05\0"))),
    ProsperoFault::file("large_first", 0, |s| first(s, ProsperoPacket::raw(vec![b'x'; 60_000]))),
    ProsperoFault::file("large_other_id_first", 0, |s| first(s, ProsperoPacket::data(1, 1, &[b'x'; 60_000]).other_id(9))),
    ProsperoFault::file("all_octets_first", 0, |s| first(s, ProsperoPacket::raw((0..=255).collect::<Vec<u8>>()))),
    ProsperoFault::file("once_version_1", 0, |s| act(s, ProsperoAct::Patch(ALL.times(1), 0, vec![0x81]))),
    ProsperoFault::file("control_with_data", 0, |s| first(s, ProsperoPacket::data(0, 1, NOT_FOUND))),
    ProsperoFault::file("last_with_other_id", 0, |s| act(s, ProsperoAct::Last(ProsperoPacket::refused().other_id(1)))),
    // Nothing but those.
    ProsperoFault::file("other_id_alone", 28, |s| only(s, ProsperoPacket::data(1, 1, NOT_FOUND).other_id(1))).with(BRIEF),
    ProsperoFault::file("empty_alone", 28, |s| only(s, ProsperoPacket::raw(*b""))).with(BRIEF),
    ProsperoFault::file("text_alone", 28, |s| only(s, ProsperoPacket::raw(*b"HTTP/1.1 400 Bad Request\r\n\r\n"))).with(BRIEF),
    ProsperoFault::file("large_alone", 28, |s| only(s, ProsperoPacket::raw(vec![0xff; 60_000]))).with(BRIEF),
    ProsperoFault::file("first_octet_0", 28, |s| patched(s, ALL, 0, b"\0")).with(BRIEF),
    ProsperoFault::file("first_octet_2", 28, |s| patched(s, ALL, 0, b"\x02")).with(BRIEF),
    ProsperoFault::file("first_octet_32", 28, |s| patched(s, ALL, 0, b"\x20")).with(BRIEF),
    ProsperoFault::file("first_octet_63", 28, |s| patched(s, ALL, 0, b"\x3f")).with(BRIEF),
    ProsperoFault::file("first_octet_version_1", 28, |s| patched(s, ALL, 0, b"\x81")).or(&[8]).with(BRIEF),
    ProsperoFault::file("first_octet_255", 28, |s| patched(s, ALL, 0, b"\xff")).with(BRIEF),
    ProsperoFault::file("header_longer_than_datagram", 28, |s| act(s, ProsperoAct::Shorten(ALL, 2))).with(BRIEF),
    ProsperoFault::file("header_of_4", 8, |s| patched(s, ALL, 0, b"\x04")).or(&[1, 18, 28, 78]),
    ProsperoFault::short("no_data", 52, |s| packets(s, &[(1, 1, b"")])).or(&[8, 78]),
    // Numbers that do not agree.
    ProsperoFault::file("total_too_small", 8, |s| patched_contents(s, nth(2), 5, b"\0\x02")).or(&[18]),
    ProsperoFault::file("total_1", 8, |s| patched(s, ALL, 5, b"\0\x01")).or(&[18]),
    ProsperoFault::file("total_too_large", 28, |s| patched(s, ALL, 5, b"\0\x40")).with(BRIEF),
    ProsperoFault::file("total_two", 8, |s| patched_contents(s, nth(2), 5, b"\0\x20")),
    ProsperoFault::file("total_two_at_the_end", 8, |s| patched_contents(s, LAST, 5, b"\0\x19")),
    ProsperoFault::file("total_0", 28, |s| patched(s, ALL, 5, b"\0\0")).with(BRIEF),
    ProsperoFault::file("total_65535", 63, |s| patched(s, ALL, 5, b"\xff\xff")).or(&[28]).with(BRIEF),
    ProsperoFault::file("number_above_total", 8, |s| packets(s, &[(9, 2, b"x"), (1, 2, b"FAILURE "), (2, 2, b"NOT-FOUND\n")])),
    ProsperoFault::file("number_above_later_total", 8, |s| packets(s, &[(9, 0, b"x"), (1, 0, b"FAILURE "), (2, 2, b"NOT-FOUND\n")])),
    ProsperoFault::file("number_65535", 8, |s| packets(s, &[(0xffff, 2, b"x")])).or(&[63]),
    ProsperoFault::file("number_0_total_0", 28, |s| packets(s, &[(0, 0, NOT_FOUND)])).with(BRIEF),
    ProsperoFault::short("first_twice_with_other_data", 78, |s| packets(s, &[(1, 2, b"FAILURE "), (1, 2, b"SUCCESS "), (2, 2, b"NOT-FOUND\n")])).or(&[8]),
    ProsperoFault::short("in_three", 78, |s| packets(s, &[(1, 3, b"FAILURE NOT"), (2, 3, b""), (3, 3, b"-FOUND\n")])),
    ProsperoFault::short("sequenced_control", 78, |s| honest(s).instead(vec![ProsperoPacket::data(1, 2, b"FAILURE SERVER-FAILED\n").flags(0x40), ProsperoPacket::data(2, 2, NOT_FOUND)])),
    // An answer that has no end.
    ProsperoFault::file("endless_too_large", 63, |_| no_size(endless())).with(&["--max-filesize", "100k"]),
    ProsperoFault::file("endless_drip", 28, |_| no_size(endless()).always(ProsperoAct::Drip(millis(20)))).or(&[63]).with(BRIEF),
    ProsperoFault::file("endless_lines", 63, |s| act(s, ProsperoAct::Endless(Vec::new(), b"UNKNOWN line\n".to_vec()))),
    ProsperoFault::file("too_large", 63, honest).with(&["--max-filesize", "29499"]),
    ProsperoFault::file("not_too_large", 0, honest).with(&["--max-filesize", "29500"]),
    // Waiting.
    ProsperoFault::file("wait_first", 0, |s| first(s, ProsperoPacket::wait(9))),
    ProsperoFault::file("wait_longest_first", 0, |s| first(s, ProsperoPacket::wait(0xffff))),
    ProsperoFault::file("wait_then_late", 0, |s| first(s, ProsperoPacket::wait(9)).always(ProsperoAct::Delay(ALL, millis(500)))),
    ProsperoFault::file("queue_first", 0, |s| first(s, ProsperoPacket::queue(9, 3, 60))),
    ProsperoFault::file("queue_cut_first", 0, |s| first(s, ProsperoPacket::wait(9).option(254, b"\x03\0"))),
    ProsperoFault::file("wait_alone", 28, |s| only(s, ProsperoPacket::wait(9))).with(&["-m", "2.2"]),
    ProsperoFault::file("wait_longest_alone", 28, |s| only(s, ProsperoPacket::wait(0xffff))).with(BRIEF),
    ProsperoFault::file("queue_alone", 28, |s| only(s, ProsperoPacket::queue(0xffff, 0xffff, u32::MAX))).with(BRIEF),
    ProsperoFault::file("wait_again_and_again", 28, |s| honest(s).silent().always(ProsperoAct::Again(ProsperoPacket::wait(9), millis(50), 1000))).with(BRIEF),
    ProsperoFault::file("wait_flood", 28, |s| honest(s).silent().always(ProsperoAct::Again(ProsperoPacket::wait(1), millis(1), 5000))).or(&[8, 63]).with(BRIEF),
    // Options.
    ProsperoFault::file("refused", 7, |s| only(s, ProsperoPacket::refused())),
    ProsperoFault::file("refused_contents", 7, |s| contents(s, ProsperoAct::Instead(vec![ProsperoPacket::refused()], 9))),
    ProsperoFault::file("refused_late", 7, |s| contents(s, ProsperoAct::Window(8)).on(ProsperoOn::Contents, ProsperoAct::Last(ProsperoPacket::refused()))),
    ProsperoFault::file("refused_with_text", 7, |s| only(s, ProsperoPacket::data(0, 0, b"FAILURE TOO-MANY\n").option(1, b""))),
    ProsperoFault::file("refused_once_by_another", 0, |s| first(s, ProsperoPacket::refused().other_id(0x8000))),
    ProsperoFault::file("forget_once", 0, |s| act(s, ProsperoAct::Instead(vec![ProsperoPacket::forget()], 1))),
    ProsperoFault::file("forget_contents_once", 0, |s| contents(s, ProsperoAct::Instead(vec![ProsperoPacket::forget()], 1))),
    ProsperoFault::file("forget_always", 28, |s| only(s, ProsperoPacket::forget())).or(&[8, 63]).with(BRIEF),
    ProsperoFault::file("bitmap_first", 0, |s| first(s, ProsperoPacket::control().option(3, b"\xff\x00"))),
    ProsperoFault::file("unknown_option_first", 0, |s| first(s, ProsperoPacket::control().option(99, b"x"))),
    ProsperoFault::short("unknown_option_with_data", 78, |s| only(s, ProsperoPacket::data(1, 1, NOT_FOUND).option(99, b""))),
    ProsperoFault::short("unknown_flags_with_data", 78, |s| only(s, ProsperoPacket::data(1, 1, NOT_FOUND).flags(0x30))),
    ProsperoFault::short("acknowledge_a_control", 0, |s| first(s, ProsperoPacket::control().flags(0x80))),
    // Redirected.
    ProsperoFault::file("redirect_port", 0, |s| redirect(s, ProsperoHost::OtherPort)).or(&[90]),
    ProsperoFault::file("redirect_port_told", 0, |s| only(s, ProsperoPacket::redirect(5, ProsperoHost::OtherPort))).or(&[90]),
    ProsperoFault::file("redirect_contents", 0, |s| contents(s, ProsperoAct::Instead(vec![ProsperoPacket::redirect(4, ProsperoHost::OtherPort)], 9))).or(&[90]),
    ProsperoFault::file("redirect_address", 0, |s| redirect(s, ProsperoHost::OtherAddress)).or(&[90]),
    ProsperoFault::file("redirect_ring", 47, |s| redirect(s, ProsperoHost::Here)).or(&[8, 90]),
    ProsperoFault::file("redirect_low_port", 90, |s| redirect(s, addr([127, 0, 0, 1], 25))),
    ProsperoFault::file("redirect_port_0", 8, |s| redirect(s, addr([127, 0, 0, 1], 0))).or(&[90]),
    ProsperoFault::file("redirect_nowhere", 8, |s| redirect(s, addr([0, 0, 0, 0], 0))).or(&[7, 90]),
    ProsperoFault::file("redirect_broadcast", 90, |s| redirect(s, addr([255, 255, 255, 255], 0x1525))).or(&[7, 8]),
    ProsperoFault::file("redirect_cut", 8, |s| only(s, ProsperoPacket::control().option(4, b"\x7f\0\0"))).or(&[28]),
    ProsperoFault::file("redirect_without_address", 8, |s| only(s, ProsperoPacket::control().option(5, b""))).or(&[28]),
];

fn endless() -> ProsperoAct {
    ProsperoAct::Endless(b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA x".to_vec(), b"x".to_vec())
}
