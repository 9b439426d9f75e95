//! The state that the scheduler in the last switch keeps of its ports and of the connections to their hosts.

use super::asked::Asked;
use fanin_core::ids::LinkId;
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{EcnMode, SwitchPort, WindowControl};
use fanin_core::units::{Rate, Time};
use fanin_tcp::receiver::{Receiver, ReceiverConfig};
use std::collections::VecDeque;

/// Configuration of the reassembly in the switch, which acknowledges nothing.
pub(super) const REASSEMBLY: ReceiverConfig = ReceiverConfig {
    ack_every: 1,
    ack_delay: Time::ZERO,
    sack: false,
    ecn: EcnMode::Off,
    quick_acks: 0,
    ecn_ack: false,
    late_change: false,
    tells_more: false,
    linux: None,
};

/// A scheduler, and the rate at which data can arrive for it.
pub(super) struct Scheduler {
    pub(super) rate: Rate,
    pub(super) window: Box<dyn WindowControl>,
}

/// A port to a host.
pub(super) struct Line {
    /// Index of its scheduler.
    pub(super) scheduler: usize,
    /// Data in the port, in the order of departure.
    pub(super) leaving: VecDeque<Packet>,
}

/// A connection to a host behind the switch.
pub(super) struct Connection {
    /// The link to its host.
    pub(super) line: LinkId,
    pub(super) state: Receiver,
    /// The window that the scheduler grants, in bytes.
    pub(super) granted: u64,
    /// Shift of the host's windows: from its SYN-ACK, or from its SYN if it has opened the connection.
    pub(super) scale: u8,
    /// The held acknowledgement, and its egress link.
    pub(super) held: Option<(Packet, LinkId)>,
    /// Its request, if it carries a response that has not begun.
    pub(super) asked: Option<Asked>,
}

impl Connection {
    pub(super) fn new(line: LinkId) -> Self {
        Self { line, state: Receiver::new(), granted: u64::MAX, scale: 0, held: None, asked: None }
    }

    /// Writes the granted window into an acknowledgement that advertises a larger one.
    pub(super) fn limit(&self, packet: &mut Packet) {
        // RFC 7323 s2.2: the window of a SYN is never scaled. It is rounded up, so that whole segments stay whole.
        let shift = if packet.flags.has(Flags::SYN) { 0 } else { self.scale };
        let window = self.granted.div_ceil(1 << shift).min(u64::from(packet.window));
        packet.window = window as u16;
    }
}

/// The total rate of a switch's links from other switches; without any, the rate of its fastest host.
pub(super) fn incoming(ports: &[SwitchPort]) -> Rate {
    let of = |port: &SwitchPort| port.rate.bps();
    let trunks: u64 = ports.iter().filter(|port| !port.host).map(of).sum();
    Rate::from_bps(if trunks > 0 { trunks } else { ports.iter().map(of).max().unwrap_or(1) })
}
