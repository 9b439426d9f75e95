//! What switches and controller tell each other: words of 32 bits, the first of which says what follows.

use crate::ids::{LinkId, NodeId};

/// Where packets with a label leave a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Stands for a tree and the edge switch at the end of the way.
    pub(super) label: u32,
    /// That edge switch.
    pub(super) edge: NodeId,
    /// The link to the next switch of the tree.
    pub(super) out: LinkId,
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The host.
    pub(super) host: NodeId,
    /// Its switch.
    pub(super) edge: NodeId,
    /// The link to it from there.
    pub(super) link: LinkId,
}

/// What the controller tells a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// One way for each tree that the switch is in and each other edge switch there.
    pub(super) ways: Vec<Way>,
    /// All hosts; none for a switch that has none itself.
    pub(super) places: Vec<Place>,
}

/// One port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// The links in and out.
    pub(super) cable: [LinkId; 2],
    /// The host at the other end, if there is one.
    pub(super) host: Option<NodeId>,
}

/// A message in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// From a switch: its ports.
    Ports(Vec<Port>),
    /// From a switch, and passed on to edges: hosts behind it have more connections than are welcome, or no longer.
    Crowd {
        /// The links to these hosts.
        links: Vec<LinkId>,
        /// There are too many.
        crowded: bool,
    },
    /// To a switch: its ways through the trees, tree by tree. Answers [`Message::Ports`].
    Labels(Table),
}

const PORTS: u32 = 0;
const CROWD: u32 = 1;
const LABELS: u32 = 2;

impl Message {
    /// As it travels.
    pub(super) fn encode(&self) -> Vec<u8> {
        let number = |link: &LinkId| link.index() as u32;
        let words: Vec<u32> = match self {
            Self::Ports(ports) => {
                // No node has the number 0 here.
                let host = |port: &Port| port.host.map_or(0, |host| host.index() as u32 + 1);
                let words = |port: &Port| [number(&port.cable[0]), number(&port.cable[1]), host(port)];
                [PORTS].into_iter().chain(ports.iter().flat_map(words)).collect()
            }
            Self::Crowd { links, crowded } => {
                [CROWD, u32::from(*crowded)].into_iter().chain(links.iter().map(number)).collect()
            }
            Self::Labels(Table { ways, places }) => {
                let mut words = vec![LABELS, ways.len() as u32];
                words.extend(ways.iter().flat_map(|way| [way.label, way.edge.index() as u32, number(&way.out)]));
                let place = |place: &Place| [place.host.index() as u32, place.edge.index() as u32, number(&place.link)];
                words.extend(places.iter().flat_map(place));
                words
            }
        };
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    /// What was encoded; none if it is nothing of the kind.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_be_bytes(*word)).collect();
        let link = |word: &u32| LinkId::new(*word as usize);
        let node = |word: &u32| NodeId::new(*word as usize);
        let (kind, words) = words.split_first().filter(|_| rest.is_empty())?;
        match *kind {
            PORTS => {
                let (ports, rest) = words.as_chunks::<3>();
                let port = |[from, to, host]: &[u32; 3]| Port {
                    cable: [link(from), link(to)],
                    host: host.checked_sub(1).map(|host| node(&host)),
                };
                rest.is_empty().then(|| Self::Ports(ports.iter().map(port).collect()))
            }
            CROWD => match words {
                [crowded, links @ ..] => {
                    Some(Self::Crowd { links: links.iter().map(link).collect(), crowded: *crowded != 0 })
                }
                [] => None,
            },
            LABELS => {
                let (count, words) = words.split_first()?;
                let (rows, rest) = words.as_chunks::<3>();
                let (ways, places) = rows.split_at_checked(*count as usize).filter(|_| rest.is_empty())?;
                let way = |[label, edge, out]: &[u32; 3]| Way { label: *label, edge: node(edge), out: link(out) };
                let place = |[host, edge, to]: &[u32; 3]| Place { host: node(host), edge: node(edge), link: link(to) };
                let (ways, places) = (ways.iter().map(way).collect(), places.iter().map(place).collect());
                Some(Self::Labels(Table { ways, places }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let (link, node) = (LinkId::new, NodeId::new);
        let ways =
            vec![Way { label: 3, edge: node(6), out: link(4) }, Way { label: 5, edge: node(0), out: link(70_000) }];
        Table { ways, places: vec![Place { host: node(0), edge: node(6), link: link(9) }] }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let link = LinkId::new;
        for message in [
            Message::Ports(vec![
                Port { cable: [link(1), link(0)], host: Some(NodeId::new(0)) },
                Port { cable: [link(3), link(2)], host: None },
            ]),
            Message::Crowd { links: vec![link(8)], crowded: true },
            Message::Crowd { links: vec![link(8), link(11)], crowded: false },
            Message::Labels(table()),
            Message::Labels(Table::default()),
        ] {
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
    }

    #[test]
    fn what_is_cut_short_is_no_message() {
        let message = Message::Labels(table()).encode();
        for length in [0, 3, 4, 8, 12, 17] {
            assert_eq!(Message::decode(&message[..length]), None, "{length} bytes");
        }
        assert_eq!(Message::decode(&[0, 0, 0, 9]), None);
    }
}
