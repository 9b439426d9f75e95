//! The controller of the simulator behind TCP connections, with the delays of the scenario's `[control]`.
//!
//! A message is served after its delay, and after those before it; orders take as long on their way back. That is what the
//! simulator's channel does, but bytes cross it at once and are delayed here.

use super::stream::Framed;
use super::{now, set_timer};
use crate::Result;
use fanin_engine::backend::OpenFlow;
use fanin_engine::ids::NodeId;
use fanin_engine::rng::Stream;
use fanin_engine::roles::{Controller, ControllerAction, ControllerCx};
use fanin_engine::units::Time;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Sender;

/// The mark of the timer among the sessions.
const TIMER: u64 = u64::MAX;

/// A reply that describes a switch's ports: its type, and that of the multipart message.
const MULTIPART_REPLY: u8 = 19;
const PORT_DESC: [u8; 2] = [0, 13];

/// Something that is due.
enum Due {
    /// A message reaches the controller's queue.
    Arrives(usize, Vec<u8>),
    /// The controller has served it.
    Served(usize, Vec<u8>),
    /// An order leaves for a switch, whose way takes no more time.
    Sent(usize, Vec<u8>),
    /// A timer of the controller.
    Timer(u64),
}

struct Sessions<'a> {
    controller: Box<dyn Controller>,
    open_flow: &'a OpenFlow,
    draws: Stream,
    streams: Vec<Framed<TcpStream>>,
    /// When the last message to and from the controller arrives.
    last: Vec<[Time; 2]>,
    free_at: Time,
    due: BTreeMap<(Time, u64), Due>,
    next: u64,
    is_ready: &'a Sender<()>,
}

/// Serves so many switches, which connect in their order. Says when each of them is known.
pub(super) fn run(
    controller: Box<dyn Controller>,
    open_flow: &OpenFlow,
    seed: u64,
    listener: &TcpListener,
    count: usize,
    is_ready: &Sender<()>,
) -> Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
    epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
    let mut streams = Vec::new();
    for mark in 0..count {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let all = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        epoll.add(&stream, EpollEvent::new(all, mark as u64))?;
        streams.push(Framed::new(stream));
    }
    let draws = Stream::named(seed, "control-channel");
    let (last, due) = (vec![[Time::ZERO; 2]; count], BTreeMap::new());
    let mut all = Sessions { controller, open_flow, draws, streams, last, free_at: Time::ZERO, due, next: 0, is_ready };
    all.ask(now(), |controller, cx| controller.on_start(cx));
    loop {
        set_timer(&timer, all.due.keys().next().map(|(at, _)| *at))?;
        let mut events = [EpollEvent::empty(); 16];
        let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in &events[..count] {
            if event.data() != TIMER {
                all.on_session(event.data() as usize)?;
            }
        }
        all.on_time()?;
    }
}

impl Sessions<'_> {
    fn put(&mut self, at: Time, due: Due) {
        self.next += 1;
        self.due.insert((at, self.next), due);
    }

    /// When a message that is sent now arrives. Messages of one direction never overtake each other.
    fn arrival(&mut self, session: usize, down: bool, now: Time) -> Time {
        // The simulator's channel draws for the loss too.
        let (_, jitter) = (self.draws.unit(), self.draws.unit());
        let at = now + self.open_flow.delay + Time::from_ps((jitter * self.open_flow.jitter.ps() as f64) as u64);
        let last = &mut self.last[session][usize::from(down)];
        *last = at.max(*last);
        *last
    }

    fn on_session(&mut self, session: usize) -> Result<()> {
        self.streams[session].flush()?;
        for message in self.streams[session].messages()? {
            let at = self.arrival(session, false, now());
            self.put(at, Due::Arrives(session, message));
        }
        Ok(())
    }

    fn on_time(&mut self) -> Result<()> {
        while let Some(((at, _), _)) = self.due.first_key_value().filter(|((at, _), _)| *at <= now()) {
            let at = *at;
            let Some((_, due)) = self.due.pop_first() else { break };
            match due {
                Due::Arrives(session, message) => {
                    self.free_at = self.free_at.max(at) + self.open_flow.service;
                    self.put(self.free_at, Due::Served(session, message));
                }
                Due::Served(session, message) => {
                    self.ask(at, |controller, cx| controller.on_message(cx, NodeId::new(session), &message));
                    if message.get(1) == Some(&MULTIPART_REPLY) && message.get(8..10) == Some(&PORT_DESC) {
                        let _ = self.is_ready.send(());
                    }
                }
                Due::Sent(session, message) => self.streams[session].send(&message)?,
                Due::Timer(token) => self.ask(at, |controller, cx| controller.on_timer(cx, token)),
            }
        }
        Ok(())
    }

    fn ask(&mut self, now: Time, ask: impl FnOnce(&mut dyn Controller, &mut ControllerCx<'_>)) {
        let mut actions = Vec::new();
        ask(&mut *self.controller, &mut ControllerCx { now, actions: &mut actions });
        for action in actions {
            match action {
                ControllerAction::Order { to, message } => {
                    let at = self.arrival(to.index(), true, now);
                    self.put(at, Due::Sent(to.index(), message));
                }
                ControllerAction::Timer { at, token } => self.put(at.max(now), Due::Timer(token)),
            }
        }
    }
}
