//! Transfers between random or given pairs of hosts, in a closed loop (sessions) or at a load (Poisson).
//!
//! Block reads of a distributed file system are sessions whose sender is in the rack of a random client. Sessions are
//! drawn when they start, so a long run needs no large table.
//
// READING: P24 PFDCT's traffic of section 5.3 repeats: when a flow ends, a new one starts in its place.
// READING: P25 Its link load is the payload of independently arriving flows over the capacity of the receivers' links.

mod pairs;
pub(super) mod params;
#[cfg(test)]
mod tests;

use super::offered::{Offered, count, stop};
use super::{Outlook, Pace, Place, Request, Traffic, TrafficAction, TrafficCx, TrafficRow, TransferSpec, asked_for};
use crate::topology::{BY_PART, Demand};
use fanin_core::ids::{NodeId, TransferId};
use fanin_core::units::Time;
use fanin_param::{Sizes, SpecError, Values};
use pairs::Pairs;
use params::CLOSED;
use std::collections::BTreeMap;

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "sessions",
    summary: "Transfers between random or given pairs of hosts in a closed loop: when one ends, the next starts.",
    params: CLOSED,
    demand_key: "senders",
    fan_in: None,
    demand,
    one_client: false,
    near: |_| 0,
    unopened: asked_for,
    build: |values, place| {
        let concurrent = values.integer("concurrent");
        let (gap, jitter) = (values.time("gap"), values.time("jitter"));
        build(values, place, Arrivals::Closed { concurrent, gap, jitter })
    },
};

pub(super) const POISSON: TrafficRow = TrafficRow {
    key: "poisson",
    summary: "Transfers between random or given pairs of hosts that start independently (Poisson), at a given load.",
    params: params::POISSON,
    demand_key: "senders",
    fan_in: None,
    demand,
    one_client: false,
    near: |_| 0,
    unopened: asked_for,
    build: |values, place| {
        let offered = Offered::of(values, place, receivers(values, place), values.sizes("bytes-each").mean())?;
        build(values, place, Arrivals::Poisson(offered))
    },
};

/// The hosts that the group needs.
pub(super) fn demand(values: &Values) -> Demand {
    let own = values.is("placement", "own-host") && values.text("from") == BY_PART;
    let senders = if own { values.integer("senders") as usize } else { 1 };
    let receivers = if values.text("to") == BY_PART { values.integer("receivers") as usize } else { 1 };
    Demand { senders, receivers }
}

/// The receiving hosts; without a selection, as many as the group says.
pub(super) fn receivers<'a>(values: &Values, place: &Place<'a>) -> &'a [NodeId] {
    match values.text("to") {
        BY_PART => &place.receivers[..values.integer("receivers") as usize],
        _ => place.receivers,
    }
}

fn build(values: &Values, place: &Place<'_>, arrivals: Arrivals) -> Result<Box<dyn Traffic>, SpecError> {
    let request = values.bytes("request").get();
    let think = values.time("think");
    Ok(Box::new(Sessions {
        pairs: Pairs::new(values, place.topology, place.senders, receivers(values, place))?,
        sizes: values.sizes("bytes-each").clone(),
        arrivals,
        request: (request > 0).then_some(Request { bytes: request, think }),
        start: values.time("start"),
        stop: stop(values)?,
        left: count(values),
        begun: 0,
        slots: BTreeMap::new(),
    }))
}

/// When sessions start.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// A constant number of sessions, with a pause between each and its successor. The first ones have jitter.
    Closed { concurrent: u64, gap: Time, jitter: Time },
    /// Poisson arrivals at a load.
    Poisson(Offered),
}

struct Sessions {
    pairs: Pairs,
    sizes: Sizes,
    arrivals: Arrivals,
    request: Option<Request>,
    start: Time,
    /// No session starts at this time or later.
    stop: Time,
    /// Number of sessions that may still start.
    left: u64,
    /// Number of sessions started.
    begun: u64,
    /// The slot of each session in progress in the closed loop.
    slots: BTreeMap<TransferId, u64>,
}

impl Sessions {
    /// Starts a session at `at`. `number` selects its pair if pairs are used in turn.
    fn begin(&mut self, at: Time, number: u64, cx: &mut TrafficCx<'_>) -> Option<TransferId> {
        if self.left == 0 || at >= self.stop {
            return None;
        }
        self.left -= 1;
        self.begun += 1;
        let (from, to) = self.pairs.next(number, cx.stream);
        let bytes = Some(self.sizes.draw(cx.stream));
        Some(cx.transfer(TransferSpec { request: self.request, ..TransferSpec::new(at, [from, to], bytes) }))
    }

    fn fill(&mut self, slot: u64, at: Time, cx: &mut TrafficCx<'_>) {
        if let Some(session) = self.begin(at, slot, cx) {
            self.slots.insert(session, slot);
        }
    }

    /// Requests a call at the next arrival.
    fn await_next(&self, after: Time, mean: Time, cx: &mut TrafficCx<'_>) {
        let next = after + cx.stream.exponential_time(mean);
        if self.left > 0 && next < self.stop {
            cx.actions.push(TrafficAction::Wake(next));
        }
    }
}

impl Traffic for Sessions {
    fn outlook(&self) -> Outlook {
        let pace = match self.arrivals {
            Arrivals::Closed { concurrent, gap, .. } => Pace::Closed { concurrent, gap, count: self.left },
            Arrivals::Poisson(offered) => Pace::Open { each: 1, interval: offered.interval, count: self.left },
        };
        let (mean, receivers) = (self.sizes.mean(), self.pairs.receivers());
        Outlook { pace, mean, receivers, start: self.start, stop: self.stop }
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        match self.arrivals {
            Arrivals::Closed { concurrent, jitter, .. } => {
                for slot in 0..concurrent.min(self.left) {
                    let at = self.start + cx.stream.uniform_time(jitter);
                    self.fill(slot, at, cx);
                }
            }
            Arrivals::Poisson(offered) => self.await_next(self.start, offered.interval, cx),
        }
    }

    fn on_complete(&mut self, cx: &mut TrafficCx<'_>, session: TransferId) {
        if let (Some(slot), Arrivals::Closed { gap, .. }) = (self.slots.remove(&session), self.arrivals) {
            self.fill(slot, cx.now + gap, cx);
        }
    }

    fn on_wake(&mut self, cx: &mut TrafficCx<'_>) {
        if let Arrivals::Poisson(offered) = self.arrivals {
            self.begin(cx.now, self.begun, cx);
            self.await_next(cx.now, offered.interval, cx);
        }
    }

    fn is_open_loop(&self) -> bool {
        matches!(self.arrivals, Arrivals::Poisson(_)) && self.request.is_none()
    }

    fn offered(&self) -> Option<Offered> {
        match self.arrivals {
            Arrivals::Closed { .. } => None,
            Arrivals::Poisson(offered) => Some(offered),
        }
    }
}
