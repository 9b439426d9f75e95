//! The event core against the reference core, feature by feature and in combination.
//!
//! Every case here is lossy and marked on purpose: a grid on which nothing is dropped proves little. So the tests
//! also ask that the features under test were at work.

use super::bench::{both, instead, network as built, reals};
use super::drawn;
use crate::sim::Outcome;
use crate::sim::build::Substitutes;
use fanin_core::packet::Packet;
use fanin_core::roles::{
    AckEvent, Admission, CongestionControl, QueueCx, QueueDiscipline, SenderCx, SwitchAgent, SwitchCx, {Pass, Passage},
};
use fanin_core::units::Size;
use fanin_network::fault;
use fanin_network::queue::{MarkAt, StrictPriority, Threshold};
use fanin_network::topology;
use fanin_network::traffic;
use fanin_schemes::{self as schemes, FlowFacts, NewReno, NodeFacts, Scheme};
use std::any::Any;

const STAR: &str = "topology = \"star\"\n";
const TWO_SWITCH: &str = "topology = \"two-switch\"\nreceiver-hosts = 2\n";
/// Senders and receivers of this have links of their own speed, and the trunk is slower.
const TRUNK: &str = "topology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\n";

/// Fifteen flows into a port that holds a fraction of their windows.
struct Case<'a> {
    network: String,
    queue: &'static str,
    transport: String,
    incast: String,
    measure: &'static str,
    more: &'a str,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            network: format!("{STAR}buffer = \"20pkt\"\ndelay = \"10us\""),
            queue: "",
            transport: "scheme = \"newreno\"\n".to_owned(),
            incast: "senders = 15\nbytes-each = \"60KB\"".to_owned(),
            measure: "queues = \"all\"\nqueue-trace = \"on-change\"\nbin = \"300us\"\nprobes = \"cwnd, srtt, alpha\"",
            more: "",
        }
    }
}

impl Case<'_> {
    fn text(&self) -> String {
        let Self { network, queue, transport, incast, measure, more } = self;
        format!(
            "[network]\n{network}\n[queue]\n{queue}\n[transport]\nrto-min = \"2ms\"\n{transport}\n[[traffic]]\n\
             kind = \"incast\"\n{incast}\n{more}\n[measure]\n{measure}\n[run]\nduration = \"2s\"\nseed = 5\n"
        )
    }

    #[track_caller]
    fn agree(&self) -> Outcome {
        self.agree_with(&Substitutes::default)
    }

    #[track_caller]
    fn agree_with(&self, substitutes: &dyn Fn() -> Substitutes) -> Outcome {
        both(&self.text(), substitutes).unwrap_or_else(|difference| panic!("{difference}"))
    }
}

fn network(topology: &str, rest: &str) -> String {
    format!("{topology}delay = \"10us\"\n{rest}")
}

#[test]
fn topologies_schemes_and_starts() {
    for topology in [STAR, TWO_SWITCH, TRUNK] {
        for scheme in ["newreno", "dctcp"] {
            for start in ["", "jitter = \"300us\"", "exponential = \"100us\""] {
                for jitter in ["", "host-jitter = \"2us\"", "ties = \"waiting-first\"", "ties = \"fresh-first\""] {
                    let outcome = Case {
                        network: network(topology, &format!("buffer = \"20pkt\"\n{jitter}")),
                        transport: format!("scheme = \"{scheme}\"\n[scheme.dctcp]\nmark-threshold = \"8pkt\""),
                        incast: format!("senders = 15\nbytes-each = \"60KB\"\n{start}"),
                        ..Case::default()
                    }
                    .agree();
                    assert!(outcome.number("drops") > 0.0 && outcome.number("timeouts") > 0.0);
                    assert!(scheme == "newreno" || outcome.number("marks") > 0.0);
                }
            }
        }
    }
}

#[test]
fn variants_of_dctcp() {
    let variants = [
        ("dctcp", "mark-threshold = \"8pkt\"\nflavour = \"ns-3\""),
        ("dctcp", "mark-threshold = \"8pkt\"\nflavour = \"rcc-code\""),
        ("l2dct", "mark-threshold = \"8pkt\"\nlight-up-to = \"5mss\"\nheavy-from = \"40KB\""),
        ("d2tcp", "mark-threshold = \"8pkt\"\nlate = \"hurry\""),
        ("dt-dctcp", "start = \"5pkt\"\nstop = \"9pkt\""),
        ("dt-cwa", "start = \"5pkt\"\nstop = \"9pkt\""),
        ("dt-cwa", "start = \"12KB\"\nstop = \"8KB\"\neq1 = \"sub\"\ncw-hist = \"window\""),
    ];
    for (scheme, params) in variants {
        for connections in ["rounds = 2", "rounds = 3\nconnections = \"persistent\"\nrequest = \"200B\""] {
            let outcome = Case {
                transport: format!("scheme = \"{scheme}\"\ninitial-window = \"10mss\"\n[scheme.{scheme}]\n{params}"),
                incast: format!("senders = 15\nbytes-each = \"60KB\"\ndeadline = \"9ms\"\n{connections}"),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("marks") > 0.0 && outcome.number("timeouts") > 0.0);
            assert!(outcome.number("deadlines_missed") > 0.0, "{scheme}");
        }
    }
}

#[test]
fn time_stamps_of_interfaces_and_paces_of_retransmissions() {
    let linux = "stack = \"linux-6.12\"";
    for hosts in ["", "interrupt-interval = \"30us\"", "ack-every = 2\nack-delay = \"100us\"", "sack = false", linux] {
        for connections in ["", "rounds = 3\nconnections = \"persistent\"\nrequest = \"200B\""] {
            let outcome = Case {
                transport: format!("scheme = \"swift\"\ninitial-window = \"4mss\"\n{hosts}"),
                incast: format!("senders = 15\nbytes-each = \"60KB\"\n{connections}"),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("retransmissions") > 0.0, "{hosts}");
            assert_eq!(outcome.number("incomplete"), 0.0, "{hosts}");
        }
    }
}

#[test]
fn telemetry_of_switches() {
    for hosts in ["", "interrupt-interval = \"30us\"\ngro = \"64KB\"", "ack-every = 2", "stack = \"linux-6.12\""] {
        for topology in [STAR, TWO_SWITCH] {
            let outcome = Case {
                network: network(topology, "buffer = \"20pkt\""),
                transport: format!("scheme = \"hpcc\"\n{hosts}"),
                incast: "senders = 15\nbytes-each = \"60KB\"\nrounds = 2".to_owned(),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("retransmissions") > 0.0, "{hosts}");
            assert_eq!(outcome.number("incomplete"), 0.0, "{hosts}");
        }
    }
}

/// Cells of four segments over all trees, to several hosts of one rack.
#[test]
fn flowcells_over_spanning_trees() {
    let topologies = ["topology = \"clos\"\nparallel-links = 2\nspines = 2\n", "topology = \"fat-tree\"\n"];
    for topology in topologies {
        for rules in ["st-when = \"always\"", "queue-max = 8", "st-when = \"always\"\nst-hold = \"0s\""] {
            let outcome = Case {
                network: network(topology, "buffer = \"6pkt\""),
                transport: format!(
                    "scheme = \"rcce\"\n[scheme.rcce]\nscheduler = \"off\"\nst-enable = \"on\"\nst-cell = \"5840B\"\n{rules}"
                ),
                incast: "senders = 10\nbytes-each = \"60KB\"\nplacement = \"round-robin\"\n[[traffic]]\nname = \"tree\"\n\
                         kind = \"relay-tree\"\nsenders = 8\nedge-count = 2\nbytes-each = \"30KB\"\nplacement = \"round-robin\""
                    .to_owned(),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("control_messages") > 0.0, "{rules}");
            assert_eq!(outcome.number("incomplete"), 0.0, "{rules}");
        }
    }
}

#[test]
fn a_scheduler_in_the_last_switch() {
    for (topology, rules) in
        [(STAR, ""), (STAR, "proxy-counts = \"arrivals\""), ("topology = \"clos\"\n", "st-enable = \"on\"")]
    {
        let outcome = Case {
            network: network(topology, "buffer = \"6pkt\""),
            transport: format!("syn-timeout = \"5ms\"\nscheme = \"rcce\"\n[scheme.rcce]\nedge-mode = \"tor-proxy\"\nqueue-max = 14\n{rules}"),
            incast: "senders = 12\nbytes-each = \"60KB\"\nrounds = 2".to_owned(),
            ..Case::default()
        }
        .agree();
        assert!(outcome.number("drops") > 0.0 && outcome.number("rewritten") > 0.0, "{rules}");
        assert_eq!(outcome.number("incomplete"), 0.0, "{rules}");
    }
}

#[test]
fn several_tiers_and_paths() {
    let topologies = [
        "topology = \"tree\"\nhosts-per-edge = 5\nedge-buffer = \"15KB\"\n",
        "topology = \"leaf-spine\"\nuplink-rate = \"1Gbps\"\nspine-buffer = \"12pkt\"\n",
        "topology = \"clos\"\nparallel-links = 2\nspines = 2\nsender-placement = \"local\"\n",
        "topology = \"clos\"\npods = 2\ncore-rate = \"100Mbps\"\nreceiver-placement = \"spread\"\n",
        "topology = \"fat-tree\"\ncore-buffer = \"9pkt\"\n",
    ];
    for topology in topologies {
        for queue in ["", "kind = \"ecn-threshold\"\nthreshold = \"6pkt\"", "kind = \"strict-priority\""] {
            for limit in ["buffer = \"20pkt\"", "admission = \"dynamic-threshold\"\nshared-buffer = \"40KB\""] {
                let case = Case { network: network(topology, limit), queue, ..Case::default() };
                let outcome = case.agree();
                assert!(outcome.number("drops") > 0.0, "{topology}");
                assert_eq!(outcome.number("completed"), 15.0, "{topology}");
            }
        }
    }
}

#[test]
fn every_topology_by_its_defaults() {
    for row in topology::REGISTRY {
        let required = drawn::typical(row.params).next().expect("all that must be given");
        let case = Case {
            network: network(&format!("topology = \"{}\"\n{required}", row.key), "buffer = \"6pkt\""),
            incast: "senders = 15\nbytes-each = \"60KB\"\nplacement = \"round-robin\"".to_owned(),
            ..Case::default()
        };
        let outcome = case.agree();
        assert!(outcome.number("drops") > 0.0, "{}", row.key);
        // Who has lost its SYN twice is not done after two seconds.
        assert!(outcome.number("completed") >= 10.0, "{}", row.key);
        assert_eq!(outcome.number("completed") + outcome.number("incomplete"), 15.0, "{}", row.key);
    }
}

#[test]
fn every_traffic_pattern_by_its_defaults() {
    for row in traffic::REGISTRY {
        // Beside the incast, whose senders fill the port.
        let head = format!("[[traffic]]\nname = \"more\"\nkind = \"{}\"\n", row.key);
        let mut more = drawn::typical(row.params).map(|lines| head.clone() + &lines);
        let case = |more: &String| built(&Case { more, ..Case::default() }.text()).is_ok();
        let more = more.find(case).unwrap_or_else(|| panic!("{} is refused", row.key));
        let outcome = Case { more: &more, ..Case::default() }.agree();
        assert!(outcome.number("flows") > 15.0 && outcome.number("drops") > 0.0, "{}", row.key);
    }
}

/// Each kind of fault changes something, in the network of some scheme.
#[test]
fn every_fault_by_its_defaults() {
    for row in fault::REGISTRY {
        let lines = drawn::typical(row.params).next().expect("all keys that are given");
        let more = format!("[[fault]]\nkind = \"{}\"\nat = \"500us\"\nfor = \"2ms\"\n{lines}", row.key);
        let changes = |scheme: &schemes::SchemeRow| {
            let case =
                |more| Case { transport: format!("scheme = \"{}\"\n", scheme.key), more, ..Case::default() }.agree();
            case(&more).hash() != case("").hash()
        };
        assert!(schemes::REGISTRY.iter().any(changes), "{}", row.key);
    }
}

#[test]
fn endless_flows_that_stop() {
    for scheme in schemes::REGISTRY.iter().map(|row| row.key) {
        let stops = "[[traffic]]\nkind = \"background\"\nflows = 5\ninterval = \"1ms\"\nstop = \"4ms\"\n";
        let case = Case { transport: format!("scheme = \"{scheme}\"\n"), more: stops, ..Case::default() };
        let outcome = case.agree();
        let [bytes, ends] = ["bytes", "completion_s"].map(|column| reals(&outcome, "flows", column));
        // The run ends with the last response, whoever of the five still waits for a timeout then.
        let stopped: Vec<f64> = (0..bytes.len()).filter(|row| bytes[*row].is_nan()).map(|row| ends[row]).collect();
        assert!(stopped.iter().all(|end| end.is_nan() || *end >= 4e-3), "{scheme}: {stopped:?}");
        // Linux's last segments wait for probes and timers, which are longer than the run.
        let least = if scheme == "linux" { 1 } else { 3 };
        assert!(stopped.iter().filter(|end| !end.is_nan()).count() >= least, "{scheme}: {stopped:?}");
        assert!(outcome.number("drops") > 0.0 || scheme == "sab", "{scheme}");
        assert_eq!(outcome.number("completed") + outcome.number("incomplete"), 15.0, "{scheme}");
    }
}

#[test]
fn sessions_between_named_hosts() {
    let arrivals = ["concurrent = 20", "concurrent = 9\ngap = \"10us\"\nin-rack = \"50%\"", "load = 2"];
    for arrivals in arrivals {
        for hosts in ["from = \"all\"\nto = \"host-0..3\"", "from = \"pod-1..3\"\nto = \"rack-0\"\npairs = \"in-turn\""]
        {
            if hosts.contains("in-turn") && arrivals.contains("in-rack") {
                continue;
            }
            let kind = if arrivals.contains("load") { "poisson" } else { "sessions" };
            let sessions = format!(
                "[[traffic]]\nname = \"sessions\"\nkind = \"{kind}\"\nbytes-each = \"9KB 60%, 70KB 40%\"\nstop = \"6ms\"\n{hosts}\n{arrivals}"
            );
            let case = Case {
                network: network("topology = \"fat-tree\"\n", "buffer = \"9pkt\""),
                incast: format!("{}\n{sessions}", Case::default().incast),
                ..Case::default()
            };
            let outcome = case.agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("flows") > 30.0, "{sessions}");
            // Of those whose SYN was lost more than once some are not over after two seconds.
            assert!(outcome.number("incomplete") < outcome.number("flows") / 10.0, "{sessions}");
        }
    }
}

#[test]
fn disciplines_and_limits() {
    let disciplines = [
        "kind = \"drop-tail\"",
        "kind = \"drop-tail\"\nwould-mark = \"7pkt\"",
        "kind = \"ecn-threshold\"\nthreshold = \"8pkt\"",
        "kind = \"ecn-threshold\"\nthreshold = \"9KB\"\nrequires-ect = false",
        "kind = \"ecn-threshold\"\nthreshold = \"8pkt\"\nmark-at = \"dequeue\"",
        "kind = \"ecn-threshold\"\nthreshold = \"9KB\"\nmark-at = \"dequeue\"\ncompare = \"above\"",
        "kind = \"double-threshold\"\nstart = \"5pkt\"\nstop = \"8pkt\"",
        "kind = \"double-threshold\"\nstart = \"12KB\"\nstop = \"6KB\"\nrequires-ect = false",
        "kind = \"strict-priority\"",
        "kind = \"strict-priority\"\nthreshold = \"6pkt\"\nscope = \"band\"",
        "kind = \"strict-priority\"\nthreshold = \"9KB\"\nmark-at = \"dequeue\"",
        "kind = \"drr\"\nthreshold = \"6pkt\"",
        "kind = \"red\"\nred-weight = 0.2\nred-min = 3\nred-max = 9",
        "kind = \"red\"\nred-weight = 0.01\nred-min = 1\nred-drop = false",
        "kind = \"wred\"\nwred-min = \"3pkt\"\nwred-max = \"9pkt\"",
        "kind = \"wred\"\nwred-min = \"3KB\"\nwred-max = \"12KB\"\nwred-drop = false",
    ];
    let limits = [
        "buffer = \"20pkt\"",
        "buffer = \"30KB\"",
        "buffer = \"20pkt\"\nbuffer-counts = \"waiting\"",
        "buffer = \"29999B\"\nbuffer-counts = \"waiting\"\nbuffer-full = \"reached\"",
        "buffer = \"12pkt\"\ndevice-queue = \"7pkt\"",
        "buffer = \"18KB\"\ndevice-queue = \"1pkt\"",
        "admission = \"dynamic-threshold\"\nshared-buffer = \"60KB\"\ndt-alpha = 0.5\ndevice-queue = \"3pkt\"",
        "admission = \"dynamic-threshold\"\nshared-buffer = \"60KB\"\ndt-alpha = 0.5",
    ];
    for queue in disciplines {
        for limit in limits {
            for topology in [STAR, TRUNK] {
                let case = Case {
                    network: network(topology, limit),
                    queue,
                    transport: "scheme = \"dctcp\"".to_owned(),
                    ..Case::default()
                };
                let outcome = case.agree();
                assert!(outcome.number("drops") > 0.0);
                assert!(queue.contains("drop-tail") || outcome.number("marks") > 0.0 || !queue.contains("threshold"));
            }
        }
    }
}

#[test]
fn a_controller_that_keeps_handshakes_and_cuts_windows() {
    let eager = "setup-delay = false\nreevaluate = \"periodic\"\nclass = \"either\"\nbackground-bytes = \"10KB\"";
    for control in ["", "jitter = \"200us\"\nloss = \"5%\"", "delay = \"0s\"\nservice-time = \"0s\""] {
        for scheme in ["", eager] {
            let thresholds = "low = \"5pkt\"\nmodest = \"9pkt\"\nhigh = \"12pkt\"\nrecovery = \"2ms\"\npoll = \"1ms\"";
            let outcome = Case {
                network: network(TWO_SWITCH, "buffer = \"16pkt\""),
                transport: format!(
                    "scheme = \"sdtcp\"\nsyn-timeout = \"5ms\"\n[scheme.sdtcp]\n{thresholds}\n{scheme}\n[control]\n{control}"
                ),
                measure: "queues = \"all\"\nprobes = \"cwnd, congestion-level\"\ncapture-control = true",
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("rewritten") > 0.0);
        }
    }
}

#[test]
fn receivers_that_lead() {
    for topology in [STAR, TRUNK] {
        for rules in ["", "queue-max = 60", "scheduler = \"off\"", "rto-r = \"on-queue\"\nrepeats = \"wait\""] {
            let outcome = Case {
                network: network(topology, "buffer = \"30KB\"\nbuffer-counts = \"waiting\"\nbuffer-full = \"reached\""),
                transport: format!(
                    "scheme = \"rcc\"\nwindow-scale = \"0\"\n[scheme.rcc]\nmark-threshold = \"9KB\"\n\
                     rto-r-min = \"1ms\"\n{rules}"
                ),
                incast: "senders = 40\nbytes-each = \"60KB\"\njitter = \"100us\"".to_owned(),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0 && outcome.number("marks") > 0.0);
        }
    }
}

#[test]
fn transport_options() {
    let options = [
        "sack = true",
        "limited-transmit = true",
        "sack = true\nlimited-transmit = true",
        "ack-every = 2\nack-delay = \"500us\"",
        "ack-every = 4\nack-delay = \"50us\"\nsack = true",
        "duplicate-ack-window = \"any\"",
        "like = \"ns3.44\"\nlimited-transmit = true",
        "like = \"ns3.44\"\nsack = true",
        "like = \"ns3.18-rdtcp\"",
        "sack = true\nloss-detection = \"linux-3.16\"\nlimited-transmit = true",
        "sack = true\nloss-detection = \"linux\"",
        "sack = true\nloss-detection = \"linux\"\ntail-loss-probe = false",
        "sack = true\nloss-detection = \"linux\"\nack-every = 2\nquickack = 5",
        "ecn = \"on\"\nsack = true\nlike = \"ns3.44\"",
        "ecn = \"on\"\necn-syn = true\necn-retransmit = true\necn-ack = true",
        "like = \"ns3.31\"\nrtt-clock = \"1ms\"\nack-every = 2\nack-delay = \"500us\"",
        "initial-window = \"1mss\"\nreceive-buffer = \"8KB\"",
        "syn-timeout = \"1ms\"\nsyn-retries = 1\ninitial-window = \"40mss\"",
    ];
    for scheme in ["newreno", "dctcp", "linux"] {
        for option in options {
            let outcome = Case {
                network: network(STAR, "buffer = \"12pkt\""),
                queue: "kind = \"ecn-threshold\"\nthreshold = \"5pkt\"",
                transport: format!("scheme = \"{scheme}\"\n{option}"),
                incast: "senders = 25\nbytes-each = \"30KB\"".to_owned(),
                ..Case::default()
            }
            .agree();
            assert!(outcome.number("drops") > 0.0);
        }
    }
}

#[test]
fn traffic_patterns_and_coexistence() {
    let patterns = [
        "senders = 12\nbytes-each = \"40KB\"\nconnections = \"persistent\"\nrounds = 3\ngap = \"50us\"",
        "senders = 12\nbytes-total = \"400KB\"\nrequest = \"100B\"\nthink = \"5us\"\nthink-jitter = \"20us\"\nrounds = 3",
        "senders = 12\nbytes-each = \"40KB\"\nconnections = \"persistent\"\nrequest = \"2KB\"\nrounds = 2",
        "senders = 12\nbytes-each = \"40KB\"\nplacement = \"round-robin\"\nscheme = \"dctcp\"",
        "senders = 12\nbytes-each = \"40KB\"\nconcurrent = 5\nrounds = 2\nscheme = \"linux\"",
    ];
    let background = "[[traffic]]\nname = \"long\"\nkind = \"background\"\nflows = 2\ninterval = \"100us\"\nreceiver = 1\n\
                      scheme = \"dctcp\"\n[[traffic]]\nname = \"same\"\nkind = \"background\"\nplacement = \"round-robin\"\n";
    for incast in patterns {
        for more in ["", background] {
            for topology in [STAR, TWO_SWITCH] {
                Case {
                    network: network(topology, "buffer = \"20pkt\""),
                    queue: "kind = \"ecn-threshold\"\nthreshold = \"8pkt\"",
                    incast: incast.to_owned(),
                    more,
                    ..Case::default()
                }
                .agree();
            }
        }
    }
}

#[test]
fn observers_do_not_disturb() {
    let measures = [
        "queues = \"none\"",
        "queues = \"none\"\nbin = \"100us\"",
        "queues = \"bottleneck\"",
        "queues = \"all\"\nqueue-trace = \"sampled\"\nqueue-sample = \"7us\"",
        "queues = \"all\"\nqueue-trace = \"on-change\"\nbin = \"1ms\"\nwarmup = \"3ms\"",
        "capture = \"all\"\nprobes = \"cwnd\"",
        "crossings = \"all\"",
    ];
    for queue in ["", "kind = \"strict-priority\"", "kind = \"ecn-threshold\"\nmark-at = \"dequeue\""] {
        let fcts: Vec<Vec<f64>> = measures
            .iter()
            .map(|measure| reals(&Case { queue, measure, ..Case::default() }.agree(), "flows", "fct_s"))
            .collect();
        assert!(fcts.iter().all(|fct| *fct == fcts[0]), "a measure moved the result: {queue}");
    }
}

#[test]
fn a_run_cut_off_by_its_duration() {
    for queue in
        ["", "kind = \"strict-priority\"", "kind = \"ecn-threshold\"\nthreshold = \"9KB\"\nmark-at = \"dequeue\""]
    {
        for duration in ["37us", "200us", "1234567ps", "4ms"] {
            let case = Case { queue, transport: "scheme = \"dctcp\"".to_owned(), ..Case::default() };
            let text = case.text().replace("\"2s\"", &format!("\"{duration}\""));
            let outcome = both(&text, &Substitutes::default).unwrap_or_else(|difference| panic!("{difference}"));
            assert!(outcome.number("incomplete") > 0.0);
            assert!(reals(&outcome, "links", "utilisation").iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }
}

#[test]
fn links_without_delay_and_ties_everywhere() {
    for queue in
        ["", "kind = \"strict-priority\"", "kind = \"ecn-threshold\"\nmark-at = \"dequeue\"\nthreshold = \"4pkt\""]
    {
        for delay in ["0s", "12us"] {
            // Segments of 1000 bytes with their headers take 8 us, so that everything happens on a grid of times.
            Case {
                network: format!("{TWO_SWITCH}buffer = \"9pkt\"\ndelay = \"{delay}\""),
                queue,
                transport: "scheme = \"dctcp\"\nmss = \"960B\"".to_owned(),
                incast: "senders = 20\nbytes-each = \"20KB\"".to_owned(),
                ..Case::default()
            }
            .agree();
        }
    }
}

/// Every way in which PFDCT's switch may divide, order and mark, and its senders may learn and tell.
#[test]
fn bands_and_thresholds_of_pfdct() {
    let options = [
        "",
        "bands = 1",
        "bands = 2\nack-band = \"retransmission\"",
        "band-buf = \"own\"",
        "band-buf = \"shared-push-out\"\npit = \"set\"\ntable-entries = 40",
        "band-buf = \"shared-push-out\"\nclassify = \"dscp\"\necn-for = \"all\"",
        "aqm = \"red\"\nred-min = 2\nred-max = 6\nred-weight = 0.2",
        "aqm = \"red-dynamic\"\nred-weight = 0.5\npit = \"off\"",
        "kt-scope = \"max\"\nkt-transport = \"oracle\"\nn-source = \"oracle\"\nkt-init = 2",
        "kt-transport = \"sender-mark\"\nslow-start = \"none\"",
        "occupancy = \"port\"\nkt-dir = \"text\"\nclip-low = 3\nclip-high = 9",
    ];
    for option in options {
        for limit in
            ["buffer = \"20pkt\"", "buffer = \"30KB\"", "admission = \"dynamic-threshold\"\nshared-buffer = \"90KB\""]
        {
            let case = Case {
                network: network(STAR, limit),
                transport: format!(
                    "scheme = \"pfdct\"\nrto-initial = \"5ms\"\nsyn-timeout = \"5ms\"\n[scheme.pfdct]\nclass = \"alg2\"\nshort-bytes = \"5KB\"\n{option}"
                ),
                more: "[[traffic]]\nname = \"long\"\nkind = \"background\"\nbytes-each = \"1MB\"\n",
                ..Case::default()
            };
            let outcome = case.agree();
            assert!(outcome.number("drops") > 0.0, "{option}, {limit}");
            assert!(outcome.number("marks") > 0.0 || option.contains("sender-mark"), "{option}, {limit}");
        }
    }
}

/// NewReno whose packets have a priority by flow, and a queue with bands that may push out.
struct Banded {
    push_out: bool,
    mark_at: MarkAt,
}

struct Prioritised(u8);

impl CongestionControl for Prioritised {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.priority = self.0;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        NewReno.on_ack(cx, ack);
        // Now and then a flow moves up.
        cx.packet.priority = if cx.una.is_multiple_of(7) { 0 } else { self.0 };
    }
}

/// Strict priority that makes room for a packet of a higher band at the expense of the lowest.
struct PushOut(StrictPriority);

impl QueueDiscipline for PushOut {
    fn bands(&self) -> u8 {
        self.0.bands()
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        self.0.on_enqueue(cx, packet)
    }
    fn on_full(&mut self, cx: &mut QueueCx<'_>, packet: &Packet) -> Option<u8> {
        let lowest = cx.bands.iter().rposition(|band| band.packets > 0)?;
        (usize::from(packet.priority) < lowest).then_some(lowest as u8)
    }
    fn acts_on_dequeue(&self) -> bool {
        self.0.acts_on_dequeue()
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        self.0.on_dequeue(cx, packet);
    }
}

impl Scheme for Banded {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Prioritised((flow.flow.index() % 3) as u8))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        let marking = Threshold { requires_ect: false, ..Threshold::at(Size::Packets(6), self.mark_at) };
        let strict = StrictPriority::new(3, marking, true);
        Some(if self.push_out { Box::new(PushOut(strict)) } else { Box::new(strict) })
    }
}

#[test]
fn bands_and_push_out() {
    let limits =
        ["buffer = \"20pkt\"", "buffer = \"30KB\"", "admission = \"dynamic-threshold\"\nshared-buffer = \"50KB\""];
    for push_out in [false, true] {
        for mark_at in [MarkAt::Enqueue, MarkAt::Dequeue] {
            for limit in limits {
                for jitter in ["", "host-jitter = \"1us\"\nties = \"waiting-first\""] {
                    let case = Case { network: network(TRUNK, &format!("{limit}\n{jitter}")), ..Case::default() };
                    let outcome = case.agree_with(&|| instead(Banded { push_out, mark_at }));
                    assert!(outcome.number("marks") > 0.0);
                    assert_eq!(outcome.number("drops_pushed_out") > 0.0, push_out, "{limit}");
                }
            }
        }
    }
}

/// A discipline and an agent that share a count of what is on its way through all ports of their switch. The
/// discipline takes packets off it when they leave and marks by it; the agent writes it into packets.
struct Sharing;

#[derive(Default)]
struct Shared {
    inside: u64,
    log: u64,
}

struct Counting;

fn shared(node: &mut dyn Any) -> &mut Shared {
    node.downcast_mut().expect("the scheme's own state")
}

impl QueueDiscipline for Counting {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let shared = shared(cx.node);
        shared.inside += u64::from(packet.size);
        if shared.log.is_multiple_of(5) {
            packet.flags = packet.flags.with(fanin_core::packet::Flags::CE);
        }
        Admission::Enqueue(0)
    }
    fn acts_on_dequeue(&self) -> bool {
        true
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        let shared = shared(cx.node);
        shared.inside -= u64::from(packet.size);
        // Depends on the order in which packets leave different ports.
        shared.log = shared.log.wrapping_mul(31).wrapping_add(u64::from(packet.size) + packet.flow.index() as u64);
    }
}

struct Stamping;

impl SwitchAgent for Stamping {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        let shared = shared(cx.node);
        packet.field = shared.inside + shared.log + passage.backlog.bytes;
        if packet.field % 97 == 1 { Pass::Drop } else { Pass::Forward }
    }
}

impl Scheme for Sharing {
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(Counting))
    }
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        Some(Box::new(Stamping))
    }
    fn node_state(&self, _switch: &NodeFacts) -> Box<dyn Any + Send> {
        Box::<Shared>::default()
    }
}

#[test]
fn state_shared_by_the_ports_and_the_agent_of_a_switch() {
    for topology in [STAR, TRUNK] {
        let more = "[[traffic]]\nkind = \"background\"\nflows = 3\nreceiver = 1\n";
        let case = Case { network: network(topology, "buffer = \"20pkt\""), more, ..Case::default() };
        let outcome = case.agree_with(&|| instead(Sharing));
        assert!(outcome.number("marks") > 0.0 && outcome.number("drops_agent") > 0.0);
    }
}

/// An agent that reads what a drop-tail port holds, in bytes.
struct BacklogReader;

impl SwitchAgent for BacklogReader {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        packet.field = passage.backlog.bytes;
        assert!(passage.backlog.packets == 0 || passage.backlog.bytes >= 40);
        if passage.backlog.bytes > 15_000 && packet.field.is_multiple_of(11) { Pass::Drop } else { Pass::Forward }
    }
}

impl Scheme for BacklogReader {
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        Some(Box::new(BacklogReader))
    }
}

#[test]
fn an_agent_sees_the_bytes_of_any_port() {
    let case = Case { measure: "queues = \"none\"", ..Case::default() };
    assert!(case.agree_with(&|| instead(BacklogReader)).number("drops") > 0.0);
}
