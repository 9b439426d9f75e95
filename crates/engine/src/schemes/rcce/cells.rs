//! The flowcells of the hosts behind a switch, and the trees that they take in turn.

use super::message::Place;
use super::state::EdgeState;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{CellTag, Packet, unwrap_seq};
use crate::tcp::FIRST_DATA;
use std::collections::BTreeMap;

/// The present flowcell of a flow.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The largest sequence number that was seen.
    seq: u64,
    number: u32,
    /// Its label, and where it leaves; none keeps the path that ECMP has given the flow.
    way: Option<(u32, LinkId)>,
}

/// Flowcells by flow.
pub(super) struct Cells {
    /// Bytes of a flowcell.
    bytes: u64,
    /// Only flows to crowded hosts are spread.
    crowded_only: bool,
    flows: BTreeMap<FlowId, Cell>,
    /// Flowcells from the host behind a link to a host.
    turns: BTreeMap<(LinkId, NodeId), usize>,
}

impl Cells {
    pub(super) fn new(bytes: u64, crowded_only: bool) -> Self {
        Self { bytes, crowded_only, flows: BTreeMap::new(), turns: BTreeMap::new() }
    }

    /// A flow is over.
    pub(super) fn forget(&mut self, flow: FlowId) {
        self.flows.remove(&flow);
    }

    /// The link on which a segment leaves, if it goes over a tree; it carries the label then, and the number of its cell.
    ///
    /// A segment that is sent again takes the way of the present cell, but belongs to its own.
    pub(super) fn choose(
        &mut self,
        state: &EdgeState,
        packet: &mut Packet,
        from: LinkId,
        to: &Place,
    ) -> Option<LinkId> {
        let known = self.flows.get(&packet.flow).copied();
        let seq = unwrap_seq(packet.seq, known.map_or(FIRST_DATA, |cell| cell.seq));
        let number = (seq.saturating_sub(FIRST_DATA) / self.bytes) as u32;
        let fresh = known.is_none_or(|cell| number > cell.number);
        // A cable of its tree has failed, here or elsewhere.
        let gone = |(label, out)| state.out(label) != Some(out);
        let failed = known.and_then(|cell| cell.way).is_some_and(gone);
        let mut cell = known.unwrap_or(Cell { seq, number, way: None });
        cell.seq = cell.seq.max(seq);
        if fresh || failed {
            cell = Cell { number: cell.number.max(number), way: self.next(state, from, to), ..cell };
        }
        self.flows.insert(packet.flow, cell);
        let (label, out) = cell.way?;
        packet.field = CellTag { label, cell: number }.field();
        Some(out)
    }

    /// The tree whose turn it is.
    fn next(&mut self, state: &EdgeState, from: LinkId, to: &Place) -> Option<(u32, LinkId)> {
        // READING: E7 balancing complements the scheduler where connections are too many for it.
        if self.crowded_only && !state.crowded.contains(&to.link) {
            return None;
        }
        let ways = state.ways_to(to);
        let turn = self.turns.entry((from, to.host)).or_default();
        // Hosts that begin together must not take the same tree, nor a host to all others.
        let way = ways.get((from.index() / 2 + to.host.index() + *turn).checked_rem(ways.len())?);
        *turn += 1;
        way.copied()
    }
}
