//! Selects hosts by pod, rack, number or role.
//!
//! A rack is the hosts of one switch, and racks are in the order of switches. A pod is as many racks as the topology
//! says, or all of them if it has no pods. Hosts are counted rack by rack. None of this depends on which hosts send and
//! receive.

use super::{NodeKind, Topology, twin};
use fanin_core::ids::NodeId;
use fanin_param::{SpecError, Values};

/// The word for the hosts that a traffic pattern has by default: the network's senders and receivers.
pub const BY_PART: &str = "by-part";

/// The words of a selection, and whether each has a number.
const NAMES: [(&str, bool); 8] = [
    ("all", false),
    ("senders", false),
    ("receivers", false),
    ("pod", true),
    ("rack", true),
    ("host", true),
    ("sender", true),
    ("receiver", true),
];

impl Topology {
    /// The switch of a host.
    pub fn rack_of(&self, host: NodeId) -> NodeId {
        self.end(self.uplink(host))
    }

    /// The hosts of each switch that has hosts.
    fn racks(&self) -> Vec<Vec<NodeId>> {
        let hosts = |switch: usize| {
            let ends = self.egress[switch].iter().map(|link| self.end(*link));
            ends.filter(|node| self.nodes[node.index()] == NodeKind::Host).collect::<Vec<_>>()
        };
        let switches = (0..self.nodes.len()).filter(|node| self.nodes[*node] == NodeKind::Switch);
        switches.map(hosts).filter(|rack| !rack.is_empty()).collect()
    }

    /// All hosts, rack by rack.
    pub(super) fn hosts(&self) -> Vec<NodeId> {
        self.racks().concat()
    }

    /// The hosts that `key` lists, such as `"pod-0, rack-4..7, host-3"`, in the order of first mention.
    ///
    /// # Errors
    /// The list names something that the network does not have.
    pub fn select(&self, values: &Values, key: &str) -> Result<Vec<NodeId>, SpecError> {
        let mut chosen = Vec::new();
        let mut taken = vec![false; self.nodes.len()];
        for item in values.text(key).split(',').map(str::trim) {
            for host in self.named(values, key, item)? {
                if !std::mem::replace(&mut taken[host.index()], true) {
                    chosen.push(host);
                }
            }
        }
        Ok(chosen)
    }

    /// The hosts of an item of the list.
    fn named(&self, values: &Values, key: &str, item: &str) -> Result<Vec<NodeId>, SpecError> {
        let (word, numbers) = item.split_once('-').map_or((item, None), |(word, numbers)| (word, Some(numbers)));
        if !NAMES.contains(&(word, numbers.is_some())) {
            if NAMES.contains(&(word, true)) {
                return Err(
                    values.fail(key, format!("which {word}? Write \"{word}-0\", or \"{word}-0..3\" for several"))
                );
            }
            let words: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            return Err(values.unknown_name(key, &format!("{item:?} names no hosts"), word, &words));
        }
        let single = |hosts: &[NodeId]| hosts.iter().map(|host| vec![*host]).collect::<Vec<_>>();
        let sets = match word {
            "pod" => self.pods(),
            "rack" => self.racks(),
            "sender" | "senders" => single(&self.senders),
            "receiver" | "receivers" => single(&self.receivers),
            _ => single(&self.hosts()),
        };
        let Some(numbers) = numbers else { return Ok(sets.concat()) };
        let (first, last) = numbers.split_once("..").unwrap_or((numbers, numbers));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else {
            return Err(values.fail(key, format!("{item:?} is no range: write \"{word}-0\" or \"{word}-0..3\"")));
        };
        if first > last {
            return Err(values.fail(key, format!("the range {item:?} runs backwards")));
        }
        if last >= sets.len() {
            let there = format!("{word}-0 to {word}-{}", sets.len().saturating_sub(1));
            return Err(values.fail(key, format!("the network has no {word}-{last}, only {there}")));
        }
        Ok(sets[first..=last].concat())
    }

    fn pods(&self) -> Vec<Vec<NodeId>> {
        let racks = self.racks();
        racks.chunks(racks.len().div_ceil(self.pods)).map(<[_]>::concat).collect()
    }

    /// Names hosts by number instead of role, because every group selects its own senders and receivers. The data of
    /// the first group goes to `host` first, so its port is where incast is expected.
    pub fn number_hosts(&mut self, host: NodeId) {
        let first = self.receivers[0];
        if self.bottleneck == twin(self.uplink(first)) {
            self.bottleneck = twin(self.uplink(host));
        }
        self.receivers = vec![host];
        self.senders = self.hosts().into_iter().filter(|other| *other != host).collect();
        self.numbered = true;
    }
}
