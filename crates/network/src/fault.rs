//! Faults: failures in the network, and when they occur.
//!
//! Each `[[fault]]` table of a scenario is one fault. Routing does not react: flows keep their paths, as they would
//! until a routing protocol converges. `net/faults.rs` keeps the active faults, and the event core carries out those of
//! links (`EventCore::set_link`). To add a kind: a row in [`REGISTRY`] and, if it does something new, an [`Effect`].

use fanin_core::packet::{Flags, Packet};
use fanin_core::units::{Rate, Time};
use fanin_param::{Kind, Param, SpecError, Values};

/// A kind of fault that a scenario can name.
pub struct FaultRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[[fault]]` table beyond those of all faults.
    pub params: &'static [Param],
    /// What it does while it lasts.
    pub effect: fn(&Values) -> Effect,
}

/// Every kind of fault.
pub static REGISTRY: &[FaultRow] = &[LINK_DOWN, LOSS, RATE, DROP, DELAY, MARK, CONTROLLER_OUTAGE];

/// What a fault does while it lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The link is down.
    Down {
        /// The packets queued at its port are lost, and so are all that arrive.
        flush: bool,
    },
    /// Each packet is lost with this probability.
    Loss(f64),
    /// The link has this rate.
    Rate(Rate),
    /// This happens to each of the packets that [`Chosen`] describes.
    Packets(Act),
    /// The controller does nothing.
    ControllerOutage,
}

/// What happens to a chosen packet that has crossed its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is lost.
    Drop,
    /// It arrives so much later, and others may overtake it.
    Delay(Time),
    /// It is marked if it is ECN-capable.
    Mark,
}

/// `[[fault]]`: when it happens. Keys of every kind.
pub static COMMON: &[Param] = &[
    Param::new("at", Kind::Time, "0s", "When it begins.", "with the run"),
    Param::new("for", Kind::Time, "0s", "How long it lasts; 0s for the rest of the run.", "for good"),
];

const LINK: Param = Param::new(
    "link",
    Kind::Text,
    "bottleneck",
    "Which link: bottleneck, or its two ends as in the table of links, such as sender-3->switch-0. All parallel \
     links are affected unless one is named, as in leaf-0->spine-1/0.",
    "the link where incast is expected",
);

const DIRECTION: Param = Param::new(
    "direction",
    Kind::Choice(&["both", "one"]),
    "both",
    "Whether the other direction of the same cable is affected as well.",
    "our choice: a fault of the cable",
);

const LINK_DOWN: FaultRow = FaultRow {
    key: "link-down",
    summary: "A link is down; packets in flight on it are lost.",
    params: &[
        LINK,
        DIRECTION,
        Param::new(
            "queued",
            Kind::Choice(&["wait", "drop"]),
            "wait",
            "Packets at its port: they wait until the link is up again, or they and all arrivals while it is down are \
             lost.",
            "our choice: a short interruption, which the port does not detect",
        ),
    ],
    effect: |values| Effect::Down { flush: values.is("queued", "drop") },
};

const LOSS: FaultRow = FaultRow {
    key: "loss",
    summary: "A link loses packets at random, each independently.",
    params: &[
        LINK,
        DIRECTION,
        Param::new("rate", Kind::Fraction, "1%", "Probability that a packet is lost.", "our choice: a bad cable"),
    ],
    effect: |values| Effect::Loss(values.number("rate")),
};

const RATE: FaultRow = FaultRow {
    key: "rate",
    summary: "A link has another rate. A packet in transmission is finished at the old rate.",
    params: &[
        LINK,
        DIRECTION,
        Param::new(
            "rate",
            Kind::Rate,
            "100Mbps",
            "Its rate during the fault.",
            "our choice: negotiated down from 1 Gbps",
        )
        .at_least(1.0),
    ],
    effect: |values| Effect::Rate(values.rate("rate")),
};

const PACKETS: Param = Param::new(
    "packets",
    Kind::Choice(&["data", "ack", "syn", "syn-ack", "fin", "control"]),
    "data",
    "Which kind of packets: segments with data, pure ACKs, SYNs, SYN-ACKs, segments with a FIN, or control packets of the \
     scheme.",
    "our choice",
);

const SEGMENTS: Param = Param::new(
    "segments",
    Kind::Text,
    "1",
    "Which segments of data, such as 1 or 1,4..6. Data are counted in pieces of an mss, and a number means the \
     segment with the first byte of that piece. Each connection is counted by itself.",
    "our choice: the first",
);

const OFFSET: Param = Param::new(
    "offset",
    Kind::Bytes,
    "0B",
    "The byte of a connection's data, in the direction of the link, with which segment 1 begins: what earlier transfers \
     sent comes before it.",
    "our choice: the first",
);

const COPIES: Param = Param::new(
    "copies",
    Kind::Text,
    "1",
    "Which of the same packets in the order in which they cross the link, such as 1 or 1,3..5. For a segment, 1 is \
     its first transmission and 2 its first retransmission. ACKs are counted in each connection. Only what crosses \
     while the fault lasts is counted.",
    "our choice: the first",
);

const DROP: FaultRow = FaultRow {
    key: "drop",
    summary: "A link, in one direction, loses the packets that are listed, and no other.",
    params: &[LINK, PACKETS, SEGMENTS, OFFSET, COPIES],
    effect: |_| Effect::Packets(Act::Drop),
};

const DELAY: FaultRow = FaultRow {
    key: "delay",
    summary: "A link, in one direction, delivers the packets that are listed later, so that others overtake them.",
    params: &[
        LINK,
        PACKETS,
        SEGMENTS,
        OFFSET,
        COPIES,
        Param::new(
            "by",
            Kind::Time,
            "100us",
            "How much later they arrive.",
            "our choice: longer than a round trip in a rack",
        ),
    ],
    effect: |values| Effect::Packets(Act::Delay(values.time("by"))),
};

const MARK: FaultRow = FaultRow {
    key: "mark",
    summary: "A link, in one direction, marks the packets that are listed, if they are ECN-capable.",
    params: &[LINK, PACKETS, SEGMENTS, OFFSET, COPIES],
    effect: |_| Effect::Packets(Act::Mark),
};

const CONTROLLER_OUTAGE: FaultRow = FaultRow {
    key: "controller-outage",
    summary: "The controller loses messages that arrive or are queued there, and its timers are delayed; its state is \
              kept.",
    params: &[],
    effect: |_| Effect::ControllerOutage,
};

/// The link that a fault on links names.
pub const LINK_KEY: &str = LINK.key;
/// Whether the other direction of the cable is affected, for kinds that have the choice.
pub const DIRECTION_KEY: &str = DIRECTION.key;

/// Numbers from 1 on, in ranges with both ends.
pub type Ranges = Vec<(u32, u32)>;

/// A kind of packet that a fault names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packets {
    /// With data.
    Data,
    /// Nothing but an acknowledgement.
    Ack,
    /// The first packet of a connection.
    Syn,
    /// Its answer.
    SynAck,
    /// The last segment of one direction.
    Fin,
    /// A control packet of the scheme.
    Control,
}

/// The packets that a fault names, on each connection that crosses its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Their kind.
    pub packets: Packets,
    /// Of data, the numbers of the segments.
    pub segments: Ranges,
    /// The byte of the connection, from 0, with which segment 1 begins.
    pub offset: u64,
    /// Bytes of a segment.
    pub mss: u64,
    /// Which copies of each.
    pub copies: Ranges,
}

impl Chosen {
    /// Reads the keys of a fault, for segments of `mss` bytes.
    ///
    /// # Errors
    ///
    /// A list is none, or a key has no effect on the packets of this kind.
    pub fn read(values: &Values, mss: u64) -> Result<Self, SpecError> {
        let packets = values.choose(
            PACKETS.key,
            &[
                ("data", Packets::Data),
                ("ack", Packets::Ack),
                ("syn", Packets::Syn),
                ("syn-ack", Packets::SynAck),
                ("fin", Packets::Fin),
                ("control", Packets::Control),
            ],
        );
        for key in [SEGMENTS.key, OFFSET.key] {
            if packets != Packets::Data && !values.is_default(key) {
                return Err(values.fail(key, "is of packets = \"data\" only; copies says which of the others"));
            }
        }
        let offset = values.bytes(OFFSET.key).get();
        let segments = ranges(values, SEGMENTS.key)?;
        // A sequence number stands for one byte only below 2^32.
        let last = segments.last().map_or(0, |(_, last)| offset.saturating_add(u64::from(*last) * mss));
        if last > u64::from(u32::MAX) {
            return Err(values.fail(SEGMENTS.key, "is beyond the first 4 GiB of a connection"));
        }
        Ok(Self { packets, segments, offset, mss, copies: ranges(values, COPIES.key)? })
    }

    /// The number that a packet has among those of this kind: of data that of its segment, otherwise zero. None for other
    /// packets.
    ///
    /// `header` is the size of every packet's headers.
    pub fn number(&self, packet: &Packet, header: u16) -> Option<u32> {
        let flags = packet.flags;
        let payload = if packet.is_ack() { 0 } else { u64::from(packet.size.saturating_sub(header)) };
        let ends = flags.has(Flags::SYN.with(Flags::FIN));
        let is = match self.packets {
            Packets::Data => return self.segment(u64::from(packet.seq.wrapping_sub(1)), payload),
            // The sender's last packet acknowledges the FIN of the receiver, and nothing else.
            Packets::Ack => payload == 0 && !ends && !packet.is_control() && !packet.is_trimmed(),
            Packets::Syn => flags.has(Flags::SYN) && !packet.is_ack(),
            Packets::SynAck => flags.has(Flags::SYN) && packet.is_ack(),
            Packets::Fin => flags.has(Flags::FIN),
            Packets::Control => packet.is_control(),
        };
        is.then_some(0)
    }

    /// The chosen segment whose first byte is among so many bytes from `byte` on.
    fn segment(&self, byte: u64, bytes: u64) -> Option<u32> {
        let before = byte.saturating_sub(self.offset).div_ceil(self.mss);
        let begins = self.offset + before * self.mss;
        let number = u32::try_from(before + 1).ok()?;
        (begins < byte + bytes && is_in(&self.segments, number)).then_some(number)
    }

    /// Whether the copy with this number, from 1, is one of them.
    pub fn has_copy(&self, copy: u32) -> bool {
        is_in(&self.copies, copy)
    }
}

fn is_in(ranges: &[(u32, u32)], number: u32) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// Reads a list such as `1,4..6`.
fn ranges(values: &Values, key: &str) -> Result<Ranges, SpecError> {
    let text = values.text(key);
    let range = |item: &str| {
        let (first, last) = item.split_once("..").unwrap_or((item, item));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (1..=last).contains(&first).then_some((first, last))
    };
    let mut ranges = Ranges::new();
    for item in text.split(',') {
        let Some((first, last)) = range(item) else {
            let message = format!("\"{}\" is no number from 1 on, and no range such as 4..6", item.trim());
            return Err(values.fail(key, message));
        };
        if ranges.last().is_some_and(|(_, before)| first <= *before) {
            return Err(values.fail(key, format!("\"{}\" does not come after what is before it", item.trim())));
        }
        ranges.push((first, last));
    }
    Ok(ranges)
}
