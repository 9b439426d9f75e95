//! Tests of encoding and decoding each message, of layouts and of malformed bytes.

use super::*;
use fanin_core::packet::{Addresses, Flags};
use fanin_core::units::Time;

const NAME: Addresses = Addresses { src: [10, 0, 0, 5], dst: [10, 0, 0, 2], src_port: 10_003, dst_port: 5_001 };

fn flags() -> TcpFlags {
    TcpFlags { value: 0x10, mask: 0x12 }
}

fn frame() -> Frame {
    let syn = Flags::SYN.tcp_byte();
    Frame { addresses: NAME, flags: syn, seq: 7, ack: 0, window: 65_535, payload: 0, mss: Some(1460), scale: Some(5) }
}

fn entry(count: u64) -> FlowStats {
    FlowStats {
        cookie: cookie::DATA,
        priority: 10_000,
        counters: Counters { age: Time::from_ms(1_234), packets: count, bytes: count * 1500 },
        matching: Match { connection: Some(NAME), ..Match::default() },
    }
}

/// One message of each kind and shape.
fn samples() -> Vec<Body> {
    let whole = Match {
        in_port: Some(3),
        connection: Some(NAME),
        tcp_flags: Some(flags()),
        out_port: Some(1),
        buffer_len: Some(127_500),
    };
    let change = FlowMod {
        cookie: cookie::WINDOW,
        command: command::ADD,
        idle: 10,
        hard: 20,
        priority: 20_000,
        buffer: NO_BUFFER,
        tell: true,
        matching: Match { in_port: None, ..whole },
        actions: vec![Action::LimitWindow(2920), Action::Output(4)],
    };
    let packet = |about, data, total| PacketIn { buffer: 17, total, reason: 0xF1, cookie: 1, about, data };
    vec![
        Body::Hello,
        Body::FeaturesRequest,
        Body::FeaturesReply { datapath: 77 },
        Body::PacketIn(packet(whole, Vec::new(), 0)),
        Body::PacketIn(packet(Match::default(), frame().head(), 66)),
        Body::FlowRemoved(FlowRemoved {
            cookie: cookie::DATA,
            priority: 10_000,
            counters: entry(9).counters,
            matching: entry(9).matching,
        }),
        Body::PacketOut(PacketOut { buffer: 17, in_port: 3, actions: vec![Action::Output(1)], data: Vec::new() }),
        Body::PacketOut(PacketOut {
            buffer: NO_BUFFER,
            in_port: 3,
            actions: vec![Action::Output(1)],
            data: frame().whole(),
        }),
        Body::Error(Failure::new(FailureKind::BUFFER_UNKNOWN, &[4, 13, 0, 24])),
        Body::EchoRequest(vec![1, 2, 3]),
        Body::EchoReply(Vec::new()),
        Body::BarrierRequest,
        Body::BarrierReply,
        Body::FlowMod(change.clone()),
        Body::FlowMod(FlowMod { command: command::DELETE, tell: false, actions: Vec::new(), ..change }),
        Body::PortsRequest,
        Body::Ports { ports: (1..4).map(|port| PortDescription { port, kbps: 1_000_000 }).collect(), more: false },
        Body::FlowStatsRequest(FlowStatsRequest { cookie: cookie::DATA }),
        Body::FlowStats { flows: (0..3).map(entry).collect(), more: true },
        Body::FlowStats { flows: Vec::new(), more: false },
    ]
}

#[test]
fn every_message_survives_the_way_there_and_back() {
    for (xid, body) in samples().into_iter().enumerate() {
        let message = Message { xid: xid as u32, body };
        let bytes = message.encode();
        assert_eq!((bytes[0], usize::from(u16::from_be_bytes([bytes[2], bytes[3]]))), (4, bytes.len()));
        assert_eq!(Message::decode(&bytes), Ok(message));
    }
}

/// `python/tests/test_os_ken.py` compares the lines with what os-ken builds.
#[test]
fn messages_of_os_ken_are_understood_and_written_the_same() {
    for line in include_str!("tests/os-ken.txt").lines() {
        let (name, digits) = line.split_once(' ').expect("a name and bytes");
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        let message = Message::decode(&bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(message.encode(), bytes, "{name}");
    }
}

#[test]
fn a_congestion_notification_is_written_byte_for_byte() {
    let about = Match { in_port: Some(1), buffer_len: Some(45_000), ..Match::default() };
    let packet = PacketIn { buffer: NO_BUFFER, total: 0, reason: 0xF1, cookie: u64::MAX, about, data: Vec::new() };
    #[rustfmt::skip]
    let expected = [
        4, 10, 0, 50, 0, 0, 0, 9,                               // header
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0xF1, 0,                  // no buffer, no frame, CN-L, table 0
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,         // cookie of no entry
        0, 1, 0, 24,                                            // OXM match, which needs no padding
        0x80, 0, 0, 4, 0, 0, 0, 1,                              // in_port
        0xFF, 0xFF, 2, 8, 0, 2, 0xFA, 0x17, 0, 0, 0xAF, 0xC8,   // experimenter's buffer_len
        0, 0,
    ];
    assert_eq!(Message { xid: 9, body: Body::PacketIn(packet) }.encode(), expected);
}

#[test]
fn what_is_cut_short_or_drawn_out_is_refused() {
    for body in samples() {
        let bytes = Message { xid: 1, body }.encode();
        for length in 0..bytes.len() {
            // Truncated, with the original header and with one of matching length.
            assert!(Message::decode(&bytes[..length]).is_err());
            let mut cut = bytes[..length].to_vec();
            if length >= 4 {
                cut[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                let decoded = Message::decode(&cut);
                assert!(decoded.is_err() || decoded.is_ok_and(|message| message.encode().len() <= bytes.len()));
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(Message::decode(&longer), Err(Malformed::Length));
    }
}

#[test]
fn other_versions_types_and_values_are_refused_by_name() {
    let hello = Message { xid: 1, body: Body::Hello }.encode();
    let with = |at: usize, value: u8| {
        let mut bytes = hello.clone();
        bytes[at] = value;
        Message::decode(&bytes)
    };
    assert_eq!(with(0, 1), Err(Malformed::Version(1)));
    assert_eq!(with(1, 99), Err(Malformed::Type(99)));
    assert_eq!(with(3, 15), Err(Malformed::Length));
    assert_eq!(Message::decode(&[]), Err(Malformed::Short));
    let ports = Message { xid: 1, body: Body::PortsRequest }.encode();
    let unknown = [&ports[..9], &[77], &ports[10..]].concat();
    assert_eq!(Message::decode(&unknown), Err(Malformed::Value("kind of multipart message")));
}

/// Each single wrong byte and seeded random bytes: decoding returns an error or a message that can be encoded again.
#[test]
fn rubbish_never_breaks_the_decoder() {
    let check = |bytes: &[u8]| {
        if let Ok(message) = Message::decode(bytes) {
            let again = message.encode();
            assert_eq!(Message::decode(&again), Ok(message), "what was understood can be said");
        }
        let _ = Frame::read(bytes);
    };
    for body in samples() {
        let bytes = Message { xid: 1, body }.encode();
        for at in 0..bytes.len() {
            for value in [0, 1, 4, 0x7F, 0x80, 0xFF] {
                let mut wrong = bytes.clone();
                wrong[at] = value;
                check(&wrong);
            }
        }
    }
    let mut state = 1_u64;
    for length in (0..200).cycle().take(2_000) {
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        check(&bytes);
        if length >= 8 {
            let kind = bytes[1] % 20;
            bytes[..4].copy_from_slice(&[4, kind, 0, length as u8]);
            check(&bytes);
        }
    }
}

#[test]
fn a_match_names_a_connection_whole_or_not_at_all() {
    let body = Body::FlowStats { flows: vec![entry(1)], more: false };
    let mut bytes = Message { xid: 1, body }.encode();
    let source = bytes.windows(4).position(|window| window == [0x80, 0, 11 << 1, 4]).expect("the source address");
    bytes[source + 2] = 12 << 1; // The destination address twice.
    assert_eq!(Message::decode(&bytes), Err(Malformed::Value("part of a connection")));
}

#[test]
fn frames_tell_what_the_controller_reads_of_them() {
    let ack = Flags::ACK.tcp_byte();
    let data = Frame { flags: ack | Flags::FIN.tcp_byte(), payload: 1460, mss: None, scale: None, ..frame() };
    for frame in [frame(), data] {
        assert_eq!(Frame::read(&frame.head()), Ok(frame));
        assert_eq!(frame.length(), frame.head().len() + usize::from(frame.payload));
        for length in 0..frame.head().len() {
            assert!(Frame::read(&frame.head()[..length]).is_err());
        }
    }
    assert!(data.has(Flags::FIN) && !data.has(Flags::SYN));
}

#[test]
fn long_answers_are_split_and_say_so() {
    let parts = Body::of_flows((0..1_500).map(entry).collect());
    assert_eq!(parts.len(), 3, "1500 entries of 104 bytes");
    let mut seen = Vec::new();
    for (i, body) in parts.iter().enumerate() {
        let bytes = Message { xid: 1, body: body.clone() }.encode();
        let Ok(Message { body: Body::FlowStats { flows, more }, .. }) = Message::decode(&bytes) else { panic!() };
        assert_eq!(more, i < 2);
        seen.extend(flows.iter().map(|flow| flow.counters.packets));
    }
    assert_eq!(seen, (0..1_500).collect::<Vec<_>>());
    assert_eq!(Body::of_flows(Vec::new()).len(), 1, "nothing to tell is an answer");
    let ports = Body::of_ports(&(1..=2_000).map(|port| PortDescription { port, kbps: 1 }).collect::<Vec<_>>());
    assert_eq!(ports.len(), 3);
}
