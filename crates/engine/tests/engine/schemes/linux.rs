//! Linux's TCP in an incast, and what each of its parts and of the cheap remedies changes there.

use crate::outcome::{numbers, run};
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Outcome};

/// Servers respond to one client at 1 Gbps through a port of 64 packets; a round trip takes 0.1 ms.
fn incast(senders: u32, bytes: &str, transport: &str, traffic: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nbuffer = \"64pkt\"\nhost-jitter = \"1us\"\n[transport]\nscheme = \"linux\"\n\
         {transport}\n[[traffic]]\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"{bytes}\"\n{traffic}\n"
    ))
}

/// Forty responses of 20 KB at once: 560 segments for 64 places.
fn burst(transport: &str) -> Outcome {
    incast(40, "20KB", transport, "")
}

fn total(outcome: &Outcome, name: &str) -> f64 {
    outcome.summary.get(name).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_honest_zero_completes_an_incast_with_losses() {
    let outcome = burst("");
    assert!(total(&outcome, "drops") > 100.0);
    assert!((total(&outcome, "completed") - 40.0).abs() < 0.5);
}

#[test]
fn tail_loss_probes_spare_timeouts() {
    // Windows of nine segments, the whole response: most lose their end, and nothing comes later to tell. A SYN that waits for
    // an interrupt or behind others makes the shortest round trip longer than a probe's, which then is no proof of anything
    // (RFC 8985 s6.2 step 2): so without either.
    let responses =
        |transport: &str| incast(20, "12KB", &format!("interrupt-interval = \"0s\"\n{transport}"), "jitter = \"20us\"");
    let (with, without) = (responses(""), responses("tail-loss-probe = false"));
    assert!(total(&with, "loss_probes") > 10.0 && total(&without, "loss_probes") < 0.5);
    let timeouts = (total(&with, "timeouts"), total(&without, "timeouts"));
    assert!(timeouts.0 < 0.25 * timeouts.1, "{timeouts:?}");
    let p50 = (total(&with, "fct_p50_s"), total(&without, "fct_p50_s"));
    assert!(p50.0 < 0.01 && p50.1 > 0.2, "two round trips and 2 ms, or 200 ms: {p50:?}");
}

/// Linux 3.16 had them before it told losses by time.
#[test]
fn tail_loss_probes_spare_timeouts_before_rack() {
    let responses = |transport: &str| {
        let keys = format!("interrupt-interval = \"0s\"\nloss-detection = \"linux-3.16\"\n{transport}");
        incast(20, "12KB", &keys, "jitter = \"20us\"")
    };
    let (with, without) = (responses(""), responses("tail-loss-probe = false"));
    assert!(total(&with, "loss_probes") > 10.0 && total(&without, "loss_probes") < 0.5);
    let timeouts = (total(&with, "timeouts"), total(&without, "timeouts"));
    assert!(timeouts.0 < 0.5 * timeouts.1, "{timeouts:?}");
}

#[test]
fn losses_told_by_time_spare_timeouts() {
    let responses = |transport| total(&incast(20, "20KB", transport, ""), "timeouts");
    let (linux, dup_ack) = (responses(""), responses("loss-detection = \"dup-ack\""));
    assert!(linux < 3.0 && dup_ack > 6.0, "{linux} {dup_ack}");
}

#[test]
fn an_initial_window_of_one_segment_spares_the_first_losses() {
    let (ten, one) = (burst(""), burst("initial-window = \"1mss\""));
    let drops = (total(&ten, "drops"), total(&one, "drops"));
    assert!(drops.0 > 1.2 * drops.1, "{drops:?}");
}

#[test]
fn quick_acknowledgements_spare_the_first_delay() {
    // A window of one segment is acknowledged after 40 ms, unless at once. Linux itself sends an ACK also for a window that grows.
    let fct = |quickack: u32| {
        let more = format!("initial-window = \"1mss\"\nack-policy = \"count\"\nquickack = {quickack}");
        numbers(&incast(1, "10KB", &more, ""), "flows", "fct_s")[0]
    };
    assert!(fct(16) < 0.002 && (0.040..0.043).contains(&fct(0)), "{} {}", fct(16), fct(0));
}

#[test]
fn a_connection_that_is_open_already_does_not_wait_for_the_initial_timeout() {
    // Open before the run, or by the request of a client; some lose all of their first window.
    for traffic in ["connections = \"persistent\"", "request = \"100B\""] {
        let slowest = |known: &str| {
            let transport = format!("rto-min = \"1ms\"\nopen-rtt = \"{known}\"");
            total(&incast(120, "20KB", &transport, traffic), "fct_max_s")
        };
        let (known, unknown) = (slowest("idle-path"), slowest("unknown"));
        assert!(known < 0.2 && unknown > 1.0, "{traffic}: {known} {unknown}");
    }
}

#[test]
fn slow_start_is_renos() {
    let fct = |scheme: &str, keys: &str| {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\nrate = \"100Gbps\"\ndelay = \"20us\"\nbuffer = \"4MB\"\n[transport]\n\
             scheme = \"{scheme}\"\nreceive-buffer = \"16MiB\"\n{keys}\n[[traffic]]\nkind = \"incast\"\nsenders = 1\n\
             bytes-each = \"8MB\"\n"
        ));
        total(&outcome, "fct_max_s")
    };
    // An acknowledgement covers up to 44 segments, and HyStart would end it: see its own tests.
    let reno = fct("linux-reno", "");
    assert_eq!(fct("linux", "[scheme.linux]\nhystart = false"), reno);
    let rfc = fct("linux", "[scheme.linux]\nhystart = false\nflavour = \"rfc\"");
    assert!(rfc > 1.3 * reno, "eight segments for each: {rfc} {reno}");
}

#[test]
fn a_least_timeout_of_a_millisecond_shortens_what_timeouts_cost() {
    let p99 = |rto: &str| total(&burst(&format!("tail-loss-probe = false\nrto-min = \"{rto}\"")), "fct_p99_s");
    let (ms200, ms1) = (p99("200ms"), p99("1ms"));
    assert!(ms1 < 0.1 && ms200 > 0.2, "{ms1} {ms200}");
}

#[test]
fn jitter_spares_losses() {
    // 560 segments take 6.7 ms: spread over 20 ms they need a third of the link.
    let drops = |traffic| total(&incast(40, "20KB", "", traffic), "drops");
    assert!(drops("jitter = \"20ms\"") < 0.2 * drops(""), "{} {}", drops("jitter = \"20ms\""), drops(""));
}

#[test]
fn fewer_concurrent_responses_lose_nothing() {
    // Four windows of ten segments fit into the port.
    let outcome = incast(40, "20KB", "", "concurrent = 4");
    assert!(total(&outcome, "drops") < 0.5 && (total(&outcome, "completed") - 40.0).abs() < 0.5);
    let all = total(&burst(""), "fct_max_s");
    let queries = numbers(&outcome, "requests", "completion_s");
    assert!(queries.len() == 1 && queries[0] < 0.2, "one query of all forty, done in {queries:?}; {all}");
}

#[test]
fn at_most_so_many_responses_are_outstanding_and_the_next_starts_when_one_has_come() {
    let outcome = incast(10, "20KB", "", "concurrent = 3\nrounds = 2\nconnections = \"persistent\"");
    let (starts, fcts) = (numbers(&outcome, "flows", "start_s"), numbers(&outcome, "flows", "fct_s"));
    assert_eq!(starts.len(), 20);
    let ends: Vec<f64> = starts.iter().zip(&fcts).map(|(start, fct)| start + fct).collect();
    for (i, start) in starts.iter().enumerate() {
        let open = (0..20).filter(|j| *j != i && starts[*j] <= *start && ends[*j] > start + 1e-12).count();
        assert!(open < 3, "{open} others when {i} starts");
        let first = [0.0, ends[..10].iter().copied().fold(0.0, f64::max)].iter().any(|at| (at - start).abs() < 1e-9);
        assert!(first || ends.iter().any(|end| (end - start).abs() < 1e-9), "{i} starts for no reason");
    }
    assert_eq!(numbers(&outcome, "requests", "completion_s").len(), 2, "a query for each round");
}

/// One endless flow behind a trunk of 100 Mbps with a round trip of 60 ms, whose receiver lets the window be the sender's.
fn long(scheme: &str, buffer: u32, seconds: u32) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"two-switch\"\ntrunk-rate = \"100Mbps\"\ndelay = \"10ms\"\nbuffer = \"{buffer}pkt\"\n\
         [transport]\nscheme = \"linux\"\nreceive-buffer = \"8MiB\"\nack-policy = \"count\"\n[scheme.linux]\n{scheme}\n[[traffic]]\n\
         kind = \"background\"\n[run]\nduration = \"{seconds}s\"\n"
    ))
}

#[test]
fn hystart_ends_slow_start_before_the_queue_overflows() {
    // The pipe holds 500 segments, and slow start doubles from a window beyond that; conservative slow start adds a
    // quarter each round trip.
    let drops = |hystart: bool| total(&long(&format!("hystart = {hystart}"), 700, 4), "drops");
    assert!(drops(true) < 0.5 * drops(false), "{} {}", drops(true), drops(false));
}

#[test]
fn a_long_flow_fills_the_link() {
    let delivered = numbers(&long("", 200, 20), "flows", "delivered_bytes")[0];
    let used = delivered * 1538.0 / 1448.0 * 8.0 / 20.0 / 100e6;
    assert!(used > 0.95 && used < 1.0, "{used}");
}

#[test]
fn a_larger_c_grows_the_window_faster() {
    // Some hundred segments and seconds, where the cube and not Reno's window counts.
    let delivered = |scheme: &str| numbers(&long(scheme, 50, 20), "flows", "delivered_bytes")[0];
    let (usual, slow) = (delivered("c = 0.4"), delivered("c = 0.02"));
    assert!(slow < 0.97 * usual, "{slow} {usual}");
}

#[test]
fn with_ecn_marks_replace_losses() {
    let marked = |ecn: &str| {
        run(&format!(
            "[network]\ntopology = \"two-switch\"\ntrunk-rate = \"100Mbps\"\ndelay = \"500us\"\nbuffer = \"60pkt\"\n\
             [queue]\nkind = \"ecn-threshold\"\nthreshold = \"20pkt\"\n[transport]\nscheme = \"linux\"\necn = \"{ecn}\"\n\
             initial-ssthresh = \"20mss\"\n[[traffic]]\nkind = \"background\"\nflows = 2\n[run]\nduration = \"3s\"\n"
        ))
    };
    let (on, off) = (marked("on"), marked("auto"));
    assert!(total(&on, "marks") > 10.0 && total(&on, "drops") < 0.5);
    assert!(total(&off, "marks") < 0.5 && total(&off, "drops") > 0.5);
}

#[test]
fn linux_meets_another_scheme_with_its_own_transport() {
    let outcome = run(
        "[network]\ntopology = \"star\"\n[transport]\nscheme = \"newreno\"\ninitial-window = \"1mss\"\nquickack = 0\n\
         ack-policy = \"count\"\n\
         [[traffic]]\nname = \"newreno\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"10KB\"\n[[traffic]]\n\
         name = \"linux\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"10KB\"\nscheme = \"linux\"\n",
    );
    // What the file says holds for both. What it does not say is each scheme's: the first segment is acknowledged at
    // once, or after 40 ms.
    let fct = numbers(&outcome, "flows", "fct_s");
    assert!(fct[0] < 0.002 && (0.040..0.043).contains(&fct[1]), "{fct:?}");
}

#[test]
fn probes_of_hosts_expire_together_or_each_at_its_own_ticks() {
    // Both servers lose the last of five segments, and send it again when their timers expire. No FIN tells them before.
    let lost = "connections = \"persistent\"\n[[fault]]\nkind = \"drop\"\nsegments = \"5\"";
    let between = |keys: &str| {
        let outcome = incast(2, "7240B", keys, lost);
        assert_eq!((total(&outcome, "loss_probes"), total(&outcome, "drops")), (2.0, 2.0), "{keys}");
        let fct = numbers(&outcome, "flows", "fct_s");
        (fct[0] - fct[1]).abs()
    };
    let (usual, together, apart) = (between(""), between("ticks = \"together\""), between("ticks = \"apart\""));
    assert_eq!(usual, together);
    assert!(together < 20e-6, "the port sends one behind the other: {together}");
    assert!((100e-6..1e-3).contains(&apart), "a part of a tick of a millisecond: {apart}");
}

#[test]
fn bbr_brings_its_stack_and_is_refused_by_name() {
    let text = "[network]\ntopology = \"star\"\n[transport]\nscheme = \"linux-bbr\"\n[[traffic]]\nkind = \"incast\"\n\
                senders = 1\nbytes-each = \"10KB\"\n";
    let scenario = Scenario::parse(text, "test.toml", &[]).expect("the file is valid");
    let transport = &scenario.transport;
    assert_eq!((transport.choice("stack"), transport.choice("loss-detection")), ("linux-6.12", "linux"));
    let error = sim::run(&scenario, None).expect_err("the simulator has no BBR").to_string();
    assert!(error.contains("transport.scheme") && error.contains("no model of linux-bbr"), "{error}");
}
