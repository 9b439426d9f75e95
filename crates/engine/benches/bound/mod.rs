//! A lower bound of what a packet-hop costs: links with rings, a tree of their next arrivals, and bare windows.
//!
//! It runs the incast of `hops` with the engine's central idea and nothing else. There are no roles, environments,
//! handshakes, faults, measurements, invariants or tables, and a packet has 32 bytes. What the engine
//! takes beyond it is the price of all these. Windows follow NewReno or DCTCP closely enough that the same packets meet
//! in the same queues, but no number of it is a result.

mod sender;

use sender::{Receiver, Sender};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Picoseconds.
type Ps = u64;

const NEVER: Ps = u64::MAX;
const US: Ps = 1_000_000;
/// Of a byte at 1 Gbps.
const BYTE: Ps = 8_000;
const DELAY: Ps = 25 * US;
const TIMEOUT: Ps = 10_000 * US;
/// Packets that a port of the switch holds.
const BUFFER: u32 = 100;
/// Packets in a port from which on DCTCP's are marked.
const MARK_FROM: u32 = 20;
const SEGMENT: u64 = 1_460;
const DATA_BYTES: u16 = 1_500;
const ACK_BYTES: u16 = 40;
/// Marks the end of a path.
const END: u32 = u32::MAX;

/// A packet in a port or on a link.
#[derive(Clone, Copy, Default)]
struct Packet {
    arrival: Ps,
    flow: u32,
    /// Number of a segment, or of the next one that is expected.
    seq: u32,
    /// Index of its next link in the table of paths.
    hop: u32,
    size: u16,
    ack: bool,
    marked: bool,
    /// When the segment was sent that it is or acknowledges.
    stamp: Ps,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 32);

/// A link and the port at its beginning.
struct Link {
    ring: Box<[Packet]>,
    head: u32,
    /// First packet that had not left the port when last looked at.
    left: u32,
    tail: u32,
    /// Packets in the port from which on one is dropped (`limit`) or marked (`mark_from`).
    limit: u32,
    mark_from: u32,
    busy_until: Ps,
}

impl Link {
    fn new(limit: u32, mark_from: u32) -> Self {
        Self { ring: vec![Packet::default(); 4].into(), head: 0, left: 0, tail: 0, limit, mark_from, busy_until: 0 }
    }

    #[inline(always)]
    fn place(&self, i: u32) -> usize {
        i as usize & (self.ring.len() - 1)
    }

    /// Arrival of the first packet.
    #[inline(always)]
    fn first(&self) -> Ps {
        if self.head == self.tail { NEVER } else { self.ring[self.place(self.head)].arrival }
    }

    /// Packets in the port, the one in transmission included.
    #[inline(always)]
    fn occupancy(&mut self, now: Ps) -> u32 {
        if (self.head.wrapping_sub(self.left) as i32) > 0 {
            self.left = self.head;
        }
        while self.left != self.tail && self.ring[self.place(self.left)].arrival <= now + DELAY {
            self.left = self.left.wrapping_add(1);
        }
        self.tail.wrapping_sub(self.left)
    }

    #[inline(always)]
    fn push(&mut self, packet: &Packet, now: Ps) {
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        self.busy_until = self.busy_until.max(now) + u64::from(packet.size) * BYTE;
        let place = self.place(self.tail);
        self.ring[place] = Packet { arrival: self.busy_until + DELAY, ..*packet };
        self.tail = self.tail.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.ring.len() as u32;
        let mut ring = vec![Packet::default(); 2 * old as usize];
        for i in 0..old {
            let i = self.head.wrapping_add(i);
            ring[(i & (2 * old - 1)) as usize] = self.ring[self.place(i)];
        }
        self.ring = ring.into();
    }
}

/// The earliest arrival over all links: a winner tree in an array, whose leaves hold arrival and link in one number.
struct Tree {
    nodes: Vec<u64>,
    bits: u32,
}

impl Tree {
    fn new(links: usize) -> Self {
        let leaves = links.next_power_of_two();
        Self { nodes: vec![NEVER; 2 * leaves], bits: leaves.trailing_zeros() }
    }

    /// Sets the arrival of a link; [`NEVER`] takes it out.
    #[inline(always)]
    fn set(&mut self, link: u32, at: Ps) {
        let mut key = if at == NEVER { NEVER } else { at << self.bits | u64::from(link) };
        let mut i = self.nodes.len() / 2 + link as usize;
        self.nodes[i] = key;
        while i > 1 {
            key = key.min(self.nodes[i ^ 1]);
            i >>= 1;
            self.nodes[i] = key;
        }
    }

    #[inline(always)]
    fn top(&self) -> Option<(Ps, u32)> {
        let key = self.nodes[1];
        (key != NEVER).then(|| (key >> self.bits, (key & ((1 << self.bits) - 1)) as u32))
    }
}

/// Everything between the windows.
struct Net {
    now: Ps,
    links: Vec<Link>,
    tree: Tree,
    paths: Vec<u32>,
    /// Starts and timeouts.
    timers: BinaryHeap<Reverse<(Ps, u32)>>,
}

impl Net {
    #[inline(always)]
    fn send(&mut self, hop: u32, packet: &Packet) {
        let index = self.paths[hop as usize];
        let link = &mut self.links[index as usize];
        let on_link = link.tail.wrapping_sub(link.head);
        let mut packet = Packet { hop: hop + 1, ..*packet };
        // Most links are nearly empty: only a full one need be looked at closely.
        if on_link >= link.limit.min(link.mark_from) {
            let found = link.occupancy(self.now);
            if found >= link.limit {
                return;
            }
            packet.marked |= found >= link.mark_from;
        }
        link.push(&packet, self.now);
        if on_link == 0 {
            self.tree.set(index, link.first());
        }
    }

    #[inline(always)]
    fn take(&mut self, index: u32) -> Packet {
        let link = &mut self.links[index as usize];
        let packet = link.ring[link.place(link.head)];
        link.head = link.head.wrapping_add(1);
        self.tree.set(index, link.first());
        packet
    }
}

/// The incast that [`run`] runs.
pub(crate) struct Incast {
    pub(crate) senders: u32,
    /// Bytes of each response.
    pub(crate) bytes: u64,
    pub(crate) dctcp: bool,
}

/// Runs an incast on a star to its end. Returns the number of packet-hops.
pub(crate) fn run(incast: &Incast) -> f64 {
    let &Incast { senders, bytes, dctcp } = incast;
    let mark_from = if dctcp { MARK_FROM } else { u32::MAX };
    // The client's link to the switch and the one back, then those of each server.
    let pair = || [Link::new(u32::MAX, u32::MAX), Link::new(BUFFER, mark_from)];
    let mut net = Net {
        now: 0,
        links: (0..=senders).flat_map(|_| pair()).collect(),
        tree: Tree::new(2 * senders as usize + 2),
        paths: (1..=senders).flat_map(|i| [2 * i, 1, END, 0, 2 * i + 1, END]).collect(),
        timers: BinaryHeap::new(),
    };
    let segments = bytes.div_ceil(SEGMENT) as u32;
    // Spread over a millisecond.
    let start = |flow: u32| (u64::from(flow.wrapping_mul(0x9E37_79B9)) * 1_000 * US) >> 32;
    net.timers.extend((0..senders).map(|flow| Reverse((start(flow), flow))));
    let mut senders: Vec<_> = (0..senders).map(|flow| Sender::new(flow, segments, start(flow), dctcp)).collect();
    let mut receivers = vec![Receiver::default(); senders.len()];
    let mut hops = 0_u64;
    loop {
        let timer = net.timers.peek().map_or(NEVER, |Reverse((at, _))| *at);
        match net.tree.top() {
            Some((now, link)) if now <= timer => {
                net.now = now;
                hops += 1;
                let packet = net.take(link);
                if net.paths[packet.hop as usize] != END {
                    net.send(packet.hop, &packet);
                } else if packet.ack {
                    senders[packet.flow as usize].on_ack(&packet, &mut net);
                } else {
                    receivers[packet.flow as usize].on_segment(&packet, &mut net);
                }
            }
            _ => {
                let Some(Reverse((now, flow))) = net.timers.pop() else { break };
                net.now = now;
                senders[flow as usize].on_timer(&mut net);
            }
        }
    }
    assert!(senders.iter().all(Sender::is_done), "every response arrives");
    hops as f64
}
