//! Whether what runs before other traffic has settled: until it has, traffic with `start = "steady"` waits; other traffic
//! that begins earlier is noticed.
//!
//! A flow has met its limit when a packet of it was lost or marked, when it fills its receiver's window, or when it has not
//! grown for as long as it had grown before. Time is divided into spans, in each of which every flow meets its limit: a
//! span has a whole period of each sawtooth, however long that is. The first span has the start of the flows. Once the
//! bytes in flight and the goodput of two later ones agree, the state is steady. The traffic then begins at a random
//! moment within the length of a span, since its seeds should see all phases of the sawtooth.

use crate::transfer::Transfer;
use fanin_core::ids::TransferId;
use fanin_core::rng::Stream;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_host::hosts::Hosts;
use fanin_net::network::Network;
use fanin_tcp::sender::Sender;
use std::collections::BTreeMap;

/// Time between looks at the flows.
pub(super) const LOOK: Time = Time::from_ms(1);
/// The shortest span.
const SHORTEST: Time = Time::from_ms(50);
/// Means of two spans that differ by no more than this share agree.
const NEAR: f64 = 0.05;
/// Round trips after a loss or mark in which a window may still fall.
const FALLING: u64 = 4;
/// Round trips for which a flow must not have grown, at least. Every window grows by some segments in so many.
const QUIET: u64 = 32;

/// What is known of flows that began before other traffic.
pub struct Settling {
    /// When traffic that waits begins in any case.
    pub(super) limit: Time,
    stream: Stream,
    pub(super) flows: BTreeMap<TransferId, Seen>,
    pub(super) span: Span,
    /// The shortest length of the next spans. It doubles when two do not agree, which evens out what is random.
    pub(super) shortest: Time,
    /// The mean bytes in flight and the goodput of the last span but the first.
    last: Option<[f64; 2]>,
    first_is_over: bool,
    /// When the traffic that waits begins, once that is known.
    pub(super) release: Option<Time>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settled {
    /// When traffic that waited began, if what ran before was steady.
    pub steady: Option<Time>,
    /// Endless flows that had begun before the first finite traffic and had not met a limit; none if there were no such
    /// flows.
    pub rising: Option<usize>,
}

/// A span of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) begin: Time,
    pub(super) looks: u64,
    /// The sum of the bytes in flight at each look.
    in_flight: u128,
    /// What had arrived when it began.
    delivered: u64,
}

/// A flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Its losses and marks, and when there was the last one, or when it began.
    signs: u64,
    since: Time,
    /// The most that it has had in flight since then, and when it had risen to that.
    most: u64,
    risen: Time,
    /// Whether it has met its limit at all, and in this span.
    pub(super) ever: bool,
    in_span: bool,
}

impl Seen {
    fn look(&mut self, now: Time, signs: u64, sender: &Sender, mss: u64) {
        let Some(rtt) = sender.srtt() else { return };
        if signs > self.signs {
            (self.signs, self.since) = (signs, now);
            self.meet();
        }
        if sender.fills_peer_window(mss) {
            self.meet();
        }
        let falls = self.signs > 0 && now - self.since < rtt * FALLING || sender.in_recovery();
        if falls {
            (self.most, self.risen) = (0, now);
        } else if sender.most_in_flight() > self.most {
            (self.most, self.risen) = (sender.most_in_flight(), now);
        } else if now - self.risen >= (rtt * QUIET).max(self.risen - self.since) {
            self.meet();
        }
    }

    fn meet(&mut self) {
        (self.ever, self.in_span) = (true, true);
    }
}

impl Settling {
    pub fn new(limit: Time, seed: u64) -> Self {
        Self {
            limit,
            stream: Stream::named(seed, "steady"),
            flows: BTreeMap::new(),
            span: Span::default(),
            shortest: SHORTEST,
            last: None,
            first_is_over: false,
            release: None,
        }
    }

    /// Looks at a transfer in progress.
    pub(super) fn look<C: EventCore>(
        &mut self,
        id: TransferId,
        transfer: &Transfer,
        hosts: &Hosts,
        net: &mut Network<C>,
    ) {
        let Some(flow) = transfer.flow.filter(|_| transfer.is_under_way()) else { return };
        let counters = hosts.counters(flow, net);
        let signs = counters.drops + counters.marks + counters.retransmissions;
        let (sender, mss) = (&hosts.flows[flow].sender, hosts.endpoint(flow).sender.mss);
        self.span.in_flight += u128::from(sender.in_flight());
        let begun = Seen { since: transfer.start, risen: transfer.start, ..Seen::default() };
        self.flows.entry(id).or_insert(begun).look(net.now(), signs, sender, mss);
    }

    /// Whether a transfer has met its limit in this span, as far as it has to: short ones need not.
    pub(super) fn has_met(&self, id: TransferId, transfer: &Transfer) -> bool {
        if !transfer.is_under_way() || transfer.bytes.is_some() && transfer.start > self.span.begin {
            return true;
        }
        self.flows.get(&id).is_some_and(|seen| seen.in_span)
    }

    /// Whether the span tells anything: all traffic must have begun, and some of it must have arrived in the span. `delivered`
    /// has what has arrived of each group.
    pub(super) fn has_evidence(&self, delivered: &[u64]) -> bool {
        delivered.iter().all(|&bytes| bytes > 0) && delivered.iter().sum::<u64>() > self.span.delivered
    }

    /// Ends a span; `delivered` bytes have arrived by now.
    pub(super) fn end_span(&mut self, now: Time, delivered: u64) {
        let length = now - self.span.begin;
        let means = [
            self.span.in_flight as f64 / self.span.looks as f64,
            (delivered - self.span.delivered) as f64 / length.secs(),
        ];
        let near = |(a, b): (f64, f64)| (a - b).abs() <= NEAR * a.max(b);
        let agrees = self.last.map(|last| last.into_iter().zip(means).all(near));
        if agrees == Some(false) {
            self.shortest = self.shortest * 2;
        }
        // The first span has the start of the flows, and is not compared.
        self.last = self.first_is_over.then_some(means);
        self.first_is_over = true;
        self.span = Span { begin: now, delivered, ..Span::default() };
        self.flows.values_mut().for_each(|seen| seen.in_span = false);
        if agrees == Some(true) {
            self.release = Some((now + self.stream.uniform_time(length)).min(self.limit));
        }
    }
}
