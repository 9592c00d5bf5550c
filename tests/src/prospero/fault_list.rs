//! The fault table of packets. The file is sent in 24 packets, the short text in one.

use std::time::Duration;

use crate::prospero::fault_configs::{
    MAX_TIME, NOT_FOUND, OTHER_ID, addr, always, correct, drop_packets, on_contents, only_packet,
    only_packets, packet_before, patch, patch_contents, redirect, without_size,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::host::ProsperoHost;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAction, ProsperoPackets, ProsperoTrigger};

const ALL: ProsperoPackets = ProsperoPackets::ALL;
const LAST: ProsperoPackets = ProsperoPackets::LAST;

const fn nth(number: u16) -> ProsperoPackets {
    ProsperoPackets::number(number)
}

const fn millis(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// The faults of a server in its packets, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_FAULTS: &[ProsperoFault] = &[
    // Unusual but correct.
    ProsperoFault::file("correct", 0, correct),
    ProsperoFault::short("correct_short", 0, correct),
    ProsperoFault::file("window_1", 0, |s| always(s, ProsperoAction::Window(1))),
    ProsperoFault::file("window_4", 0, |s| always(s, ProsperoAction::Window(4))),
    ProsperoFault::file("window_of_all", 0, |s| always(s, ProsperoAction::Window(24))),
    ProsperoFault::file("no_flags", 0, |s| always(s, ProsperoAction::NoFlags)),
    ProsperoFault::file("headers_of_9", 0, |s| always(s, ProsperoAction::MinHeaderLength(9))),
    ProsperoFault::file("headers_of_13", 0, |s| always(s, ProsperoAction::MinHeaderLength(13))),
    ProsperoFault::file("small_pieces", 0, |s| always(s, ProsperoAction::PacketSize(200))),
    ProsperoFault::short("smallest_pieces", 0, |s| always(s, ProsperoAction::PacketSize(1))),
    ProsperoFault::file("large_pieces", 0, |s| always(s, ProsperoAction::PacketSize(8_000))).or(&[8]),
    ProsperoFault::file("one_piece", 0, |s| always(s, ProsperoAction::PacketSize(60_000))).or(&[8]),
    ProsperoFault::short("pause", 0, |s| always(s, ProsperoAction::Pause(millis(250)))),
    ProsperoFault::file("drip", 0, |s| always(s, ProsperoAction::Drip(millis(5)))),
    ProsperoFault::file("slow_drip", 0, |s| on_contents(s, ProsperoAction::Drip(millis(30)))),
    ProsperoFault::file("drip_too_slow", 28, |s| on_contents(s, ProsperoAction::Drip(millis(300)))).with(MAX_TIME),
    // Lost packets.
    ProsperoFault::file("lost_1", 0, |s| drop_packets(s, nth(1).times(1))),
    ProsperoFault::file("lost_2", 0, |s| drop_packets(s, nth(2).times(1))),
    ProsperoFault::file("lost_flagged", 0, |s| drop_packets(s, nth(16).times(1))),
    ProsperoFault::file("lost_17", 0, |s| drop_packets(s, nth(17).times(1))),
    ProsperoFault::file("lost_last", 0, |s| drop_packets(s, LAST.times(1))),
    ProsperoFault::file("lost_last_twice", 0, |s| drop_packets(s, LAST.times(2))),
    ProsperoFault::file("lost_all", 0, |s| drop_packets(s, ALL.times(1))),
    ProsperoFault::file("lost_from_9", 0, |s| drop_packets(s, ProsperoPackets::from(9).times(1))),
    ProsperoFault::short("lost_all_twice", 0, |s| drop_packets(s, ALL.times(2))),
    ProsperoFault::short("lost_all_three_times", 0, |s| drop_packets(s, ALL.times(3))).or(&[28]),
    ProsperoFault::file("lost_contents_twice", 0, |s| on_contents(s, ProsperoAction::Drop(ALL.times(2)))),
    ProsperoFault::short("lost_and_deaf", 0, |s| drop_packets(s, ALL.times(1)).ignores_repeats_for(millis(200))),
    ProsperoFault::file("always_lost_1", 28, |s| drop_packets(s, nth(1))),
    ProsperoFault::file("always_lost_flagged", 28, |s| drop_packets(s, nth(16))).with(MAX_TIME),
    ProsperoFault::file("always_lost_17", 28, |s| drop_packets(s, nth(17))).with(MAX_TIME),
    ProsperoFault::file("always_lost_last", 28, |s| on_contents(s, ProsperoAction::Drop(LAST))).with(MAX_TIME),
    ProsperoFault::file("always_lost_contents", 28, |s| on_contents(s, ProsperoAction::Drop(ALL))).with(MAX_TIME),
    ProsperoFault::file("silence", 28, |s| correct(s).silent()),
    ProsperoFault::file("silence_after_1", 28, |s| on_contents(s, ProsperoAction::MaxDatagrams(1))).with(MAX_TIME),
    ProsperoFault::file("silence_after_16", 28, |s| on_contents(s, ProsperoAction::MaxDatagrams(16))).with(MAX_TIME),
    ProsperoFault::file("silence_after_23", 28, |s| on_contents(s, ProsperoAction::MaxDatagrams(23))).with(MAX_TIME),
    ProsperoFault::file("silence_after_24", 0, |s| on_contents(s, ProsperoAction::MaxDatagrams(24))),
    // Packets that are duplicated, reordered, late, or from another address.
    ProsperoFault::file("twice", 0, |s| always(s, ProsperoAction::Duplicate(ALL))),
    ProsperoFault::file("last_twice", 0, |s| always(s, ProsperoAction::Duplicate(LAST))),
    ProsperoFault::file("reversed", 0, |s| always(s, ProsperoAction::Reverse)),
    ProsperoFault::file("shuffled", 0, |s| always(s, ProsperoAction::Shuffle(1))),
    ProsperoFault::file("shuffled_twice", 0, |s| always(s, ProsperoAction::Duplicate(ALL)).always(ProsperoAction::Shuffle(2))),
    ProsperoFault::file("shuffled_and_lost", 0, |s| drop_packets(s, ProsperoPackets::from(10).times(1)).always(ProsperoAction::Shuffle(3))),
    ProsperoFault::file("first_is_late", 0, |s| always(s, ProsperoAction::Delay(nth(1), millis(100)))),
    ProsperoFault::file("last_is_late", 0, |s| always(s, ProsperoAction::Delay(LAST, millis(200)))),
    ProsperoFault::file("flagged_is_late", 0, |s| always(s, ProsperoAction::Delay(nth(16), millis(100)))),
    ProsperoFault::file("all_are_late", 0, |s| always(s, ProsperoAction::Delay(ALL, millis(400)))),
    ProsperoFault::file("all_are_too_late", 28, |s| always(s, ProsperoAction::Delay(ALL, s.stall))).with(MAX_TIME),
    ProsperoFault::file("last_is_too_late", 28, |s| on_contents(s, ProsperoAction::Delay(LAST, s.stall))).with(MAX_TIME),
    ProsperoFault::file("other_port", 0, |s| always(s, ProsperoAction::SendFrom(ALL, ProsperoHost::OtherPort))).or(&[28]),
    ProsperoFault::file("other_port_packet", 0, |s| always(s, ProsperoAction::SendFrom(nth(5).times(1), ProsperoHost::OtherPort))),
    ProsperoFault::file("other_address", 0, |s| always(s, ProsperoAction::SendFrom(ALL, ProsperoHost::OtherAddress))).or(&[28]),
    ProsperoFault::file("other_address_packet", 0, |s| always(s, ProsperoAction::SendFrom(nth(5).times(1), ProsperoHost::OtherAddress))),
    // Invalid datagrams before the right ones.
    ProsperoFault::file("other_id_first", 0, |s| packet_before(s, ProsperoPacket::data(1, 1, NOT_FOUND).other_id(OTHER_ID))),
    ProsperoFault::file("id_0_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"\x01FAILURE NOT-FOUND\n"))),
    ProsperoFault::file("empty_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b""))),
    ProsperoFault::file("byte_0_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"\0"))),
    ProsperoFault::file("byte_63_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"\x3f"))),
    ProsperoFault::file("version_1_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"\x81\0\x05\0\x0b\0\x01\0\x01\0\x01x"))),
    ProsperoFault::file("text_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"HTTP/1.1 400 Bad Request\r\n\r\n"))),
    ProsperoFault::file("header_cut_first", 0, |s| packet_before(s, ProsperoPacket::raw(*b"\x09\0\x05\0"))),
    ProsperoFault::file("large_first", 0, |s| packet_before(s, ProsperoPacket::raw(vec![b'x'; 60_000]))),
    ProsperoFault::file("large_other_id_first", 0, |s| packet_before(s, ProsperoPacket::data(1, 1, &[b'x'; 60_000]).other_id(OTHER_ID))),
    ProsperoFault::file("all_bytes_first", 0, |s| packet_before(s, ProsperoPacket::raw((0..=255).collect::<Vec<u8>>()))),
    ProsperoFault::file("once_version_1", 0, |s| always(s, ProsperoAction::Patch(ALL.times(1), 0, vec![0x81]))),
    ProsperoFault::file("control_with_data", 0, |s| packet_before(s, ProsperoPacket::data(0, 1, NOT_FOUND))),
    ProsperoFault::file("last_with_other_id", 0, |s| always(s, ProsperoAction::PacketAfter(ProsperoPacket::refused().other_id(OTHER_ID)))),
    // Only invalid datagrams.
    ProsperoFault::file("other_id_alone", 28, |s| only_packet(s, ProsperoPacket::data(1, 1, NOT_FOUND).other_id(OTHER_ID))).with(MAX_TIME),
    ProsperoFault::file("empty_alone", 28, |s| only_packet(s, ProsperoPacket::raw(*b""))).with(MAX_TIME),
    ProsperoFault::file("text_alone", 28, |s| only_packet(s, ProsperoPacket::raw(*b"HTTP/1.1 400 Bad Request\r\n\r\n"))).with(MAX_TIME),
    ProsperoFault::file("large_alone", 28, |s| only_packet(s, ProsperoPacket::raw(vec![0xff; 60_000]))).with(MAX_TIME),
    ProsperoFault::file("first_byte_0", 28, |s| patch(s, ALL, 0, b"\0")).with(MAX_TIME),
    ProsperoFault::file("first_byte_2", 28, |s| patch(s, ALL, 0, b"\x02")).with(MAX_TIME),
    ProsperoFault::file("first_byte_32", 28, |s| patch(s, ALL, 0, b"\x20")).with(MAX_TIME),
    ProsperoFault::file("first_byte_63", 28, |s| patch(s, ALL, 0, b"\x3f")).with(MAX_TIME),
    ProsperoFault::file("first_byte_version_1", 28, |s| patch(s, ALL, 0, b"\x81")).or(&[8]).with(MAX_TIME),
    ProsperoFault::file("first_byte_255", 28, |s| patch(s, ALL, 0, b"\xff")).with(MAX_TIME),
    ProsperoFault::file("header_longer_than_datagram", 28, |s| always(s, ProsperoAction::Truncate(ALL, 2))).with(MAX_TIME),
    ProsperoFault::file("header_of_4", 8, |s| patch(s, ALL, 0, b"\x04")).or(&[1, 18, 28, 78]),
    ProsperoFault::short("no_data", 52, |s| only_packets(s, &[(1, 1, b"")])).or(&[8, 78]),
    // Contradictory numbers.
    ProsperoFault::file("total_too_small", 8, |s| patch_contents(s, nth(2), 5, b"\0\x02")).or(&[18]),
    ProsperoFault::file("total_1", 8, |s| patch(s, ALL, 5, b"\0\x01")).or(&[18]),
    ProsperoFault::file("total_too_large", 28, |s| patch(s, ALL, 5, b"\0\x40")).with(MAX_TIME),
    ProsperoFault::file("total_two", 8, |s| patch_contents(s, nth(2), 5, b"\0\x20")),
    ProsperoFault::file("total_two_at_the_end", 8, |s| patch_contents(s, LAST, 5, b"\0\x19")),
    ProsperoFault::file("total_0", 28, |s| patch(s, ALL, 5, b"\0\0")).with(MAX_TIME),
    ProsperoFault::file("total_65535", 63, |s| patch(s, ALL, 5, b"\xff\xff")).or(&[28]).with(MAX_TIME),
    ProsperoFault::file("number_above_total", 8, |s| only_packets(s, &[(9, 2, b"x"), (1, 2, b"FAILURE "), (2, 2, b"NOT-FOUND\n")])),
    ProsperoFault::file("number_above_later_total", 8, |s| only_packets(s, &[(9, 0, b"x"), (1, 0, b"FAILURE "), (2, 2, b"NOT-FOUND\n")])),
    ProsperoFault::file("number_65535", 8, |s| only_packets(s, &[(0xffff, 2, b"x")])).or(&[63]),
    ProsperoFault::file("number_0_total_0", 28, |s| only_packets(s, &[(0, 0, NOT_FOUND)])).with(MAX_TIME),
    ProsperoFault::short("first_twice_with_other_data", 78, |s| only_packets(s, &[(1, 2, b"FAILURE "), (1, 2, b"SUCCESS "), (2, 2, b"NOT-FOUND\n")])).or(&[8]),
    ProsperoFault::short("in_three", 78, |s| only_packets(s, &[(1, 3, b"FAILURE NOT"), (2, 3, b""), (3, 3, b"-FOUND\n")])),
    ProsperoFault::short("sequenced_control", 78, |s| correct(s).replace_packets(vec![ProsperoPacket::data(1, 2, b"FAILURE SERVER-FAILED\n").flags(0x40), ProsperoPacket::data(2, 2, NOT_FOUND)])),
    // Endless responses.
    ProsperoFault::file("endless_too_large", 63, |_| without_size(endless())).with(&["--max-filesize", "100k"]),
    ProsperoFault::file("endless_drip", 28, |_| without_size(endless()).always(ProsperoAction::Drip(millis(20)))).or(&[63]).with(MAX_TIME),
    ProsperoFault::file("endless_lines", 63, |s| always(s, ProsperoAction::Endless(Vec::new(), b"UNKNOWN line\n".to_vec()))),
    ProsperoFault::file("too_large", 63, correct).with(&["--max-filesize", "29499"]),
    ProsperoFault::file("not_too_large", 0, correct).with(&["--max-filesize", "29500"]),
    // Requests to wait.
    ProsperoFault::file("wait_first", 0, |s| packet_before(s, ProsperoPacket::wait(9))),
    ProsperoFault::file("wait_longest_first", 0, |s| packet_before(s, ProsperoPacket::wait(0xffff))),
    ProsperoFault::file("wait_then_late", 0, |s| packet_before(s, ProsperoPacket::wait(9)).always(ProsperoAction::Delay(ALL, millis(500)))),
    ProsperoFault::file("queue_first", 0, |s| packet_before(s, ProsperoPacket::queue(9, 3, 60))),
    ProsperoFault::file("queue_cut_first", 0, |s| packet_before(s, ProsperoPacket::wait(9).option(254, b"\x03\0"))),
    ProsperoFault::file("wait_alone", 28, |s| only_packet(s, ProsperoPacket::wait(9))).with(&["-m", "2.2"]),
    ProsperoFault::file("wait_longest_alone", 28, |s| only_packet(s, ProsperoPacket::wait(0xffff))).with(MAX_TIME),
    ProsperoFault::file("queue_alone", 28, |s| only_packet(s, ProsperoPacket::queue(0xffff, 0xffff, u32::MAX))).with(MAX_TIME),
    ProsperoFault::file("wait_again_and_again", 28, |s| correct(s).silent().always(ProsperoAction::RepeatPacket(ProsperoPacket::wait(9), millis(50), 1000))).with(MAX_TIME),
    ProsperoFault::file("wait_flood", 28, |s| correct(s).silent().always(ProsperoAction::RepeatPacket(ProsperoPacket::wait(1), millis(1), 5000))).or(&[8, 63]).with(MAX_TIME),
    // Options.
    ProsperoFault::file("refused", 7, |s| only_packet(s, ProsperoPacket::refused())),
    ProsperoFault::file("refused_contents", 7, |s| on_contents(s, ProsperoAction::ReplacePackets(vec![ProsperoPacket::refused()], 9))),
    ProsperoFault::file("refused_late", 7, |s| on_contents(s, ProsperoAction::Window(8)).on(ProsperoTrigger::Contents, ProsperoAction::PacketAfter(ProsperoPacket::refused()))),
    ProsperoFault::file("refused_with_text", 7, |s| only_packet(s, ProsperoPacket::data(0, 0, b"FAILURE TOO-MANY\n").option(1, b""))),
    ProsperoFault::file("refused_once_by_another", 0, |s| packet_before(s, ProsperoPacket::refused().other_id(OTHER_ID))),
    ProsperoFault::file("forget_once", 0, |s| always(s, ProsperoAction::ReplacePackets(vec![ProsperoPacket::forget()], 1))),
    ProsperoFault::file("forget_contents_once", 0, |s| on_contents(s, ProsperoAction::ReplacePackets(vec![ProsperoPacket::forget()], 1))),
    ProsperoFault::file("forget_always", 28, |s| only_packet(s, ProsperoPacket::forget())).or(&[8, 63]).with(MAX_TIME),
    ProsperoFault::file("bitmap_first", 0, |s| packet_before(s, ProsperoPacket::control().option(3, b"\xff\x00"))),
    ProsperoFault::file("unknown_option_first", 0, |s| packet_before(s, ProsperoPacket::control().option(99, b"x"))),
    ProsperoFault::short("unknown_option_with_data", 78, |s| only_packet(s, ProsperoPacket::data(1, 1, NOT_FOUND).option(99, b""))),
    ProsperoFault::short("unknown_flags_with_data", 78, |s| only_packet(s, ProsperoPacket::data(1, 1, NOT_FOUND).flags(0x30))),
    ProsperoFault::short("acknowledge_a_control", 0, |s| packet_before(s, ProsperoPacket::control().flags(0x80))),
    // Redirects.
    ProsperoFault::file("redirect_port", 0, |s| redirect(s, ProsperoHost::OtherPort)).or(&[90]),
    ProsperoFault::file("redirect_port_told", 0, |s| only_packet(s, ProsperoPacket::redirect(5, ProsperoHost::OtherPort))).or(&[90]),
    ProsperoFault::file("redirect_contents", 0, |s| on_contents(s, ProsperoAction::ReplacePackets(vec![ProsperoPacket::redirect(4, ProsperoHost::OtherPort)], 9))).or(&[90]),
    ProsperoFault::file("redirect_address", 0, |s| redirect(s, ProsperoHost::OtherAddress)).or(&[90]),
    ProsperoFault::file("redirect_ring", 47, |s| redirect(s, ProsperoHost::Here)).or(&[8, 90]),
    ProsperoFault::file("redirect_low_port", 90, |s| redirect(s, addr([127, 0, 0, 1], 25))),
    ProsperoFault::file("redirect_port_0", 8, |s| redirect(s, addr([127, 0, 0, 1], 0))).or(&[90]),
    ProsperoFault::file("redirect_nowhere", 8, |s| redirect(s, addr([0, 0, 0, 0], 0))).or(&[7, 90]),
    ProsperoFault::file("redirect_broadcast", 90, |s| redirect(s, addr([255, 255, 255, 255], 0x1525))).or(&[7, 8]),
    ProsperoFault::file("redirect_cut", 8, |s| only_packet(s, ProsperoPacket::control().option(4, b"\x7f\0\0"))).or(&[28]),
    ProsperoFault::file("redirect_without_address", 8, |s| only_packet(s, ProsperoPacket::control().option(5, b""))).or(&[28]),
];

fn endless() -> ProsperoAction {
    ProsperoAction::Endless(b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA x".to_vec(), b"x".to_vec())
}
