//! How much memory a run will need, from what is known before it.
//!
//! An upper bound, to keep a machine from running out of memory: real peaks may be a quarter of it. What grows is the
//! flows, the packets in buffers, and the tables that grow with time.

use super::preview::{GroupPreview, Preview};
use fanin_param::Values;
use fanin_scenario::Scenario;

/// Bytes, each measured on runs of one kind; those of tables include the writing.
const BASE: f64 = 6e6;
const PER_FLOW: f64 = 2200.0;
const PER_FINISHED: f64 = 450.0;
const PER_HOST: f64 = 3000.0;
const PER_PACKET: f64 = 48.0;
const PER_TRACE_ROW: f64 = 70.0;
const PER_BIN: f64 = 450.0;
const PER_CAPTURED: f64 = 130.0;
const MEBIBYTE: f64 = 1_048_576.0;

/// Bytes of a full packet, of an Ethernet without jumbo frames.
const FRAME: f64 = 1500.0;
/// Numbers of flows differ by less between seeds.
const MARGIN: f64 = 1.25;
/// Packets that open and close a transfer.
const HANDSHAKE: f64 = 4.0;
/// An acknowledgement for each packet.
const BOTH_WAYS: f64 = 2.0;
/// Each packet is sent as often, which is more than in any collapse: half of the packets would have to be lost.
const REPEATED: f64 = 2.0;
/// Ports on the longest path, of a Clos network, with some room.
const LONGEST_PATH: f64 = 8.0;

/// The memory of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The largest number of flows.
    pub flows: f64,
    /// The largest number of concurrent flows; each of the others takes only a row.
    pub at_once: f64,
    /// Bytes of each concurrent flow.
    pub per_flow: f64,
    /// Bytes of each other flow.
    pub per_finished: f64,
    /// Bytes that do not depend on the number of flows.
    pub rest: f64,
}

impl Memory {
    pub(super) fn of(scenario: &Scenario, preview: &Preview) -> Self {
        let (network, measure) = (&scenario.network.values, &scenario.measure);
        let (duration, rate) = (scenario.longest().secs(), network.rate("rate").bps() as f64);
        let flows: f64 = preview.groups.iter().map(|group| group.forecast.flows).sum();
        // As much again waits at the hosts' interfaces. What waits is limited by the flows' windows and sizes.
        let stacks = || scenario.transports().map(|(_, transport)| transport);
        let window = stacks().map(|stack| stack.bytes("receive-buffer").get()).max().unwrap_or(0) as f64 / FRAME;
        let size = |group: &GroupPreview| if group.mean_bytes > 0.0 { group.mean_bytes / FRAME + 1.0 } else { window };
        let sent: f64 = preview.groups.iter().map(|group| group.forecast.flows * size(group).min(window)).sum();
        let buffered = (2.0 * preview.buffered as f64).min(sent);
        // Links carry no more than fits in their time, and no more than there is to send.
        let segment = stacks().map(|stack| stack.bytes("mss").get()).min().unwrap_or(1) as f64;
        let crossing = packets(&preview.groups, segment);
        let carried = (rate * duration / 8.0 / FRAME).min(crossing);
        let observed = match measure.choice("queues") {
            "none" => 0.0,
            "bottleneck" => 1.0,
            _ => preview.ports as f64,
        };
        let rows = trace_rows(measure, duration, carried, crossing, observed, flows);
        let width = measure.time("bin").secs();
        let bins = if width > 0.0 { duration / width } else { 0.0 };
        let most = measure.integer("capture-limit") as f64;
        let captured = if measure.is("capture", "off") { 0.0 } else { (2.0 * carried).min(most) };
        let groups = preview.groups.len() as f64;
        let tables = rows * PER_TRACE_ROW + bins * (groups + observed) * PER_BIN + captured * PER_CAPTURED;
        let machine = preview.kernel_mib.unwrap_or(0) as f64 * MEBIBYTE;
        Self {
            flows,
            at_once: preview.groups.iter().map(|group| group.forecast.at_once).sum(),
            per_flow: PER_FLOW,
            per_finished: PER_FINISHED,
            rest: BASE + preview.hosts as f64 * PER_HOST + buffered * PER_PACKET + tables + machine,
        }
    }
}

/// Rows of the traces of queues and of probes. A port carries at most `carried` packets, and all together `crossing` different
/// ones.
fn trace_rows(measure: &Values, duration: f64, carried: f64, crossing: f64, ports: f64, flows: f64) -> f64 {
    let mut rows = 0.0;
    if measure.is("queue-trace", "on-change") {
        rows += 2.0 * (carried * ports).min(crossing * LONGEST_PATH);
    } else if !measure.is("queue-trace", "off") {
        rows += duration / measure.time("queue-sample").secs().max(1e-9) * ports;
    }
    if measure.text("probes") != "off" {
        rows += carried * (measure.integer("probe-flows") as f64 / flows.max(1.0)).min(1.0);
    }
    rows
}

/// Packets that any port sees at most, acknowledgements and repetitions included; infinite for endless data.
fn packets(groups: &[GroupPreview], segment: f64) -> f64 {
    let of_group = |group: &GroupPreview| {
        let full = group.mean_bytes / segment + 1.0 + HANDSHAKE;
        if group.mean_bytes > 0.0 { group.forecast.flows * full } else { f64::INFINITY }
    };
    BOTH_WAYS * REPEATED * MARGIN * groups.iter().map(of_group).sum::<f64>()
}
