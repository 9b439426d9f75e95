//! The network: a namespace for each host and switch, cables between them, routes and settings.

use crate::netlink::{Device, Netlink, Own};
use fanin_engine::backend::{
    Bands, FIRST_ADDRESS, FaultAct, Limit, Marking, Packets, RedConfig, Shares, Site, SiteLink, Stack,
};
use fanin_engine::units::{Size, Time};
use netlink_packet_route::route::RouteMetric;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use std::f64::consts::LN_2;
use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;

/// Descriptors of a host's interface: what current drivers have by default, or more.
const RING: u32 = 1024;
/// The number of the least timeout among a route's metrics (include/uapi/linux/rtnetlink.h).
const RTAX_RTO_MIN: u32 = 13;
/// Packets of a queue without a limit: the most that a device takes.
const UNLIMITED: u32 = 32_767;
/// What Linux derives from the size of its memory, as a host of 64 GB has it. Here one small memory holds all hosts.
const TCP_MEM: &str = "750000 1000000 1500000";
const TCP_WMEM: &str = "4096 16384 4194304";
const SOCKETS: u64 = 262_144;

/// A host or a switch.
pub(crate) struct Node {
    namespace: File,
    /// Its counters of TCP, as /proc/net/netstat has them.
    pub(crate) counters: File,
}

impl Node {
    /// What the caller does from now on, it does there.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.namespace, CloneFlags::CLONE_NEWNET)?)
    }

    /// Its network namespace.
    pub(crate) fn again(&self) -> io::Result<File> {
        self.namespace.try_clone()
    }
}

/// The address of a node.
pub(crate) fn address(node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(FIRST_ADDRESS + node as u32)
}

/// Builds all nodes and cables.
pub(crate) fn build(site: &Site) -> io::Result<Vec<Node>> {
    set("net/ipv4/tcp_mem", TCP_MEM)?;
    set("net/ipv4/tcp_max_orphans", SOCKETS)?;
    let nodes = build_nodes(site)?;
    // A cable carries nothing before both ends are there.
    for (node, (at, is_host)) in nodes.iter().zip(&site.hosts).enumerate() {
        at.enter()?;
        start(site, node, *is_host)?;
    }
    Ok(nodes)
}

/// Tells the module what faults do to packets, before any packet is sent. The format is in linux/modules/cable.h.
pub(crate) fn faults(site: &Site) -> io::Result<()> {
    for fault in &site.faults {
        let (act, by) = match fault.act {
            FaultAct::Drop => (0, Time::ZERO),
            FaultAct::Delay(by) => (1, by),
            FaultAct::Mark => (2, Time::ZERO),
        };
        let packets = match fault.chosen.packets {
            Packets::Data => 0,
            Packets::Ack => 1,
            Packets::Syn => 2,
            Packets::SynAck => 3,
            Packets::Fin => 4,
            // The kernel sends none.
            Packets::Control => continue,
        };
        let (link, offset, mss) = (fault.link.index(), fault.chosen.offset, fault.chosen.mss);
        let [at, until, by] = [fault.at, fault.until, by].map(Time::ps);
        for (first, last) in &fault.chosen.segments {
            for (first_copy, last_copy) in &fault.chosen.copies {
                let line = format!(
                    "{link} {act} {packets} {first} {last} {first_copy} {last_copy} {offset} {mss} {at} {until} {by}"
                );
                fs::write("/proc/cable_faults", line)?;
            }
        }
    }
    Ok(())
}

/// From now on faults count from `origin`, in nanoseconds of the kernel's clock.
pub(crate) fn faults_count_from(origin: u64) -> io::Result<()> {
    fs::write("/proc/cable_faults", format!("origin {origin}"))
}

/// Builds all nodes. Switches that speak OpenFlow share a namespace, as they are one program.
fn build_nodes(site: &Site) -> io::Result<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::with_capacity(site.hosts.len());
    let mut shared: Option<usize> = None;
    for (node, is_host) in site.hosts.iter().enumerate() {
        match shared.filter(|_| !is_host) {
            Some(first) => nodes[first].enter()?,
            None => unshare(CloneFlags::CLONE_NEWNET)?,
        }
        shared = shared.or((site.open_flow.is_some() && !is_host).then_some(node));
        nodes.push(build_node(site, node)?);
    }
    Ok(nodes)
}

/// Starts the loopback device of the current namespace.
pub(crate) fn start_loopback() -> io::Result<()> {
    Netlink::open()?.start(1)
}

/// Builds a node in the current namespace.
fn build_node(site: &Site, node: usize) -> io::Result<Node> {
    let built = Node {
        namespace: File::open("/proc/thread-self/ns/net")?,
        counters: File::open("/proc/thread-self/net/netstat")?,
    };
    settings(site, site.hosts[node])?;
    let netlink = Netlink::open()?;
    for (number, link) in egress(site, node) {
        add_end(site, number, link, &netlink)?;
    }
    Ok(built)
}

/// The links out of a node.
fn egress(site: &Site, node: usize) -> impl Iterator<Item = (usize, &SiteLink)> {
    site.links.iter().enumerate().filter(move |(_, link)| link.from.index() == node)
}

/// The name of the device that sends on a link.
fn name(link: usize) -> String {
    format!("link-{link}")
}

/// The device of the current namespace that sends on a link.
fn device(link: usize) -> io::Result<u32> {
    Ok(if_nametoindex(name(link).as_str())?)
}

fn add_end(site: &Site, number: usize, link: &SiteLink, netlink: &Netlink) -> io::Result<()> {
    let Stack { mtu, interval, gro, tso, queue, .. } = site.stack;
    let is_host = site.hosts[link.from.index()];
    // Both ends of a cable have one address, since nobody asks for that of the other.
    let mac = [2, 0, 0, 0, (number >> 9) as u8, (number / 2) as u8];
    let [overhead, ring] = [site.overhead, if is_host { RING } else { 1 }];
    let interval = if is_host { interval.ps() / 1000 } else { 0 };
    let own = [
        Own::U32(number as u32),
        Own::U32(number as u32 ^ 1),
        Own::U64(link.rate.bps()),
        Own::U64(link.delay.ps()),
        Own::U32(overhead),
        Own::U32(ring),
        Own::U64(interval),
        Own::U8(u8::from(is_host && gro > 0)),
        Own::U8(u8::from(link.observed)),
    ];
    let segments = if is_host && tso > 0 { 65_535 } else { 1 };
    netlink.add(&Device {
        name: &name(number),
        mac,
        mtu: mtu as u32,
        queue: packets(queue),
        gso: (segments, if tso > 0 { tso as u32 } else { 65_536 }),
        gro: if gro > 0 { gro as u32 } else { 65_536 },
        own: &own,
    })
}

/// Packets of a host's queue, of which zero are no limit.
fn packets(queue: u64) -> u32 {
    if queue > 0 { (queue as u32).min(UNLIMITED) } else { UNLIMITED }
}

/// The first attributes of `fq`: packets of all connections, and of each one (`TCA_FQ_PLIMIT`, `TCA_FQ_FLOW_PLIMIT`). A
/// limit for all leaves Linux's own for each one.
fn fair_queue(queue: u64) -> Vec<Own> {
    vec![Own::U32(packets(queue)); if queue > 0 { 1 } else { 2 }]
}

/// Sets what a namespace has settings for.
fn settings(site: &Site, is_host: bool) -> io::Result<()> {
    let write = |key: &str, value: u64| set(&format!("net/ipv4/{key}"), value);
    if is_host {
        for (key, value) in site.stack.sysctls() {
            set(&format!("net/ipv4/{key}"), value)?;
        }
        set("net/ipv4/tcp_wmem", TCP_WMEM)?;
        write("tcp_max_tw_buckets", SOCKETS)?;
        // As in the scenario, hosts accept all connections that come at once.
        set("net/core/somaxconn", 65_535)?;
        return write("tcp_max_syn_backlog", 65_535);
    }
    if site.open_flow.is_some() {
        return Ok(());
    }
    write("ip_forward", 1)?;
    write("fib_multipath_hash_policy", 1)?;
    write("fib_multipath_hash_seed", site.seed & u64::from(u32::MAX))
}

fn set(key: &str, value: impl Display) -> io::Result<()> {
    let done = fs::write(format!("/proc/sys/{key}"), value.to_string());
    done.map_err(|error| io::Error::other(format!("setting {key} to {value}: {error}")))
}

/// Starts the devices of a node, with their queues and routes.
fn start(site: &Site, node: usize, is_host: bool) -> io::Result<()> {
    let netlink = Netlink::open()?;
    let mut devices = Vec::new();
    for (number, link) in egress(site, node) {
        let device = device(number)?;
        devices.push(device);
        if link.limit != Limit::Unlimited || (site.open_flow.is_some() && !is_host) {
            netlink.discipline(device, "port", &port(link, node))?;
            if site.edges.iter().any(|edge| edge.index() == number) {
                fs::write("/sys/module/rcce/parameters/attach", name(number))?;
            }
        } else if let Some(kind) = site.receiver {
            netlink.discipline(device, kind, &[])?;
        } else if site.stack.fq {
            netlink.discipline(device, "fq", &fair_queue(site.stack.queue))?;
        }
        netlink.start(device)?;
    }
    if is_host {
        let device = *devices.first().ok_or_else(|| io::Error::other("a host without a cable"))?;
        netlink.address(device, address(node))?;
        return netlink.route(None, &[device], metrics(&site.stack));
    }
    if site.open_flow.is_some() {
        return Ok(());
    }
    for (_, host, links) in site.routes.iter().filter(|(switch, ..)| switch.index() == node) {
        let devices: Vec<u32> = links.iter().map(|link| device(link.index())).collect::<io::Result<_>>()?;
        netlink.route(Some(address(host.index())), &devices, Vec::new())?;
    }
    Ok(())
}

fn metrics(stack: &Stack) -> Vec<RouteMetric> {
    let mut metrics = vec![
        // TCP heeds a least timeout only if it is locked.
        RouteMetric::Lock(1 << RTAX_RTO_MIN),
        RouteMetric::RtoMin((stack.rto_min.ps() / 1_000_000_000) as u32),
        RouteMetric::InitCwnd(stack.initial_window as u32),
    ];
    if stack.quick_ack {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}

/// The attributes of a port's queue; those of `enum port_attribute` in linux/modules/cable.h.
fn port(link: &SiteLink, switch: usize) -> Vec<Own> {
    let (limit, kind, memory, alpha) = match link.limit {
        Limit::Unlimited => (u64::MAX, 1, 0, 0),
        Limit::Packets(packets) => (u64::from(packets), 0, 0, 0),
        Limit::Bytes(bytes) => (bytes, 1, 0, 0),
        Limit::BytesBelow(bytes) => (bytes, 2, 0, 0),
        Limit::Dynamic { memory, alpha, .. } => (0, 3, memory, (alpha * 65_536.0).round() as u32),
    };
    let (mut mark_from, mut mark_how, mut stop_at) = (0, 0, 0);
    let counted = |size: Size| match size {
        Size::Packets(packets) => (packets, 0),
        Size::Bytes(bytes) => (bytes, 1),
    };
    let (mut red, mut red_how, mut seed, mut bands) = ([0; 5], 0, 0, None);
    match link.marking {
        Some(Marking::Threshold { threshold, above, leaving }) => {
            let (queue, bytes) = counted(threshold);
            (mark_from, mark_how) = (queue, bytes | u32::from(above) << 1 | u32::from(leaving) << 2);
        }
        Some(Marking::Between { start, stop }) => {
            let ((queue, bytes), (stop, stop_bytes)) = (counted(start), counted(stop));
            (mark_from, mark_how, stop_at) = (queue, bytes | 1 << 3 | stop_bytes << 4, stop);
        }
        Some(Marking::Red { config, drop, hard_drop, seed: own }) => {
            let bits = [true, config.gentle, config.wait, drop, hard_drop];
            red_how = bits.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum();
            (red, seed) = (fixed(&config), own);
        }
        Some(Marking::Bands(own)) => bands = Some(own),
        None => {}
    }
    let pool = switch as u32;
    let [min, max, weight, decay, max_p] = red.map(Own::U64);
    let mut own = vec![
        Own::U64(limit),
        Own::U32(kind),
        Own::U64(mark_from),
        Own::U32(mark_how),
        Own::U64(stop_at),
        Own::U32(pool),
        Own::U64(memory),
        Own::U32(alpha),
        Own::U32(red_how),
        min,
        max,
        weight,
        decay,
        max_p,
        Own::U64(seed),
    ];
    own.extend(banded(bands));
    let Shares { pipe, least, keeps } = link.shares;
    own.extend([Own::U64(pipe), Own::U32(least), Own::U32(u32::from(keeps))]);
    own
}

/// The attributes of a port's bands, of which zero are none.
fn banded(bands: Option<Bands>) -> [Own; 12] {
    let bands = bands.unwrap_or_default();
    let bits = [bands.rescale, bands.by_code_point, bands.by_port];
    let how = bits.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum();
    let [first, second, third] = bands.room.map(Own::U64);
    let [low, high] = bands.clip.map(Own::U64);
    [
        Own::U32(bands.count),
        Own::U32(how),
        first,
        second,
        third,
        Own::U32(bands.initial),
        low,
        high,
        Own::U32(u32::from(bands.told)),
        Own::U64(bands.silence),
        Own::U32(bands.ack_tag),
        Own::U32(bands.entries),
    ]
}

/// The parameters of random early detection in multiples of 2^-32, as the module has them: minimum, maximum, weight, decay
/// of the average with each packet while a port is idle, and probability.
fn fixed(config: &RedConfig) -> [u64; 5] {
    let RedConfig { min, max, weight, max_p, .. } = *config;
    let fixed = |number: f64| (number * 4_294_967_296.0).round() as u64;
    let decay = if weight < 1.0 { fixed(-libm::log1p(-weight) / LN_2) } else { u64::MAX };
    // No queue is as long as the longest average that the module can count.
    let packets = |number: f64| fixed(number.min(f64::from(i32::MAX)));
    [packets(min), packets(max), fixed(weight), decay, fixed(max_p)]
}
