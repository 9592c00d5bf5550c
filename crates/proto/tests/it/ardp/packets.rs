//! ARDP datagrams, field by field: other exchanges, truncated headers, contradictory fields, and options.

use crate::ardp::virtual_time::{Client, ID, MINUTE, Packet, part};

/// Returns a header of the maximum length for packet 1 of 1.
fn long_header() -> Vec<u8> {
    let mut header = vec![0, 1, 0x1a, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0];
    header.resize(63, 0);
    header
}

#[test]
fn packet_with_another_id_is_ignored() {
    let mut client = Client::after_request();
    let others = [
        Packet { flags: 0x80, ..part(1, 1, "a") },
        Packet { through: 1, ..part(1, 2, "a") },
        Packet { wait: 50, ..Packet::default() },
        Packet { option: 1, ..Packet::default() },
        Packet { option: 2, ..Packet::default() },
        Packet { option: 4, extra: vec![127, 0, 0, 1, 9, 0xdd], ..Packet::default() },
    ];
    for other in others {
        for id in [0, 1, ID + 1, ID - 1, ID.swap_bytes(), 0xffff] {
            assert_eq!(client.receive_bytes(&other.bytes(id)), "wait 4", "{id}");
        }
    }
    // Without an id field, the id is 0.
    assert_eq!(client.receive_bytes(b"\x01a"), "wait 4");
    assert_eq!(client.receive_bytes(b"\x02\x01a"), "wait 4");
    assert_eq!(client.receive(&part(1, 1, "a")), "piece a | done");
}

/// §2: 0 means a sender without a version; values from 32 on are old text or another version; 129 is version 1.
#[test]
fn first_byte_selects_version_and_header_length() {
    for first in 0..=255_u8 {
        let mut client = Client::after_request();
        let mut bytes = long_header();
        bytes[0] = first;
        let length = usize::from(first & 63);
        bytes.truncate(length.max(13));
        bytes.extend(b"data");
        let words = client.receive_bytes(&bytes);
        match first {
            0 | 32.. => assert_eq!(words, "wait 4", "{first}"),
            // The header ends before the id or within a field.
            1 | 2 | 4 | 6 | 8 | 10 => {}
            13.. => assert_eq!(words, "piece data | done", "{first}"),
            _ => {
                let rest = bytes[length..].escape_ascii();
                let number_is_known = first >= 5;
                let total_is_known = first == 3 || first >= 7;
                let end = if total_is_known { "done" } else { "wait 4" };
                assert!(number_is_known || total_is_known);
                assert_eq!(words, format!("piece {rest} | {end}"), "{first}");
            }
        }
    }
}

#[test]
fn header_longer_than_its_datagram_is_ignored() {
    let mut client = Client::after_request();
    let complete = part(1, 1, "").bytes(ID);
    for length in 0..complete.len() {
        assert_eq!(client.receive_bytes(&complete[..length]), "wait 4", "{length}");
    }
    assert_eq!(client.receive_bytes(&[]), "wait 4");
    assert_eq!(client.receive_bytes(&complete), "done");
}

#[test]
fn missing_header_fields_have_their_defaults() {
    // A header with only the id means packet 1 of 1.
    assert_eq!(Client::after_request().receive_bytes(b"\x03\x01\x1atext"), "piece text | done");
    assert_eq!(Client::after_request().receive_bytes(b"\x03\x01\x1a"), "done");
    // A packet number without a total: the total is not known yet.
    let mut client = Client::after_request();
    assert_eq!(client.receive_bytes(b"\x05\x01\x1a\0\x01a"), "piece a | wait 4");
    assert_eq!(client.receive_bytes(b"\x07\x01\x1a\0\x02\0\0b"), "piece b | wait 4");
    assert_eq!(client.receive_bytes(b"\x07\x01\x1a\0\x03\0\x03c"), "ack 3 | piece c | done");
    // A complete answer in one packet afterwards contradicts the first total.
    let mut client = Client::after_request();
    client.receive(&part(1, 3, "a"));
    assert_eq!(client.receive_bytes(b"\x03\x01\x1ab"), "unexpected");
}

#[test]
fn contradictory_totals_are_unexpected() {
    let check = |packets: &[(u16, u16)], last: &str| {
        let mut client = Client::after_request();
        let words = packets.iter().map(|(number, total)| client.receive(&part(*number, *total, "x")));
        assert_eq!(words.last().as_deref(), Some(last), "{packets:?}");
    };
    check(&[(1, 3), (2, 4)], "unexpected");
    check(&[(1, 3), (1, 4)], "unexpected");
    check(&[(1, 0), (2, 3), (3, 2)], "unexpected");
    check(&[(4, 3)], "unexpected");
    check(&[(1, 3), (4, 3)], "unexpected");
    check(&[(1, 3), (4, 0)], "unexpected");
    check(&[(4, 0), (1, 3)], "unexpected");
    check(&[(1, 0), (2, 0), (3, 0), (1, 2)], "unexpected");
    check(&[(1, 1), (2, 0)], "unexpected");
    check(&[(1, 0), (2, 0), (3, 3)], "ack 3 | piece x | done");
    check(&[(1, 0), (2, 2)], "ack 2 | piece x | done");
    check(&[(1, 2), (2, 0)], "ack 2 | piece x | done");
    // A repeated packet may supply the total.
    check(&[(1, 0), (2, 0), (2, 2)], "done");
    check(&[(1, 65535)], "piece x | wait 4");
}

/// Tests all packet numbers, in windows of 16.
#[test]
fn answer_of_65535_packets_is_received() {
    let mut client = Client::after_request();
    for number in 1..=u16::MAX {
        let flags = if number % 16 == 0 { 0x80 } else { 0 };
        let words = client.receive(&Packet { flags, ..part(number, 65535, "x") });
        let ack = if flags != 0 || number == 65535 { format!("ack {number} | ") } else { String::new() };
        let end = if number == 65535 { "done" } else { "wait 4" };
        assert_eq!(words, format!("{ack}piece x | {end}"));
    }
    assert_eq!(client.receive(&part(65535, 65535, "x")), "done");
}

/// Without a total the answer has no end, and packets after the highest number are rejected.
#[test]
fn answer_without_a_total_has_no_end() {
    let mut client = Client::after_request();
    for number in 1..=u16::MAX {
        assert_eq!(client.receive(&part(number, 0, "x")), "piece x | wait 4");
    }
    assert_eq!(client.receive(&part(65535, 0, "x")), "wait 4");
    assert_eq!(client.receive(&part(0, 0, "x")), "wait 4");
    assert_eq!(client.receive(&part(65535, 65535, "x")).split(" | ").last(), Some("done"));
}

/// Packet number 0 is a control packet; flag 40 has a number but no text.
#[test]
fn control_packets_have_no_text() {
    let mut client = Client::after_request();
    assert_eq!(client.receive(&part(0, 0, "no")), "wait 4");
    assert_eq!(client.receive(&part(0, 1, "no")), "wait 4");
    assert_eq!(client.receive(&part(1, 3, "a")), "piece a | wait 4");
    assert_eq!(client.receive(&Packet { flags: 0x40, ..part(2, 3, "no") }), "wait 4");
    assert_eq!(client.receive(&part(3, 3, "c")), "ack 3 | piece c | done");
    let mut client = Client::after_request();
    assert_eq!(client.receive(&Packet { flags: 0xc0, ..part(1, 1, "no") }), "ack 1 | done");
}

#[test]
fn empty_packets_give_no_pieces() {
    let mut client = Client::after_request();
    assert_eq!(client.receive(&part(2, 3, "")), "wait 4");
    assert_eq!(client.receive(&part(1, 3, "")), "wait 4");
    assert_eq!(client.receive(&part(3, 3, "c")), "ack 3 | piece c | done");
    assert_eq!(Client::after_request().receive(&part(1, 1, "")), "done");
}

#[test]
fn refusal_ends_the_exchange() {
    let refused = Packet { option: 1, ..Packet::default() };
    let mut client = Client::after_request();
    assert_eq!(client.receive(&refused), "refused");
    assert_eq!(client.at(100.0), "refused");
    let built = [0x0d, 1, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(Client::after_request().receive_bytes(&built), "refused");
    let mut begun = Client::after_request();
    begun.receive(&part(1, 2, "a"));
    assert_eq!(begun.receive(&refused), "refused");
    // A complete answer stays complete.
    let mut complete = Client::after_request();
    complete.receive(&part(1, 1, "a"));
    assert_eq!(complete.receive(&refused), "done");
}

#[test]
fn redirect_gives_the_other_address() {
    let built = [0x13, 1, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1, 9, 0xdd];
    assert_eq!(Client::after_request().receive_bytes(&built), "elsewhere 127.0.0.1:2525");
    let address = [10, 1, 2, 3, 0xff, 0xff];
    let fields: [(u8, &[u8]); 6] = [
        (0, &[]),
        (0x02, &[0, 9]),
        (0x08, &[0, 16]),
        (0x0e, &[0, 9, 0, 8, 0, 16]),
        (0x01, &[1, 4, 9, 9, 9, 9]),
        (0x0f, &[1, 0, 0, 9, 0, 8, 0, 16]),
    ];
    for option in [4, 5] {
        for (flags, before) in fields {
            let packet = Packet { option, flags, extra: [before, &address].concat(), ..Packet::default() };
            assert_eq!(Client::after_request().receive(&packet), "elsewhere 10.1.2.3:65535");
            // The address is too short.
            for short in 0..6 {
                let extra = [before, &address[..short]].concat();
                let packet = Packet { option, flags, extra, ..Packet::default() };
                assert_eq!(Client::after_request().receive(&packet), "wait 4");
            }
        }
    }
}

#[test]
fn forgotten_request_is_sent_again_completely() {
    let forgotten = Packet { option: 2, ..Packet::default() };
    let mut client = Client::new(3700, MINUTE);
    client.at(0.0);
    client.receive_at(1.0, &Packet { through: 2, ..Packet::default() });
    assert_eq!(
        client.receive_at(2.0, &forgotten).replace("wait 6", "wait 5"),
        "ask 1/3 | ask 2/3 | ask 3/3 | wait 5"
    );
    let words = client.at(6.0);
    assert!(words.starts_with("ask 1/3 | ask 2/3 | ask 3/3 | wait "), "{words}");
    // If the server repeatedly reports that it lost the request, the number of retransmissions is limited.
    let mut client = Client::after_request();
    let words: Vec<_> = (0..1000).map(|_| client.receive(&forgotten)).collect();
    let asked = words.iter().filter(|words| words.contains("ask")).count();
    assert!((1..100).contains(&asked), "{asked}");
}

/// Without the request, the server will never send the rest. The client sends the request again, or fails at once,
/// since two runs of a query may return different answers.
#[test]
fn request_forgotten_within_the_answer_is_resent_or_fails() {
    let mut client = Client::after_request();
    client.receive(&part(1, 3, "a"));
    let words = client.receive(&Packet { option: 2, ..Packet::default() });
    assert!(words == "cut" || words.starts_with("ask 1/1 | "), "{words}");
}

/// A complete answer stays complete.
#[test]
fn request_forgotten_after_the_answer_changes_nothing() {
    let mut client = Client::after_request();
    client.receive(&part(2, 2, "b"));
    client.receive(&part(1, 2, "a"));
    let words = client.receive(&Packet { option: 2, ..Packet::default() });
    assert_eq!(words, "done");
}

/// Undefined options and options between servers are ignored, but the data of the packet is kept.
#[test]
fn unknown_options_are_ignored_and_their_data_kept() {
    for option in (0..=255).filter(|option| !matches!(option, 1 | 2 | 4 | 5)) {
        for extra in [&[][..], &[0xff], &[1, 0, 3], &[3, 0, 3, 0, 0, 0, 60]] {
            let with = |packet: Packet| Packet { option, extra: extra.to_vec(), ..packet };
            let mut client = Client::after_request();
            assert_eq!(client.receive(&with(Packet::default())), "wait 4", "{option}");
            assert_eq!(client.receive(&with(part(1, 2, "a"))), "piece a | wait 4", "{option}");
            assert_eq!(client.receive(&with(part(2, 2, "b"))), "ack 2 | piece b | done", "{option}");
        }
    }
}

/// Flags with missing fields, and undefined flags.
#[test]
fn flags_without_their_fields_are_ignored() {
    for flags in 0..=255_u8 {
        for extra in [&[][..], &[1], &[1, 250], &[0; 9]] {
            let packet = Packet { flags, extra: extra.to_vec(), ..part(1, 1, "a") };
            let ack = if flags & 0x80 != 0 { "ack 1 | " } else { "" };
            let piece = if flags & 0x40 != 0 { "" } else { "piece a | " };
            assert_eq!(Client::after_request().receive(&packet), format!("{ack}{piece}done"), "{flags}");
        }
    }
}

#[test]
fn cancellation_names_the_exchange_at_every_time() {
    let cancel = [13, 1, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let mut client = Client::after_request();
    assert_eq!(client.exchange.cancellation(), &cancel[..]);
    assert!(!client.exchange.has_received_data());
    client.receive(&part(2, 2, "b"));
    assert!(client.exchange.has_received_data());
    assert_eq!(client.exchange.cancellation(), &cancel[..]);
}

/// After a redirect, the complete request is sent to the other server, within the remaining time of the try.
#[test]
fn resent_request_is_sent_completely_within_the_current_try() {
    let mut client = Client::new(1251, MINUTE);
    client.at(0.0);
    client.receive(&Packet { through: 1, ..Packet::default() });
    client.at(4.0);
    client.exchange.resend_request();
    assert_eq!(client.at(4.0), "ask 1/2 | ask 2/2 | wait 12");
    assert_eq!(client.at(12.0), "ask 1/2 | ask 2/2 | wait 28");
}
