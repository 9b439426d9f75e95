//! Devices, addresses, routes and queueing disciplines of the current network namespace, by netlink.

use netlink_packet_core::{
    DefaultNla, Emitable, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteNextHop, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// An attribute of a device or a queueing discipline.
#[derive(Clone)]
pub(crate) enum Own {
    U8(u8),
    U32(u32),
    U64(u64),
}

/// Attributes with numbers from 1 on.
fn numbered(values: &[Own]) -> impl Iterator<Item = DefaultNla> {
    let bytes = |value: &Own| match value {
        Own::U8(value) => value.to_le_bytes().to_vec(),
        Own::U32(value) => value.to_le_bytes().to_vec(),
        Own::U64(value) => value.to_le_bytes().to_vec(),
    };
    (1..).zip(values).map(move |(number, value)| DefaultNla::new(number, bytes(value)))
}

/// Attributes as they stand in a message.
fn packed(values: &[Own]) -> Vec<u8> {
    let attributes: Vec<DefaultNla> = numbered(values).collect();
    let mut bytes = vec![0; attributes.as_slice().buffer_len()];
    attributes.as_slice().emit(&mut bytes);
    bytes
}

/// A network namespace's netlink socket.
pub(crate) struct Netlink {
    socket: Socket,
}

/// A device to add.
pub(crate) struct Device<'a> {
    pub(crate) name: &'a str,
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: u32,
    /// Packets that its queueing discipline holds, if that is Linux's own.
    pub(crate) queue: u32,
    /// Segments and bytes of the largest packet that TCP hands to it.
    pub(crate) gso: (u32, u32),
    /// Bytes of the largest packet that is merged.
    pub(crate) gro: u32,
    pub(crate) own: &'a [Own],
}

impl Netlink {
    /// Of the namespace that the caller is in.
    pub(crate) fn open() -> io::Result<Self> {
        let socket = Socket::new(NETLINK_ROUTE)?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Sends a request and waits for its acknowledgement; `what` is what it does, for the error.
    fn ask(&self, what: &str, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.exchange(message, flags).map_err(|error| io::Error::other(format!("{what}: {error}")))
    }

    fn exchange(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answer = Vec::with_capacity(4096);
        self.socket.recv(&mut answer, 0)?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(|error| io::Error::other(error.to_string()))?;
        match answer.payload {
            NetlinkPayload::Error(error) => error.code.map_or(Ok(()), |_| Err(error.to_io())),
            _ => Ok(()),
        }
    }

    /// Starts the device with this index.
    pub(crate) fn start(&self, index: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.ask("starting a device", RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Adds one end of a cable.
    pub(crate) fn add(&self, device: &Device<'_>) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.attributes = vec![
            LinkAttribute::IfName(device.name.to_owned()),
            LinkAttribute::Address(device.mac.to_vec()),
            LinkAttribute::Mtu(device.mtu),
            LinkAttribute::TxQueueLen(device.queue),
            LinkAttribute::GsoMaxSegs(device.gso.0),
            LinkAttribute::GsoMaxSize(device.gso.1),
            LinkAttribute::GroMaxSize(device.gro),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Other("cable".to_owned())),
                LinkInfo::Data(InfoData::Other(packed(device.own))),
            ]),
        ];
        self.ask("adding a cable", RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Gives a device its only address.
    pub(crate) fn address(&self, index: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = index;
        message.attributes =
            vec![AddressAttribute::Local(IpAddr::V4(address)), AddressAttribute::Address(IpAddr::V4(address))];
        self.ask("adding an address", RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Routes to an address, or without one everything, by devices; if there are several, by a hash of the connection.
    pub(crate) fn route(&self, to: Option<Ipv4Addr>, devices: &[u32], metrics: Vec<RouteMetric>) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        if let Some(address) = to {
            message.header.destination_prefix_length = 32;
            message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(address)));
        }
        if let [device] = devices {
            message.attributes.push(RouteAttribute::Oif(*device));
        } else {
            let hop = |device: &u32| {
                let mut hop = RouteNextHop::default();
                hop.interface_index = *device;
                hop
            };
            message.attributes.push(RouteAttribute::MultiPath(devices.iter().map(hop).collect()));
        }
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.ask("adding a route", RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Gives a device a queueing discipline.
    pub(crate) fn discipline(&self, index: u32, kind: &str, own: &[Own]) -> io::Result<()> {
        let mut message = TcMessage::default();
        message.header.family = AddressFamily::Unspec;
        message.header.index = index as i32;
        message.header.parent = TcHandle::ROOT;
        message.header.handle = TcHandle { major: 1, minor: 0 };
        message.attributes.push(TcAttribute::Kind(kind.to_owned()));
        if !own.is_empty() {
            let options = numbered(own).map(TcOption::Other).collect();
            message.attributes.push(TcAttribute::Options(options));
        }
        self.ask("adding a queue", RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_REPLACE)
    }
}
