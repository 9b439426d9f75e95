//! The values of the environments, written down a second time: a change of any of them moves published figures.

use crate::environment::REGISTRY;

/// What an environment sets: key and value, one a line, keys of `[transport]` without prefix.
const VALUES: &[(&str, &str)] = &[
    ("rfc", ""),
    (
        "qualnet",
        "
mss = 512B
receive-buffer = 16384B
window-scale = 0
ack-every = 2
ack-delay = 200ms
rto-backoff-reset = sample
sack = false
limited-transmit = false
network.buffer = 150000B
",
    ),
    (
        "ns3-2020",
        "
mss = 536B
header = 52B
initial-window = 10mss
receive-buffer = 131072B
ack-every = 2
ack-delay = 200ms
quickack = 1
duplicate-ack-threshold = 3
sack = true
loss-detection = dup-ack
limited-transmit = true
rtt-clock = 1ms
like = ns3.31
window-validation = false
rto-min = 1s
rto-initial = 1s
rto-granularity = 1ms
rto-backoff-reset = new-ack
rto-after-syn-timeout = 1s
syn-timeout = 3s
syn-retries = 6
ecn-syn = true
ecn-retransmit = true
ecn-ack = true
network.buffer-counts = waiting
network.device-queue = 100pkt
network.ties = scheduled
network.non-ect = drop
queue.red-weight = 0.002
queue.red-max-p = 0.02
queue.red-gentle = true
queue.red-wait = true
queue.red-hard-drop = true
",
    ),
    (
        "ns3-2022",
        "
mss = 536B
header = 52B
initial-window = 10mss
receive-buffer = 131072B
ack-every = 2
ack-delay = 200ms
quickack = 1
duplicate-ack-threshold = 3
sack = true
loss-detection = dup-ack
limited-transmit = true
rtt-clock = 1ms
like = ns3.36
window-validation = false
rto-min = 1s
rto-initial = 1s
rto-granularity = 1ms
rto-backoff-reset = new-ack
rto-after-syn-timeout = 1s
syn-timeout = 3s
syn-retries = 6
ecn-syn = true
ecn-retransmit = true
ecn-ack = true
growth-after-echo = false
network.buffer-counts = waiting
network.device-queue = 100pkt
network.ties = scheduled
network.non-ect = drop
queue.red-weight = 0.002
queue.red-max-p = 0.02
queue.red-gentle = true
queue.red-wait = true
queue.red-hard-drop = true
",
    ),
    (
        "ns3.18-rdtcp",
        "
mss = 1446B
header = 54B
initial-window = 1mss
initial-ssthresh = 65535B
receive-buffer = 128KiB
window-scale = 0
window-validation = false
ack-every = 1
sack = false
limited-transmit = false
duplicate-ack-window = any
like = ns3.18-rdtcp
rto-backoff-reset = sample
ecn-retransmit = true
rto-min = 10ms
rto-initial = 10ms
rto-after-syn-timeout = 10ms
syn-timeout = 10ms
network.buffer = 120000B
network.buffer-full = reached
network.buffer-counts = waiting
network.ties = waiting-first
",
    ),
    (
        "mininet-2.2",
        "
mss = 1448B
header = 52B
initial-window = 10mss
receive-buffer = 87380B
ack-every = 2
ack-delay = 40ms
quickack = 16
sack = true
loss-detection = linux-3.16
limited-transmit = true
rto-min = 200ms
rto-initial = 1s
rto-max = 120s
rto-granularity = 4ms
rto-backoff-limit = 15
rto-backoff-reset = new-ack
syn-timeout = 1s
syn-retries = 6
window-validation = true
growth-after-echo = false
byte-counting = slow-start
small-queue = 128KiB
idle-restart = true
network.buffer-counts = waiting
network.host-jitter = 10us
network.non-ect = drop
queue.red-min = 20
queue.red-max = 23.333333
queue.red-weight = 0.5
queue.red-max-p = 1
queue.red-drop = true
",
    ),
    (
        "linux-6.12",
        "
mss = 1448B
header = 52B
initial-window = 10mss
receive-buffer = 3MiB
window-scale = 7
ack-policy = linux
ack-every = 2
ack-delay = 40ms
quickack = 16
sack = true
loss-detection = linux
tail-loss-probe = true
rto-min = 200ms
rto-granularity = 1ms
rto-initial = 1s
rto-max = 120s
open-rtt = idle-path
syn-timeout = 1s
syn-retries = 10
window-validation = true
byte-counting = on
interrupt-interval = 8us
gro = 64KiB
tso = 64KiB
pacing = off
small-queue = 1MiB
host-queue = 1000
network.frame-overhead = 38B
",
    ),
];

#[test]
fn every_environment_has_the_values_written_down_here() {
    let names: Vec<_> = REGISTRY.iter().map(|row| row.key).collect();
    assert_eq!(names, VALUES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (row, (_, values)) in REGISTRY.iter().zip(VALUES) {
        let settings = row.stack.iter().chain(row.switch);
        let found: Vec<_> = settings.map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
        let written: Vec<_> = values.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(found, written, "{}: describe the change in the changelog, then correct this table", row.key);
    }
}
