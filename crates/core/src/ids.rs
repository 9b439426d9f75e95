//! Handles: 32-bit indices, each into one table of the simulation.

use std::fmt;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        impl $name {
            /// The handle of entry `index`.
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
            /// The entry that this handle names.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

handle!(
    /// A host or a switch.
    NodeId,
    "n"
);
handle!(
    /// One direction of a cable, with the egress port that feeds it.
    LinkId,
    "l"
);
impl LinkId {
    /// The opposite direction of the cable: both are adjacent in the list of links.
    #[must_use]
    pub const fn twin(self) -> Self {
        Self::new(self.index() ^ 1)
    }
}
handle!(
    /// One direction of data on a TCP connection, with its own sequence space. Every packet names its flow.
    FlowId,
    "f"
);
handle!(
    /// One transfer of a known (or endless) number of bytes: a row of the flow table.
    TransferId,
    "t"
);
handle!(
    /// A traffic group of the scenario, in file order.
    GroupId,
    "g"
);
