//! Completion times that can be computed by hand, exact to the picosecond.
//!
//! Everything is at 1 Gbps, where a byte takes 8 ns, with cables of 25 us and headers of 40 bytes.

use crate::outcome::{numbers, ps, run};

const BYTE: u64 = 8_000;
const CABLE: u64 = 25_000_000;
const HEADER: u64 = 40;
const MSS: u64 = 1460;

struct Path {
    topology: &'static str,
    cables: u64,
}

const PATHS: [Path; 2] = [Path { topology: "star", cables: 2 }, Path { topology: "two-switch", cables: 3 }];

impl Path {
    /// One packet alone over all cables.
    fn cross(&self, size: u64) -> u64 {
        self.cables * (CABLE + size * BYTE)
    }

    /// Packets back to back, one after the other over each cable: when the last arrives.
    fn cross_all(&self, sizes: &[u64]) -> u64 {
        let mut at = vec![0; sizes.len()];
        for _ in 0..self.cables {
            let mut free = 0;
            for (at, size) in at.iter_mut().zip(sizes) {
                free = free.max(*at) + size * BYTE;
                *at = free + CABLE;
            }
        }
        at[at.len() - 1]
    }

    fn run(&self, bytes: u64, traffic: &str, transport: &str) -> (u64, u64) {
        let outcome = run(&format!(
            "[network]\ntopology = \"{}\"\ndelay = \"25us\"\nbuffer = \"10000pkt\"\n[transport]\n{transport}\n[[traffic]]\n\
             kind = \"incast\"\nsenders = 1\nbytes-each = \"{bytes}B\"\nstart = \"1ms\"\n{traffic}\n",
            self.topology
        ));
        assert!(numbers(&outcome, "flows", "slowdown")[0] >= 1.0);
        (ps(numbers(&outcome, "flows", "fct_s")[0]), ps(numbers(&outcome, "flows", "ideal_s")[0]))
    }
}

/// The sizes of the segments of a transfer on the wire.
fn segments(bytes: u64) -> Vec<u64> {
    let full = std::iter::repeat_n(MSS + HEADER, (bytes / MSS) as usize);
    full.chain((!bytes.is_multiple_of(MSS)).then_some(bytes % MSS + HEADER)).collect()
}

const SIZES: [u64; 7] = [1, 100, 1459, 1460, 1461, 14_600, 100_000];

#[test]
fn a_lone_flow_within_its_window_is_ideal() {
    for path in &PATHS {
        for bytes in SIZES {
            let (fct, ideal) = path.run(bytes, "", "initial-window = \"100mss\"");
            let handshake = 2 * path.cross(HEADER);
            let data: Vec<u64> = [HEADER].into_iter().chain(segments(bytes)).collect();
            assert_eq!(fct, handshake + path.cross_all(&data), "{bytes} bytes, {}", path.topology);
            assert_eq!(ideal, fct, "{bytes} bytes, {}", path.topology);
        }
    }
}

#[test]
fn a_lone_flow_on_an_open_connection_has_no_handshake() {
    for path in &PATHS {
        for bytes in SIZES {
            let (fct, ideal) = path.run(bytes, "connections = \"persistent\"", "initial-window = \"100mss\"");
            assert_eq!(fct, path.cross_all(&segments(bytes)), "{bytes} bytes, {}", path.topology);
            assert_eq!(ideal, fct);
        }
    }
}

#[test]
fn a_request_comes_first() {
    for path in &PATHS {
        for request in [1, 200, 5000] {
            let asked = format!("request = \"{request}B\"\nthink = \"7us\"");
            let (fct, ideal) = path.run(20_000, &asked, "initial-window = \"100mss\"");
            let first: Vec<u64> = [HEADER].into_iter().chain(segments(request)).collect();
            let ask = 2 * path.cross(HEADER) + path.cross_all(&first);
            assert_eq!(fct, ask + 7_000_000 + path.cross_all(&segments(20_000)));
            assert_eq!(ideal, fct);
            let open = format!("{asked}\nconnections = \"persistent\"");
            let (fct, ideal) = path.run(20_000, &open, "initial-window = \"100mss\"");
            assert_eq!(fct, path.cross_all(&segments(request)) + 7_000_000 + path.cross_all(&segments(20_000)));
            assert_eq!(ideal, fct);
        }
    }
}

#[test]
fn ideal_time_knows_the_slowest_link() {
    // Behind a trunk of 100 Mbps segments leave at its pace, whatever comes before and after it.
    let outcome = run(
        "[network]\ntopology = \"two-switch\"\ndelay = \"25us\"\ntrunk-rate = \"100Mbps\"\nbuffer = \"10000pkt\"\n\
         [transport]\ninitial-window = \"100mss\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"15000B\"\n",
    );
    let (fct, ideal) = (numbers(&outcome, "flows", "fct_s")[0], numbers(&outcome, "flows", "ideal_s")[0]);
    let slow = 10 * BYTE;
    let handshake = 2 * (3 * CABLE + 2 * HEADER * BYTE + HEADER * slow);
    // Header and first segment enter at once: the trunk has passed on the header before the first segment is there.
    let data = HEADER * BYTE + 1500 * BYTE + 10 * 1500 * slow + 440 * slow + 440 * BYTE + 3 * CABLE;
    assert_eq!(ps(fct), handshake + data);
    assert_eq!(ps(ideal), ps(fct));
}

#[test]
fn an_ideal_time_costs_nothing_however_long_the_transfer() {
    let outcome =
        run("[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1TB\"\n\
         [run]\nduration = \"1ms\"\n");
    assert!((numbers(&outcome, "flows", "ideal_s")[0] / 8219.0 - 1.0).abs() < 0.01);
}

/// Slow start without loss and with an acknowledgement per segment: a window of `w` goes out back to back, its
/// acknowledgements come back a round trip after each segment and let out two each. So the windows double, round by
/// round, until one fills the pipe; then segments follow each other without a pause.
///
/// Round `r` begins when the first acknowledgement of the round before arrives. While `2 w` segments take less than
/// a round trip, the sender is idle between rounds, and each pair leaves when its acknowledgement comes; these come
/// one segment apart, but pairs take two: the round lasts `2 w` segments from its first acknowledgement.
fn slow_start(path: &Path, count: u64, initial: u64) -> u64 {
    let segment = (MSS + HEADER) * BYTE;
    let round_trip = path.cross(MSS + HEADER) + path.cross(HEADER);
    // When the interface has sent the last segment so far, and the first segment of the present round began.
    let mut sent = initial.min(count);
    let mut begin = 0;
    let mut busy = sent * segment;
    let mut window = initial;
    while sent < count {
        // The first acknowledgement of the round lets two segments out.
        begin += round_trip;
        let start = begin.max(busy);
        window *= 2;
        let now = window.min(count - sent);
        busy = start + now * segment;
        begin = start;
        sent += now;
    }
    busy + path.cross(MSS + HEADER) - segment
}

#[test]
fn slow_start_doubles_round_by_round() {
    for path in &PATHS {
        for initial in [1, 2, 3, 4, 10] {
            for count in [1, 2, 3, 5, 6, 7, 14, 15, 16] {
                let transport = format!("initial-window = \"{initial}mss\"");
                let (fct, _) = path.run(count * MSS, "connections = \"persistent\"", &transport);
                // Rounds that fit a round trip: 16 segments take 192 us, a round trip of two cables 125 us.
                if path.cables == 3 || initial + count <= 15 {
                    assert_eq!(fct, slow_start(path, count, initial), "{count} from {initial}, {}", path.topology);
                }
            }
        }
    }
}

#[test]
fn a_handshake_moves_slow_start_and_changes_nothing_else() {
    let path = &PATHS[1];
    let (open, _) = path.run(20 * MSS, "connections = \"persistent\"", "initial-window = \"2mss\"");
    let (fresh, _) = path.run(20 * MSS, "", "initial-window = \"2mss\"");
    // Its last packet delays the first window by its own transmission, and with it all that follows.
    assert_eq!(fresh, open + 2 * path.cross(HEADER) + HEADER * BYTE);
}

/// What a link carries of a lone flow's data is the share of a frame that is data: iperf's 941 Mbit/s of a gigabit.
#[test]
fn a_lone_flow_of_linux_carries_what_ethernet_leaves() {
    for (hosts, data, frame) in [
        ("scheme = \"linux\"", 1448.0, 1538.0),
        ("stack = \"linux-6.12\"\nmtu = \"1500B\"", 1448.0, 1538.0),
        ("scheme = \"linux-reno\"\nmtu = \"9000B\"", 8948.0, 9038.0),
        ("stack = \"rfc\"", 1460.0, 1500.0),
    ] {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\nbuffer = \"1MB\"\n[transport]\n{hosts}\n[[traffic]]\nkind = \"background\"\n\
             flows = 1\n[measure]\nwarmup = \"500ms\"\n[run]\nduration = \"1500ms\"\n"
        ));
        let share = outcome.number("goodput_bps") / 1e9;
        assert!((share / (data / frame) - 1.0).abs() < 1e-4, "{share} of the link with {hosts}, not {data}/{frame}");
    }
}
