//! Parameters that no published experiment sets: each changes a run, or its capture, in which it can.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// An incast of forty servers, with further keys of `[network]`, of `[transport]` and of the scheme, and further tables.
fn incast_over(network: &str, transport: &str, scheme: &str, params: &str, more: &str) -> Outcome {
    run(&format!(
        "[network]\ndelay = \"25us\"\n{network}\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\n{transport}\n\
         [scheme.{scheme}]\n{params}\n[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 40\nbytes-each = \"64KB\"\n\
         start = \"20ms\"\njitter = \"100us\"\n{more}\n[run]\nduration = \"2s\"\n"
    ))
}

/// Ideal hosts.
const IDEAL: &str = "interrupt-interval = \"0s\"\ngro = \"0B\"\ntso = \"0B\"\nsmall-queue = \"0B\"\nhost-queue = 0\nreceive-buffer = \"1MiB\"";

/// The same over TCP as it is by default, on ideal hosts: what those of Linux do would hide what CUBIC does in so short a
/// time, and a larger window would wait in a host for all of it.
fn incast(network: &str, scheme: &str, params: &str, more: &str) -> Outcome {
    incast_over(network, IDEAL, scheme, params, more)
}

const SHALLOW: &str = "topology = \"star\"\nbuffer = \"30pkt\"";

/// A flow of 8 MB that began before the bursts.
const LONG: &str =
    "[[traffic]]\nname = \"long\"\nkind = \"background\"\nflows = 1\nbytes-each = \"8MB\"\nreceiver = 0\n";

#[track_caller]
fn differ(name: &str, one: &Outcome, other: &Outcome) {
    assert_ne!(one.hash(), other.hash(), "{name} changes nothing");
}

#[test]
fn parameters_of_schemes() {
    let deep = "topology = \"star\"\nbuffer = \"100pkt\"";
    let lossy = &format!("{LONG}[control]\nloss = \"30%\"\n");
    for (network, scheme, param, more) in [
        (SHALLOW, "linux", "reno-friendly = false", LONG),
        (SHALLOW, "newreno", "flavour = \"ns-3\"", LONG),
        (SHALLOW, "pfdct", "kt-when = \"literal\"", LONG),
        (deep, "sdtcp", "rule-timeout = \"1s\"", lossy),
        (deep, "sdtcp", "buffer-timeout = \"1ms\"", lossy),
        (deep, "sdtcp", "buffers = false", lossy),
        (deep, "sdtcp", "select = \"switch\"", LONG),
    ] {
        differ(param, &incast(network, scheme, param, more), &incast(network, scheme, "", more));
    }
    // It moves the plateau of the cubic curve, which windows as small as these reach only without the Reno-friendly region.
    let (param, cubic) = ("fast-convergence = false", "reno-friendly = false");
    let beside = format!("{cubic}\n{param}");
    let more = &LONG.replace("flows = 1", "flows = 8");
    differ(param, &incast(SHALLOW, "linux", &beside, more), &incast(SHALLOW, "linux", cubic, more));
}

#[test]
fn parameters_of_l2dct_and_red() {
    let shallow = "topology = \"star\"\nbuffer = \"60pkt\"";
    // Flows that have sent more than 1 MB have the least weight.
    differ("weight-min", &incast(shallow, "l2dct", "weight-min = 1", LONG), &incast(shallow, "l2dct", "", LONG));
    let red =
        |scheme: &str, keys: &str| incast(shallow, scheme, "", &format!("{LONG}[queue]\nred-weight = 0.1\n{keys}\n"));
    // What RED cannot mark it drops: bursts of NewReno are in the port with a short average queue.
    let drops = |keys: &str| red("newreno", keys).number("drops_discipline");
    assert!(drops("kind = \"red\"") > 0.0);
    assert_eq!(drops("kind = \"red\"\nred-drop = false"), 0.0);
    let marks = |keys: &str| red("dctcp", keys).number("marks");
    assert!(marks("kind = \"red\"\nred-gentle = true") < marks("kind = \"red\""));
    assert!(marks("kind = \"red\"\nred-wait = true") < marks("kind = \"red\""));
    let forced = |keys: &str| red("dctcp", keys).number("drops_discipline");
    assert!(forced("kind = \"red\"\nred-hard-drop = true") > forced("kind = \"red\""));
}

#[test]
fn parameters_of_spanning_trees() {
    let clos = "topology = \"clos\"\nbuffer = \"30pkt\"\nspines = 2\nleaves = 3\nhosts-per-leaf = 20";
    let control = "[control]\ndelay = \"1ms\"\nloss = \"30%\"\n";
    let trees =
        |param: &str| incast(clos, "rcce", &format!("st-enable = \"on\"\nst-when = \"always\"\n{param}"), control);
    for param in ["st-settle = \"20ms\"", "st-retry = \"15ms\""] {
        differ(param, &trees(param), &trees(""));
    }
}

#[test]
fn parameters_of_topologies() {
    for (topology, param) in [
        ("\"fat-tree\"\nhosts-per-edge = 8", "aggregation-buffer = \"2pkt\""),
        ("\"tree\"\nhosts-per-edge = 20", "edge-switches = 8"),
        ("\"two-switch\"", "receiver-hosts = 3"),
    ] {
        let network =
            |param: &str| incast(&format!("topology = {topology}\nbuffer = \"30pkt\"\n{param}"), "newreno", "", LONG);
        differ(param, &network(param), &network(""));
    }
}

/// Four long flows that the controller knows to be in the background, at a port that is congested but goes no further than
/// a level's band; the keys of the bands' windows act there, and nowhere else.
#[test]
fn parameters_of_sdtcp_levels() {
    let level = |thresholds: &str, param: &str| {
        run(&format!(
            "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"sdtcp\"\n\
             receive-buffer = \"128KiB\"\n[scheme.sdtcp]\nbackground-age = \"20ms\"\nbackground-bytes = \"1KB\"\npoll = \"5ms\"\n\
             reevaluate = \"periodic\"\nrecovery = \"10ms\"\n{thresholds}\n{param}\n[[traffic]]\nkind = \"background\"\nflows = 4\n\
             interval = \"10ms\"\n[run]\nduration = \"300ms\"\n"
        ))
    };
    let low = "modest = \"900pkt\"\nhigh = \"900pkt\"";
    let modest = "high = \"900pkt\"";
    for (thresholds, param) in
        [(low, "factor-low = \"1/3\""), (modest, "factor-modest = \"1/3\""), ("", "step-down = true")]
    {
        differ(param, &level(thresholds, param), &level(thresholds, ""));
    }
    // Each alone: a level that is not reached, or is passed through, sets no window by its factor that lasts.
    assert_eq!(level(low, "factor-modest = \"1/3\"").hash(), level(low, "").hash());
}

#[test]
fn parameters_of_the_control_channel() {
    let network = "topology = \"two-switch\"\nbuffer = \"100pkt\"";
    let control = |param: &str| incast(network, "sdtcp", "", &format!("{LONG}[control]\n{param}\n"));
    for param in ["service-time = \"50us\"", "delay = \"100us\"", "jitter = \"100us\""] {
        differ(param, &control(param), &control(""));
    }
}

#[test]
fn further_parameters_of_schemes() {
    for (network, flows, scheme, param) in [
        (SHALLOW, 1, "linux", "flavour = \"rfc\""),
        (SHALLOW, 1, "sab", "rtt0 = \"900us\""),
        (SHALLOW, 1, "rcc", "release = \"at-most\""),
        (SHALLOW, 1, "pfdct", "sticky = false"),
        ("topology = \"star\"\nbuffer = \"200pkt\"", 4, "pfdct", "rtt-min = \"oracle\""),
    ] {
        let more = LONG.replace("flows = 1", &format!("flows = {flows}"));
        differ(param, &incast(network, scheme, param, &more), &incast(network, scheme, "", &more));
    }
}

#[test]
fn growth_per_acknowledgement_is_a_reading_of_the_rfc() {
    // The acknowledgements of a window that grows come for each segment, where both are the same.
    let counted = format!("{IDEAL}\nack-policy = \"count\"\nloss-detection = \"dup-ack\"");
    let cubic = |keys: &str| incast_over("topology = \"star\"\nbuffer = \"100pkt\"", &counted, "linux", keys, LONG);
    // Growth by the cube that shows within milliseconds.
    let rfc = "flavour = \"rfc\"\nreno-friendly = false\nc = 1e9";
    differ("growth", &cubic(&format!("{rfc}\ngrowth = \"per-ack\"")), &cubic(rfc));
    assert_eq!(cubic("growth = \"per-ack\"").hash(), cubic("").hash(), "the kernel counts segments");
}

/// `[scheme]` with `beside`, and with `param` too, beside long flows in a port of `buffer` packets.
#[track_caller]
fn acts(buffer: u32, flows: u32, [scheme, beside, param]: [&str; 3]) {
    let network = format!("topology = \"star\"\nbuffer = \"{buffer}pkt\"");
    let more = format!("deadline = \"10ms\"\n{}", LONG.replace("flows = 1", &format!("flows = {flows}")));
    let incast = |keys: &str| incast(&network, scheme, keys, &more);
    differ(&format!("{scheme}: {param}"), &incast(&format!("{beside}\n{param}")), &incast(beside));
}

/// A key that several schemes have acts in each of them.
#[test]
fn parameters_that_schemes_share() {
    for row in [
        ["linux", "", "beta = 0.35"],
        ["linux-dctcp", "", "mark-threshold = \"9pkt\""],
        ["linux-dctcp", "", "mark-at = \"dequeue\""],
        ["linux-dctcp", "", "shift-g = 3"],
        ["linux-dctcp", "", "alpha-on-init = 0"],
        ["dctcp", "", "mark-at = \"dequeue\""],
        ["d2tcp", "", "mark-at = \"dequeue\""],
        ["d2tcp", "", "g = \"1/8\""],
        ["d2tcp", "", "min-window = \"4mss\""],
        ["l2dct", "", "mark-at = \"dequeue\""],
        ["l2dct", "", "g = \"1/8\""],
        ["l2dct", "", "min-window = \"4mss\""],
        ["dt-dctcp", "", "g = \"1/8\""],
        ["dt-dctcp", "", "alpha0 = 0.5"],
        // Its own reaction to marks takes no average.
        ["dt-cwa", "eq1-alpha = \"dctcp-alpha\"", "g = \"1/8\""],
        ["dt-cwa", "keep-dctcp-cut = true", "g = \"1/8\""],
    ] {
        acts(60, 1, row);
    }
    acts(200, 4, ["pfdct", "", "rtt = \"last\""]);
    acts(200, 4, ["sdtcp", "", "rtt = \"200us\""]);
}

#[test]
fn parameters_of_swift() {
    for param in [
        "base-target = \"60us\"",
        "hop-target = \"40us\"",
        "distance = false",
        "flow-range = \"0s\"",
        "flow-min = 0.5",
        "flow-max = 5.0",
        "increase = 0.5",
        "beta = 0.3",
        "max-decrease = \"20%\"",
        "min-window = 0.5",
        "max-window = 8.0",
        "reset-after = 1",
        "decrease-clock = \"no-growth\"",
    ] {
        acts(30, 2, ["swift", "", param]);
    }
    let slow = IDEAL.replace("\"0s\"", "\"100us\"");
    let hosts = |keys: &str| incast_over(SHALLOW, &slow, "swift", keys, LONG);
    differ("host-target", &hosts("host-target = \"20us\""), &hosts(""));
}

#[test]
fn parameters_of_hpcc() {
    for param in [
        "eta = \"80%\"",
        "max-stage = 0",
        "increase = \"500B\"",
        "base-rtt = \"300us\"",
        "loss-decrease = \"50%\"",
        "in-flight = \"fits\"",
    ] {
        acts(30, 2, ["hpcc", "", param]);
    }
}

#[test]
fn parameters_of_dcqcn() {
    for param in ["k-min = \"15KB\"", "k-max = \"30KB\"", "p-max = \"50%\""] {
        acts(30, 2, ["dcqcn", "", param]);
    }
    for param in [
        "cnp-interval = \"500us\"",
        "g = 0.5",
        "alpha-timer = \"500us\"",
        "rate-timer = \"1ms\"",
        "byte-counter = \"10KB\"",
        "recovery = 1",
        "increase = \"100Mbps\"",
        "min-rate = \"5Mbps\"",
        "in-flight = \"5KB\"",
    ] {
        acts(30, 2, ["dcqcn", "k-max = \"15KB\"\np-max = \"50%\"", param]);
    }
    let fast = "k-max = \"15KB\"\np-max = \"50%\"\nbyte-counter = \"10KB\"\nrecovery = 0";
    acts(30, 2, ["dcqcn", fast, "hyper-increase = \"10Mbps\""]);
}

#[test]
fn parameters_of_ndp() {
    for param in ["first-window = 5", "data-queue = \"4pkt\"", "cut-last = 0", "control-size = \"1KB\""] {
        acts(30, 2, ["ndp", "", param]);
    }
}

#[test]
fn parameters_of_homa() {
    for param in [
        "rtt-bytes = \"30KB\"",
        "priorities = 2",
        "workload = \"5KB\"",
        "overcommitment = 1",
        "resend-interval = \"1ms\"",
        "control-size = \"1KB\"",
    ] {
        acts(30, 2, ["homa", "", param]);
    }
    let asked = |keys: &str| incast(SHALLOW, "homa", keys, "request = \"100B\"");
    differ("incast-threshold", &asked("incast-threshold = 5"), &asked(""));
}

#[test]
fn parameters_of_queues_with_bands() {
    let banded = |queue: &str| incast(SHALLOW, "pfdct", "", &format!("{LONG}[queue]\n{queue}\n"));
    let (one, three) = ("kind = \"strict-priority\"\nbands = 1", "kind = \"strict-priority\"");
    differ("bands", &banded(one), &banded(three));
    differ("quantum", &banded("kind = \"drr\"\nquantum = \"9000B\""), &banded("kind = \"drr\""));
}

/// Four long flows keep a buffer full that is smaller than what the host lets in flight: marks, losses and timers.
#[test]
fn parameters_of_rcc_and_rcce() {
    let marks = "mark-threshold = \"10pkt\"";
    let average = "mark-threshold = \"10pkt\"\nalpha = \"code\"";
    // More flows than may have a segment in flight.
    let crowded = "queue-max = 8";
    let fixed = "queue-max = 8\nskip-cap = \"fixed\"";
    for row in [
        ["rcc", "priority = \"off\"", "assignment = \"printed\""],
        ["rcc", marks, "alpha = \"ratio\""],
        ["rcc", marks, "g = \"1/8\""],
        ["rcc", marks, "mark-at = \"dequeue\""],
        ["rcce", average, "g = \"1/8\""],
        ["rcce", marks, "mark-at = \"dequeue\""],
        ["rcce", marks, "mark-period = \"200us\""],
        ["rcce", marks, "first-rtt = \"20ms\""],
        ["rcce", marks, "marks-on-fin = \"ignore\""],
        ["rcce", marks, "mark-requires-ect = false"],
        ["rcce", marks, "flight = \"code\""],
        ["rcce", "", "duplicates = \"kept\""],
        ["rcce", "", "rto-r-min = \"20ms\""],
        ["rcce", "queue-max = 80", "rto-r-wait = \"clock-digit\""],
        ["rcce", crowded, "skip-cap = \"fixed\""],
        ["rcce", fixed, "skip-cap-deadline = 150"],
        ["rcce", fixed, "skip-cap-other = 350"],
    ] {
        acts(20, 4, row);
    }
    acts(20, 1, ["rcce", "", "repeats = \"wait\""]);
    // Without losses slow start ends there.
    acts(60, 1, ["rcce", "", "initial-threshold = \"32KB\""]);
}

#[test]
fn parameters_of_the_transport() {
    let rounds = "rounds = 2\nconnections = \"persistent\"\ngap = \"50ms\"\n";
    for (network, param, more) in [
        (SHALLOW, "rto-granularity = \"20ms\"", ""),
        (SHALLOW, "rto-backoff-limit = 0", ""),
        (SHALLOW, "rto-backoff-reset = \"sample\"", ""),
        // Windows that have grown beyond the initial one.
        ("topology = \"star\"\nbuffer = \"5000pkt\"", "idle-restart = false", rounds),
    ] {
        let newreno = |keys: &str| incast_over(network, keys, "newreno", "", more);
        differ(param, &newreno(param), &newreno(""));
    }
    let delayed = |keys: &str| incast_over(SHALLOW, &format!("ack-every = 4\n{keys}"), "newreno", "", "");
    for keys in ["byte-counting = \"slow-start\"", "byte-counting = \"on\""] {
        differ(keys, &delayed(keys), &delayed(""));
    }
    let long = LONG.replace("flows = 1", "flows = 8");
    let dctcp = |keys: &str| incast_over("topology = \"star\"\nbuffer = \"500pkt\"", keys, "dctcp", "", &long);
    differ("growth-after-echo", &dctcp("growth-after-echo = false"), &dctcp(""));
}

#[test]
fn parameters_of_hosts_and_servers() {
    let newreno = |network: &str, more: &str| incast(&format!("{SHALLOW}\n{network}"), "newreno", "", more);
    let jitter = "host-jitter = \"5us\"";
    differ(jitter, &newreno(jitter, ""), &newreno("", ""));
    let asked = "request = \"200B\"\nthink = \"20us\"\n";
    let jitter = "think-jitter = \"50us\"";
    differ(jitter, &newreno("", &format!("{asked}{jitter}")), &newreno("", asked));
}

#[test]
fn parameters_of_captures() {
    let captured = |param: &str| {
        let measure = format!("[measure]\ncapture = \"bottleneck\"\n{param}\n");
        incast("topology = \"star\"", "newreno", "", &measure).capture.expect("it was asked for")
    };
    let (whole, limited) = (captured(""), captured("capture-limit = 5"));
    // A small header block and one of the link, then five of packets of 1500 bytes at most.
    assert!((100..8_000).contains(&limited.len()), "{} bytes of {}", limited.len(), whole.len());
    assert!(whole.len() > 100 * limited.len(), "{} bytes of {}", limited.len(), whole.len());
    assert_ne!(captured("capture-time = \"ps\""), whole);
}
