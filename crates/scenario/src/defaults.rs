//! Defaults that depend on the scenario: those of the environment, its stack and its switch, and those of the schemes.
//!
//! In order of increasing precedence: the declared default, a scheme's preference, the stack or the switch, a scheme's
//! need, the file.

use crate::common::AUTO;
use crate::environment::{self, EnvironmentRow, Setting};
use fanin_param::error::SpecError;
use fanin_param::values::Values;
use fanin_schemes::{SchemeRow, Wish};

/// The source of defaults.
pub(super) struct Defaults {
    /// The key outside the tables.
    pub(super) environment: Values,
}

/// One part of an environment, and its name in a table of values.
struct Part {
    row: &'static EnvironmentRow,
    whose: String,
}

impl Part {
    fn of(key: &str, whose: String) -> Self {
        Self { row: environment::find(key), whose }
    }

    /// `values` with the defaults of the switch.
    fn of_switch(&self, table: &str, values: Values) -> Values {
        self.with(self.row.switch, table, values)
    }

    /// `values` with those of `settings` whose keys are prefixed with `table`, such as `network.`; keys that `values`
    /// lacks are skipped.
    fn with(&self, settings: &[Setting], table: &str, values: Values) -> Values {
        let named = settings.iter().filter_map(|setting| Some((setting.key.strip_prefix(table)?, setting)));
        named.fold(values, |values, (key, setting)| {
            if !values.has(key) {
                return values;
            }
            values.or(key, setting.value, format!("{}: {}", self.whose, setting.source))
        })
    }
}

impl Defaults {
    /// Defaults of the environment that a file names.
    pub(super) fn of(environment: Values) -> Self {
        Self { environment }
    }

    /// The name of the environment.
    fn named(&self) -> &'static str {
        self.environment.choice("environment")
    }
    /// The environment's own part.
    fn own(&self) -> Part {
        Part::of(self.named(), format!("environment {}", self.named()))
    }

    /// `[network]` with the defaults of its switches. Whoever gives a shared buffer wants it shared.
    pub(super) fn network(&self, network: Values) -> Values {
        let part = self.switch(&network);
        let network = part.of_switch("network.", network.settled("switch", part.row.key, part.whose.as_str()));
        if network.is_default("shared-buffer") {
            return network;
        }
        network.or("admission", "dynamic-threshold", "shared-buffer is given")
    }

    /// `[network]` with the frames of the network's scheme, as all packets have the same headers.
    pub(super) fn frames(&self, network: Values, transport: &Values, scheme: &SchemeRow) -> Values {
        let part = self.stack(transport, scheme);
        part.with(part.row.stack, "network.", network)
    }

    /// `[queue]`, or the table of a scheme that has its own queue, with the defaults of the network's switches.
    pub(super) fn queue(&self, network: &Values, table: Values) -> Values {
        self.switch(network).of_switch("queue.", table)
    }

    fn switch(&self, network: &Values) -> Part {
        match network.choice("switch") {
            AUTO => self.own(),
            key if network.is_default("switch") => Part::of(key, format!("environment {key}")),
            key => Part::of(key, format!("switch {key}")),
        }
    }

    /// `[transport]` for end points of a scheme.
    pub(super) fn transport(&self, transport: &Values, scheme: &SchemeRow) -> Result<Values, SpecError> {
        let part = self.stack(transport, scheme);
        let manual = format!("the scheme {}, whose manual page says why", scheme.key);
        let mut values = transport.clone().settled("stack", part.row.key, part.whose.as_str());
        for wish in scheme.transport {
            if let Wish::Prefers(key, value) = wish {
                values = values.or(key, value, manual.as_str());
            }
        }
        values = part.with(part.row.stack, "", values);
        for wish in scheme.transport {
            if let Wish::Needs(key, value) = wish {
                values = values.or(key, value, manual.as_str());
            }
        }
        with_mtu(values)
    }

    fn stack(&self, transport: &Values, scheme: &SchemeRow) -> Part {
        match transport.choice("stack") {
            AUTO if self.named() != environment::DEFAULT => self.own(),
            AUTO => match scheme.stack() {
                Some(key) => Part::of(key, format!("stack {key} of the scheme {}", scheme.key)),
                None => self.own(),
            },
            key => Part::of(key, format!("stack {key}")),
        }
    }
}

/// `[transport]` with `mss` as `mtu` allows if that was written, and otherwise with `mtu` as `mss` has it.
fn with_mtu(values: Values) -> Result<Values, SpecError> {
    let [mss, header, mtu] = ["mss", "header", "mtu"].map(|key| values.bytes(key).get());
    if values.is_default("mtu") {
        return Ok(values.settled("mtu", &format!("{}B", mss + header), "mss and header together"));
    }
    if values.is_default("mss") {
        let most = format!("{}B", mtu.saturating_sub(header));
        return values.clone().derived("mss", &most, "mtu less header").map_err(|message| {
            values.fail("mtu", format!("leaves {most} for mss beside a header of {header}B, which {message}"))
        });
    }
    if mss + header != mtu {
        let message = format!("is not mss and header together, which are {}B: leave out mtu or mss", mss + header);
        return Err(values.fail("mtu", message));
    }
    Ok(values)
}
