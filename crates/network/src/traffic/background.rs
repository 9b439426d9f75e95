//! Background: long flows, endless or of a given size, which can start and stop one after the other.

use super::{
    EXPONENTIAL_BOUND, EXPONENTIAL_STEP, Outlook, Pace, Spread, Traffic, TrafficAction, TrafficCx, TrafficRow,
    TransferSpec, host, shuffled,
};
use crate::topology::{BY_PART, Demand};
use fanin_core::units::Time;
use fanin_param::{Kind, Param, Sizes, SpecError, Values};

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "background",
    summary: "Long flows, endless or of a given size.",
    params: PARAMS,
    demand_key: "flows",
    fan_in: None,
    demand: |values| {
        let flows = values.integer("flows") as usize;
        let own = values.is("placement", "own-host");
        Demand { senders: if own { flows } else { 1 }, receivers: values.integer("receiver") as usize + 1 }
    },
    one_client: false,
    near: |_| 0,
    unopened: |_| None,
    build: |values, _| build(values),
};

const PARAMS: &[Param] = &[
    Param::new("flows", Kind::Integer, "1", "Number of flows.", "one").at_least(1.0).at_most(1_000_000.0),
    Param::new(
        "bytes-each",
        Kind::Sizes,
        "0B",
        "Bytes of each flow: one size, or sizes to draw from; 0B for endless data.",
        "endless",
    ),
    Param::new("start", Kind::Time, "0s", "When the first flow begins.", "at once"),
    Param::new("interval", Kind::Time, "0s", "Time between the starts of consecutive flows.", "all at once"),
    Param::new(
        "stop",
        Kind::Time,
        "0s",
        "When the first endless flow stops; the others follow at the same interval as they started; 0s for never.",
        "never; flows of SDTCP, Fig. 15, stop in order",
    ),
    Param::new("jitter", Kind::Time, "0s", "Each start is delayed by a random time, uniform below this.", "none"),
    Param::new(
        "exponential",
        Kind::Time,
        "0s",
        "Each start is delayed by a random time, exponential with this mean.",
        "off; the long flows of RCC's experiment under load have 1 ms",
    ),
    EXPONENTIAL_BOUND,
    EXPONENTIAL_STEP,
    Param::new(
        "receiver",
        Kind::Integer,
        "0",
        "Index of the receiving host, from 0; if `to` names several, they receive flows in turn, starting with that \
         one.",
        "the first",
    )
    .at_most(65_534.0),
    Param::new(
        "placement",
        Kind::Choice(&["own-host", "round-robin", "random"]),
        "own-host",
        "Whether each flow has its own sending host, or flows share the hosts in turn, or in a random order.",
        "as in the papers",
    ),
];

fn build(values: &Values) -> Result<Box<dyn Traffic>, SpecError> {
    let last = values.time("interval").ps().checked_mul(values.integer("flows"));
    if last.is_none_or(|last| last > LATEST.ps()) {
        return Err(values.fail("interval", format!("the last flow would begin more than {LATEST} after the first")));
    }
    let sizes = values.sizes("bytes-each");
    if sizes.least() == 0 && sizes.most() > 0 {
        return Err(values.fail("bytes-each", "0B is endless data, and cannot be one size of several"));
    }
    let (start, stop) = (values.time("start"), values.time("stop"));
    if stop > Time::ZERO && sizes.most() > 0 {
        return Err(values.fail("stop", "has an effect on endless data only; leave out bytes-each"));
    }
    if stop > Time::ZERO && stop <= start {
        return Err(values.fail("stop", format!("must be later than start, which is {start}")));
    }
    Ok(Box::new(Background {
        flows: values.integer("flows") as usize,
        sizes: Some(sizes.clone()).filter(|sizes| sizes.most() > 0),
        start,
        interval: values.time("interval"),
        stop: (stop > Time::ZERO).then_some(stop),
        spread: Spread::of(values),
        receiver: values.integer("receiver") as usize,
        in_turn: values.text("to") != BY_PART,
        random: values.is("placement", "random"),
    }))
}

/// No flow starts later than this after the first, so that sums of such times fit into a [`Time`].
const LATEST: Time = Time::from_secs(1_000_000);

struct Background {
    flows: usize,
    /// None for endless data.
    sizes: Option<Sizes>,
    start: Time,
    interval: Time,
    stop: Option<Time>,
    spread: Spread,
    receiver: usize,
    /// Receiving hosts are used in turn.
    in_turn: bool,
    /// Sending hosts are used in turn, in a random order.
    random: bool,
}

impl Traffic for Background {
    fn outlook(&self) -> Outlook {
        Outlook {
            pace: Pace::Listed(self.flows as u64),
            mean: self.sizes.as_ref().map_or(0.0, Sizes::mean),
            receivers: if self.in_turn { self.flows } else { 1 },
            start: self.start,
            stop: Time::NEVER,
        }
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        let senders = if self.random { shuffled(cx.senders, cx.stream) } else { cx.senders.to_vec() };
        for i in 0..self.flows {
            let to = cx.receivers[(self.receiver + if self.in_turn { i } else { 0 }) % cx.receivers.len()];
            // A host does not send to itself: the next one sends.
            let from = host(&senders, if host(&senders, i) == to { i + 1 } else { i });
            let after = self.interval * i as u64;
            let start = self.start + after + self.spread.draw(cx.stream);
            let bytes = self.sizes.as_ref().map(|sizes| sizes.draw(cx.stream));
            cx.actions.push(TrafficAction::Transfer(TransferSpec {
                stop: self.stop.map(|stop| stop + after),
                ..TransferSpec::new(start, [from, to], bytes)
            }));
        }
    }
}
