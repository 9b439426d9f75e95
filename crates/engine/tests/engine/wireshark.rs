//! A capture as Wireshark's dissector reads it.
//!
//! Without tshark these tests say so and pass.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use crate::outcome::{numbers, run};
use fanin_engine::sim::Outcome;
use std::process::Command;

/// Rows of fields of every packet of a capture, or nothing without tshark.
fn dissect(outcome: &Outcome, name: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let file = std::env::temp_dir().join(format!("fanin-{name}-{}.pcapng", std::process::id()));
    std::fs::write(&file, outcome.capture.as_ref().expect("the scenario asks for a capture")).expect("a writable file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&file).args(["-d", "tcp.port==6653,openflow", "-T", "fields", "-E", "separator=;"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let output = tshark.output();
    let removed = std::fs::remove_file(&file);
    let Ok(output) = output else {
        eprintln!("skipped: there is no tshark on this machine");
        return None;
    };
    assert!(output.status.success() && removed.is_ok(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect())
}

fn lossy(transport: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nbuffer = \"20pkt\"\n[transport]\nrto-min = \"10ms\"\n{transport}\n[[traffic]]\n\
         kind = \"incast\"\nsenders = 12\nbytes-each = \"100KB\"\njitter = \"200us\"\n[measure]\ncapture = \"senders\"\nbin = \"10ms\"\n"
    ))
}

const FIELDS: [&str; 9] = [
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.dstport",
    "_ws.malformed",
    "_ws.expert.severity",
    "tcp.flags.syn",
    "tcp.options.wscale.shift",
    "tcp.options.sack_perm",
    "tcp.options.sack.count",
];

/// Severity of Wireshark's errors; warnings are one less.
const ERROR: u64 = 8_388_608;

/// Retransmissions are one of several names in Wireshark: a fast or spurious one is also a retransmission, and one
/// that comes soon after the segments that it follows is out of order instead. So these together are compared with
/// ours: exactly, for every data segment passes the captured links, but for those still on the way at the end.
#[test]
fn a_lossy_run_dissects_and_its_retransmissions_are_found() {
    let variants = ["", "sack = true", "scheme = \"dctcp\"", "sack = true\nlimited-transmit = true\nack-every = 2"];
    for (i, transport) in variants.into_iter().enumerate() {
        let outcome = lossy(transport);
        let Some(rows) = dissect(&outcome, &format!("lossy{i}"), &FIELDS) else { return };
        let data = |row: &&Vec<String>| row[2] == "5001";
        let again = rows.iter().filter(data).filter(|row| !row[0].is_empty() || !row[1].is_empty()).count() as f64;
        // The totals count up to each transfer's completion, the bins to the end of the run.
        let ours = numbers(&outcome, "bins", "retransmissions").iter().sum::<f64>();
        assert!(outcome.number("retransmissions") > 100.0 && ours >= outcome.number("retransmissions"));
        assert!(again <= ours && again >= ours - 3.0, "{again} of our {ours}, {transport}");
        for row in &rows {
            assert!(row[3].is_empty(), "malformed, {transport}: {row:?}");
            let severities = row[4].split(',').filter_map(|severity| severity.parse::<u64>().ok());
            assert!(severities.into_iter().all(|severity| severity < ERROR), "{transport}: {row:?}");
        }
    }
}

#[test]
fn handshakes_and_options_dissect() {
    let outcome = lossy("sack = true\nreceive-buffer = \"1MiB\"");
    let Some(rows) = dissect(&outcome, "options", &FIELDS) else { return };
    let syns: Vec<_> = rows.iter().filter(|row| row[5] == "1" || row[5] == "True").collect();
    assert_eq!(syns.len(), 24, "a SYN and a SYN-ACK for each of twelve flows");
    for syn in syns {
        assert_eq!(syn[6], "5", "the least shift that lets 16 bits hold a mebibyte");
        assert!(!syn[7].is_empty(), "SACK permitted");
    }
    let blocks: Vec<u32> = rows.iter().filter_map(|row| row[8].parse().ok()).collect();
    assert!(blocks.contains(&1) && blocks.contains(&2) && blocks.iter().all(|count| (1..=3).contains(count)));
}

/// A run in which every message of the scheme is sent: congestion, its end, polls, timeouts of entries.
const CONTROLLED: &str = "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\n[transport]\nscheme = \"sdtcp\"\n\
    initial-window = \"1mss\"\nreceive-buffer = \"128KiB\"\nrto-min = \"30ms\"\n[scheme.sdtcp]\nrecovery = \"50ms\"\n\
    background-age = \"20ms\"\nbackground-bytes = \"100KB\"\npoll = \"10ms\"\nidle-timeout = \"1s\"\nreevaluate = \"on-flow-change\"\n\
    [[traffic]]\nname = \"long\"\nkind = \"incast\"\nsenders = 2\nbytes-each = \"20MB\"\n[[traffic]]\nkind = \"incast\"\nsenders = 40\n\
    bytes-each = \"60KB\"\nstart = \"50ms\"\njitter = \"200us\"\n[[traffic]]\nname = \"late\"\nkind = \"incast\"\nsenders = 1\n\
    bytes-each = \"10KB\"\nstart = \"1500ms\"\n[measure]\ncapture-control = true\n[run]\nduration = \"3s\"\n";

#[test]
fn the_control_channel_dissects_as_openflow_1_3() {
    let outcome = run(CONTROLLED);
    let fields = [
        "openflow.version",
        "openflow_v4.type",
        "openflow_v4.packet_in.reason",
        "openflow_v4.flowmod.command",
        "_ws.malformed",
        "_ws.expert.severity",
        "tcp.analysis.flags",
    ];
    let Some(rows) = dissect(&outcome, "control", &fields) else { return };
    let mut kinds = std::collections::BTreeMap::<String, u32>::new();
    let (mut reasons, mut commands) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for row in &rows {
        assert!(row[4].is_empty(), "malformed: {row:?}");
        // A Packet_In shows the head of another packet, which both switches send, and without its payload.
        if row[1] != "10" {
            assert!(row[6].is_empty(), "lost, repeated or unexpected numbers: {row:?}");
            let severities = row[5].split(',').filter_map(|severity| severity.parse::<u64>().ok());
            assert!(severities.into_iter().all(|severity| severity < ERROR), "{row:?}");
        }
        assert!(row[0].split(',').all(|version| matches!(version, "" | "4" | "0x04")), "{row:?}");
        for kind in row[1].split(',').filter(|kind| !kind.is_empty()) {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        reasons.extend(row[2].split(',').filter(|reason| !reason.is_empty()).map(str::to_owned));
        commands.extend(row[3].split(',').filter(|command| !command.is_empty()).map(str::to_owned));
    }
    let all: Vec<&str> = kinds.keys().map(String::as_str).collect();
    assert_eq!(all, ["0", "10", "13", "14", "18", "19", "5", "6"], "{kinds:?}");
    let wanted = ["1", "240", "241", "242", "243"];
    assert_eq!(reasons.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "CR, CN-L, CN-M, CN-H");
    assert!(commands.len() == 3, "add, delete, delete-strict: {commands:?}");
    let messages: u32 = kinds.values().sum();
    assert_eq!(f64::from(messages), outcome.number("control_messages"));
    assert_eq!(kinds["0"], 4, "HELLO from each switch, and its answer");
}

/// Timeouts of 10 ms and more lie between these packets: times of 18.4 ms and more in picoseconds overflow in Wireshark 4.
#[test]
fn wireshark_shows_the_times_of_a_capture() {
    let outcome = lossy("");
    let Some(rows) = dissect(&outcome, "times", &["frame.time_epoch"]) else { return };
    let shown: Vec<u64> = rows.iter().map(|row| nanoseconds(&row[0])).collect();
    let end = *shown.iter().max().expect("there are packets");
    assert!(end > 18_446_744, "the run is too short to tell: {end} ns");
    let ours = times(outcome.capture.as_ref().expect("it was asked for"));
    assert_eq!(shown, ours);
}

/// Whole nanoseconds of a decimal number of seconds.
fn nanoseconds(seconds: &str) -> u64 {
    let (whole, parts) = seconds.split_once('.').expect("seconds with nine decimals");
    whole.parse::<u64>().expect("a number") * 1_000_000_000 + parts.parse::<u64>().expect("nine digits")
}

/// The times in the packet blocks of a file.
fn times(file: &[u8]) -> Vec<u64> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut found) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            found.push(u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)));
        }
        at += word(at + 4) as usize;
    }
    found
}
