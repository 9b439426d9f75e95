//! PFDCT in Linux: what the ports of its switches do, and the readings of the paper that nothing there follows.

use fanin_core::units::Size;
use fanin_param::{SpecError, Value, Values};

/// Keys that only switches follow, and those that have one value in the kernel. Senders follow all others; switches also `kt-init`,
/// `kt-join`, `clip-low` and `clip-high`.
pub(super) const SWITCH: &[&str] = &[
    "bands",
    "band-buf",
    "retransmission-share",
    "short-share",
    "occupancy",
    "pit",
    "table-entries",
    "ack-band",
    "classify",
    "kt-high",
    "flow-timeout",
    "kt-scope",
    "kt-transport",
    "rtt-min",
    "ecn-for",
    "aqm",
    "short-aqm",
    "red-min",
    "red-max",
    "red-weight",
    "red-max-p",
    "red-gentle",
    "red-wait",
];

/// Values that nothing in the kernel follows, and why.
const REFUSED: &[(&str, &[&str], &str)] = &[
    ("kt-scope", &["per-flow", "max", "global"], "the kernel's ports add up thresholds: set sum"),
    ("kt-transport", &["oracle"], "no memory is shared in a network of Linux hosts: set in-band"),
    ("kt-transport", &["sender-mark"], "the kernel's senders do not mark for themselves: set in-band"),
    ("n-source", &["oracle"], "no memory is shared in a network of Linux hosts: set switch or const"),
    ("rtt", &["ns-3"], "the kernel has no clock of ns-3: set mean, last or srtt"),
    ("rtt-min", &["oracle"], "a Linux host measures round trips: set measured"),
    ("ecn-for", &["all"], "the kernel's senders have ECN off for short flows: set long"),
    ("band-buf", &["shared-push-out"], "the kernel's ports push nothing out: set own or split"),
    ("aqm", &["red", "red-dynamic", "red-between"], "the kernel's bands have no RED: set step"),
    ("short-aqm", &["red"], "the kernel's bands have no RED: set none"),
    ("pit", &["set"], "the kernel's table has the highest number of each flow: set hiwater or off"),
    ("cut", &["each-ack"], "the kernel's senders reduce their windows once a round trip: set window-end or first-echo"),
];

/// Numbers below this are what the module can count in.
const MOST: f64 = 4096.0;
/// Sixteenths of a packet.
const UNIT: f64 = 16.0;

/// Strict bands of a port, which marks packets of long flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bands {
    /// How many there are.
    pub count: u32,
    /// What each holds, in packets or bytes as the port's limit.
    pub room: [u64; 3],
    /// The threshold that long flows share until they announce theirs, in sixteenths of a packet.
    pub initial: u32,
    /// The least and the largest threshold.
    pub clip: [u64; 2],
    /// `M`, which senders are told.
    pub told: u16,
    /// Picoseconds of silence after which a long flow does not count.
    pub silence: u64,
    /// Whether thresholds are divided anew when the number of flows changes.
    pub rescale: bool,
    /// Whether classes are those of code points.
    pub by_code_point: bool,
    /// Whether the whole port's queue is compared with the threshold.
    pub by_port: bool,
    /// The class as which acknowledgements wait: 0 retransmissions, 1 short flows, 2 long ones.
    pub ack_tag: u32,
    /// Entries of the table of sequence numbers, which the ports of a switch share; zero for none.
    pub entries: u32,
}

impl Bands {
    /// Those of a port with this buffer, if packets have `packet` bytes.
    pub(super) fn of(values: &Values, buffer: Option<Size>, packet: u64) -> Self {
        let count = values.integer("bands") as usize;
        let sixteenths = |key: &str| (values.number(key) * UNIT).round() as u64;
        let low = sixteenths("clip-low");
        let high = if values.number("clip-high") > 0.0 { sixteenths("clip-high").max(low) } else { u64::MAX };
        let room = room(values, buffer, packet, count);
        Self {
            count: count as u32,
            room,
            initial: sixteenths("kt-init") as u32,
            clip: [low, high],
            told: told(values, buffer, packet, room[count - 1]),
            silence: values.time("flow-timeout").ps(),
            rescale: values.is("kt-join", "rescale"),
            by_code_point: values.is("classify", "dscp"),
            by_port: values.is("occupancy", "port"),
            ack_tag: values.choose("ack-band", &[("retransmission", 0), ("short", 1), ("long", 2)]),
            entries: if values.is("pit", "off") { 0 } else { values.integer("table-entries") as u32 },
        }
    }
}

/// What each band holds.
fn room(values: &Values, buffer: Option<Size>, packet: u64, count: usize) -> [u64; 3] {
    let (whole, unit) = match buffer {
        None => return [u64::MAX; 3],
        Some(Size::Packets(packets)) => (packets, 1),
        Some(Size::Bytes(bytes)) => (bytes, packet),
    };
    if values.is("band-buf", "own") {
        return [whole; 3];
    }
    // All bands together have the capacity of the port. The packet in transmission is in no band.
    let whole = whole.saturating_sub(unit);
    let [high, middle] = ["retransmission-share", "short-share"].map(|key| (whole as f64 * values.number(key)) as u64);
    let mut room = [0; 3];
    for (tag, part) in [high, middle, whole.saturating_sub(high + middle)].into_iter().enumerate() {
        room[tag.saturating_sub(3 - count)] += part;
    }
    room.map(|room| room.max(unit))
}

/// `M` of `N K_u < M`: packets that an arriving one may find and still be admitted, at least one.
fn told(values: &Values, buffer: Option<Size>, packet: u64, long: u64) -> u16 {
    let own = values.is("kt-high", "band") && values.integer("bands") > 1 && values.is("band-buf", "split");
    let holds = match buffer {
        None => return 0,
        Some(Size::Packets(packets)) => {
            if own {
                long
            } else {
                packets
            }
        }
        Some(Size::Bytes(bytes)) => (if own { long } else { bytes }) / packet,
    };
    u16::try_from(holds.saturating_sub(if own { 1 } else { 2 }).max(1)).unwrap_or(u16::MAX)
}

/// An error at the first value that nothing in the kernel follows.
pub(super) fn refuse(values: &Values) -> Result<(), SpecError> {
    for (key, words, why) in REFUSED {
        if words.iter().any(|word| values.is(key, word)) {
            return Err(values.fail(key, *why));
        }
    }
    for (key, _, value, origin) in values.iter() {
        if origin.is_some() && key.starts_with("red-") {
            return Err(values.fail(&key, "the kernel's bands have no RED; leave it out"));
        }
        if matches!(value, Value::Number(number) if *number >= MOST) {
            return Err(values.fail(&key, format!("the kernel's module counts to less than {MOST}")));
        }
    }
    Ok(())
}
