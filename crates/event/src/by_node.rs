//! The event core node by node, in windows of time (`windows.rs`).

use crate::core::Core;
use crate::order::{Event, MiscKey};
use crate::ports::Port;
use crate::{EventCore as _, NodeByNode};
use fanin_core::ids::LinkId;
use fanin_core::packet::{Onward, Packet};
use fanin_core::units::Time;
use std::cmp::Reverse;

impl NodeByNode for Core {
    fn is_plain(&self) -> bool {
        self.ports.iter().all(|port| !port.scheduled) && self.nodes.iter().all(|node| node.is::<()>())
    }

    fn longest_window(&self) -> Time {
        self.links.ties().reach()
    }

    fn upcoming(&self) -> Option<Time> {
        let rare = self.misc.peek().map(|Reverse((at, key))| Time::from_ps(key.happens(*at)));
        let arrival = self.links.top().map(|(at, _)| at);
        rare.into_iter().chain(arrival).min()
    }

    fn open_windows(&mut self) {
        self.links.sleep();
        self.windows.later = std::mem::take(&mut self.misc);
        self.misc_min = u64::MAX;
        self.windows.open = true;
        let exact = self.ports.iter().enumerate().filter(|(_, port)| port.exact);
        self.windows.exact = exact.map(|(link, _)| LinkId::new(link)).collect();
    }

    fn close_windows(&mut self, now: Time) {
        self.windows.open = false;
        self.misc.append(&mut self.windows.later);
        self.misc_min = self.misc.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        self.now = now;
        self.links.wake(self.ports.iter().map(Port::first_arrival), now);
    }

    fn set_clock(&mut self, now: Time) {
        self.now = now;
    }

    fn begin_window(&mut self, from: Time, until: Time) {
        (self.windows.from, self.windows.until) = (from, until);
        self.now = from;
        if from == until {
            return;
        }
        // What arrives in the window has left its port by now, so that nobody counts a departure before its time.
        for i in 0..self.windows.exact.len() {
            self.look(self.windows.exact[i]);
        }
    }

    fn first_rare(&self, until: Time) -> Option<(Time, MiscKey)> {
        let Reverse((at, key)) = *self.windows.later.peek()?;
        (at < until.ps()).then_some((Time::from_ps(at), key))
    }

    fn take_rare(&mut self) {
        self.windows.later.pop();
    }

    fn put_off(&mut self, at: Time, key: MiscKey) {
        self.windows.put_off(at, key);
    }

    fn arrival_times(&self, until: Time) -> (Vec<u64>, u64) {
        let (mut times, mut inside) = (Vec::new(), 0);
        for port in &self.ports {
            inside += u64::from(port.tail.wrapping_sub(port.head));
            port.arrivals(until, |at| times.push(at));
        }
        (times, inside)
    }

    fn gather(&mut self, links: &[LinkId]) {
        let (ties, windows) = (self.links.ties(), &mut self.windows);
        (windows.arrived, self.misc_min) = (0, u64::MAX);
        windows.arrivals.clear();
        for link in links {
            let port = &self.ports[link.index()];
            let place = |at| ties.place(*link, Time::from_ps(at), windows.from);
            port.arrivals(windows.until, |at| windows.arrivals.push(place(at)));
        }
        if links.len() > 1 {
            windows.arrivals.sort_unstable();
        }
    }

    fn give(&mut self, at: Time, key: MiscKey) {
        self.misc.push(Reverse((at.ps(), key)));
        self.misc_min = self.misc_min.min(at.ps());
    }

    #[inline(always)]
    fn onward(&self, link: LinkId) -> Onward {
        let port = &self.ports[link.index()];
        port.at(port.head).onward
    }

    #[inline(always)]
    fn pass_on(&mut self, link: LinkId, next: LinkId, left: Onward) {
        let [from, port] = self.ports.get_disjoint_mut([link.index(), next.index()]).expect("no path has a link twice");
        let on_link = port.tail.wrapping_sub(port.head);
        if from.exact || !port.is_quiet(on_link, self.now.ps()) {
            let packet = Packet { onward: left, ..self.take(link) };
            return self.send(next, &packet);
        }
        let packet = from.at(from.head);
        port.bytes_in += u64::from(packet.size);
        if on_link == 0 {
            port.rewind();
        }
        port.begin(packet, port.busy_until.max(self.now.ps()));
        // Written over the copy, which does not wait for the rest of the path to be read.
        port.set_onward(left);
        from.head = from.head.wrapping_add(1);
    }

    #[inline(always)]
    fn next_here(&mut self) -> Option<Event> {
        let windows = &mut self.windows;
        if let Some(place) = windows.arrivals.get(windows.arrived) {
            let ties = self.links.ties();
            let (at, rank) = ties.placed(*place, windows.from);
            if at.ps() <= self.misc_min {
                windows.arrived += 1;
                self.now = at;
                self.books.ledger.now = (at, rank);
                return Some(Event::Arrival(ties.link(rank, at)));
            }
        }
        let Reverse((at, key)) = self.misc.pop()?;
        self.now = Time::from_ps(at);
        self.misc_min = self.misc.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        // After all arrivals of the same instant.
        self.books.ledger.now = (self.now, 1 << 32 | key.order());
        Some(key.event())
    }
}
