//! ARDP, packet by packet, in virtual time: when a client retransmits, what it acknowledges, and which control values
//! it accepts.

use std::time::Duration;

use crate::ardp::virtual_time::{Client, ID, MINUTE, Packet, part};

#[test]
fn four_tries_share_the_total_timeout() {
    for (timeout, ends) in
        [(60.0, [4.0, 12.0, 28.0, 60.0]), (15.0, [1.0, 3.0, 7.0, 15.0]), (7.5, [0.5, 1.5, 3.5, 7.5])]
    {
        let mut client = Client::new(10, Duration::from_secs_f64(timeout));
        assert_eq!(client.at(0.0), format!("ask 1/1 | wait {}", ends[0]));
        for (end, next) in ends.iter().zip(&ends[1..]) {
            assert_eq!(client.at(end - 0.001), format!("wait {end}"));
            assert_eq!(client.at(*end), format!("ask 1/1 | wait {next}"));
        }
        assert_eq!(client.at(ends[3] - 0.001), format!("wait {}", ends[3]));
        assert_eq!(client.at(ends[3]), "give up");
        assert_eq!(client.at(ends[3] + 100.0), "give up");
    }
    let mut impatient = Client::new(10, Duration::ZERO);
    assert_eq!(impatient.at(0.0), "ask 1/1 | ask 1/1 | ask 1/1 | ask 1/1 | give up");
    let mut late = Client::after_request();
    assert_eq!(late.at(5.0), "ask 1/1 | wait 13");
}

#[test]
fn unlimited_timeout_still_sets_a_wait() {
    let mut client = Client::new(10, Duration::MAX);
    assert!(client.at(0.0).starts_with("ask 1/1 | wait "));
    assert!(client.receive_at(10.0, &Packet { wait: 0xffff, ..Packet::default() }).starts_with("wait "));
}

#[test]
fn long_request_is_split_into_packets_of_1250_bytes() {
    for (length, asks) in [
        (1, "ask 1/1"),
        (1250, "ask 1/1"),
        (1251, "ask 1/2 | ask 2/2"),
        (2500, "ask 1/2 | ask 2/2"),
        (3700, "ask 1/3 | ask 2/3 | ask 3/3"),
    ] {
        assert_eq!(Client::new(length, MINUTE).at(0.0), format!("{asks} | wait 4"));
        let mut again = Client::new(length, MINUTE);
        again.at(0.0);
        assert_eq!(again.at(4.0), format!("{asks} | wait 12"));
    }
}

/// Only unacknowledged packets are retransmitted; all packets if none is acknowledged.
#[test]
fn acknowledged_packets_are_not_retransmitted() {
    let through = |through: u16| Packet { through, ..Packet::default() };
    let mut client = Client::new(3700, MINUTE);
    client.at(0.0);
    // Progress resets the number of tries.
    assert_eq!(client.receive_at(3.0, &through(1)), "wait 7");
    assert_eq!(client.receive_at(5.0, &through(1)), "wait 7");
    assert_eq!(client.at(7.0), "ask 2/3 | ask 3/3 | wait 15");
    assert_eq!(client.receive_at(8.0, &through(2)), "wait 12");
    assert_eq!(client.at(12.0), "ask 3/3 | wait 20");
    // An acknowledgement is never withdrawn, and one of packets that were not sent is ignored.
    assert_eq!(client.receive_at(13.0, &through(1)), "wait 20");
    assert_eq!(client.receive_at(13.0, &through(4)), "wait 20");
    assert_eq!(client.at(20.0), "ask 3/3 | wait 36");
}

/// A server that has acknowledged the complete request and sends no answer gets a retransmission in some form, four
/// times in all.
#[test]
fn silence_after_full_acknowledgement_times_out_after_four_tries() {
    let mut client = Client::new(1251, MINUTE);
    client.at(0.0);
    assert_eq!(client.receive_at(1.0, &Packet { through: 2, ..Packet::default() }), "wait 5");
    for (at, next) in [(5.0, 13), (13.0, 29), (29.0, 61)] {
        let words = client.at(at);
        assert!(words.ends_with(&format!(" | wait {next}")), "{words}");
        assert!(!words.contains("ask 1/2"), "{words}");
    }
    assert_eq!(client.at(61.0), "give up");
}

#[test]
fn wait_packet_extends_the_timeout_within_its_bounds() {
    let wait = |wait: u16| Packet { wait, ..Packet::default() };
    for (seconds, until) in [(1, 14), (4, 14), (5, 15), (9, 19), (60, 70), (180, 70), (0xffff, 70)] {
        let mut client = Client::after_request();
        client.at(4.0);
        // The wait is at least the first timeout and at most the total time, and the number of tries is reset.
        assert_eq!(client.receive_at(10.0, &wait(seconds)), format!("wait {until}"), "{seconds}");
        let until = f64::from(until);
        assert_eq!(client.at(until), format!("ask 1/1 | wait {}", until + 8.0));
        client.at(until + 8.0);
        assert_eq!(client.at(until + 24.0), format!("ask 1/1 | wait {}", until + 56.0));
        assert_eq!(client.at(until + 56.0), "give up");
    }
    assert_eq!(Client::after_request().receive_at(2.0, &wait(0)), "wait 4");
    // A complete answer is delivered without a wait, also if the wait was requested together with a part of it.
    let mut client = Client::after_request();
    client.receive(&wait(100));
    assert_eq!(client.receive_at(1.0, &part(1, 1, "a")), "piece a | done");
    let mut client = Client::after_request();
    assert_eq!(client.receive(&Packet { wait: 30, ..part(1, 2, "a") }), "piece a | wait 30");
    assert_eq!(client.receive_at(1.0, &part(2, 2, "b")), "ack 2 | piece b | done");
}

#[test]
fn wait_packets_in_the_format_of_the_prospero_source_are_accepted() {
    // 180 s, and 900 s with a position in a queue (option 254); both are limited by the total timeout.
    let bytes = [0x0b, 1, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0xb4];
    assert_eq!(Client::after_request().receive_bytes(&bytes), "wait 60");
    let bytes = [0x14, 1, 0x1a, 0, 0, 0, 0, 0, 0, 3, 0x84, 0, 0xfe, 3, 0, 3, 0, 0, 0, 0x3c];
    assert_eq!(Client::after_request().receive_bytes(&bytes), "wait 60");
    let bytes = [0x0b, 1, 0x1a, 0, 0, 0, 0, 0, 0, 0, 9];
    assert_eq!(Client::after_request().receive_bytes(&bytes), "wait 9");
}

#[test]
fn requested_acknowledgement_is_sent_and_repeated_after_a_delay() {
    let mut client = Client::after_request();
    let flagged = |number, data: &str| Packet { flags: 0x80, ..part(number, 0, data) };
    assert_eq!(client.receive(&flagged(2, "b")), "ack 0 | wait 4");
    assert_eq!(client.receive(&flagged(1, "a")), "ack 2 | piece a | piece b | wait 4");
    // The acknowledgement is repeated, because it may have been lost; but after a delay, so that client and server do
    // not trigger each other endlessly.
    assert_eq!(client.receive(&flagged(1, "a")), "wait 1");
    assert_eq!(client.receive(&flagged(0, "")), "wait 1");
    assert_eq!(client.receive(&part(3, 0, "c")), "piece c | wait 1");
    assert_eq!(client.receive(&part(4, 4, "d")), "ack 4 | piece d | done");
    assert_eq!(client.receive(&part(4, 4, "d")), "done");
    assert_eq!(client.receive(&flagged(2, "b")), "done");
    assert_eq!(client.receive_bytes(&flagged(5, "e").bytes(ID + 1)), "done");
    // A complete answer is acknowledged once, if the server asks for it.
    assert_eq!(Client::after_request().receive(&part(1, 1, "a")), "piece a | done");
    assert_eq!(
        Client::after_request().receive(&Packet { flags: 0x80, ..part(1, 1, "a") }),
        "ack 1 | piece a | done"
    );
    let mut last = Client::after_request();
    last.receive(&part(1, 2, "a"));
    assert_eq!(last.receive(&Packet { flags: 0x80, ..part(2, 2, "b") }), "ack 2 | piece b | done");
}

#[test]
fn missing_packet_repeats_the_acknowledgement() {
    let mut client = Client::after_request();
    client.receive_at(1.0, &part(1, 0, "a"));
    assert_eq!(client.receive_at(1.0, &part(2, 0, "b")), "piece b | wait 5");
    assert_eq!(client.receive_at(2.0, &part(4, 5, "d")), "wait 6");
    // The request is not retransmitted any more: the client acknowledges the received packets, and the server sends the
    // rest.
    assert_eq!(client.at(6.0), "ack 2 | wait 14");
    assert_eq!(client.at(14.0), "ack 2 | wait 30");
    assert_eq!(client.receive_at(15.0, &part(3, 5, "c")), "piece c | piece d | wait 19");
    assert_eq!(client.at(19.0), "ack 4 | wait 27");
    // A repeated packet is not progress.
    assert_eq!(client.receive_at(20.0, &part(4, 5, "d")), "wait 27");
    assert_eq!(client.at(27.0), "ack 4 | wait 43");
    assert_eq!(client.at(43.0), "ack 4 | wait 75");
    assert_eq!(client.at(75.0), "give up");
    let mut first = Client::after_request();
    assert_eq!(first.receive_at(1.0, &part(2, 2, "b")), "wait 5");
    assert_eq!(first.at(5.0), "ack 0 | wait 13");
    assert_eq!(first.receive_at(6.0, &part(1, 2, "a")), "ack 2 | piece a | piece b | done");
}

/// Tests all orders of four packets, each of them sent once and twice.
#[test]
fn packets_in_every_order_give_the_text_in_order() {
    for order in 0..24 {
        let mut rest: Vec<u16> = (1..=4).collect();
        let mut choice = order;
        let numbers: Vec<_> = (1..=4)
            .rev()
            .map(|left| {
                let at = choice % left;
                choice /= left;
                rest.remove(at)
            })
            .collect();
        for times in [1, 2] {
            let mut client = Client::after_request();
            let mut words = Vec::new();
            for number in numbers.iter().flat_map(|number| vec![*number; times]) {
                let total = if number == 3 { 4 } else { 0 };
                words.push(client.receive(&part(
                    number,
                    total,
                    ["", "a", "b", "c", "d"][usize::from(number)],
                )));
            }
            let pieces: Vec<_> = words
                .iter()
                .flat_map(|words| words.split(" | "))
                .filter_map(|word| word.strip_prefix("piece "))
                .collect();
            assert_eq!(pieces.concat(), "abcd", "{numbers:?}");
            let acks = words.join(" | ").matches("ack 4").count();
            assert_eq!((acks, words.join(" | ").matches("ack").count()), (1, 1), "{numbers:?}");
            assert!(words.last().is_some_and(|last| last.ends_with("done")));
        }
    }
}
