//! Lossless switches: the thresholds of each ingress under `network.pfc`.

use fanin_core::ids::LinkId;
use fanin_network::topology::{LinkSpec, NodeKind, Topology};
use fanin_param::{SpecError, Values};
use fanin_port::pfc::{FRAME, Lossless, Thresholds};
use fanin_port::spec::{Limit, PortSpec};

/// The ingresses of all switches, if these are lossless. Their ports then have no limit of their own.
pub(super) fn lossless(
    network: &Values,
    topology: &Topology,
    ports: &mut [PortSpec],
    packet: u64,
) -> Result<Lossless, SpecError> {
    if network.is("pfc", "off") {
        return Ok(Lossless::default());
    }
    let switch = |node: &LinkSpec| topology.nodes[node.from.index()] == NodeKind::Switch;
    let of_link = |i: usize| {
        let back = LinkId::new(i).twin().index();
        let cable = [&topology.links[i], &topology.links[back]];
        let memory = || match ports[back].limit {
            Limit::Dynamic { memory, .. } => memory / topology.ports(cable[1].from).len() as u64,
            limit => limit.bytes(packet),
        };
        switch(cable[1]).then(|| thresholds(network, cable, memory, packet)).transpose()
    };
    let thresholds: Result<Vec<_>, _> = (0..topology.links.len()).map(of_link).collect();
    for (port, link) in ports.iter_mut().zip(&topology.links) {
        port.pausable = true;
        if switch(link) {
            (port.lossless, port.limit) = (true, Limit::Unlimited);
        }
    }
    Ok(Lossless::new(thresholds?.into_iter()))
}

/// The thresholds of a switch for what comes over one direction of a cable; frames go back over the other.
fn thresholds(
    network: &Values,
    [forth, back]: [&LinkSpec; 2],
    memory: impl Fn() -> u64,
    packet: u64,
) -> Result<Thresholds, SpecError> {
    let bytes = |key: &str, default: &dyn Fn() -> Result<u64, SpecError>| match network.bytes(key).get() {
        0 => default(),
        given => Ok(given),
    };
    // IEEE 802.1Qbb annex O, and the packet that crosses XOFF.
    let ps_per_byte = forth.rate.ps_per_byte().expect("the parser checks rates");
    let flying = (forth.delay + back.delay).ps().div_ceil(u64::from(ps_per_byte));
    let headroom = bytes("pfc-headroom", &|| Ok(flying + 3 * packet + u64::from(FRAME)))?;
    let xoff = bytes("pfc-xoff", &|| {
        let memory = memory();
        memory.checked_sub(headroom).filter(|left| *left >= 2 * packet).ok_or_else(|| {
            let (rate, delay) = (forth.rate, forth.delay);
            let why = format!(
                "a port has {memory}B, and a cable of {rate} and {delay} needs {headroom}B of headroom and two packets: give \
                 a larger buffer, or pfc-xoff"
            );
            network.fail("pfc", why)
        })
    })?;
    let xon = bytes("pfc-xon", &|| Ok(xoff.saturating_sub(2 * packet)))?;
    if xon > xoff {
        return Err(network.fail("pfc-xon", format!("is above XOFF, which is {xoff}B")));
    }
    Ok(Thresholds { xoff, xon, headroom })
}
