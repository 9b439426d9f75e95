//! What switches and controller tell each other: words of 32 bits, the first of which says what follows.

use crate::ids::LinkId;

/// A way through a tree, as the edge switch at its beginning knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// Stands for a tree and the edge switch at the end of the way.
    pub(super) label: u32,
    /// The links from edge switch to edge switch.
    pub(super) links: Vec<LinkId>,
}

/// One port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// The links in and out.
    pub(super) cable: [LinkId; 2],
    /// A host is at the other end.
    pub(super) host: bool,
}

/// A message in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// From a switch: its ports.
    Ports(Vec<Port>),
    /// From a switch, and passed on to edges: more flows leave on a link than are welcome there, or no longer.
    Crowd {
        /// The link.
        link: LinkId,
        /// There are too many.
        crowded: bool,
    },
    /// To a switch: its ways through the trees, tree by tree; none if it has no hosts. Answers [`Message::Ports`].
    Labels(Vec<Label>),
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
                let words = |port: &Port| [number(&port.cable[0]), number(&port.cable[1]), u32::from(port.host)];
                [PORTS].into_iter().chain(ports.iter().flat_map(words)).collect()
            }
            Self::Crowd { link, crowded } => vec![CROWD, number(link), u32::from(*crowded)],
            Self::Labels(labels) => {
                let mut words = vec![LABELS];
                for Label { label, links } in labels {
                    words.extend([*label, links.len() as u32]);
                    words.extend(links.iter().map(number));
                }
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
        let (kind, mut words) = words.split_first().filter(|_| rest.is_empty())?;
        match *kind {
            PORTS => {
                let (ports, rest) = words.as_chunks::<3>();
                let port = |[from, to, host]: &[u32; 3]| Port { cable: [link(from), link(to)], host: *host != 0 };
                rest.is_empty().then(|| Self::Ports(ports.iter().map(port).collect()))
            }
            CROWD => match words {
                [number, crowded] => Some(Self::Crowd { link: link(number), crowded: *crowded != 0 }),
                _ => None,
            },
            LABELS => {
                let mut labels = Vec::new();
                while let [label, length, rest @ ..] = words {
                    let (links, rest) = rest.split_at_checked(*length as usize)?;
                    labels.push(Label { label: *label, links: links.iter().map(link).collect() });
                    words = rest;
                }
                words.is_empty().then_some(Self::Labels(labels))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let link = LinkId::new;
        let labels =
            vec![Label { label: 3, links: vec![link(4), link(9)] }, Label { label: 5, links: vec![link(70_000)] }];
        for message in [
            Message::Ports(vec![
                Port { cable: [link(1), link(0)], host: true },
                Port { cable: [link(3), link(2)], host: false },
            ]),
            Message::Crowd { link: link(8), crowded: true },
            Message::Crowd { link: link(8), crowded: false },
            Message::Labels(labels),
        ] {
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
    }

    #[test]
    fn what_is_cut_short_is_no_message() {
        let message = Message::Labels(vec![Label { label: 3, links: vec![LinkId::new(4), LinkId::new(9)] }]).encode();
        for length in [0, 3, 8, 12, 17] {
            assert_eq!(Message::decode(&message[..length]), None, "{length} bytes");
        }
        assert_eq!(Message::decode(&[0, 0, 0, 9]), None);
    }
}
