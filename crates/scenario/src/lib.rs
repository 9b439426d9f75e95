//! A whole scenario: what is simulated.
//!
//! A scenario is TOML. Every key is declared once as a [`Param`](fanin_param::Param): in [`common`] if every scenario
//! has it, else next to the code that uses it, in the registry row of its scheme, topology, queue or traffic pattern or
//! in [`fanin_tcp::PARAMS`]. [`Scenario::parse`] checks a file against these declarations, and [`json_schema`]
//! publishes them.
//!
//! | file | what |
//! |---|---|
//! | [`common`] | the keys that every scenario has, and the selectors of the others |
//! | `read.rs` | from a file to a scenario |
//! | [`environment`] | the defaults of the tools in which papers were run |
//! | `defaults.rs` | what a file leaves to the environment and the schemes |
//! | `resolved.rs` | the scenario in print, with every value in effect |
//! | `schema.rs` | the declarations as JSON Schema |

pub mod common;
mod defaults;
pub mod environment;
mod read;
mod resolved;
mod row;
mod schema;
#[cfg(test)]
mod tests;

pub use resolved::{ResolvedRow, Unused};
pub use row::{check_row, transport_param};
pub use schema::json_schema;

use common::{CONTROL, MEASURE, RUN, Variants};
use defaults::Defaults;
use fanin_core::units::Time;
use fanin_network::queue;
use fanin_network::traffic::TrafficGroup;
use fanin_param::{Document, Files, SpecError, TIERS, Values};
use fanin_schemes as schemes;
use fanin_tcp as tcp;
use read::{Reader, variant};

/// Top-level keys of a scenario file that the engine reads. It ignores all others.
pub const KEYS: &[&str] =
    &["environment", "network", "queue", "transport", "scheme", "traffic", "fault", "control", "measure", "run"];

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The key outside the tables: `environment`.
    environment: Values,
    /// `[network]`, of the kind given by its key `topology`.
    pub network: Selected,
    /// `[queue]`, of the kind given by its key `kind`, which may be `auto`.
    pub queue: Selected,
    /// `[transport]`, with the defaults of its stack and the network's scheme.
    pub transport: Values,
    /// `[[traffic]]`, at least one, in file order.
    pub traffic: Vec<TrafficGroup>,
    /// `[[fault]]`, in file order.
    pub faults: Vec<ScenarioFault>,
    /// `[control]`.
    pub control: Values,
    /// `[measure]`.
    pub measure: Values,
    /// `[run]`.
    pub run: Values,
    /// The files that it names.
    pub files: Files,
    /// Whether the queues on the way to the client of each incast are measured as well, so that any of them may be told
    /// after the run (`Outcome::observe`).
    pub queues_on_the_way: bool,
    /// `[scheme.<key>]` of every scheme, in registry order.
    schemes: Vec<(&'static str, Values)>,
    /// `[transport]` with the defaults of every scheme in use, in registry order.
    transports: Vec<(&'static str, Values)>,
}

/// A table whose keys depend on its kind.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The registry key, or `auto`.
    pub kind: &'static str,
    /// Every value of the table, including that of the selector.
    pub values: Values,
}

/// One `[[fault]]`.
#[derive(Clone, Debug)]
pub struct ScenarioFault {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The registry key of its kind.
    pub kind: &'static str,
    /// Its other values.
    pub values: Values,
}

impl Scenario {
    /// Reads the scenario in `text`, after writing `overrides` into it: pairs of a dotted key path and a value, such as
    /// `("traffic.bursts.senders", "10")`. Errors name the text `file`.
    ///
    /// # Errors
    /// The first mistake in the text or the overrides, together with every unknown key and every value that is not of
    /// its kind.
    pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, SpecError> {
        Self::of(&Document::parse(text, file)?, overrides)
    }

    /// Reads the scenario in a file that is parsed, as [`Scenario::parse`] does.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn of(document: &Document, overrides: &[(String, String)]) -> Result<Self, SpecError> {
        let root = document.with(KEYS, overrides)?;
        let reader = Reader { root: &root, file: &document.file };
        let read = reader.top_level().and_then(|()| Self::read(&reader));
        let scenario = read.map_err(|mut first| {
            let others = reader.mistakes().into_iter();
            first.more = others.filter(|other| !other.is_same_as(&first)).collect();
            first
        })?;
        scenario.check_relations()?;
        Ok(scenario)
    }

    fn read(reader: &Reader<'_>) -> Result<Self, SpecError> {
        let defaults = Defaults::of(reader.environment()?);
        let mut network = variant(&Variants::network(), &reader.source("network")?)?;
        let mut queue = variant(&Variants::queue(), &reader.source("queue")?)?;
        network.values = defaults.network(network.values).follow(None)?;
        queue.values = defaults.queue(&network.values, queue.values).follow(Some(&network.values))?;
        let transport = reader.table("transport", &[common::scheme(), tcp::PARAMS])?;
        let traffic = reader.traffic()?;
        let network_scheme = transport.choice("scheme");
        let mut used = vec![network_scheme];
        used.extend(traffic.iter().filter_map(|group| group.scheme));
        network.values = defaults.frames(network.values, &transport, schemes::find(network_scheme));
        let rows = schemes::all().filter(|row| used.contains(&row.key));
        let transports = rows.map(|row| Ok((row.key, defaults.transport(&transport, row)?)));
        let transports = transports.collect::<Result<_, SpecError>>()?;
        let transports = with_one_packet_size(transports, network_scheme);
        let schemes = reader.schemes(&used)?.into_iter();
        let schemes = schemes
            .map(|(key, values)| Ok((key, defaults.queue(&network.values, values).follow(Some(&network.values))?)));
        let schemes = schemes.collect::<Result<_, SpecError>>()?;
        Ok(Self {
            environment: defaults.environment,
            network,
            queue,
            transport: of_scheme(&transports, network_scheme).clone(),
            transports,
            traffic,
            schemes,
            faults: reader.faults()?,
            control: reader.table("control", &[CONTROL])?,
            measure: reader.table("measure", &[MEASURE])?,
            run: reader.table("run", &[RUN])?,
            files: Files::default(),
            queues_on_the_way: false,
        })
    }

    /// The same scenario, with files opened by `files`.
    #[must_use]
    pub fn with_files(mut self, files: Files) -> Self {
        self.files = files;
        self
    }

    /// The same scenario, which also measures the queues on the way to the client of each incast, if totals are all that it
    /// asks of one. To measure all queues of a fabric doubles the time of a run.
    #[must_use]
    pub fn with_queues_on_the_way(mut self) -> Self {
        let measure = &self.measure;
        let records = measure.time("bin") > Time::ZERO
            || !measure.is("queue-trace", "off")
            || ["capture", "crossings"].iter().any(|key| measure.is(key, "bottleneck"));
        self.queues_on_the_way = measure.is("queues", "bottleneck") && !records;
        self
    }

    /// The same scenario with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.run = self.run.with("seed", &seed.to_string());
        self
    }

    /// Checks conditions between keys.
    fn check_relations(&self) -> Result<(), SpecError> {
        for (_, transport) in &self.transports {
            if transport.time("rto-max") < transport.time("rto-min") {
                let least = transport.time("rto-min");
                return Err(transport.fail("rto-max", format!("must be at least rto-min, which is {least}")));
            }
        }
        self.check_tiers()?;
        queue::check(self.queue.kind, &self.queue.values)?;
        for tier in TIERS {
            queue::check(self.queue.kind, &self.queue.values.at_tier(tier))?;
        }
        if self.measure.time("warmup") >= self.run.time("duration") {
            let end = self.run.time("duration");
            return Err(self.measure.fail("warmup", format!("must be below run.duration, which is {end}")));
        }
        Ok(())
    }

    /// Refuses values for the ports of a tier that the topology lacks.
    fn check_tiers(&self) -> Result<(), SpecError> {
        let schemes = self.used_schemes().map(|(_, values)| values);
        for values in schemes.chain([&self.queue.values]) {
            for (tier, key) in values.tiers() {
                let rate = format!("{tier}-rate");
                if !self.network.values.has(&rate) {
                    let message = format!("the topology {} has no cables of {rate}", self.network.kind);
                    return Err(values.fail(&key, message));
                }
            }
        }
        Ok(())
    }

    /// The longest simulated time of a run.
    pub fn longest(&self) -> Time {
        let waits = self.traffic.iter().any(|group| group.values.is_steady("start"));
        let before = if waits { self.run.time("steady-limit") } else { Time::ZERO };
        self.run.time("duration") + before
    }

    /// The parameters of the scheme called `key`.
    ///
    /// # Panics
    /// If no scheme is registered under that key.
    pub fn scheme(&self, key: &str) -> &Values {
        of_scheme(&self.schemes, key)
    }

    /// `[transport]` for end points of the scheme called `key`, with that scheme's defaults.
    ///
    /// # Panics
    /// If neither the network nor a traffic group names that scheme.
    pub fn transport_of(&self, key: &str) -> &Values {
        of_scheme(&self.transports, key)
    }

    /// `[transport]` for the end points of every scheme in use, in registry order.
    pub fn transports(&self) -> impl Iterator<Item = &(&'static str, Values)> {
        self.transports.iter()
    }

    /// The scheme of the network.
    pub fn scheme_key(&self) -> &'static str {
        self.transport.choice("scheme")
    }

    /// Every table but those of schemes.
    fn tables(&self) -> impl Iterator<Item = &Values> {
        let head = [&self.network.values, &self.queue.values, &self.transport].into_iter();
        let listed =
            self.traffic.iter().map(|group| &group.values).chain(self.faults.iter().map(|fault| &fault.values));
        head.chain(listed).chain([&self.control, &self.measure, &self.run])
    }

    /// The schemes that the network or a traffic group names, in registry order.
    fn used_schemes(&self) -> impl Iterator<Item = &(&'static str, Values)> {
        let is_used = |key| key == self.scheme_key() || self.traffic.iter().any(|group| group.scheme == Some(key));
        self.schemes.iter().filter(move |(key, _)| is_used(*key))
    }
}

/// The same tables of `[transport]`, by scheme, with segments and headers as the network's scheme has them: all packets of a
/// network have the same headers, whatever stack the scheme of a group brings.
fn with_one_packet_size(tables: Vec<(&'static str, Values)>, network: &str) -> Vec<(&'static str, Values)> {
    let whole = of_scheme(&tables, network).clone();
    let source = format!("that of the network's scheme, {network}");
    let share = |(scheme, values): (&'static str, Values)| {
        let shared = ["mtu", "mss", "header"].iter().filter(|_| scheme != network).fold(values, |values, key| {
            let size = whole.bytes(key);
            if values.bytes(key) == size { values } else { values.settled(key, &size.to_string(), source.as_str()) }
        });
        (scheme, shared)
    };
    tables.into_iter().map(share).collect()
}

/// The values of one scheme.
fn of_scheme<'a>(all: &'a [(&'static str, Values)], key: &str) -> &'a Values {
    let found = all.iter().find(|(scheme, _)| *scheme == key);
    &found.unwrap_or_else(|| panic!("no scheme {key:?}")).1
}
