//! What a scheme's row must say for everything that reads rows.

use super::environment;
use super::read::is_word;
use fanin_core::roles::EcnMode;
use fanin_core::units::{Rate, Time};
use fanin_param::error::{Fault, Origin};
use fanin_param::values::quantity::read_text;
use fanin_param::{Param, SpecError, Values};
use fanin_schemes::{FlowFacts, NetworkFacts, NodeFacts, SchemeRow, Signal, Wish};
use fanin_tcp as tcp;

/// Markers that figures and the page can draw.
const MARKERS: &str = "o s ^ v < > D d P X p h H 8 *";

/// Refuses a row that says what cannot be.
///
/// # Errors
/// Names the scheme, and what of its row is wrong.
pub fn check_row(row: &SchemeRow) -> Result<(), SpecError> {
    let fail = |key: &str, fault: Fault| Err(Origin::file(&format!("scheme {:?}", row.key)).error(key, fault));
    if !is_word(row.key) {
        return fail("key", "must be lower-case letters, digits and hyphens, and begin with a letter".into());
    }
    if !row.manual.starts_with("# ") {
        return fail("manual", "must begin with \"# \" and what the text calls it".into());
    }
    for param in row.params.iter().filter(|param| !param.default.is_empty()) {
        if let Err(fault) = read_text(param, param.default) {
            return fail(&format!("default of {}", param.key), fault);
        }
    }
    for wish in row.transport {
        if let Err(fault) = possible(*wish, row) {
            return fail("transport", fault);
        }
    }
    let digits = row.colour.strip_prefix('#').unwrap_or("");
    if digits.len() != 6 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return fail("colour", "must be as \"#7B3F00\"".into());
    }
    if !MARKERS.split(' ').any(|marker| marker == row.marker) {
        return fail("marker", format!("must be one of {MARKERS}").into());
    }
    if row.needs.is_empty() {
        return fail("needs", "must say what it takes to deploy".into());
    }
    let scheme = (row.build)(&Values::defaults(&[row.params]));
    let (mss, rate) = (1460, Rate::from_bps(1_000_000_000));
    let (node, network) = (NodeFacts::of_any(mss, rate), NetworkFacts { base_rtt: Time::ZERO, mss });
    // Whatever reads a key that the row does not declare panics here, and not in a run.
    drop((scheme.queue(&node), scheme.window_control(&node), scheme.switch_agent(&node)));
    drop((scheme.controller(&network), scheme.path_selector(&node)));
    let sender = scheme.congestion_control(&FlowFacts::of_any(mss, rate));
    if row.reacts_to.contains(&Signal::Marks) != (sender.ecn() != EcnMode::Off) {
        return fail("reacts-to", "differs from the `ecn` of its senders about marks".into());
    }
    Ok(())
}

/// The key of `[transport]` of this name; `unknown` says that there is none.
///
/// # Errors
/// There is none; the fault names the nearest.
pub fn transport_param(key: &str, unknown: &str) -> Result<&'static Param, Fault> {
    let found = tcp::PARAMS.iter().find(|param| param.key == key);
    found.ok_or_else(|| {
        let keys: Vec<_> = tcp::PARAMS.iter().map(|param| param.key).collect();
        Fault::unknown_name(unknown, key, &keys)
    })
}

/// Whether some transport can grant this.
fn possible(wish: Wish, row: &SchemeRow) -> Result<(), Fault> {
    let (key, value) = match wish {
        Wish::Stack(key) => {
            let stacks: Vec<_> = environment::REGISTRY.iter().map(|row| row.key).collect();
            let known = stacks.contains(&key);
            return if known { Ok(()) } else { Err(Fault::unknown_name("unknown stack", key, &stacks)) };
        }
        Wish::Needs(key, value) | Wish::Prefers(key, value) => (key, value),
    };
    let param = transport_param(key, &format!("unknown key {key:?}"))?;
    // All packets of a network have the same headers. Telemetry is a matter of the network's scheme.
    if ["mss", "header"].contains(&key) && !row.reacts_to.contains(&Signal::Telemetry) {
        return Err(format!("{key} is common to the network").into());
    }
    read_text(param, value).map(|_| ())
}
