//! Background: long flows, endless or of a given size, that begin one after the other.

use super::{Connection, Traffic, TrafficAction, TrafficCx, TrafficRow, TransferSpec, host};
use crate::spec::{Kind, Param, Params, SpecError};
use crate::topology::{BY_PART, Demand};
use crate::units::Time;

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "background",
    summary: "Long flows, endless or of a given size.",
    params: &[
        Param::new("flows", Kind::Integer, "1", "Number of flows.", "one").at_least(1.0).at_most(1_000_000.0),
        Param::new("bytes-each", Kind::Bytes, "0B", "Bytes of each flow; 0 for endless data.", "endless"),
        Param::new("start", Kind::Time, "0s", "When the first flow begins.", "at once"),
        Param::new("interval", Kind::Time, "0s", "Time between the starts of consecutive flows.", "all at once"),
        Param::new("jitter", Kind::Time, "0s", "Each start is delayed by a seeded uniform time below this.", "none"),
        Param::new(
            "receiver",
            Kind::Integer,
            "0",
            "Which receiving host gets the data, from 0; where to names several, they get flows in turn from that one on.",
            "the first",
        )
        .at_most(65_534.0),
        Param::new(
            "placement",
            Kind::Choice(&["own-host", "round-robin"]),
            "own-host",
            "Whether each flow has a sending host of its own, or they share the hosts in turn.",
            "as in the papers",
        ),
    ],
    demand_key: "flows",
    demand: |params| {
        let flows = params.integer("flows") as usize;
        let own = params.text("placement") == "own-host";
        Demand { senders: if own { flows } else { 1 }, receivers: params.integer("receiver") as usize + 1 }
    },
    one_client: false,
    build: |params, _| build(params),
};

fn build(params: &Params) -> Result<Box<dyn Traffic>, SpecError> {
    let last = params.time("interval").ps().checked_mul(params.integer("flows"));
    if last.is_none_or(|last| last > LATEST.ps()) {
        return Err(params.fail("interval", format!("the last flow would begin more than {LATEST} after the first")));
    }
    Ok(Box::new(Background {
        flows: params.integer("flows") as usize,
        bytes: Some(params.bytes("bytes-each").get()).filter(|bytes| *bytes > 0),
        start: params.time("start"),
        interval: params.time("interval"),
        jitter: params.time("jitter"),
        receiver: params.integer("receiver") as usize,
        in_turn: params.text("to") != BY_PART,
    }))
}

/// No flow begins later than this after the first: sums of such times fit a [`Time`].
const LATEST: Time = Time::from_secs(1_000_000);

struct Background {
    flows: usize,
    bytes: Option<u64>,
    start: Time,
    interval: Time,
    jitter: Time,
    receiver: usize,
    /// The receiving hosts take turns.
    in_turn: bool,
}

impl Traffic for Background {
    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        for i in 0..self.flows {
            let to = cx.receivers[(self.receiver + if self.in_turn { i } else { 0 }) % cx.receivers.len()];
            // Nobody sends to itself: the next one does.
            let from = host(cx.senders, if host(cx.senders, i) == to { i + 1 } else { i });
            cx.actions.push(TrafficAction::Transfer(TransferSpec {
                start: self.start + self.interval * i as u64 + cx.stream.uniform_time(self.jitter),
                from,
                to,
                bytes: self.bytes,
                connection: Connection::Fresh,
                request: None,
                in_query: false,
            }));
        }
    }
}
