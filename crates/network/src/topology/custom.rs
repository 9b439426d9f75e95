//! Any network, by the list of its cables.

use super::layers::MOST_PATHS;
use super::racks::{RECEIVER_PLACEMENT, SENDER_PLACEMENT, assign, receivers};
use super::{Demand, MAX_PORTS, Topology, TopologyRow};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::units::{Rate, Time};
use fanin_param::{Kind, Param, SpecError, Value, Values, values::quantity::read_text};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "custom",
    summary: "Any network, by the list of its cables; paths are chosen per flow among the shortest.",
    params: &[
        Param::new(
            "cables",
            Kind::Text,
            "",
            "Cables, in lines or separated by commas. \"16 hosts - leaf-0..3\" gives each of four switches 16 hosts. \
             \"leaf-0..3 - spine-0..1 40Gbps 2us\" joins each of four switches with each of two. A cable without rate \
             or delay has those of the table. A cable that is named twice is there twice.",
            "required",
        ),
        SENDER_PLACEMENT,
        RECEIVER_PLACEMENT,
    ],
    build,
};

/// The words that hosts' names begin with.
const OF_HOSTS: [&str; 3] = ["host", "sender", "receiver"];

/// The switches of a network while its cables are read.
struct Cables<'a> {
    values: &'a Values,
    network: Topology,
    switches: Vec<(String, NodeId)>,
    racks: Vec<Vec<NodeId>>,
}

fn build(values: &Values, demand: &Demand) -> Result<Topology, SpecError> {
    let mut cables =
        Cables { values, network: Topology::new(LinkId::default()), switches: Vec::new(), racks: Vec::new() };
    for item in values.text("cables").split([',', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
        cables.read(item)?;
    }
    if cables.racks.iter().all(Vec::is_empty) {
        return Err(cables.fail("names no hosts: write such as \"16 hosts - leaf-0\""));
    }
    cables.check()?;
    let Cables { mut network, mut racks, .. } = cables;
    racks.retain(|rack| !rack.is_empty());
    let receivers = receivers(&racks, values, demand);
    assign(&mut network, racks, receivers, values, demand, "cables")?;
    Ok(network)
}

impl Cables<'_> {
    fn fail(&self, message: impl Into<String>) -> SpecError {
        self.values.fail("cables", message)
    }

    /// Adds the cables of one item of the list.
    fn read(&mut self, item: &str) -> Result<(), SpecError> {
        let form = || {
            let form = "\"16 hosts - leaf-0\", or \"leaf-0..3 - spine-0..1 40Gbps 2us\"";
            self.fail(format!("\"{item}\" is no cable: write {form}"))
        };
        let (left, right) = item.split_once(" - ").ok_or_else(form)?;
        let mut words = right.split_whitespace();
        let to = words.next().ok_or_else(form)?;
        let (rate, delay) = self.rate_and_delay(item, words)?;
        if let Some(number) = left.strip_suffix("hosts").or(left.strip_suffix("host")) {
            let hosts = number.trim().parse::<usize>().map_err(|_| form())?;
            for switch in self.ends(item, to)? {
                self.add_hosts(switch, hosts, rate, delay)?;
            }
            return Ok(());
        }
        if left.trim().contains(' ') {
            return Err(form());
        }
        let (from, to) = (self.ends(item, left.trim())?, self.ends(item, to)?);
        for a in &from {
            for b in &to {
                if a == b {
                    return Err(self.fail(format!("\"{item}\" joins a switch with itself")));
                }
                self.network.add_cable(self.switches[*a].1, self.switches[*b].1, rate, delay);
            }
        }
        Ok(())
    }

    fn add_hosts(&mut self, switch: usize, hosts: usize, rate: Rate, delay: Time) -> Result<(), SpecError> {
        if self.racks.iter().map(Vec::len).sum::<usize>().saturating_add(hosts) > MAX_PORTS {
            return Err(self.fail(format!("names more than {MAX_PORTS} hosts")));
        }
        for _ in 0..hosts {
            let host = self.network.add_host(self.switches[switch].1, rate, delay);
            self.racks[switch].push(host);
        }
        Ok(())
    }

    /// What follows the ends of a cable; of what is not there, that of all links.
    fn rate_and_delay<'w>(&self, item: &str, words: impl Iterator<Item = &'w str>) -> Result<(Rate, Time), SpecError> {
        const RATE: Param = Param::new("rate", Kind::Rate, "", "Rate of a cable.", "required").at_least(1.0);
        const DELAY: Param = Param::new("delay", Kind::Time, "", "Delay of a cable.", "required");
        let (mut rate, mut delay) = (self.values.rate("rate"), self.values.time("delay"));
        for word in words {
            match (read_text(&RATE, word), read_text(&DELAY, word)) {
                (Ok(Value::Rate(given)), _) => rate = given,
                (_, Ok(Value::Time(given))) => delay = given,
                _ => {
                    let message =
                        format!("\"{word}\" in \"{item}\" is neither a rate such as 40Gbps nor a delay such as 2us");
                    return Err(self.fail(message));
                }
            }
        }
        Ok((rate, delay))
    }

    /// The switches of a word such as `leaf-0..3`; new ones are added.
    fn ends(&mut self, item: &str, word: &str) -> Result<Vec<usize>, SpecError> {
        let plain = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let (kind, numbers) = word.rsplit_once('-').unwrap_or((word, ""));
        if OF_HOSTS.contains(&kind) || OF_HOSTS.contains(&word) {
            return Err(self.fail(format!("\"{word}\" in \"{item}\" is a host: write how many, such as \"16 hosts\"")));
        }
        let names = match numbers.split_once("..").map(|(first, last)| (first.parse::<u32>(), last.parse::<u32>())) {
            Some((Ok(first), Ok(last))) if first <= last && ((last - first) as usize) < MAX_PORTS => {
                (first..=last).map(|number| format!("{kind}-{number}")).collect()
            }
            _ => vec![word.to_owned()],
        };
        if !names.iter().all(|name| plain(name)) {
            return Err(self.fail(format!("\"{word}\" in \"{item}\" names no switch: write leaf-0, or leaf-0..3")));
        }
        Ok(names.into_iter().map(|name| self.switch(name)).collect())
    }

    fn switch(&mut self, name: String) -> usize {
        if let Some(known) = self.switches.iter().position(|(other, _)| *other == name) {
            return known;
        }
        let node = self.network.add_switch(name.clone());
        self.switches.push((name, node));
        self.racks.push(Vec::new());
        self.switches.len() - 1
    }

    /// Refuses a network in parts, and one with too many paths.
    fn check(&self) -> Result<(), SpecError> {
        // Hosts are at a switch, and there are hosts.
        let (name, first) = &self.switches[0];
        let paths = self.network.shortest_paths(*first);
        if let Some((apart, _)) = self.switches.iter().find(|(_, node)| paths.count(*node) == 0) {
            return Err(self.fail(format!("no cables lead from {name} to {apart}")));
        }
        for (name, node) in &self.switches {
            if self.network.egress[node.index()].len() == 1 && self.network.trunks[node.index()].len() == 1 {
                let others: Vec<&str> =
                    self.switches.iter().map(|(other, _)| &**other).filter(|other| other != name).collect();
                return Err(self.values.unknown_name(
                    "cables",
                    &format!("{name} has one cable and no hosts"),
                    name,
                    &others,
                ));
            }
        }
        let racks = self.switches.iter().zip(&self.racks).filter(|(_, hosts)| !hosts.is_empty());
        let racks: Vec<_> = racks.map(|(switch, _)| switch).collect();
        for (name, to) in &racks {
            let paths = self.network.shortest_paths(*to);
            if let Some((from, _)) = racks.iter().find(|(_, from)| paths.count(*from) > MOST_PATHS) {
                return Err(self.fail(format!("gives more than {MOST_PATHS} paths between {name} and {from}")));
            }
        }
        Ok(())
    }
}
