//! Switches that speak OpenFlow: Open vSwitch, with what it lacks of SDTCP's switch beside it, and the controller.
//!
//! All switches are bridges of one Open vSwitch in one network namespace, as in Mininet. Messages pass a relay, which adds what
//! Open vSwitch lacks ([`relay`]). The relay has a TCP connection to the controller for each switch, in a namespace of their own.

mod capture;
mod controller;
mod relay;
mod stream;
mod switches;

use crate::network::{Node, start_loopback};
use crate::{Result, fail};
use fanin_engine::backend::{self, OpenFlow, Site};
use fanin_engine::ids::{LinkId, NodeId};
use fanin_engine::scenario::Scenario;
use fanin_engine::units::{Size, Time};
use nix::sched::{CloneFlags, unshare};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{Expiration, TimerFd, TimerSetTimeFlags};
use nix::time::clock_gettime;
use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

/// The port on which the controller listens: OpenFlow's.
const CONTROLLER: u16 = 6653;

/// A switch: its node, and by the number of its ports from 1 on, the links that leave by them.
pub(super) struct Switch {
    node: NodeId,
    ports: Vec<LinkId>,
}

impl Switch {
    fn all(site: &Site) -> Vec<Self> {
        let nodes = (0..site.hosts.len()).filter(|node| !site.hosts[*node]).map(NodeId::new);
        let links = |node: NodeId| site.links.iter().enumerate().filter(move |(_, link)| link.from == node);
        nodes.map(|node| Self { node, ports: links(node).map(|(link, _)| LinkId::new(link)).collect() }).collect()
    }

    /// The name of its bridge.
    fn bridge(&self) -> String {
        format!("switch{}", self.node.index())
    }

    /// The number of the port by which a link leaves.
    fn port_of(&self, link: LinkId) -> Option<u32> {
        Some(self.ports.iter().position(|port| *port == link)? as u32 + 1)
    }

    /// By host, the ports towards it.
    fn routes<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = (NodeId, Vec<u32>)> + 'a {
        let routes = site.routes.iter().filter(|(switch, ..)| *switch == self.node);
        routes.map(|(_, host, links)| (*host, links.iter().filter_map(|link| self.port_of(*link)).collect()))
    }
}

/// Nanoseconds of the kernel's clock, as a time.
fn now() -> Time {
    let now = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("every kernel has this clock");
    Time::from_ns(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// Lets a timer expire at a time of the kernel's clock, or not at all.
fn set_timer(timer: &TimerFd, at: Option<Time>) -> nix::Result<()> {
    let Some(nanoseconds) = at.map(|at| at.ps().div_ceil(1000)) else { return timer.unset() };
    let at = TimeSpec::new((nanoseconds / 1_000_000_000) as i64, (nanoseconds % 1_000_000_000) as i64);
    timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
}

/// Does something in a thread of its own; the run ends if it fails.
fn spawn(what: &'static str, task: impl FnOnce() -> Result<()> + Send + 'static) {
    thread::spawn(move || {
        if let Err(error) = task() {
            fail(&format!("{what}: {error}"));
        }
    });
}

/// What a run needs of its switches once they are there.
pub(crate) struct Switches {
    programs: switches::Programs,
    bridges: Vec<String>,
    holds: bool,
}

impl Switches {
    /// Starts Open vSwitch and the controller, and waits until they know each other.
    pub(crate) fn start(site: &Site, open_flow: &OpenFlow, scenario: &Scenario, nodes: &[Node]) -> Result<Self> {
        let switches = Switch::all(site);
        let first = switches.first().ok_or("a network without a switch")?;
        nodes[first.node.index()].enter()?;
        let programs = switches::Programs::new(nodes[first.node.index()].again()?)?;
        triggers(&switches, open_flow)?;
        let listeners =
            switches.iter().map(|switch| switches::Programs::listen(&switch.bridge())).collect::<Result<Vec<_>>>()?;
        unshare(CloneFlags::CLONE_NEWNET)?;
        start_loopback()?;
        if open_flow.captured {
            capture::start()?;
        }
        let controller = backend::controller(scenario)?.ok_or("a scheme without a controller")?;
        let (is_ready, ready) = mpsc::channel();
        let seed = site.seed;
        let (open_flow, count) = (*open_flow, switches.len());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, CONTROLLER))?;
        let sessions = switches.iter().map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, CONTROLLER)));
        let sessions = sessions.collect::<std::io::Result<Vec<_>>>()?;
        spawn("the controller", move || controller::run(controller, &open_flow, seed, &listener, count, &is_ready));
        let addresses = |(host, ports): (NodeId, Vec<u32>)| (crate::network::address(host.index()).octets(), ports);
        let relayed = switches.iter().map(|switch| relay::Relayed {
            node: switch.node,
            ports: switch.ports.clone(),
            routes: switch.routes(site).map(addresses).collect::<BTreeMap<_, _>>(),
        });
        let relayed = relayed.collect();
        spawn("the relay of OpenFlow", move || relay::run(relayed, listeners, sessions, open_flow.keeping));
        programs.add(&switches, site)?;
        for _ in &switches {
            ready.recv().map_err(|_| "the controller has ended")?;
        }
        let bridges = switches.iter().map(Switch::bridge).collect();
        Ok(Self { programs, bridges, holds: open_flow.keeping.holds })
    }

    /// From now on the controller hears of connections; those that are open before a run are not known to it.
    pub(crate) fn begin(&self) -> std::io::Result<()> {
        self.bridges.iter().try_for_each(|bridge| self.programs.send_connections(bridge, self.holds))
    }

    /// What the switches have counted, by name.
    pub(crate) fn counters() -> Result<Vec<(String, u64)>> {
        let counted = |name| -> Result<u64> {
            Ok(fs::read_to_string(format!("/sys/module/cable/parameters/{name}"))?.trim().parse()?)
        };
        match counted("sdtcp_lost")? {
            0 => Ok(vec![("PortWindowsRewritten".to_owned(), counted("sdtcp_rewritten")?)]),
            lost => {
                Err(format!("{lost} reports of the switches' ports were lost, as the relay did not read them").into())
            }
        }
    }
}

/// Gives all ports their triggers; the format is in linux/modules/sdtcp.h.
fn triggers(switches: &[Switch], open_flow: &OpenFlow) -> Result<()> {
    let trigger = &open_flow.trigger;
    let (mut how, mut thresholds) = (0, [0; 3]);
    for (bit, (threshold, size)) in thresholds.iter_mut().zip(trigger.thresholds).enumerate() {
        let (queue, bytes) = match size {
            Size::Packets(packets) => (packets, 0),
            Size::Bytes(bytes) => (bytes, 1),
        };
        *threshold = queue;
        how |= bytes << bit;
    }
    for (bit, set) in [trigger.jumps, trigger.steps_down, trigger.unscaled].into_iter().enumerate() {
        how |= u32::from(set) << (3 + bit);
    }
    let [low, modest, high] = thresholds;
    for switch in switches {
        for link in &switch.ports {
            let (end, node) = (link.index(), switch.node.index());
            let (recovery, packet) = (trigger.recovery.ps(), trigger.packet);
            let line = format!("port {end} {node} {how} {low} {modest} {high} {recovery} {packet}");
            fs::write("/proc/cable_sdtcp", line)?;
        }
    }
    Ok(())
}
