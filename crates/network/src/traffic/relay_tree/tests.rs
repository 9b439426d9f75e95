//! Tests of the pattern. Transfers complete when a test says so.

use super::*;
use fanin_core::rng::Stream;

/// The pattern; its transfers complete when the test says so.
struct Bench {
    traffic: Box<dyn Traffic>,
    senders: Vec<NodeId>,
    sent: Vec<TransferSpec>,
    stream: Stream,
}

const CLIENT: NodeId = NodeId::new(100);

impl Bench {
    fn new(values: &[(&str, &str)]) -> Self {
        let params = [("senders", "6"), ("bytes-each", "1000B"), ("edge-count", "2")];
        let params =
            params.iter().chain(values).fold(Values::defaults(&[PARAMS]), |p, (key, value)| p.with(key, value));
        let hosts = (ROW.demand)(&params).senders;
        let traffic = build(&params).expect("sound");
        let senders = (0..hosts).map(NodeId::new).collect();
        let mut bench = Self { traffic, senders, sent: Vec::new(), stream: Stream::named(1, "test") };
        bench.act(|traffic, cx| traffic.on_start(cx));
        bench
    }
    fn act(&mut self, act: impl FnOnce(&mut dyn Traffic, &mut TrafficCx<'_>)) -> Vec<TransferSpec> {
        let mut actions = Vec::new();
        let mut cx = TrafficCx {
            now: Time::from_ms(1),
            senders: &self.senders,
            receivers: &[CLIENT],
            next: TransferId::new(self.sent.len()),
            stream: &mut self.stream,
            actions: &mut actions,
        };
        act(&mut *self.traffic, &mut cx);
        let specs = actions.into_iter().filter_map(|action| match action {
            TrafficAction::Transfer(spec) => Some(spec),
            _ => None,
        });
        let specs: Vec<_> = specs.collect();
        self.sent.extend(&specs);
        specs
    }
    /// The transfers that start when transfer number `transfer` completes: from, to and bytes.
    fn complete(&mut self, transfer: usize) -> Vec<(usize, usize, u64)> {
        let specs = self.act(|traffic, cx| traffic.on_complete(cx, TransferId::new(transfer)));
        specs.iter().map(|spec| (spec.from.index(), spec.to.index(), spec.bytes.unwrap_or(0))).collect()
    }
    fn legs(&self) -> Vec<(usize, usize, u64)> {
        self.sent.iter().map(|spec| (spec.from.index(), spec.to.index(), spec.bytes.unwrap_or(0))).collect()
    }
}

#[test]
fn requests_go_down_and_one_response_of_each_aggregator_goes_up() {
    let mut bench = Bench::new(&[("edge-reduction", "0.5"), ("edge-compute", "3ms")]);
    assert_eq!(bench.legs(), [(100, 0, 200), (100, 1, 200)], "the client asks both aggregators");
    assert_eq!(bench.complete(1), [(5, 1, 1000), (6, 1, 1000), (7, 1, 1000)], "and each three workers");
    assert!(bench.sent[2..].iter().all(|spec| spec.request.is_some_and(|request| request.bytes == 200)));
    assert_eq!((bench.complete(2), bench.complete(4)), (vec![], vec![]), "which it waits for");
    assert_eq!(bench.complete(3), [(1, 100, 1500)], "half of three responses");
    assert_eq!(bench.sent[5].start, Time::from_ms(4), "after computing");
    assert_eq!(bench.complete(5), []);
}

#[test]
fn only_cut_through_has_connections_that_are_open_before() {
    let open = |values: &[(&str, &str)]| {
        let bench = Bench::new(values);
        bench.traffic.open_connections(&bench.senders, &[CLIENT])
    };
    let from = |edge| OpenConnection { number: edge, from: NodeId::new(edge as usize), to: CLIENT, asked: false };
    assert_eq!(open(&[("cut-through", "true")]), [from(0), from(1)]);
    assert_eq!(open(&[]), []);
}

#[test]
fn cut_through_passes_responses_on_as_they_come() {
    let mut bench = Bench::new(&[("cut-through", "true"), ("request", "0B")]);
    assert_eq!(bench.legs().len(), 6, "without requests workers begin at once");
    assert_eq!(bench.complete(0), [(0, 100, 1000)]);
    assert_eq!(bench.sent[6].connection, Connection::Persistent(0));
    assert_eq!((bench.complete(1), bench.complete(2)), (vec![], vec![]), "what comes meanwhile waits");
    assert_eq!(bench.complete(6), [(0, 100, 2000)]);
}

#[test]
fn a_fan_in_fills_aggregators_one_after_the_other() {
    let mut bench = Bench::new(&[("edge-fan-in", "4")]);
    assert_eq!((bench.complete(0).len(), bench.complete(1).len()), (4, 2));
    let params = [("senders", "9"), ("bytes-each", "1KB"), ("edge-count", "2"), ("edge-fan-in", "4")];
    let params = params.iter().fold(Values::defaults(&[PARAMS]), |p, (key, value)| p.with(key, value));
    assert!(build(&params).is_err(), "nine workers for two aggregators with four");
}

#[test]
fn small_responses_go_straight_to_the_client() {
    let values = [("small-senders", "2"), ("small-bytes", "100B"), ("edge-triage", "500B"), ("request", "0B")];
    let bench = Bench::new(&values);
    assert_eq!(bench.legs()[..2], [(2, 100, 100), (3, 100, 100)]);
    assert!(bench.legs()[2..].iter().all(|(_, to, bytes)| *to < 2 && *bytes == 1000));
    let mixed = Bench::new(&values[..2]);
    assert!(mixed.legs().iter().all(|(_, to, _)| *to < 2), "unless nothing is sorted");
}

#[test]
fn the_edge_gathers_sizes_by_itself() {
    // RCCE, section III.B. Two of six workers have small responses, which the edge learns in the first query.
    let mut bench = Bench::new(&[
        ("small-senders", "2"),
        ("small-bytes", "100B"),
        ("edge-triage", "500B"),
        ("edge-triage-by", "gathered"),
        ("request", "0B"),
        ("rounds", "2"),
    ]);
    assert!(bench.legs().iter().all(|(_, to, _)| *to < 2), "nothing is known");
    let mut second = Vec::new();
    for transfer in 0..8 {
        second = bench.complete(transfer);
    }
    let straight: Vec<_> = second.iter().filter(|leg| leg.1 == 100).map(|leg| leg.2).collect();
    assert_eq!((second.len(), straight), (6, vec![100, 100]), "{second:?}");
}

#[test]
fn aggregators_may_stand_last_and_there_may_be_none() {
    let bench = Bench::new(&[("edge-placement", "last")]);
    assert_eq!(bench.legs(), [(100, 6, 200), (100, 7, 200)]);
    let bench = Bench::new(&[("edge-count", "0")]);
    assert!(bench.legs().len() == 6 && bench.legs().iter().all(|leg| leg.1 == 100));
}

#[test]
fn workers_share_the_hosts_that_are_left() {
    let mut bench = Bench::new(&[("placement", "round-robin")]);
    assert_eq!(bench.senders.len(), 3);
    assert!(bench.complete(0).iter().all(|(from, to, _)| (*from, *to) == (2, 0)));
}

#[test]
fn the_next_query_waits_for_the_last_response() {
    let mut bench =
        Bench::new(&[("senders", "1"), ("edge-count", "1"), ("rounds", "2"), ("request", "0B"), ("gap", "5ms")]);
    assert!(bench.traffic.has_more());
    assert_eq!(bench.complete(0), [(0, 100, 1000)]);
    assert_eq!(bench.complete(1), [(1, 0, 1000)]);
    assert_eq!(bench.sent[2].start, Time::from_ms(6));
    assert!(!bench.traffic.has_more());
}
