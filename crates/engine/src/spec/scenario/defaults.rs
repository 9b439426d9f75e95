//! Defaults that depend on the scenario: those of the environment, its stack and its switch, and those of the schemes.
//!
//! In order of increasing precedence: the declared default, a scheme's preference, the stack or the switch, a scheme's
//! need, the file.

use crate::environment::{self, EnvironmentRow, Setting};
use crate::schemes::{SchemeRow, Wish};
use crate::spec::common::AUTO;
use crate::spec::values::Values;

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

    /// `values` with the defaults of the switch, whose keys are prefixed with `table`, such as `network.`; keys that
    /// `values` lacks are skipped.
    fn of_switch(&self, table: &str, values: Values) -> Values {
        let settings = self.row.switch.iter();
        let named = settings.filter_map(|setting| Some((setting.key.strip_prefix(table)?, setting)));
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
    pub(super) fn transport(&self, transport: &Values, scheme: &SchemeRow) -> Values {
        let part = self.stack(transport, scheme);
        let manual = format!("the scheme {}, whose manual page says why", scheme.key);
        let mut values = transport.clone().settled("stack", part.row.key, part.whose.as_str());
        for wish in scheme.transport {
            if let Wish::Prefers(key, value) = wish {
                values = values.or(key, value, manual.as_str());
            }
        }
        let (following, fixed): (Vec<&Setting>, Vec<&Setting>) =
            part.row.stack.iter().partition(|setting| values.has(setting.value));
        for setting in fixed {
            values = values.or(setting.key, setting.value, format!("{}: {}", part.whose, setting.source));
        }
        for wish in scheme.transport {
            if let Wish::Needs(key, value) = wish {
                values = values.or(key, value, manual.as_str());
            }
        }
        // Last: they have what the file, or a need, has given to another key.
        for setting in following {
            let value = values.time(setting.value).to_string();
            values = values.or(setting.key, &value, format!("{}: {}", part.whose, setting.source));
        }
        values
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
