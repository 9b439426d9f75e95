//! Invariants that every run must satisfy: conservation of packets and bytes, and sanity checks.
//!
//! Buffers and windows are checked during the run, packets and bytes at its end, per flow, per port and per node. This
//! costs nothing per hop: a port's throughput follows from what it admitted and what it still holds, and the nodes at
//! both ends must agree.

use crate::World;
use fanin_core::ids::{FlowId, TransferId};
use fanin_core::packet::Packet;
use fanin_event::{EventCore, PortAudit};
use fanin_host::finished::add_ends;
use fanin_host::flow::Flow;
use fanin_port::spec::Limit;
use fanin_tcp::sender::State;
use fanin_work::error::RunError;
use fanin_work::transfer::Transfer;
use std::collections::BTreeMap;

/// Everything that can be checked when a run is over.
pub fn check<C: EventCore>(world: &mut World<C>) -> Result<(), RunError> {
    world.check_breach()?;
    world.check_flows()?;
    let ports = world.net.core.audit();
    world.check_ports(&ports)?;
    world.check_memory(&ports)?;
    world.check_nodes(&ports)?;
    world.check_stuck()
}

impl<C: EventCore> World<C> {
    /// Every packet and byte that a flow sent, or a switch to its sender, has arrived, was dropped, is held by an agent or is in
    /// the network.
    fn check_flows(&mut self) -> Result<(), RunError> {
        let mut inside: BTreeMap<FlowId, (u64, u64)> = BTreeMap::new();
        let mut count = |packet: &Packet| {
            let (packets, bytes) = inside.entry(packet.flow).or_default();
            *packets += 1;
            *bytes += u64::from(packet.size);
        };
        self.net.core.in_network(&mut count);
        self.hosts.interfaces.iter().flat_map(|all| all.waiting()).for_each(|(_, packet)| count(packet));
        self.net.held.iter().flatten().for_each(|(_, packet)| count(packet));
        for (id, flow) in self.hosts.flows.iter() {
            let (i, book) = (id.index(), &self.net.core.books().flows[id]);
            let inside = inside.remove(&id).unwrap_or_default();
            let counts = [
                (
                    "packets",
                    flow.packets_sent() + book.made,
                    [flow.arrived + flow.acks_arrived, book.drops + book.acks_dropped, inside.0],
                    book.kept,
                ),
                (
                    "bytes",
                    flow.bytes_sent() + book.made_bytes,
                    [flow.arrived_bytes + flow.ack_bytes_arrived, book.dropped_bytes, inside.1],
                    book.kept_bytes,
                ),
            ];
            for (what, sent, [arrived, dropped, inside], kept) in counts {
                let gone = i128::from(arrived) + i128::from(dropped) + i128::from(inside) + i128::from(kept);
                if gone != i128::from(sent) || kept < 0 {
                    return Err(self.broken(format!(
                        "flow {i} sent {sent} {what}, but {arrived} arrived, {dropped} were dropped, {kept} are kept by a \
                         switch and {inside} are in the network or wait for an interrupt"
                    )));
                }
            }
            let cfg = &self.hosts.endpoints[flow.wire.endpoint as usize].sender;
            if !flow.window_is_sane(cfg.quirks.wraps_window()) {
                return Err(self.broken(format!("flow {i} has the window {:?}", flow.sender.window())));
            }
            if flow.sender.una() > flow.receiver.state.next() && flow.sender.state() != State::Closed {
                return Err(self.broken(format!("flow {i} was acknowledged beyond what arrived")));
            }
        }
        match inside.first_key_value() {
            Some((flow, _)) => Err(self.broken(format!("flow {flow} was over, and packets of it are in the network"))),
            None => Ok(()),
        }
    }

    /// What each port admitted has left it or is still there, both by its counters and by its contents.
    fn check_ports(&self, ports: &[PortAudit]) -> Result<(), RunError> {
        for (i, port) in ports.iter().enumerate() {
            let PortAudit { entered, believed, counts_bytes, held, flying } = *port;
            let name = || self.net.topology.link_names()[i].clone();
            if believed.packets != held.packets || (counts_bytes && believed.bytes != held.bytes) {
                let what = format!("{} let in {entered} bytes and counts {believed:?}, but holds {held:?}", name());
                return Err(self.broken(what));
            }
            if held.bytes + flying > entered {
                return Err(self.broken(format!(
                    "{} admitted {entered} bytes, but holds {} and has {flying} in flight",
                    name(),
                    held.bytes
                )));
            }
        }
        Ok(())
    }

    /// The contents of ports that share a memory fit in it.
    fn check_memory(&mut self, ports: &[PortAudit]) -> Result<(), RunError> {
        let mut pools = vec![0; self.net.topology.nodes.len()];
        for (i, port) in ports.iter().enumerate() {
            let Limit::Dynamic { pool, memory, .. } = self.net.core.books().ports[i].limit else { continue };
            pools[pool] += port.held.bytes;
            if pools[pool] > memory {
                let (used, node) = (pools[pool], self.net.topology.links[i].from);
                return Err(self.broken(format!("the ports of {node} hold {used} bytes in a memory of {memory}")));
            }
        }
        Ok(())
    }

    /// Every byte that reaches a node or begins there leaves it, ends there, is dropped at one of its ports, or is held
    /// by its agent, whose packets of its own begin there.
    fn check_nodes(&mut self, ports: &[PortAudit]) -> Result<(), RunError> {
        let mut nodes = vec![Balance::default(); self.net.topology.nodes.len()];
        for (i, (link, port)) in self.net.topology.links.iter().zip(ports).enumerate() {
            let book = &self.net.core.books().ports[i];
            nodes[link.to.index()].reached += port.delivered().saturating_sub(book.lost_on_link);
            nodes[link.from.index()].let_in += port.entered;
            nodes[link.from.index()].dropped += book.dropped_bytes - book.lost_on_link;
        }
        let mut ends = self.hosts.finished.nodes.clone();
        self.hosts.flows.iter().for_each(|(_, flow)| add_ends(&mut ends, flow));
        for (node, packet) in self.hosts.interfaces.iter().flat_map(|all| all.waiting()) {
            ends[node.index()].ended += u64::from(packet.size);
        }
        for (link, packet) in self.net.held.iter().flatten() {
            let node = self.net.topology.links[link.index()].to;
            ends[node.index()].ended += u64::from(packet.size);
        }
        for (i, (node, ends)) in nodes.iter().zip(&ends).enumerate() {
            let kept = self.net.core.books().kept[i];
            let gone = i128::from(node.let_in + node.dropped + ends.ended) + i128::from(kept);
            if i128::from(node.reached + ends.begun) != gone {
                return Err(self
                    .broken(format!("node {i} keeps {kept} bytes, and its others do not add up: {node:?}, {ends:?}")));
            }
        }
        Ok(())
    }

    fn broken(&self, what: String) -> RunError {
        RunError::Broken { seed: self.seed, at: self.net.now(), what }
    }

    /// With an open transfer and no event left, the run is stuck.
    fn check_stuck(&self) -> Result<(), RunError> {
        let timed = |(_, flow): (FlowId, &Flow)| {
            !flow.sender.deadline().is_never() || !flow.receiver.state.ack_deadline().is_never()
        };
        if self.work.finished
            || self.work.transfers.unfinished == 0
            || !self.net.core.is_idle()
            || self.hosts.flows.iter().any(timed)
        {
            return Ok(());
        }
        let stuck = |(_, transfer): &(TransferId, &Transfer)| {
            transfer.bytes.is_some() && transfer.completion.is_none() && !transfer.failed
        };
        let Some((id, transfer)) = self.work.transfers.open().find(stuck) else { return Ok(()) };
        let why = transfer.flow.map_or_else(
            || "its request got no response".to_owned(),
            |flow| {
                let flow = &self.hosts.flows[flow];
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
            at: self.net.now(),
            transfer: id.index(),
            group: self.work.groups[transfer.group.index()].name.clone(),
            why,
        })
    }
}

/// Bytes at one node, except those of its own flows.
#[derive(Clone, Debug, Default)]
struct Balance {
    /// Delivered by its links.
    reached: u64,
    /// Admitted to its ports.
    let_in: u64,
    /// Dropped at its ports, or by its agent.
    dropped: u64,
}
