//! Large networks node by node, in windows of time ([`fanin_event`], `windows.rs`), where that gives the same results.
//!
//! What couples nodes without a delay decides where it does:
//!
//! - Flows are numbered in the order of their starts. Traffic whose starts do not depend on what completes is asked before
//!   a window for all starts in it.
//! - What a transfer's row counts when its last byte arrives, lost packets in their order, and the order of a flow's
//!   losses and retransmissions: such things go into a ledger ([`fanin_port::ledger`]) and are carried out after the window.
//! - Timeouts look at the whole network for their cause, and some instants concern all of it: the end of the run or of the
//!   warm-up, and looks at all ports. A window ends before such an instant, whose events happen in the order of time.
//! - The run ends with the last completion, after which nothing happens. So the order of time takes over when all data
//!   has been sent.
//!
//! Everything else that nodes have in common is a sum.

use crate::{EVENTS_PER_LOOK, Progress, World};
use fanin_core::ids::{FlowId, LinkId, NodeId, TransferId};
use fanin_core::units::Time;
use fanin_event::order::{Class, Event};
use fanin_event::{EventCore, NodeByNode as _};
use fanin_host::hosts::{Endpoint, Host};
use fanin_port::ledger::{Entry, What};
use fanin_work::error::RunError;

/// A network of fewer links is in the cache anyway.
const FEW_LINKS: usize = 1000;

/// Links for each packet in the network from which on windows cost more than they save: each window visits all links.
const LINKS_PER_PACKET: u64 = 2;

/// Visits of all links without a packet-hop after which windows end, if all were worth while before.
const VISITS_IN_VAIN: u64 = 4;

/// Packet-hops for each link after which windows are tried again.
const HOPS_PER_TRY: u64 = 8;

/// Where a rare event happens.
enum Place {
    Node(NodeId),
    /// It does not matter where and when in the window.
    Anywhere,
    /// It concerns several nodes.
    Everywhere,
}

impl<C: EventCore> World<C> {
    /// Finds out whether this run can have windows.
    pub(super) fn plan_windows(&mut self) {
        let few = self.net.topology.links.len() < FEW_LINKS && self.windows.first_look.is_none();
        if cfg!(target_arch = "wasm32") || few || !self.has_independent_nodes() {
            return;
        }
        let links = &self.net.topology.links;
        let span = links.iter().map(|link| link.delay).min().unwrap_or(Time::ZERO);
        let fits = self.net.core.windows().is_some_and(|core| core.is_plain() && span <= core.longest_window());
        if span == Time::ZERO || !fits || !self.hosts.endpoints.iter().all(|endpoint| waits_at_least(endpoint, span)) {
            return;
        }
        self.windows.span = Some(span);
        self.windows.inbound = vec![Vec::new(); self.net.topology.nodes.len()];
        for (i, link) in links.iter().enumerate() {
            self.windows.inbound[link.to.index()].push(LinkId::new(i));
            self.windows.all.push(LinkId::new(i));
        }
    }

    /// Whether nothing but packets and what goes into the ledger joins nodes.
    fn has_independent_nodes(&mut self) -> bool {
        let Self { net, hosts, switches, work, watch, .. } = self;
        let one_path = |host: &Host| host.selector.cell().is_none() && !host.selector.asks_anew();
        !(net.watched || net.host_queues.is_some() || net.faults.instants().next().is_some())
            && net.core.books().bins.is_none()
            && watch.every == Time::ZERO
            && !(switches.any || hosts.has_schedulers || hosts.resequences || hosts.probes.any)
            && hosts.interfaces.is_none()
            && hosts.by_node.iter().flatten().all(one_path)
            && hosts.schemes.iter().all(|scheme| scheme.shares_nothing())
            && work.groups.iter().all(|group| group.traffic.is_open_loop() && !group.waits)
    }

    fn core(&mut self) -> &mut C::Windows {
        self.net.core.windows().expect("a core without windows has no span")
    }

    /// Goes on in windows, if that pays, for as long as it does. Returns until when it did.
    pub(super) fn run_windows(&mut self, progress: &mut Option<Progress<'_>>) -> Result<Option<Time>, RunError> {
        // A page in a browser shows small networks, and loads sooner without what only large ones need.
        if cfg!(target_arch = "wasm32") {
            return Ok(None);
        }
        let Some(span) = self.windows.span.filter(|_| !self.work.over && self.hops >= self.windows.next) else {
            return Ok(None);
        };
        let mut done = Ok(None);
        if let Some(mut now) = self.core().upcoming().filter(|_| self.is_busy() && self.goes_on()) {
            self.core().open_windows();
            done = self.windows_from(&mut now, span, progress).map(|()| Some(now));
            self.core().close_windows(now);
        }
        let wait = HOPS_PER_TRY * self.net.topology.links.len() as u64;
        self.windows.next = self.hops + if self.windows.first_look.is_some() { 0 } else { wait };
        done
    }

    /// Whether there are so many packets on the links that windows pay.
    fn is_busy(&mut self) -> bool {
        let (_, inside) = self.core().arrival_times(Time::ZERO);
        self.windows.inside = inside.wrapping_sub(self.net.sent);
        self.windows.first_look.is_some() || inside * LINKS_PER_PACKET >= self.net.topology.links.len() as u64
    }

    /// Whether the run cannot be over at the end of a window that begins now.
    fn goes_on(&mut self) -> bool {
        self.work.goes_on(&self.hosts, &mut self.windows.witness)
    }

    /// Goes on in windows from `now` on, which is then the time before which everything has happened.
    fn windows_from(
        &mut self,
        now: &mut Time,
        span: Time,
        progress: &mut Option<Progress<'_>>,
    ) -> Result<(), RunError> {
        let mut looked = self.hops;
        let links = self.net.topology.links.len() as u64;
        let most_saved = VISITS_IN_VAIN * links;
        let mut saved = most_saved;
        while !self.work.over && self.goes_on() {
            let before = self.hops;
            let (until, stops) = self.plan_window(*now, *now + span);
            if self.work.over {
                return Ok(());
            }
            self.visit_nodes(*now, until);
            *now = until;
            if stops {
                self.run_instant(until);
                if self.work.over {
                    // The clock stays where the run ended.
                    return Ok(());
                }
                *now = until + Time::from_ps(1);
            }
            if self.hops - looked >= u64::from(EVENTS_PER_LOOK) {
                looked = self.hops;
                self.look(until, progress)?;
            }
            // An instant of all nodes costs another visit.
            let visited = links * (1 + u64::from(stops));
            saved = (saved + (self.hops - before) * LINKS_PER_PACKET).saturating_sub(visited).min(most_saved);
            if saved == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Plans the window from `from` to `until` or earlier: hands its rare events to their nodes, in order. Returns where it
    /// ends, and whether that is before an instant that concerns all nodes.
    fn plan_window(&mut self, from: Time, until: Time) -> (Time, bool) {
        let look = self.next_look(until);
        let (mut end, mut stops) = (look.unwrap_or(until), look.is_some());
        self.core().begin_window(from, from);
        self.windows.rare.clear();
        while let Some((at, key)) = self.core().first_rare(end) {
            let Event::Misc { class, index } = key.event() else { break };
            match self.place(class, index as usize, until) {
                Place::Everywhere => (end, stops) = (at, true),
                Place::Node(node) => {
                    self.core().take_rare();
                    self.windows.rare.push((node, at, key));
                }
                Place::Anywhere => {
                    self.core().take_rare();
                    self.core().set_clock(at);
                    self.events += 1;
                    self.on_misc(class, index as usize);
                }
            }
        }
        // Those of the instant itself come after its arrivals.
        let early = self.windows.rare.partition_point(|(_, at, _)| *at < end);
        for (_, at, key) in self.windows.rare.split_off(early) {
            self.core().put_off(at, key);
        }
        (end, stops)
    }

    /// Where a rare event before `until` happens. The flow of a start is opened.
    fn place(&mut self, class: Class, index: usize, until: Time) -> Place {
        let first = self.work.opens_with_transfer();
        match class {
            Class::Traffic => Place::Anywhere,
            Class::TransferStart if !first => {
                let transfer = TransferId::new(index);
                self.work.open_ahead(transfer, &mut self.hosts, &mut self.net);
                Place::Node(self.work.transfers[transfer].from)
            }
            Class::Retransmission | Class::Pacing | Class::Wake | Class::DelayedAck => {
                let Some(flow) = self.hosts.flows.get(FlowId::new(index)) else { return Place::Anywhere };
                match class {
                    // No deadline moves to a time before the end: timers are no shorter than a window.
                    Class::Retransmission if flow.sender.deadline() < until => Place::Everywhere,
                    Class::DelayedAck => Place::Node(flow.wire.to),
                    _ => Place::Node(flow.wire.from),
                }
            }
            _ => Place::Everywhere,
        }
    }

    /// The instant of the next look at all ports, if it is before `until`: that of the packet-hop which it follows.
    fn next_look(&mut self, until: Time) -> Option<Time> {
        let hops = self.looks.next - self.hops;
        if self.windows.inside.wrapping_add(self.net.sent) < hops {
            return None;
        }
        let (mut times, inside) = self.core().arrival_times(until);
        self.windows.inside = inside.wrapping_sub(self.net.sent);
        let last = usize::try_from(hops - 1).ok().filter(|last| *last < times.len())?;
        Some(Time::from_ps(*times.select_nth_unstable(last).1))
    }

    /// Every node does its part of the window.
    fn visit_nodes(&mut self, from: Time, until: Time) {
        self.windows.count += 1;
        self.core().begin_window(from, until);
        self.net.core.books().ledger.open = true;
        let mut rare = std::mem::take(&mut self.windows.rare);
        rare.sort_unstable_by_key(|(node, ..)| *node);
        let mut left = rare.iter().peekable();
        let inbound = std::mem::take(&mut self.windows.inbound);
        for (node, links) in inbound.iter().enumerate() {
            self.core().gather(links);
            while let Some((_, at, key)) = left.next_if(|(of, ..)| of.index() == node) {
                self.core().give(*at, *key);
            }
            self.work_off::<false>();
        }
        (self.windows.inbound, self.windows.rare) = (inbound, rare);
        self.carry_out();
    }

    /// All events of one instant happen, in order.
    fn run_instant(&mut self, at: Time) {
        let after = at + Time::from_ps(1);
        let all = std::mem::take(&mut self.windows.all);
        self.core().begin_window(at, after);
        self.core().gather(&all);
        self.windows.all = all;
        while let Some((at, key)) = self.core().first_rare(after) {
            self.core().take_rare();
            self.core().give(at, key);
        }
        self.work_off::<true>();
    }

    /// The events that were gathered, and those that they lead to in the same window, all at one instant if `LOOKS`: only
    /// then may somebody look at all ports.
    fn work_off<const LOOKS: bool>(&mut self) {
        while !self.work.over
            && let Some(event) = self.core().next_here()
        {
            match event {
                Event::Arrival(link) if LOOKS => self.on_arrival(link),
                Event::Arrival(link) => self.on_quiet_arrival(link),
                Event::Misc { class, index } => {
                    self.events += 1;
                    self.on_misc(class, index as usize);
                }
            }
        }
    }

    /// As [`Self::on_arrival`], where nobody looks at packets on their way.
    #[inline(always)]
    fn on_quiet_arrival(&mut self, link: LinkId) {
        self.hops += 1;
        let onward = self.core().onward(link);
        if let Some(next) = onward.link() {
            let left = self.net.paths.after(onward);
            return self.core().pass_on(link, next, left);
        }
        let packet = self.net.core.take(link);
        self.hand_over(&packet);
    }

    /// Carries out in the order of time what nodes have put into the ledger.
    fn carry_out(&mut self) {
        for Entry { at: (at, _), what } in self.net.core.books().ledger.close() {
            self.core().set_clock(at);
            let books = self.net.core.books();
            match what {
                What::Drop(link, packet, reason) => books.on_drop(link, &packet, reason, at),
                What::Mark(flow, ack) => books.flows[flow].count_mark(ack),
                What::Resent(flow, seq) => books.on_resent(flow, seq),
                What::Arrived(flow) => self.work.on_transfer_arrived(flow, &mut self.hosts, &mut self.net),
            }
        }
    }
}

/// Whether the retransmission timers of these end points run for `span` at least, whenever they start.
fn waits_at_least(endpoint: &Endpoint, span: Time) -> bool {
    let sender = &endpoint.sender;
    let rto = &sender.rto;
    let least = [rto.minimum, rto.initial, rto.maximum, sender.syn_timeout, sender.rto_after_syn_timeout];
    sender.linux.is_none() && sender.interface.is_none() && least.iter().all(|timer| *timer >= span)
}
