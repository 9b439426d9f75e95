//! The settings of a traffic group's end points.

use fanin_core::roles::CongestionControl;
use fanin_host::hosts::Endpoint;
use fanin_param::{SpecError, Values};
use fanin_scenario::Scenario;
use fanin_schemes::{FlowFacts, Scheme};
use fanin_tcp as tcp;
use fanin_tcp::receiver::ReceiverConfig;
use fanin_tcp::sender::SenderConfig;

/// The end points of the scheme called `key`, number `index`, whose senders are like `cc`.
pub(super) fn endpoint(
    scenario: &Scenario,
    key: &'static str,
    index: usize,
    cc: &dyn CongestionControl,
) -> Result<Endpoint, SpecError> {
    let transport = scenario.transport_of(key);
    tcp::check(transport)?;
    let ecn = tcp::ecn_mode(transport, cc.ecn());
    Ok(Endpoint {
        sender: SenderConfig::from(transport),
        receiver: ReceiverConfig { tells_more: cc.asks().needs_option(), ..ReceiverConfig::new(transport, ecn) },
        buffer: transport.bytes("receive-buffer").get(),
        scale: tcp::window_scale(transport),
        scheme: index,
        interrupts: transport.time("interrupt-interval"),
        gro: transport.bytes("gro").get(),
        host_queue: Some(transport.integer("host-queue") as usize).filter(|limit| *limit > 0),
    })
}

/// A sender of a representative flow.
pub(super) fn some_sender(scenario: &Scenario, scheme: &dyn Scheme) -> Box<dyn CongestionControl> {
    scheme.congestion_control(&some_flow(scenario.transport.bytes("mss").get(), &scenario.network.values))
}

/// A representative flow, to ask a scheme for the properties of its senders.
pub(super) fn some_flow(mss: u64, network: &Values) -> FlowFacts {
    FlowFacts::of_any(mss, network.rate("rate"))
}
