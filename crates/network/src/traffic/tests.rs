//! Tests of patterns without a simulation: the transfers that they start, and the calls that they request.

use super::*;
use crate::topology;
use fanin_scenario::Scenario;

/// A pattern on the hosts of a network. A test decides which transfers complete, and when.
pub(super) struct Bench {
    pub(super) topology: Topology,
    pub(super) senders: Vec<NodeId>,
    pub(super) receivers: Vec<NodeId>,
    pub(super) traffic: Box<dyn Traffic>,
    stream: Stream,
    pub(super) planned: Vec<TransferSpec>,
    /// For each query, the number of transfers started before it.
    pub(super) queries: Vec<usize>,
    pub(super) wakes: Vec<Time>,
}

impl Bench {
    /// The first group of a scenario with these tables.
    pub(super) fn new(text: &str) -> Result<Self, SpecError> {
        Self::with_files(text, Files::default())
    }

    /// The same, with files that its keys may name.
    pub(super) fn with_files(text: &str, files: Files) -> Result<Self, SpecError> {
        let scenario = Scenario::parse(text, "test.toml", &[])?.with_files(files);
        let group = &scenario.traffic[0];
        let row = topology::REGISTRY.iter().find(|row| row.key == scenario.network.kind).expect("registered");
        let topology = (row.build)(&scenario.network.values, &Demand { senders: 1, receivers: 1 })?;
        let hosts = |key| topology.select(&group.values, key);
        let (senders, receivers) = (hosts("from")?, hosts("to")?);
        let place = Place { topology: &topology, senders: &senders, receivers: &receivers, files: &scenario.files };
        let pattern = REGISTRY.iter().find(|row| row.key == group.kind).expect("registered");
        let traffic = (pattern.build)(&group.values, &place)?;
        let stream = Stream::named(1, "test");
        let (planned, queries, wakes) = (Vec::new(), Vec::new(), Vec::new());
        let mut bench = Self { topology, senders, receivers, traffic, stream, planned, queries, wakes };
        bench.act(Time::ZERO, |traffic, cx| traffic.on_start(cx));
        Ok(bench)
    }

    /// Calls the pattern. Returns the number of transfers that it starts.
    pub(super) fn act(&mut self, now: Time, act: impl FnOnce(&mut dyn Traffic, &mut TrafficCx<'_>)) -> usize {
        let mut actions = Vec::new();
        let mut cx = TrafficCx {
            now,
            senders: &self.senders,
            receivers: &self.receivers,
            next: TransferId::new(self.planned.len()),
            stream: &mut self.stream,
            actions: &mut actions,
        };
        act(&mut *self.traffic, &mut cx);
        let before = self.planned.len();
        for action in actions {
            match action {
                TrafficAction::Transfer(spec) => self.planned.push(spec),
                TrafficAction::Wake(at) => self.wakes.push(at),
                TrafficAction::Query => self.queries.push(self.planned.len()),
                TrafficAction::Fail(why) => panic!("{why}"),
            }
        }
        self.planned.len() - before
    }

    pub(super) fn complete(&mut self, transfer: usize, now: Time) -> usize {
        self.act(now, |traffic, cx| traffic.on_complete(cx, TransferId::new(transfer)))
    }

    /// Makes the calls that it requests, at most `most`. Each starts `transfers` transfers.
    pub(super) fn wake(&mut self, most: usize, transfers: usize) {
        for i in 0..most {
            let Some(at) = self.wakes.get(i).copied() else { return };
            assert_eq!(self.act(at, |traffic, cx| traffic.on_wake(cx)), transfers);
        }
    }
}

mod requests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn try_bench(keys: &str) -> Result<Bench, SpecError> {
        Bench::new(&format!(
            "[network]\ntopology = \"fat-tree\"\nhosts-per-edge = 4\n[[traffic]]\nkind = \"requests\"\n{keys}\n"
        ))
    }

    fn bench(keys: &str) -> Bench {
        try_bench(keys).unwrap_or_else(|error| panic!("{error}"))
    }

    const QUERIES: &str = "from = \"all\"\nto = \"all\"\nfan-in = 10\nbytes-each = \"20KB\"\n";

    #[test]
    fn each_query_asks_distinct_workers_for_one_client() {
        let mut bench = bench(&format!("{QUERIES}interval = \"1ms\""));
        bench.wake(3000, 10);
        assert_eq!(bench.queries.len(), 3000);
        let mut workers: BTreeMap<NodeId, u32> = BTreeMap::new();
        for query in bench.planned.chunks(10) {
            let asked: BTreeSet<_> = query.iter().map(|response| response.from).collect();
            assert!(asked.len() == 10 && !asked.contains(&query[0].to), "no worker twice, the client never");
            assert!(query.iter().all(|response| response.to == query[0].to && response.start == query[0].start));
            assert!(query.iter().all(|response| response.query == QueryOf::Latest && response.bytes == Some(20_000)));
            for worker in asked {
                *workers.entry(worker).or_default() += 1;
            }
        }
        // 30,000 responses of 32 equally likely hosts: each within 150 of 937, more than five standard deviations.
        assert!(workers.len() == 32 && workers.values().all(|count| count.abs_diff(937) < 150), "{workers:?}");
    }

    #[test]
    fn more_responses_than_workers_go_around() {
        let mut bench =
            bench("from = \"host-0..3\"\nto = \"host-0\"\nfan-in = 8\nbytes-total = \"1MB\"\ninterval = \"1ms\"");
        bench.wake(50, 8);
        for query in bench.planned.chunks(8) {
            let mut asked: BTreeMap<NodeId, u32> = BTreeMap::new();
            for response in query {
                *asked.entry(response.from).or_default() += 1;
            }
            assert_eq!(asked.into_values().collect::<BTreeSet<_>>(), BTreeSet::from([2, 3]));
            assert_eq!(query.iter().filter_map(|response| response.bytes).sum::<u64>(), 1_000_000);
        }
    }

    #[test]
    fn the_load_counts_all_responses_of_a_query() {
        let mut bench = bench(&format!("{QUERIES}load = \"20%\"\nload-of = \"bisection\""));
        // 10 responses of 20 KB at 20 % of 8 Gbps.
        let offered = bench.traffic.offered().expect("a load");
        assert_eq!((offered.mean, offered.interval), (200e3, Time::from_ms(1)));
        bench.wake(20_000, 10);
        let mean = bench.wakes[19_999].secs() / 20_000.0;
        assert!((mean / 1e-3 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn queries_end_at_their_count_and_their_stop() {
        let mut counted = bench(&format!("{QUERIES}interval = \"1ms\"\ncount = 7"));
        counted.wake(100, 10);
        assert_eq!((counted.queries.len(), counted.wakes.len()), (7, 7));
        let mut stopped = bench(&format!("{QUERIES}interval = \"1ms\"\nstop = \"50ms\""));
        stopped.wake(1000, 10);
        assert!((30..70).contains(&stopped.queries.len()), "{}", stopped.queries.len());
        assert_eq!(stopped.complete(0, Time::from_ms(1)), 0, "queries do not wait for completions");
    }

    #[test]
    fn periodic_queries_come_by_a_clock_from_the_start_on() {
        let keys = "interval = \"5ms\"\narrivals = \"periodic\"\nstart = \"1ms\"\ncount = 4";
        let mut bench = bench(&format!("{QUERIES}{keys}"));
        bench.wake(10, 10);
        assert_eq!(bench.wakes, [1, 6, 11, 16].map(Time::from_ms));
        assert_eq!(bench.queries.len(), 4);
    }

    #[test]
    fn requests_thinking_and_jitter_are_those_of_each_response() {
        let keys = "interval = \"1ms\"\nrequest = \"1600B\"\nthink = \"1ms\"\nthink-jitter = \"500us\"";
        let mut asked = bench(&format!("{QUERIES}{keys}"));
        asked.wake(1, 10);
        let thinks: BTreeSet<Time> =
            asked.planned.iter().map(|response| response.request.expect("asked").think).collect();
        assert!(thinks.len() == 10 && thinks.iter().all(|think| (1000..1500).contains(&(think.ps() / 1_000_000))));
        let mut jittered = bench(&format!("{QUERIES}interval = \"1ms\"\njitter = \"10us\""));
        jittered.wake(1, 10);
        let starts: BTreeSet<Time> = jittered.planned.iter().map(|response| response.start).collect();
        assert!(starts.len() == 10 && starts.iter().all(|start| *start - jittered.wakes[0] < Time::from_us(10)));
    }

    #[test]
    fn mistakes_are_told() {
        let says = |keys: &str| try_bench(keys).err().expect("refused").to_string();
        for (keys, message) in [
            ("fan-in = 10\nbytes-each = \"1KB\"", "load: give load or interval"),
            ("fan-in = 10\ninterval = \"1ms\"", "bytes-each: give bytes-each or bytes-total"),
            ("fan-in = 10\nbytes-total = \"9B\"\ninterval = \"1ms\"", "cannot be split over 10"),
            ("fan-in = 0\nbytes-each = \"1KB\"\ninterval = \"1ms\"", "fan-in: must be at least 1"),
        ] {
            let keys = format!("from = \"all\"\nto = \"all\"\n{keys}");
            assert!(says(&keys).contains(message), "{} for {keys}", says(&keys));
        }
    }
}

mod flows {
    use super::*;
    use std::io::Cursor;

    fn try_bench(list: &str, keys: &str) -> Result<Bench, SpecError> {
        let list = list.as_bytes().to_vec();
        let files = Files::new(move |name| match name {
            "list.csv" => Ok(Box::new(Cursor::new(list.clone()))),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        });
        let network = "[network]\ntopology = \"fat-tree\"\nhosts-per-edge = 4\n[[traffic]]\nkind = \"flows\"\n";
        Bench::with_files(&format!("{network}from = \"all\"\nto = \"all\"\n{keys}\n"), files)
    }

    const LIST: &str =
        "start_us,src,dst,bytes,class,deadline_us\n0,0,1,100,a,\n0,2,1,200,b,50\n7,31,0,300,a,\n7,3,4,1,,\n";

    #[test]
    fn every_flow_begins_at_its_time_between_its_hosts() {
        let mut bench = try_bench(LIST, "file = \"list.csv\"\nstart = \"1ms\"").expect("sound");
        assert!(bench.planned.is_empty() && bench.wakes == [Time::from_ms(1)], "nothing is planned in advance");
        bench.wake(9, 2);
        let hosts = bench.senders.clone();
        let of = |flow: &TransferSpec| (flow.start - Time::from_ms(1), flow.from, flow.to, flow.bytes);
        let expected = [(0, 0, 1, 100), (0, 2, 1, 200), (7, 31, 0, 300), (7, 3, 4, 1)];
        let expected = expected.map(|(us, from, to, bytes)| (Time::from_us(us), hosts[from], hosts[to], Some(bytes)));
        assert_eq!(bench.planned.iter().map(of).collect::<Vec<_>>(), expected);
        let classes: Vec<_> = bench.planned.iter().map(|flow| flow.class).collect();
        assert_eq!(
            (bench.traffic.classes(), classes),
            (&["a".to_owned(), "b".to_owned()][..], vec![Some(0), Some(1), Some(0), None])
        );
        assert_eq!(bench.planned[1].deadline, Some(Time::from_us(50)));
        assert!(!bench.traffic.has_more());
    }

    #[test]
    fn only_the_content_that_was_named_is_simulated() {
        let keys = |digest: &str| format!("file = \"list.csv\"\nfile-sha256 = \"{digest}\"");
        // sha256sum of the list.
        let own = "24bcdbc53d5c7774341b1c2194fd0503b692275cf839cf92606da97830ce16e5";
        assert!(try_bench(LIST, &keys(own)).is_ok());
        let error = try_bench(LIST, &keys(&own.replace('0', "1"))).err().expect("refused").to_string();
        assert!(error.contains("file-sha256") && error.contains(own) && error.contains("has changed"), "{error}");
    }

    #[test]
    fn a_list_that_changes_during_the_run_is_refused() {
        let opened = std::sync::atomic::AtomicUsize::new(0);
        let files = Files::new(move |_| {
            let again = opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
            Ok(Box::new(Cursor::new(if again { LIST.replace("300", "301") } else { LIST.to_owned() })))
        });
        let network = "[network]\ntopology = \"fat-tree\"\nhosts-per-edge = 4\n[[traffic]]\nkind = \"flows\"\n";
        let text = format!("{network}from = \"all\"\nto = \"all\"\nfile = \"list.csv\"\n");
        let error = Bench::with_files(&text, files).err().expect("refused").to_string();
        assert!(error.contains("list.csv:1: the file has changed since it was first read"), "{error}");
    }

    #[test]
    fn a_bad_line_is_told_before_anything_runs() {
        let says = |list: &str, keys: &str| try_bench(list, keys).err().expect("refused").to_string();
        let file = "file = \"list.csv\"";
        let told = "test.toml:8: traffic.flows.file: list.csv:3: ";
        for (line, message) in [
            (
                "0,0,32,1",
                "dst 32, and \"to\" has 32 hosts, from 0: set receivers = 33 or more. If hosts send and receive, set \
                 from = \"all\", to = \"all\" and a network of so many hosts (network.sender-hosts)",
            ),
            ("0,5,5,1", "a host sends to itself"),
            ("0,5,x,1", "\"x\" is no host: write its number"),
        ] {
            let list = format!("start,src,dst,bytes\n0,0,1,1\n{line}\n");
            assert_eq!(says(&list, file), format!("{told}{message}"));
        }
        assert!(says("start,src,dst,bytes\n", file).contains("no flows"));
        assert!(says(LIST, "file = \"other.csv\"").contains("other.csv: entity not found"));
        let network =
            "[network]\ntopology = \"fat-tree\"\n[[traffic]]\nkind = \"flows\"\nfrom = \"all\"\nto = \"all\"\n";
        let none = Bench::new(&format!("{network}{file}\n"));
        assert!(none.err().expect("refused").to_string().contains("no files can be opened here"));
    }
}

#[test]
fn connections_are_opened_before_the_first_round_and_kept() {
    let text = |more: &str| {
        format!(
            "[network]\ntopology = \"star\"\n[transport]\nscheme = \"newreno\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\n\
             from = \"senders\"\nto = \"receivers\"\nbytes-each = \"1KB\"\nstart = \"20ms\"\nrounds = 2\n{more}\n"
        )
    };
    let mut bench =
        Bench::new(&text("connections = \"opened\"\nopen-at = \"5ms\"\nopen-spread = \"2ms\"")).expect("valid");
    bench.act(Time::from_ms(30), |traffic, cx| traffic.on_complete(cx, TransferId::new(0)));
    let [first, second] = &bench.planned[..] else { panic!("{:?}", bench.planned) };
    let opens = first.opens.expect("the first round opens them");
    assert!((Time::from_ms(5)..Time::from_ms(7)).contains(&opens), "{opens}");
    assert_eq!((first.start, first.connection), (Time::from_ms(20), Connection::Persistent(0)));
    assert_eq!((second.opens, second.connection), (None, Connection::Persistent(0)));
    let late = Bench::new(&text("connections = \"opened\"\nopen-at = \"15ms\""));
    assert!(
        late.is_err_and(|error| error.to_string().contains("open-at")),
        "15 ms and 10 ms of spread are after 20 ms"
    );
}

#[test]
fn exponential_starts_may_be_bounded_and_in_whole_steps() {
    let starts = |keys: &str| -> Vec<Time> {
        let text = format!(
            "[network]\ntopology = \"star\"\n[transport]\nscheme = \"newreno\"\n[[traffic]]\nkind = \"incast\"\nfrom = \"senders\"\n\
             to = \"receivers\"\nsenders = 400\nbytes-each = \"1KB\"\nexponential = \"15ms\"\n{keys}"
        );
        Bench::new(&text).expect("valid").planned.iter().map(|transfer| transfer.start).collect()
    };
    let whole = |start: &Time| start.ps().is_multiple_of(Time::from_ms(1).ps());
    let free = starts("");
    assert!(free.iter().any(|start| *start > Time::from_ms(30)) && !free.iter().all(whole));
    let bounded = starts("exponential-bound = \"30ms\"\nexponential-step = \"1ms\"");
    assert!(bounded.iter().all(|start| *start <= Time::from_ms(30) && whole(start)));
    // It is drawn again, and not cut: next to nothing stands at the bound.
    assert!(bounded.iter().filter(|start| **start == Time::from_ms(30)).count() < 20);
}
