//! The flowcells of the hosts behind a switch, which use the trees in turn.

use super::message::Attachment;
use super::state::EdgeState;
use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{CellTag, Packet, unwrap_seq};
use fanin_tcp::FIRST_DATA;
use std::collections::BTreeMap;

/// The current flowcell of a flow.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The largest sequence number seen.
    seq: u64,
    number: u32,
    /// Its label and egress link; none for the path that ECMP has chosen for the flow.
    way: Option<(u32, LinkId)>,
}

/// The current flowcell of each flow.
pub(super) struct Cells {
    /// Bytes of a flowcell.
    bytes: u64,
    /// Only flows to crowded hosts are spread.
    crowded_only: bool,
    flows: BTreeMap<FlowId, Cell>,
    /// Number of flowcells from the host behind a link to another host.
    turns: BTreeMap<(LinkId, NodeId), usize>,
}

impl Cells {
    pub(super) fn new(bytes: u64, crowded_only: bool) -> Self {
        Self { bytes, crowded_only, flows: BTreeMap::new(), turns: BTreeMap::new() }
    }

    /// A flow has ended.
    pub(super) fn forget(&mut self, flow: FlowId) {
        self.flows.remove(&flow);
    }

    /// The egress link of a segment if it takes a tree. The segment then carries the tree's label and the number of its
    /// flowcell.
    ///
    /// A retransmitted segment takes the path of the current flowcell, but carries the number of its own.
    pub(super) fn choose(
        &mut self,
        state: &EdgeState,
        packet: &mut Packet,
        from: LinkId,
        to: &Attachment,
    ) -> Option<LinkId> {
        let known = self.flows.get(&packet.flow).copied();
        let seq = unwrap_seq(packet.seq, known.map_or(FIRST_DATA, |cell| cell.seq));
        let number = (seq.saturating_sub(FIRST_DATA) / self.bytes) as u32;
        let fresh = known.is_none_or(|cell| number > cell.number);
        // A cable of its tree has failed, at this switch or elsewhere.
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

    /// The next tree in turn.
    fn next(&mut self, state: &EdgeState, from: LinkId, to: &Attachment) -> Option<(u32, LinkId)> {
        // READING: E7 load balancing complements the scheduler when there are too many connections for it.
        if self.crowded_only && !state.crowded.contains(&to.link) {
            return None;
        }
        let ways = state.ways_to(to);
        let turn = self.turns.entry((from, to.host)).or_default();
        // The first tree differs between hosts that start together, and between the destinations of a host.
        let way = ways.get((from.index() / 2 + to.host.index() + *turn).checked_rem(ways.len())?);
        *turn += 1;
        way.copied()
    }
}
