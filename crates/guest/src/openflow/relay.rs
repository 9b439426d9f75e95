//! Carries messages between Open vSwitch and the controller, by way of each switch's [`Extension`], and between that and the
//! kernel's module, which has the ports' triggers and rewrites windows.

use super::stream::Framed;
use super::{now, set_timer};
use crate::Result;
use fanin_engine::backend::{Deed, Extension, Keeping};
use fanin_engine::ids::{LinkId, NodeId};
use fanin_engine::packet::Addresses;
use fanin_engine::units::Time;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

/// The marks of the timer and of the module's reports among the streams.
const TIMER: u64 = u64::MAX;
const REPORTS: u64 = u64::MAX - 1;

/// What is known of a switch.
pub(super) struct Relayed {
    pub(super) node: NodeId,
    pub(super) ports: Vec<LinkId>,
    /// By address of a host, the ports towards it.
    pub(super) routes: BTreeMap<[u8; 4], Vec<u32>>,
}

struct Switch {
    node: NodeId,
    extension: Extension,
    open_vswitch: Framed<UnixStream>,
    controller: Framed<TcpStream>,
}

struct Relay {
    switches: Vec<Switch>,
    /// By link, the switch and the number of the port.
    ports: BTreeMap<usize, (usize, u32)>,
    module: File,
    timers: BTreeMap<(Time, u64), (usize, u64)>,
    next: u64,
}

/// Relays for these switches, each with the socket to which Open vSwitch connects and the session with the controller.
pub(super) fn run(
    relayed: Vec<Relayed>,
    listeners: Vec<UnixListener>,
    sessions: Vec<TcpStream>,
    keeping: Keeping,
) -> Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
    epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
    let module = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/proc/cable_sdtcp")?;
    let all = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
    let mut relay = Relay { switches: Vec::new(), ports: BTreeMap::new(), module, timers: BTreeMap::new(), next: 0 };
    for ((number, of), (listener, session)) in relayed.into_iter().enumerate().zip(listeners.into_iter().zip(sessions))
    {
        let (stream, _) = listener.accept()?;
        stream.set_nonblocking(true)?;
        session.set_nodelay(true)?;
        session.set_nonblocking(true)?;
        epoll.add(&stream, EpollEvent::new(all, 2 * number as u64))?;
        epoll.add(&session, EpollEvent::new(all, 2 * number as u64 + 1))?;
        relay.ports.extend((1..).zip(&of.ports).map(|(port, link)| (link.index(), (number, port))));
        let (open_vswitch, controller) = (Framed::new(stream), Framed::new(session));
        relay.switches.push(Switch {
            node: of.node,
            extension: Extension::new(keeping, of.routes),
            open_vswitch,
            controller,
        });
    }
    epoll.add(&relay.module, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, REPORTS))?;
    loop {
        set_timer(&timer, relay.timers.keys().next().map(|(at, _)| *at))?;
        let mut events = [EpollEvent::empty(); 16];
        let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in &events[..count] {
            match event.data() {
                TIMER => {}
                REPORTS => relay.on_reports()?,
                mark => relay.on_stream((mark / 2) as usize, mark % 2 == 1)?,
            }
        }
        while let Some(entry) = relay.timers.first_entry().filter(|entry| entry.key().0 <= now()) {
            let (number, token) = entry.remove();
            let deeds = relay.switches[number].extension.on_timer(token);
            relay.act(number, deeds)?;
        }
    }
}

impl Relay {
    fn on_stream(&mut self, number: usize, from_controller: bool) -> Result<()> {
        let at = &mut self.switches[number];
        let messages = if from_controller {
            at.controller.flush()?;
            at.controller.messages()?
        } else {
            at.open_vswitch.flush()?;
            at.open_vswitch.messages().map_err(|error| format!("Open vSwitch: {error}"))?
        };
        for message in messages {
            let extension = &mut self.switches[number].extension;
            let deeds = if from_controller {
                extension.on_controller(now(), &message)
            } else {
                extension.on_switch(now(), &message)
            };
            self.act(number, deeds)?;
        }
        Ok(())
    }

    /// Reads all reports of ports.
    fn on_reports(&mut self) -> Result<()> {
        let mut line = [0; 64];
        loop {
            let size = match self.module.read(&mut line) {
                Ok(size) => size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let text = String::from_utf8_lossy(&line[..size]);
            let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            let &[link, level, queue] = numbers.as_slice() else { return Err(format!("a report {text:?}").into()) };
            let Some((number, port)) = self.ports.get(&(link as usize)).copied() else { continue };
            let deeds = self.switches[number].extension.on_congestion(port, level as u8, queue);
            self.act(number, deeds)?;
        }
    }

    fn act(&mut self, number: usize, deeds: Vec<Deed>) -> Result<()> {
        for deed in deeds {
            let Switch { node, open_vswitch, controller, .. } = &mut self.switches[number];
            match deed {
                Deed::ToController(message) => controller.send(&message)?,
                Deed::ToSwitch(message) => open_vswitch.send(&message)?,
                Deed::Limit(connection, bytes) => write(&mut self.module, "limit", *node, connection, Some(bytes))?,
                Deed::Lift(connection) => write(&mut self.module, "lift", *node, connection, None)?,
                Deed::Forget(connection) => write(&mut self.module, "forget", *node, connection, None)?,
                Deed::Timer { at, token } => {
                    self.next += 1;
                    self.timers.insert((at, self.next), (number, token));
                }
            }
        }
        Ok(())
    }
}

/// A line to the module; the format is in linux/modules/sdtcp.h.
fn write(module: &mut File, word: &str, node: NodeId, of: Addresses, bytes: Option<u32>) -> Result<()> {
    let [from, to] = [of.src, of.dst].map(u32::from_be_bytes);
    let bytes = bytes.map_or(String::new(), |bytes| format!(" {bytes}"));
    let line = format!("{word} {} {from} {to} {} {}{bytes}", node.index(), of.src_port, of.dst_port);
    module.write_all(line.as_bytes())?;
    Ok(())
}
