//! Homa (Montazeri et al., "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network Priorities", SIGCOMM 2018):
//! messages whose first bytes leave unasked, and receivers that grant the rest to the shortest, with priorities.
//!
//! Left out: the sender's own order of messages (its link is first come, first served), BUSY, messages without a connection and
//! without acknowledgements, and priorities that follow the traffic during a run.

mod levels;
mod readings;
mod receiver;

use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish, allow};
use fanin_core::roles::{
    AckEvent, Asks, CongestionControl, ControlPacket, Cut, QueueDiscipline, SenderCx, TransferFacts, WindowControl,
};
use fanin_network::queue::{StrictPriority, Threshold};
use fanin_network::traffic::TrafficGroup;
use fanin_param::{Kind, Param, SpecError, Values};
use levels::Levels;
use receiver::{GRANT, Receiver, Rules};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "homa",
    summary: "Homa: first bytes unasked, grants to the shortest messages, and priorities in the network.",
    params: PARAMS,
    transport: &[Wish::Needs("ack-every", "1"), Wish::Needs("sack", "false"), Wish::Needs("idle-restart", "false")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "another transport in the hosts, and eight strict priorities in switches",
    reacts_to: &[Signal::Schedule],
    colour: "#B22222",
    marker: "d",
    build: |params| {
        let levels =
            Levels::new(params.integer("priorities"), params.sizes("workload"), params.bytes("rtt-bytes").get());
        Box::new(Bundle {
            levels: Arc::new(levels),
            rules: Rules {
                ahead: params.bytes("rtt-bytes").get(),
                overcommitment: params.integer("overcommitment") as usize,
                interval: params.time("resend-interval"),
                outstanding: params.integer("incast-threshold"),
                size: params.bytes("control-size").get() as u16,
            },
        })
    },
};

const PARAMS: &[Param] = &[
    Param::new(
        "rtt-bytes",
        Kind::Bytes,
        "10KB",
        "What a message sends unasked, and what is granted ahead of what has arrived: the bytes of a round trip.",
        "the authors' simulation: rttBytes = 10000, for 10 Gbit/s",
    )
    .reading("HO1")
    .at_least(1.0),
    Param::new(
        "priorities",
        Kind::Integer,
        "8",
        "Strict priorities of a port.",
        "the authors' simulation: prioLevels = 8",
    )
    .at_least(2.0)
    .at_most(8.0),
    Param::new(
        "workload",
        Kind::Sizes,
        "web-search",
        "The sizes of messages by which the priorities are divided.",
        "our choice: the paper's W5, with one priority for unscheduled packets",
    )
    .reading("HO2"),
    Param::new(
        "overcommitment",
        Kind::Integer,
        "0",
        "Messages that a receiver grants to at once; 0 for as many as there are priorities for scheduled packets.",
        "the authors' simulation: numSendersToKeepGranted = adaptiveSchedPrioLevels",
    )
    .reading("HO3"),
    Param::new(
        "resend-interval",
        Kind::Time,
        "5ms",
        "How long a receiver waits for granted bytes before it asks for them again.",
        "the authors' Linux module: resend_ticks = 5, of 1 ms",
    )
    .at_least(1e6),
    Param::new(
        "incast-threshold",
        Kind::Integer,
        "20",
        "Outstanding requests beyond which a client allows a response one packet unasked; 0 for no limit.",
        "section 3.6 gives no number; 20 times 10 KB fit into the port of most switches",
    )
    .reading("HO5"),
    Param::new(
        "control-size",
        Kind::Bytes,
        "64B",
        "Bytes of a GRANT or a RESEND on the wire.",
        "the smallest Ethernet frame",
    )
    .at_least(1.0)
    .at_most(1500.0),
];

struct Bundle {
    levels: Arc<Levels>,
    rules: Rules,
}

impl Scheme for Bundle {
    fn check(&self, _values: &Values, groups: &[&TrafficGroup]) -> Result<(), SpecError> {
        // The server's scheduler ignores requests, see `WindowControl::on_request`, so nobody would grant more of one.
        let asks = |group: &&&TrafficGroup| {
            group.values.has("request") && group.values.bytes("request").get() > self.rules.ahead
        };
        groups.iter().find(asks).map_or(Ok(()), |group| {
            Err(group
                .values
                .fail("request", "is longer than scheme.homa.rtt-bytes, and grants of requests are not modelled"))
        })
    }
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Sender::new(self.rules.ahead, Arc::clone(&self.levels)))
    }
    fn follows_requests(&self) -> bool {
        true
    }
    fn window_control(&self, _host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Receiver::new(self.rules, Arc::clone(&self.levels))))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(StrictPriority::new(self.levels.all(), Threshold::never(), false)))
    }
}

/// The sender of a message at a time.
#[derive(Debug)]
struct Sender {
    /// Bytes that a message sends unasked.
    ahead: u64,
    levels: Arc<Levels>,
    /// Bytes of the message, and one past its last number.
    bytes: u64,
    end: u64,
    /// One past the last number that it may send.
    edge: u64,
    /// The receiver knows of the message.
    heard: bool,
    /// Segments that are sent again now.
    resends: VecDeque<u64>,
}

impl Sender {
    fn new(ahead: u64, levels: Arc<Levels>) -> Self {
        Self { ahead, levels, bytes: 0, end: 0, edge: 0, heard: false, resends: VecDeque::new() }
    }

    fn limit(&self, cx: &mut SenderCx<'_>) {
        allow(cx, self.edge.min(self.end).saturating_sub(cx.una));
    }

    /// A message begins, of which every packet says where it ends.
    fn begin(&mut self, cx: &mut SenderCx<'_>) {
        self.edge = self.edge.max(cx.nxt + whole(self.ahead, cx.mss as u64));
        cx.packet.field = self.end;
        cx.packet.priority = self.levels.unscheduled(self.bytes);
        // READING: HO4
        cx.packet.resend_priority = Some(0);
        self.limit(cx);
    }

    /// The receiver misses `count` segments from `from` on. Those that were never sent are granted, as their GRANT is lost.
    fn resend(&mut self, cx: &SenderCx<'_>, from: u64, count: u64) {
        let mss = cx.mss as u64;
        let to = (from + count * mss).min(self.end);
        self.resends.extend((from.max(cx.una)..to.min(cx.max_sent)).step_by(cx.mss as usize));
        self.edge = self.edge.max(to);
    }
}

/// So many bytes as whole packets.
fn whole(bytes: u64, mss: u64) -> u64 {
    bytes.next_multiple_of(mss)
}

impl CongestionControl for Sender {
    fn asks(&self) -> Asks {
        Asks { repairs: true, waits: true, ..Asks::default() }
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        self.bytes = transfer.bytes.unwrap_or(u64::MAX);
        self.end = transfer.first.saturating_add(self.bytes);
        self.heard = false;
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.begin(cx);
    }
    fn on_later_transfer(&mut self, cx: &mut SenderCx<'_>) {
        self.begin(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.heard = true;
        self.limit(cx);
    }
    fn on_control(&mut self, cx: &mut SenderCx<'_>, packet: &ControlPacket) {
        self.heard = true;
        let (number, low) = (packet.field >> 8, packet.field & 0xff);
        if packet.kind == GRANT {
            self.edge = self.edge.max(number);
            cx.packet.priority = low as u8;
        } else {
            self.resend(cx, number, low);
        }
        self.limit(cx);
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        // READING: HO6
        if times > 1 || !self.heard {
            self.resends.push_back(cx.una);
        }
        Cut::to(cx.window.ssthresh)
    }
    fn resends(&mut self) -> Option<u64> {
        self.resends.pop_front()
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("granted", self.edge as f64);
    }
}

#[cfg(test)]
mod tests;
