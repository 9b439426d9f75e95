//! Messages between switches and controller: words of 32 bits, the first of which is the type.

use fanin_core::ids::{LinkId, NodeId};

/// A forwarding entry of a switch: the egress link of packets with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Stands for a tree and the edge switch that the packets go to.
    pub(super) label: u32,
    /// That edge switch.
    pub(super) edge: NodeId,
    /// The link to the next switch in the tree.
    pub(super) out: LinkId,
}

/// The attachment of a host to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    /// The host.
    pub(super) host: NodeId,
    /// Its switch.
    pub(super) edge: NodeId,
    /// The link from that switch to the host.
    pub(super) link: LinkId,
}

/// The table that the controller sends to a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// One entry per tree that the switch is in and other edge switch in that tree.
    pub(super) ways: Vec<Way>,
    /// All hosts; empty for a switch without hosts.
    pub(super) attachments: Vec<Attachment>,
}

/// One port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// Its ingress and egress link.
    pub(super) cable: [LinkId; 2],
    /// The host at the other end, if there is one.
    pub(super) host: Option<NodeId>,
}

/// A message in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// From a switch: its ports.
    Ports(Vec<Port>),
    /// From a switch, and passed on to edge switches: hosts that have become crowded, or no longer are.
    Crowd {
        /// The links to these hosts.
        links: Vec<LinkId>,
        /// They have too many connections.
        crowded: bool,
    },
    /// To a switch: its table, tree by tree. Answers [`Message::Ports`].
    Labels(Table),
}

const PORTS: u32 = 0;
const CROWD: u32 = 1;
const LABELS: u32 = 2;

impl Message {
    /// The bytes of the message.
    pub(super) fn encode(&self) -> Vec<u8> {
        let number = |link: &LinkId| link.index() as u32;
        let words: Vec<u32> = match self {
            Self::Ports(ports) => {
                // A host's number is sent plus one, so 0 means no host.
                let host = |port: &Port| port.host.map_or(0, |host| host.index() as u32 + 1);
                let words = |port: &Port| [number(&port.cable[0]), number(&port.cable[1]), host(port)];
                [PORTS].into_iter().chain(ports.iter().flat_map(words)).collect()
            }
            Self::Crowd { links, crowded } => {
                [CROWD, u32::from(*crowded)].into_iter().chain(links.iter().map(number)).collect()
            }
            Self::Labels(Table { ways, attachments }) => {
                let mut words = vec![LABELS, ways.len() as u32];
                words.extend(ways.iter().flat_map(|way| [way.label, way.edge.index() as u32, number(&way.out)]));
                let attachment = |attachment: &Attachment| {
                    [attachment.host.index() as u32, attachment.edge.index() as u32, number(&attachment.link)]
                };
                words.extend(attachments.iter().flat_map(attachment));
                words
            }
        };
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    /// Reads a message; none if the bytes are not valid.
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
                let (ways, attachments) = rows.split_at_checked(*count as usize).filter(|_| rest.is_empty())?;
                let way = |[label, edge, out]: &[u32; 3]| Way { label: *label, edge: node(edge), out: link(out) };
                let attachment =
                    |[host, edge, to]: &[u32; 3]| Attachment { host: node(host), edge: node(edge), link: link(to) };
                let (ways, attachments) =
                    (ways.iter().map(way).collect(), attachments.iter().map(attachment).collect());
                Some(Self::Labels(Table { ways, attachments }))
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
        Table { ways, attachments: vec![Attachment { host: node(0), edge: node(6), link: link(9) }] }
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
