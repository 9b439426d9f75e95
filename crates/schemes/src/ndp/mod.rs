//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017):
//! first windows at line rate, ports that trim what does not fit, and receivers that pull each further packet.
//!
//! Left out: the connection's setup without a handshake, return to sender, the choice of paths by the sender
//! (`network.paths` can spray), and the pull priorities of the receiver's application.

mod readings;
mod receiver;

use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish, allow};
use fanin_core::roles::{
    AckEvent, Asks, CongestionControl, ControlPacket, Cut, QueueDiscipline, SenderCx, TransferFacts, WindowControl,
};
use fanin_core::units::Size;
use fanin_network::queue::Trimming;
use fanin_param::{Kind, Param};
use receiver::{NACK, Receiver};
use std::collections::VecDeque;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "ndp",
    summary: "NDP: first windows at line rate, ports that trim, and receivers that pull each further packet.",
    params: PARAMS,
    transport: &[
        Wish::Needs("ack-every", "1"),
        Wish::Needs("sack", "false"),
        Wish::Needs("idle-restart", "false"),
        Wish::Prefers("rto-min", "1ms"),
        Wish::Prefers("rto-initial", "1ms"),
    ],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Switch,
    needs: "switches that trim packets, and a transport in the hosts that pulls",
    reacts_to: &[Signal::Schedule],
    colour: "#8B008B",
    marker: "s",
    build: |params| {
        Box::new(Bundle {
            first: params.integer("first-window"),
            data: params.size("data-queue"),
            last: params.number("cut-last"),
            control: params.bytes("control-size").get() as u16,
        })
    },
};

const PARAMS: &[Param] = &[
    Param::new(
        "first-window",
        Kind::Integer,
        "30",
        "Packets that a transfer sends without being asked.",
        "the paper's simulations, from memory: 30 packets of 9 KB; its authors' examples have 23",
    )
    .reading("ND1")
    .at_least(1.0),
    Param::new(
        "data-queue",
        Kind::Size,
        "8pkt",
        "What may wait in a port's queue of data; segments beyond are trimmed.",
        "section 3.1: eight packets",
    )
    .at_least(1.0)
    .per_tier(),
    Param::new(
        "cut-last",
        Kind::Fraction,
        "50%",
        "The chance that the last segment that waits is trimmed in the place of the arriving one.",
        "section 3.1: with probability 50 %",
    ),
    Param::new(
        "control-size",
        Kind::Bytes,
        "64B",
        "Bytes of a NACK or a PULL on the wire.",
        "section 3.1: headers of 64 bytes",
    )
    .at_least(1.0)
    .at_most(1500.0),
];

struct Bundle {
    first: u64,
    data: Size,
    last: f64,
    control: u16,
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Sender { first: self.first, ..Sender::default() })
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Receiver::new(host, self.control)))
    }
    fn queue(&self, switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(Trimming::new((switch.packet - switch.mss) as u16, self.data, self.last)))
    }
}

/// The sender: a first window, then one packet for each pull, those that were trimmed first.
#[derive(Debug, Default)]
struct Sender {
    /// Packets of a first window.
    first: u64,
    /// One past the last byte that it may send for the first time.
    edge: u64,
    /// One past the last byte of the transfer.
    end: u64,
    /// Pulls that it has heard of.
    pulled: u64,
    /// Segments that were trimmed, by their first number, in the order of their NACKs.
    trimmed: VecDeque<u64>,
    /// Segments that are sent again now.
    resends: VecDeque<u64>,
    /// What was sent before this and is not acknowledged was lost without a header: the last timeout.
    lost: u64,
    /// The last of those that was sent again.
    repeated: u64,
}

impl Sender {
    fn limit(&self, cx: &mut SenderCx<'_>) {
        allow(cx, self.edge.saturating_sub(cx.una));
    }

    /// A transfer begins, of which every packet says where it ends.
    fn begin(&mut self, cx: &mut SenderCx<'_>) {
        // READING: ND1
        self.edge = self.edge.max(cx.nxt + self.first * cx.mss as u64);
        cx.packet.field = self.end;
        self.limit(cx);
    }

    fn repeat(&mut self, cx: &SenderCx<'_>) {
        self.repeated = cx.una;
        self.resends.push_back(cx.una);
    }

    /// Sends a trimmed segment again, or else one that was lost. Returns whether there is any.
    fn resend(&mut self, cx: &SenderCx<'_>) -> bool {
        while let Some(seq) = self.trimmed.pop_front() {
            if seq >= cx.una {
                self.resends.push_back(seq);
                return true;
            }
        }
        let lost = cx.una < self.lost && self.repeated < cx.una;
        if lost {
            self.repeat(cx);
        }
        lost
    }

    /// Each pull brings a segment that is sent again, or else a new one.
    fn on_pulls(&mut self, cx: &SenderCx<'_>, mut pulls: u64) {
        while pulls > 0 && self.resend(cx) {
            pulls -= 1;
        }
        let further = self.edge.saturating_add(pulls.saturating_mul(cx.mss as u64));
        self.edge = self.edge.max(further.min(self.end));
    }
}

impl CongestionControl for Sender {
    fn asks(&self) -> Asks {
        Asks { repairs: true, ..Asks::default() }
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        self.end = transfer.bytes.map_or(u64::MAX, |bytes| transfer.first + bytes);
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.begin(cx);
    }
    fn on_later_transfer(&mut self, cx: &mut SenderCx<'_>) {
        self.begin(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.limit(cx);
    }
    fn on_control(&mut self, cx: &mut SenderCx<'_>, packet: &ControlPacket) {
        if packet.kind == NACK {
            self.trimmed.push_back(packet.field);
        } else {
            // A pull counts those before it, so that a lost one is made up for.
            let new = packet.field.saturating_sub(self.pulled);
            self.on_pulls(cx, new);
            self.pulled += new;
        }
        self.limit(cx);
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        // READING: ND2
        if times > 2 || !self.trimmed.contains(&cx.una) {
            self.lost = cx.max_sent;
            self.repeat(cx);
        }
        Cut::to(cx.window.ssthresh)
    }
    fn resends(&mut self) -> Option<u64> {
        self.resends.pop_front()
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("trimmed", self.trimmed.len() as f64);
    }
}

#[cfg(test)]
mod tests;
