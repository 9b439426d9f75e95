//! Hard scenarios for every scheme: no finite flow may be left behind, unless the run says which and why.
//!
//! Conservation is part of every run: a breach is an error. Retransmission timeouts are at least 10 ms.

use super::{Origin, Setting, settings};
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Failure, Outcome, RunError};

/// Schemes whose flows may be left behind in a scenario, and why: the run must then say that one is stuck, or count
/// those that gave up or are not complete.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("sdtcp", "controller out for good", "its switches ask the controller before they let a SYN or FIN pass")];

/// Settings that refuse traffic of the kind that is tried here.
const REFUSES: &[(&str, &str, &str)] = &[("rcce", "edge-mode", "relay-tree")];

/// A scenario of which every finite flow must complete.
struct Stress {
    network: &'static str,
    transport: &'static str,
    /// Traffic and faults.
    rest: &'static str,
    duration: &'static str,
    /// Costs much: the alternatives of each scheme are left out.
    costly: bool,
}

const STAR: &str = "topology = \"star\"\nbuffer = \"60pkt\"";
const CLOS: &str = "topology = \"clos\"\nspines = 2\nleaves = 3\nhosts-per-leaf = 260\nbuffer = \"60pkt\"";
const INCAST: &str = "[[traffic]]\nkind = \"incast\"\nsenders = 12\nbytes-each = \"60KB\"\n";

impl Default for Stress {
    fn default() -> Self {
        Self { network: STAR, transport: "", rest: INCAST, duration: "60s", costly: false }
    }
}

impl Stress {
    /// The scenario under a setting. The further settings run where there are several ways, if the scenario leaves that open.
    fn text(&self, Setting { scheme, origin, values, .. }: &Setting) -> String {
        let Self { network, transport, rest, duration, .. } = self;
        let network = if *network == STAR && *origin == Origin::Further { CLOS } else { network };
        let rows: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
        let own = if rows.is_empty() { String::new() } else { format!("[scheme.{scheme}]\n{}\n", rows.join("\n")) };
        format!(
            "{own}[network]\n{network}\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\nrto-initial = \"50ms\"\n\
             rto-after-syn-timeout = \"50ms\"\nsyn-timeout = \"50ms\"\n{transport}\n{rest}\n[run]\nduration = \"{duration}\"\n"
        )
    }

    /// Runs it in every setting of every scheme; `flows` finite flows complete, or else the error names the one that is stuck.
    /// What else `check` asks for is asked of all but alternatives.
    fn complete(&self, name: &str, flows: u32, check: impl Fn(&str, &Outcome)) {
        let mut failures = Vec::new();
        let tried = |setting: &Setting| setting.origin != Origin::Alternative || (!self.costly && !refuses(setting));
        for setting in settings().filter(tried) {
            let (scheme, text) = (setting.scheme, self.text(&setting));
            let scenario = Scenario::parse(&text, "stress.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
            match sim::run(&scenario, None) {
                Ok(outcome) => {
                    let completed = outcome.number("completed");
                    let given_up = if is_exception(scheme, name) {
                        outcome.number("failed") + outcome.number("incomplete")
                    } else {
                        0.0
                    };
                    if completed + given_up != f64::from(flows) {
                        let label = &setting.label;
                        failures.push(format!("{label}: {completed} of {flows} flows completed, and no error"));
                    }
                    if setting.origin != Origin::Alternative {
                        check(&setting.label, &outcome);
                    }
                }
                Err(Failure::Run(RunError::Stuck { .. })) if is_exception(scheme, name) => {}
                Err(error) => failures.push(format!("{}: {error}", setting.label)),
            }
        }
        assert!(
            failures.is_empty(),
            "{}\n{}",
            failures.join("\n"),
            self.text(&Setting::new("...", Origin::Defaults, "", &[]))
        );
    }
}

/// As a scenario writes it.
fn quoted(value: &str) -> String {
    if value.parse::<u64>().is_ok() || value.parse::<bool>().is_ok() {
        value.to_owned()
    } else {
        format!("\"{value}\"")
    }
}

fn is_exception(scheme: &str, name: &str) -> bool {
    EXCEPTIONS.iter().any(|(other, scenario, why)| *other == scheme && *scenario == name && !why.is_empty())
}

fn refuses(setting: &Setting) -> bool {
    REFUSES.iter().any(|(scheme, key, word)| setting.scheme == *scheme && setting.values == [(*key, *word)])
}

#[test]
fn every_syn_is_lost_at_first() {
    let rest = "[[traffic]]\nkind = \"incast\"\nsenders = 12\nbytes-each = \"60KB\"\n[[fault]]\nkind = \"link-down\"\n\
                queued = \"drop\"\nfor = \"60ms\"\n";
    Stress { rest, ..Stress::default() }.complete("lost SYNs", 12, |scheme, outcome| {
        assert!(outcome.number("drops_link_down") >= 12.0, "{scheme}");
        assert!(outcome.number("timeouts_syn") >= 12.0, "{scheme}");
    });
}

#[test]
fn five_hundred_senders_with_a_packet_each() {
    let rest = "[[traffic]]\nkind = \"incast\"\nsenders = 500\nbytes-each = \"1460B\"\njitter = \"500us\"\n";
    // What was lost together is sent again together: the SYNs meet at few places again and again, so some need many.
    let stress = Stress { rest, transport: "syn-retries = 12", duration: "200s", costly: true, ..Stress::default() };
    stress.complete("many senders", 500, |_, _| {});
}

#[test]
fn a_flow_of_one_byte() {
    let rest = "[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1B\"\n";
    Stress { rest, ..Stress::default() }.complete("one byte", 1, |scheme, outcome| {
        assert_eq!(outcome.number("timeouts"), 0.0, "{scheme}: nothing was in its way");
    });
}

#[test]
fn sizes_that_no_receiver_knows() {
    let rest = "[[traffic]]\nkind = \"incast\"\nsenders = 12\nbytes-each = \"60KB\"\nannounce-size = false\n";
    Stress { rest, ..Stress::default() }.complete("unknown sizes", 12, |_, _| {});
}

#[test]
fn packets_that_overtake_each_other() {
    let network = "topology = \"clos\"\nspines = 2\nleaves = 2\nhosts-per-leaf = 13\nbuffer = \"60pkt\"\n\
                   path-selector = \"spray\"\nflowcell = \"1460B\"";
    // One way is slower, so every other packet comes late.
    let rest = "[[traffic]]\nkind = \"incast\"\nsenders = 4\nbytes-each = \"1MB\"\n[[fault]]\nkind = \"rate\"\n\
                link = \"leaf-1->spine-0\"\nrate = \"100Mbps\"\n";
    Stress { network, rest, ..Stress::default() }.complete("reordering", 4, |scheme, outcome| {
        // Over trees they are put back in order.
        let seen = outcome.number("retransmissions") > 0.0 || scheme.ends_with("trees") || scheme.ends_with("crowded");
        assert!(seen, "{scheme}: reordering should look like loss");
    });
}

#[test]
fn a_link_that_is_down_for_50_ms() {
    for queued in ["wait", "drop"] {
        let rest =
            format!("{INCAST}[[fault]]\nkind = \"link-down\"\nat = \"2ms\"\nfor = \"50ms\"\nqueued = \"{queued}\"\n");
        Stress { rest: rest.leak(), ..Stress::default() }.complete("link down", 12, |scheme, outcome| {
            assert!(outcome.number("simulated_s") >= 0.052, "{scheme}");
        });
    }
}

#[test]
fn one_packet_in_a_hundred_is_lost_in_either_direction() {
    let rest = format!("{INCAST}[[fault]]\nkind = \"loss\"\n");
    Stress { rest: rest.leak(), ..Stress::default() }.complete("random loss", 12, |scheme, outcome| {
        assert!(outcome.number("drops_random_loss") > 0.0, "{scheme}");
    });
}

#[test]
fn a_bottleneck_that_slows_down_and_comes_back() {
    let rest = format!("{INCAST}[[fault]]\nkind = \"rate\"\nrate = \"100Mbps\"\nat = \"2ms\"\nfor = \"10ms\"\n");
    Stress { rest: rest.leak(), ..Stress::default() }.complete("rate change", 12, |_, _| {});
}

#[test]
fn a_controller_that_is_out() {
    for (name, lasts) in [("controller outage", "20ms"), ("controller out for good", "0s")] {
        let rest = format!("{INCAST}[[fault]]\nkind = \"controller-outage\"\nat = \"1ms\"\nfor = \"{lasts}\"\n");
        Stress { rest: rest.leak(), ..Stress::default() }.complete(name, 12, |_, _| {});
    }
}

#[test]
fn bursts_beside_an_endless_flow() {
    let rest = "[[traffic]]\nkind = \"background\"\n[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"20KB\"\n\
                rounds = 3\nstart = \"20ms\"\n";
    // Over a slower trunk: a lone flow whose own link is as fast as the bottleneck takes every place that becomes free in a
    // full port, for ever, and no SYN gets in.
    let network = "topology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\nbuffer = \"60pkt\"";
    Stress { network, rest, ..Stress::default() }.complete("endless flow", 60, |scheme, outcome| {
        let (all, finite) = (outcome.number("goodput_bps"), outcome.number("goodput_finite_bps"));
        assert!(all > finite, "{scheme}: the endless flow stood still");
    });
}
