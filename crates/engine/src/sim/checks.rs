//! The proof that nothing went missing: conservation and sanity, checked at the end of every run.

use crate::ids::LinkId;
use crate::sim::event::EventCore;
use crate::sim::transfers::Transfer;
use crate::sim::world::{RunError, World};
use crate::tcp::sender::State;

impl World {
    /// Conservation and sanity: every packet that was sent arrived, was dropped, is kept by an agent or is still in
    /// the network; windows are real; queues stayed within their buffers.
    pub(crate) fn check<C: EventCore>(&self, core: &mut C) -> Result<(), RunError> {
        let mut inside = vec![0_u64; self.flows.len()];
        core.in_network(&mut |packet| inside[packet.flow.index()] += 1);
        for (i, flow) in self.flows.iter().enumerate() {
            let book = &core.ledger().flows[i];
            let sent = flow.sender.segments_sent + flow.receiver.acks_sent;
            let gone = flow.arrived + flow.acks_arrived + book.drops + book.acks_dropped + book.kept + inside[i];
            if sent != gone {
                let what = format!(
                    "flow {i} sent {sent} packets, but {} arrived, {} were dropped, {} are kept by a switch and {} are \
                     in the network",
                    flow.arrived + flow.acks_arrived,
                    book.drops + book.acks_dropped,
                    book.kept,
                    inside[i]
                );
                return Err(self.broken(what));
            }
            let window = flow.sender.window();
            if !(window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0) {
                return Err(self.broken(format!("flow {i} has the window {window:?}")));
            }
            if flow.sender.una() > flow.receiver.state.next() && flow.sender.state() != State::Closed {
                return Err(self.broken(format!("flow {i} was acknowledged beyond what arrived")));
            }
        }
        self.check_queues(core)?;
        self.check_stuck(core)
    }

    fn check_queues<C: EventCore>(&self, core: &mut C) -> Result<(), RunError> {
        for i in 0..self.topology.links.len() {
            let Some(limit) = core.limit(LinkId::new(i)) else { continue };
            let Some(monitor) = &mut core.ledger().queues[i] else { continue };
            let most = monitor.stats.finish(self.now).packets.max;
            if most > limit {
                return Err(self.broken(format!("link {i} held {most} packets in a buffer of {limit}")));
            }
        }
        Ok(())
    }

    pub(crate) fn broken(&self, what: String) -> RunError {
        RunError::Broken { seed: self.seed, at: self.now, what }
    }

    /// With an open transfer and no event left, nothing will ever happen again.
    fn check_stuck<C: EventCore>(&self, core: &mut C) -> Result<(), RunError> {
        if self.finished || self.open == 0 || !core.is_idle() {
            return Ok(());
        }
        let stuck =
            |transfer: &&Transfer| transfer.bytes.is_some() && transfer.completion.is_none() && !transfer.failed;
        let Some(transfer) = self.transfers.iter().find(stuck) else { return Ok(()) };
        let why = transfer.flow.map_or_else(
            || "its request was not answered".to_owned(),
            |flow| {
                let flow = &self.flows[flow.index()];
                format!(
                    "its sender is {:?} with {} bytes in flight and a window of {:.0} bytes, its acknowledgement is {}",
                    flow.sender.state(),
                    flow.sender.in_flight(),
                    flow.sender.window().cwnd,
                    if flow.receiver.held.is_some() { "held" } else { "not held" }
                )
            },
        );
        Err(RunError::Stuck {
            seed: self.seed,
            at: self.now,
            transfer: self.transfers.iter().position(|other| std::ptr::eq(other, transfer)).unwrap_or(0),
            group: self.groups[transfer.group.index()].name.clone(),
            why,
        })
    }
}
