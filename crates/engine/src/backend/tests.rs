//! Runs on a carrier that needs no kernel, and their records.

use super::{
    Act, Carrier, Ending, FIRST_ADDRESS, FaultAct, Happening, LISTENING, Limit, Line, Marking, Playback, Recorder,
    Seen, Site, SiteFault, State, What, Window, drive,
};
use fanin_core::ids::{GroupId, NodeId, TransferId};
use fanin_core::units::{Size, Time};
use fanin_measure::table::Data;
use fanin_scenario::Scenario;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

const SCENARIO: &str = r#"
[network]
topology = "star"
rate = "10Gbps"
buffer = "100pkt"
[transport]
scheme = "linux"
stack = "linux-6"
[[traffic]]
name = "answers"
kind = "incast"
senders = 3
bytes-each = "20KB"
rounds = 2
gap = "1ms"
request = "100B"
connections = "persistent"
[run]
backend = "linux"
duration = "1s"
"#;

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scenario::parse(SCENARIO, "scenario.toml", &changes).expect("the scenario is valid")
}

/// Requests take 10 us, and data 100 us.
#[derive(Default)]
struct Fixed {
    lines: Vec<Line>,
    /// How many of them were open before the run.
    begun: usize,
    now: Time,
    due: BTreeMap<(Time, TransferId), What>,
    /// A transfer that fails.
    fails: Option<TransferId>,
}

impl Carrier for Fixed {
    fn begin(&mut self, lines: &[Line]) -> Result<u64, String> {
        self.lines = lines.to_vec();
        self.begun = lines.len();
        Ok(5_000)
    }
    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Open(line) => self.lines.push(line),
            Act::Ask(transfer, _, _) => {
                self.due.insert((self.now + Time::from_us(10), transfer), What::Asked(State::default()));
            }
            Act::Send { transfer, bytes, .. } => {
                let delivered = bytes.expect("finite");
                let state = State { delivered, retransmissions: 2, timeouts: 1, loss_probes: 1, ..State::default() };
                let what = if self.fails == Some(transfer) { What::Failed(state) } else { What::Completed(state) };
                self.due.insert((self.now + Time::from_us(100), transfer), what);
            }
            Act::Stop(_) => return Err("nothing is endless".to_owned()),
        }
        Ok(())
    }
    fn wait(&mut self, until: Time) -> Result<Option<Happening>, String> {
        let first = self.due.first_key_value().map(|((at, transfer), what)| (*at, *transfer, *what));
        let Some((at, transfer, what)) = first.filter(|(at, ..)| *at <= until) else {
            self.now = until;
            return Ok(None);
        };
        self.due.pop_first();
        self.now = at;
        Ok(Some(Happening { at, transfer, what }))
    }
    fn states(&mut self, transfers: &[TransferId]) -> Result<Vec<State>, String> {
        Ok(transfers.iter().map(|_| State { delivered: 7, ..State::default() }).collect())
    }
    /// Windows of as many bytes as microseconds have passed.
    fn windows(&mut self, senders: &[(usize, bool)]) -> Result<Vec<Window>, String> {
        let window = Window {
            cwnd: self.now.ps() / 1_000_000,
            ssthresh: u64::MAX,
            in_flight: 9,
            srtt: Time::ZERO,
            rto: self.now,
            allowed: 5,
        };
        assert!(senders.iter().all(|(line, by_client)| *line < 3 && !by_client));
        Ok(vec![window; senders.len()])
    }
    fn packets(&mut self, _: Time) -> Result<Vec<Seen>, String> {
        Ok(Vec::new())
    }
    fn end(&mut self) -> Result<Ending, String> {
        let counters = vec![("TCPTimeouts".to_owned(), 3), ("TW".to_owned(), 1)];
        Ok(Ending { segments: 84, links: (0..8).map(|link| (link, 1000 * link)).collect(), counters })
    }
}

#[test]
fn persistent_connections_are_open_before_the_run_though_few_are_used_at_once() {
    let begun = |text: &str| {
        let (mut carrier, changes) = (Fixed::default(), &[]);
        let scenario = Scenario::parse(text, "scenario.toml", changes).expect("the scenario is valid");
        drive(&scenario, &mut carrier, None).expect("nothing fails");
        (carrier.begun, carrier.lines.len())
    };
    let one = SCENARIO.replace("rounds = 2", "rounds = 2\nconcurrent = 1");
    assert_eq!(begun(SCENARIO), (3, 3));
    assert_eq!(begun(&one), (3, 3));
    assert_eq!(begun(&one.replace("\"persistent\"", "\"opened\"\nstart = \"20ms\"")), (0, 3));
}

fn recorded(scenario: &Scenario) -> (String, String) {
    let mut record = Vec::new();
    let mut carrier = Fixed::default();
    let mut recorder = Recorder::new(&mut carrier, &mut record);
    let outcome = drive(scenario, &mut recorder, None).expect("nothing fails");
    (String::from_utf8(record).expect("text"), outcome.hash().to_owned())
}

fn replayed(scenario: &Scenario, record: &str, log: &[u8]) -> crate::sim::Outcome {
    let mut playback = Playback::new(record, log, 8);
    drive(scenario, &mut playback, None).expect("the record is of this run")
}

/// An entry of the log at a time since the run began.
fn entry(
    at: u64,
    [link, event, size]: [u16; 3],
    [from, to]: [u32; 2],
    ports: [u16; 2],
    (seq, flags): (u32, u8),
) -> Vec<u8> {
    let mut bytes = (5_000 + at).to_le_bytes().to_vec();
    bytes.extend(u32::from(link).to_le_bytes());
    bytes.extend([event as u8, flags]);
    bytes.extend(size.to_le_bytes());
    bytes.extend([from, to].map(|node| (FIRST_ADDRESS + node).to_be_bytes()).concat());
    bytes.extend(ports.map(u16::to_be_bytes).concat());
    bytes.extend(seq.to_le_bytes());
    bytes
}

#[test]
fn transfers_follow_the_pattern_and_their_counts_reach_the_totals() {
    let scenario = scenario(&[]);
    let mut carrier = Fixed::default();
    let outcome = drive(&scenario, &mut carrier, None).expect("nothing fails");
    assert_eq!(carrier.lines.len(), 3, "the connections of all servers are open before the run");
    let number = |name: &str| outcome.number(name);
    assert_eq!([number("flows"), number("completed"), number("incomplete")], [6.0, 6.0, 0.0]);
    assert_eq!([number("retransmissions"), number("timeouts"), number("segments_received")], [12.0, 6.0, 84.0]);
    let flows = outcome.table("flows").expect("there is one");
    let waited = flows.columns.iter().find(|column| column.name == "probe_wait_s").expect("a column");
    let Data::F64(waited) = &waited.data else { panic!("seconds") };
    assert_eq!(*waited, [110e-6; 6], "at most as long as a transfer took, from its request on");
    // Two rounds of a request and an answer, and a gap of 1 ms.
    assert!((number("simulated_s") - 1.22e-3).abs() < 1e-9, "{}", number("simulated_s"));
    assert_eq!(number("fct_p50_s"), 110e-6);
    assert_eq!(number("goodput_bps").round(), (6.0 * 20_000.0 * 8.0 / 1.22e-3_f64).round());
}

#[test]
fn a_transfer_that_fails_ends_its_round() {
    let mut carrier = Fixed { fails: Some(TransferId::new(1)), ..Fixed::default() };
    let outcome = drive(&scenario(&[]), &mut carrier, None).expect("the run goes on");
    let number = |name: &str| outcome.number(name);
    assert_eq!([number("flows"), number("completed"), number("failed")], [6.0, 5.0, 1.0]);
    assert!((number("simulated_s") - 1.22e-3).abs() < 1e-9, "{}", number("simulated_s"));
}

#[test]
fn a_record_gives_the_outcome_of_its_run() {
    let scenario = scenario(&[]);
    let (record, hash) = recorded(&scenario);
    assert!(record.starts_with("begun 5000\nasked 10000000 0 0 0 0 0 0\n"), "{record}");
    let outcome = replayed(&scenario, &record, &[]);
    assert_eq!(outcome.hash(), hash);
    let counters = outcome.table("counters").expect("there is one");
    assert_eq!(format!("{:?}", counters.columns[1].data), "U64([3, 1])");
}

#[test]
fn what_is_under_way_at_the_end_is_told_too() {
    let scenario = scenario(&[("run.duration", "50us")]);
    let (record, hash) = recorded(&scenario);
    assert!(record.contains("state 7 0 0 0 0\n"), "{record}");
    let outcome = replayed(&scenario, &record, &[]);
    assert_eq!(outcome.hash(), hash);
    assert_eq!([outcome.number("completed"), outcome.number("incomplete")], [0.0, 3.0]);
}

#[test]
fn the_log_fills_the_books_of_ports() {
    let scenario = scenario(&[]);
    let site = Site::of(&scenario).expect("Linux can follow it");
    let bottleneck = site.links.iter().position(|link| link.observed).expect("one port is measured") as u16;
    let client = site.links[usize::from(bottleneck)].to.index() as u32;
    let server =
        (0..site.hosts.len() as u32).find(|node| site.hosts[*node as usize] && *node != client).expect("three");
    let (to_client, to_server) = ([server, client], [client, server]);
    let port =
        Line { number: 0, group: GroupId::default(), client: NodeId::new(0), server: NodeId::new(0), fresh: false }
            .port();
    let (ports, back) = ([LISTENING, port], [port, LISTENING]);
    let data =
        |at, event, seq: u32| entry(at, [bottleneck, event, 1538], to_client, ports, (3_000_000_000 + seq, 0x10));
    let log = [
        entry(0, [0, 5, 90], to_server, back, (4_000_000_000, 0x02)),
        entry(0, [0, 5, 90], to_client, ports, (3_000_000_000, 0x12)),
        data(20_000, 1, 1),
        data(21_000, 1, 1449),
        data(22_000, 2, 1),
        data(23_000, 3, 2897),
        data(24_000, 2, 1449),
        data(25_000, 4, 4345),
        // The first segment once more.
        data(26_000, 3, 1),
        data(27_000, 6, 5793),
        data(28_000, 7, 7241),
    ]
    .concat();
    let (record, _) = recorded(&scenario);
    let outcome = replayed(&scenario, &record, &log);
    let number = |name: &str| outcome.number(name);
    assert_eq!([number("drops"), number("drops_buffer_full"), number("marks")], [4.0, 2.0, 1.0]);
    assert_eq!(number("drops_discipline"), 1.0);
    assert_eq!(number("queue_max_packets"), 2.0);
    // Of 1.21 ms from the first request on: 1 us with one packet, 1 us with two, 2 us with one.
    assert!((number("queue_mean_busy_packets") - 1.25).abs() < 1e-9, "{}", number("queue_mean_busy_packets"));
    let drops = outcome.table("drops").expect("there is one");
    let column = |name: &str| drops.columns.iter().find(|column| column.name == name).expect("a column").data.clone();
    assert_eq!(format!("{:?}", column("seq")), "U64([2897, 1, 5793, 7241])");
    assert_eq!(format!("{:?}", column("retransmitted")), "Bool([false, true, false, false])");
}

/// A log of which one byte is there at a time.
struct Slow<'a>(&'a [u8], &'a Cell<usize>);

impl Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1.set(self.1.get() + 1);
        self.0.read(&mut to[..1])
    }
}

#[test]
fn a_log_is_read_as_the_run_goes_on() {
    let at = |us: u64| entry(1000 * us, [0, 1, 90], [0, 1], [LISTENING, 10_000], (0, 0x10));
    let (log, read) = ([at(1), at(2), at(3)].concat(), Cell::new(0));
    let mut playback = Playback::new("begun 5000\n", Slow(&log, &read), 8);
    playback.begin(&[]).expect("it has begun");
    let mut until = |us| playback.packets(Time::from_us(us)).expect("the log is whole").len();
    assert_eq!((until(1), read.get()), (1, 64), "one entry beyond what was asked for");
    assert_eq!((until(1), until(2), read.get()), (0, 1, 96));
    assert_eq!((until(9), read.get()), (1, 97));
}

#[test]
fn probed_senders_are_looked_at_while_they_send() {
    let scenario = scenario(&[("measure.probes", "cwnd,ssthresh"), ("measure.probe-flows", "2")]);
    let (record, hash) = recorded(&scenario);
    let outcome = replayed(&scenario, &record, &[]);
    assert_eq!(outcome.hash(), hash);
    let probes = outcome.table("probes").expect("there is one");
    let column = |name: &str| probes.columns.iter().find(|column| column.name == name).expect("a column").data.clone();
    let (Data::F64(at), Data::F64(value), Data::U64(of)) = (column("time_s"), column("value"), column("connection"))
    else {
        panic!("other columns")
    };
    // Not while nothing is under way: rounds take 110 us, and the gap 1 ms.
    let windows: Vec<f64> =
        at.iter().zip(&value).filter(|(_, value)| value.is_finite()).map(|(at, _)| at * 1e6).collect();
    assert!(windows.iter().all(|us| *us < 111.0 || *us > 1109.0), "{windows:?}");
    let first: Vec<f64> = windows.iter().copied().filter(|us| *us < 111.0).step_by(2).collect();
    assert_eq!(first.iter().map(|us| us.round()).collect::<Vec<_>>(), [20.0, 40.0, 60.0, 80.0, 100.0]);
    assert_eq!(of.iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert_eq!(value.iter().filter(|value| value.is_infinite()).count(), 2, "a row for each change");
}

#[test]
fn a_bad_record_is_refused_with_its_line() {
    let scenario = scenario(&[]);
    let (record, _) = recorded(&scenario);
    let fails = |record: &str, log: &[u8]| {
        let mut playback = Playback::new(record, log, 8);
        drive(&scenario, &mut playback, None).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(fails(&record, &[]), Ok(()));
    let found = fails("", &[]).expect_err("nothing is there");
    assert!(
        found.contains("line 1 of the record of the kernel's run is \"the end\", where \"begun\" should be"),
        "{found}"
    );
    let found = fails(&record.replacen("asked 10000000 0", "asked 10000000 x", 1), &[]).expect_err("no number");
    assert!(found.contains("line 2"), "{found}");
    let found = fails(&record.replacen("counter TW 1", "counter TW", 1), &[]).expect_err("no number");
    assert!(found.contains("a counter"), "{found}");
    let found = fails(&record, &[0; 31]).expect_err("an entry is longer");
    assert!(found.contains("the log of packets of the kernel's run ends within an entry"), "{found}");
    let found = fails(&record, &entry(0, [0, 0, 17], [0, 0], [0, 0], (0, 0))).expect_err("entries are missing");
    assert!(found.contains("lacks 17 entries"), "{found}");
}

#[test]
fn a_site_has_what_the_scenario_says() {
    let changes = [
        ("transport.scheme", "linux-dctcp"),
        ("scheme.linux-dctcp.mark-threshold", "30pkt"),
        ("transport.rto-min", "10ms"),
        ("transport.rto-granularity", "4ms"),
    ];
    let refused = Scenario::parse(SCENARIO, "scenario.toml", &changes.map(|(path, value)| (path.into(), value.into())));
    let error = Site::of(&refused.expect("valid")).expect_err("10 ms are 2.5 ticks").to_string();
    assert!(error.contains("rto-min") && error.contains("4ms"), "{error}");
    let site = Site::of(&scenario(&[changes[0], changes[1], changes[2]])).expect("Linux can follow it");
    let port = site.links.iter().find(|link| link.observed).expect("one port is measured");
    assert_eq!(port.limit, Limit::Packets(100));
    let threshold = Marking::Threshold { threshold: Size::Packets(30), above: false, leaving: false };
    assert_eq!(port.marking, Some(threshold));
    assert_eq!((site.stack.mtu, site.stack.rto_min, site.stack.hz), (1500, Time::from_ms(10), 1000));
    assert_eq!((site.congestion, site.overhead, site.stack.initial_window), (vec!["dctcp"], 38, 10));
}

#[test]
fn a_site_with_another_default_has_another_fingerprint() {
    let of = |changes: &[(&str, &str)]| Site::of(&scenario(changes)).expect("Linux can follow it").fingerprint();
    assert_eq!(of(&[]), of(&[]));
    assert_ne!(of(&[]), of(&[("transport.rto-min", "100ms")]));
    assert_ne!(of(&[]), of(&[("network.delay", "7us")]));
}

#[test]
fn a_site_tells_losses_as_the_scenario_says() {
    let told = |changes: &[(&str, &str)]| {
        let stack = Site::of(&scenario(changes)).expect("Linux can follow it").stack;
        (stack.rack, stack.tail_loss_probe)
    };
    assert_eq!(told(&[]), (true, true));
    assert_eq!(told(&[("transport.loss-detection", "linux-3.16")]), (false, true));
    assert_eq!(told(&[("transport.tail-loss-probe", "false")]), (true, false));
}

#[test]
fn a_site_has_random_early_detection_with_a_seed_for_each_port() {
    let changes =
        [("queue.kind", "red"), ("queue.red-min", "7"), ("queue.red-gentle", "true"), ("queue.red-drop", "false")];
    let seeds = |seed: &str| -> Vec<u64> {
        let site = Site::of(&scenario(&[&changes[..], &[("run.seed", seed)]].concat())).expect("Linux can follow it");
        let seed_of = |marking: Marking| {
            let Marking::Red { config, drop, hard_drop, seed } = marking else { panic!("{marking:?}") };
            assert_eq!((config.min, config.max, config.gentle, config.wait), (7.0, 15.0, true, false));
            assert_eq!((drop, hard_drop), (false, false));
            seed
        };
        site.links.iter().filter_map(|link| link.marking.map(seed_of)).collect()
    };
    let mut distinct = seeds("1");
    assert_eq!(distinct, seeds("1"));
    distinct.extend(seeds("2"));
    let ports = distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((distinct.len(), ports), (8, 8), "four ports of the switch, two seeds");
}

#[test]
fn a_site_has_the_faults_that_choose_packets() {
    let fault = |kind: &str, keys: &str| {
        let text = format!("{SCENARIO}[[fault]]\nkind = \"{kind}\"\n{keys}");
        Site::of(&Scenario::parse(&text, "scenario.toml", &[]).expect("valid")).map_err(|error| error.to_string())
    };
    let site = fault("delay", "segments = \"2,5..6\"\ncopies = \"2\"\nby = \"3us\"\nat = \"1ms\"\nfor = \"1ms\"")
        .expect("valid");
    let [fault_of_one] = &site.faults[..] else { panic!("one direction of one link") };
    let SiteFault { link, act, chosen, at, until } = fault_of_one;
    assert!(site.links[link.index()].observed);
    assert_eq!((*act, *at, *until), (FaultAct::Delay(Time::from_us(3)), Time::from_ms(1), Time::from_ms(2)));
    assert_eq!((&chosen.segments[..], &chosen.copies[..], chosen.mss), (&[(2, 2), (5, 6)][..], &[(2, 2)][..], 1448));
    let error = fault("loss", "").expect_err("Linux has none");
    assert_eq!(
        error,
        "scenario.toml:22: fault.loss.kind: loss is no fault of the Linux backend; it has drop, delay and mark"
    );
}

#[test]
fn a_run_in_the_kernel_has_an_estimate_of_its_time() {
    let seconds = |changes: &[(&str, &str)]| crate::sim::check(&scenario(changes)).expect("valid").kernel_s;
    assert_eq!(seconds(&[("run.backend", "simulator")]), None);
    // 6 transfers of 20 KB over two links, and four hosts.
    let found = seconds(&[]).expect("it takes place there");
    assert!((found - 0.1 - 0.02 - 120_000.0 / 1448.0 * 1.5 * 2.0 * 30e-6).abs() < 1e-4, "{found}");
    let far = seconds(&[("network.topology", "leaf-spine"), ("traffic.answers.rounds", "2000")]).expect("there too");
    assert!(far > 1000.0 * found / 20.0, "{far}");
}

#[test]
fn a_run_in_the_kernel_needs_the_memory_of_its_machine() {
    let bytes = |changes: &[(&str, &str)]| {
        let scenario = scenario(changes);
        crate::sim::memory(&scenario, &crate::sim::check(&scenario).expect("valid")).rest
    };
    // Five nodes, and six transfers at once at most.
    assert_eq!(bytes(&[]) - bytes(&[("run.backend", "simulator")]), 518.0 * 1_048_576.0);
    let more = bytes(&[("traffic.answers.senders", "1003")]) - bytes(&[]);
    assert!(more > 1250.0 * 1_048_576.0, "a MiB for each host, and a quarter for each transfer: {more}");
}

#[test]
fn routes_are_all_shortest_ways() {
    let site = Site::of(&scenario(&[("network.topology", "leaf-spine")])).expect("Linux can follow it");
    let ways: Vec<usize> = site.routes.iter().map(|(.., links)| links.len()).collect();
    assert!(ways.contains(&1) && ways.iter().any(|ways| *ways > 1), "{ways:?}");
    for (switch, host, links) in &site.routes {
        assert!(site.hosts[host.index()] && !site.hosts[switch.index()]);
        assert!(links.iter().all(|link| site.links[link.index()].from == *switch));
    }
}

#[test]
fn what_linux_does_not_follow_is_refused_by_name() {
    let cases = [
        (
            "transport.scheme",
            "dctcp",
            "linux, linux-reno, linux-dctcp, linux-bbr, l2dct, d2tcp, dt-cwa, pfdct, pfdct-st, dt-dctcp, ictcp, sab, rcc, rcce, sdtcp",
        ),
        ("transport.loss-detection", "dup-ack", "Linux decides this itself"),
        ("network.buffer-counts", "waiting", "Linux decides this itself"),
        ("network.path-selector", "flowlets", "Linux decides this itself"),
        ("network.flowlet-gap", "1ms", "Linux decides this itself"),
        ("scheme.linux.beta", "0.5", "Linux decides this itself"),
        ("measure.probes", "cwnd, duplicate-acks", "Linux does not report duplicate-acks"),
        ("measure.probes", "share", "Linux does not report share"),
        ("measure.bin", "1ms", "not measured"),
        ("control.delay", "1ms", "controller"),
        ("queue.kind", "wred", "drop-tail, ecn-threshold, double-threshold and red"),
        ("traffic.answers.start", "steady", "give a time"),
        ("transport.rto-granularity", "10ms", "HZ 1000"),
    ];
    for (key, value, why) in cases {
        let changed = Scenario::parse(SCENARIO, "scenario.toml", &[(key.to_owned(), value.to_owned())]);
        let error = Site::of(&changed.expect(key)).expect_err(key).to_string();
        assert!(error.contains(why), "{key}: {error}");
        let name = key.rsplit('.').next().expect("a key");
        assert!(error.contains(name), "{key}: {error}");
    }
}

#[test]
fn receivers_that_set_windows_take_what_stock_senders_can_follow() {
    let site =
        Site::of(&scenario(&[("transport.scheme", "ictcp"), ("scheme.ictcp.min-slot", "40us")])).expect("it runs");
    assert_eq!((site.receiver, site.congestion, site.stack.ecn), (Some("ictcp"), vec!["reno"], false));
    let (module, set) = &site.modules[0];
    assert_eq!(*module, "ictcp");
    assert!(
        set.contains("min_slot=40000ns") && set.contains("min_window=2.000000") && !set.contains("flavour"),
        "{set}"
    );
    let site = Site::of(&scenario(&[("transport.scheme", "rcc")])).expect("it runs");
    assert!(site.stack.ecn && site.stack.quick_ack && site.stack.initial_window == 1, "{:?}", site.stack);
    for (scheme, key, value, why) in [
        ("ictcp", "scheme.ictcp.flavour", "rdtcp", "senders are Linux's own"),
        ("ictcp", "transport.pacing", "fq", "fq cannot be"),
        ("rcc", "scheme.rcc.push", "request", "senders are Linux's own"),
        ("rcc", "scheme.rcc.rto-r", "on-queue", "on-release and off"),
        ("rcce", "scheme.rcce.rto-r", "on-queue", "on-release and off"),
        ("rcce", "scheme.rcce.push", "request", "senders are Linux's own"),
        ("rcce", "scheme.rcce.st-enable", "on", "no labels"),
        ("rcce", "traffic.answers.announce-size", "true", "announce no sizes"),
        ("rcc", "traffic.answers.announce-size", "true", "announce no sizes"),
    ] {
        let error = Site::of(&scenario(&[("transport.scheme", scheme), (key, value)])).expect_err(why).to_string();
        assert!(error.contains(key) && error.contains(why), "{error}");
    }
}

#[test]
fn rcces_scheduler_is_at_receivers_or_at_the_port_towards_one() {
    let of = |mode| {
        let changes =
            [("transport.scheme", "rcce"), ("traffic.answers.connections", "fresh"), ("scheme.rcce.edge-mode", mode)];
        Site::of(&scenario(&changes)).expect("it runs")
    };
    let [host, edge] = ["none", "tor-proxy"].map(of);
    assert_eq!((host.receiver, host.modules[0].0, host.edges.len()), (Some("rcc"), "rcc", 0));
    assert_eq!((edge.receiver, edge.modules[0].0), (None, "rcce"));
    let [to] = edge.edges[..] else { panic!("{:?}", edge.edges) };
    let link = &edge.links[to.index()];
    assert!(!edge.hosts[link.from.index()] && edge.hosts[link.to.index()]);
    assert!(edge.stack.ecn && link.marking.is_some());
    let set = &edge.modules[0].1;
    assert!(set.contains("queue_max=40") && set.contains("requests=wait"), "{set}");
    for absent in [" st_", " edge_", "on-queue", "mark_threshold"] {
        assert!(!set.contains(absent), "{set}");
    }
}

#[test]
fn switches_that_speak_openflow_have_the_triggers_of_the_simulators_and_its_channel() {
    let sdtcp = ("transport.scheme", "sdtcp");
    let site =
        Site::of(&scenario(&[sdtcp, ("control.delay", "10us"), ("scheme.sdtcp.jump", "highest")])).expect("it runs");
    let open_flow = site.open_flow.expect("a controller decides");
    let full = open_flow.trigger.packet;
    assert_eq!(full, site.stack.mtu + u64::from(site.overhead));
    assert_eq!(open_flow.trigger.thresholds, [30, 60, 85].map(|packets| Size::Bytes(packets * full)));
    assert!(open_flow.trigger.jumps && !open_flow.trigger.steps_down && !open_flow.captured);
    assert_eq!((open_flow.delay, open_flow.service), (Time::from_us(10), Time::from_us(5)));
    assert_eq!((site.congestion[0], site.modules.len()), ("reno", 0), "hosts are unmodified");
    let packets = Site::of(&scenario(&[sdtcp, ("scheme.sdtcp.queue-counts", "packets")])).expect("it runs");
    assert_eq!(packets.open_flow.expect("a controller").trigger.thresholds, [30, 60, 85].map(Size::Packets));
    let captured = Site::of(&scenario(&[sdtcp, ("measure.capture-control", "true")])).expect("it runs");
    assert!(captured.open_flow.expect("a controller").captured);
    for (changes, why) in [
        ([sdtcp, ("control.loss", "0.1")], "loses no message"),
        ([("scheme.sdtcp.buffers", "false"), ("scheme.sdtcp.buffer-timeout", "1ms")], "without buffers"),
        ([("transport.scheme", "linux"), ("measure.capture-control", "true")], "not measured"),
    ] {
        let error = Site::of(&scenario(&[&[sdtcp][..], &changes].concat())).expect_err(why).to_string();
        assert!(error.contains(changes[1].0) && error.contains(why), "{error}");
    }
}

#[test]
fn a_module_has_the_parameters_of_one_scheme() {
    let both = [("transport.scheme", "pfdct"), ("traffic.answers.scheme", "pfdct-st")];
    let error = Site::of(&scenario(&both)).expect_err("one module").to_string();
    assert!(error.contains("scheme") && error.contains("one set of parameters"), "{error}");
    Site::of(&scenario(&[("transport.scheme", "linux"), both[1]])).expect("one scheme of the module");
}

#[test]
fn values_that_would_have_no_effect_in_linux_are_refused_by_name() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[("transport.ecn", "off"), ("transport.scheme", "linux-dctcp")], "asks for ECN whatever"),
        (&[("transport.ack-every", "3")], "every other full segment"),
        (&[("transport.initial-window", "15000B")], "1448 B (mss)"),
        (&[("transport.initial-window", "1000B")], "1448 B (mss)"),
    ];
    for (changes, why) in cases {
        let error = Site::of(&scenario(changes)).expect_err(why).to_string();
        assert!(error.contains(changes[0].0) && error.contains(why), "{error}");
    }
    let followed = [("transport.ecn", "off"), ("transport.ack-every", "1"), ("transport.initial-window", "14480B")];
    let stack = Site::of(&scenario(&followed)).expect("Linux can follow these").stack;
    assert_eq!((stack.ecn, stack.quick_ack, stack.initial_window), (false, true, 10));
}

#[test]
fn a_module_gets_the_values_of_its_scheme_and_the_switch_those_of_thresholds() {
    let of = |changes: &[(&str, &str)]| {
        let stack = [("transport.stack", "linux-6")];
        Site::of(&scenario(&[changes, &stack].concat())).expect("Linux can follow it")
    };
    let l2dct = of(&[("transport.scheme", "l2dct"), ("scheme.l2dct.min-window", "1mss"), ("scheme.l2dct.g", "1/8")]);
    let [(module, parameters)] = &l2dct.modules[..] else { panic!("one module") };
    assert_eq!((*module, &l2dct.congestion[..]), ("tcp_l2dct", &["l2dct"][..]));
    let expected = [
        "g=0.125000000",
        "min_window=1.000000",
        "weight_max=2.500000000",
        "light_up_to=200000",
        "integer_division=0",
        "count=transfer",
    ];
    for each in expected {
        assert!(parameters.split(' ').any(|own| own == each), "{each}: {parameters}");
    }
    assert!(!parameters.contains("mark"), "{parameters}");
    let between = Some(Marking::Between { start: Size::Packets(5), stop: Size::Bytes(9000) });
    for scheme in ["dt-cwa", "dt-dctcp"] {
        let key = |name: &str| format!("scheme.{scheme}.{name}");
        let site = of(&[("transport.scheme", scheme), (&key("start"), "5pkt"), (&key("stop"), "9KB")]);
        assert!(site.links.iter().any(|link| link.marking == between));
        assert_eq!(site.modules.len(), usize::from(scheme == "dt-cwa"));
    }
    let g = [("transport.scheme", "dt-dctcp"), ("transport.stack", "linux-6"), ("scheme.dt-dctcp.g", "1/8")];
    let error = Site::of(&scenario(&g)).expect_err("Linux's own DCTCP").to_string();
    assert!(error.contains("scheme.dt-dctcp.g") && error.contains("Linux decides this itself"), "{error}");
    let other = [("transport.scheme", "l2dct"), ("transport.loss-detection", "dup-ack")];
    let error = Site::of(&scenario(&other)).expect_err("as in the scheme's own stack").to_string();
    assert!(error.contains("linux-6"), "{error}");
}

#[test]
fn a_run_takes_place_where_it_should() {
    let error = crate::sim::run(&scenario(&[]), None).expect_err("it is for Linux").to_string();
    assert!(error.contains("run.backend") && error.contains("only the simulator"), "{error}");
    let bbr = [("transport.scheme", "linux-bbr"), ("run.backend", "simulator")];
    for refused in [
        crate::sim::check(&scenario(&bbr)).map(|_| ()).map_err(|error| error.to_string()),
        crate::sim::run(&scenario(&bbr), None).map(|_| ()).map_err(|error| error.to_string()),
    ] {
        let error = refused.expect_err("the simulator has none");
        assert!(error.contains("transport.scheme") && error.contains("--backend linux"), "{error}");
    }
    assert_eq!(Site::of(&scenario(&bbr[..1])).expect("Linux has it").congestion, ["bbr"]);
    let outcome = crate::sim::run(&scenario(&[("run.backend", "simulator")]), None).expect("it is for the simulator");
    assert_eq!(outcome.number("completed"), 6.0);
}
