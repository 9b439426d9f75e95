// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The fanin contributors
//
// A list of flows on a leaf-spine network, in ns-3: NewReno, drop-tail, every flow on a connection of its own that opens
// when the flow starts, every flow on one path that a hash chooses. Prints one line of JSON; its fields are those of
// incast.cc. The list is a CSV file as fanin reads it: start_ns, src, dst, bytes.
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint16_t PORT = 5000;
const uint32_t FIRST_ADDRESS = 0x0A000000; // host i has this + 256 i + 1
const uint32_t LARGEST_ACK = 2 + 20 + 60;  // PPP, IPv4, TCP with all options: anything larger carries data

struct Settings
{
    uint32_t leaves = 4, spines = 2, hosts = 16, buffer = 50, initialWindow = 10;
    std::string rate = "1Gbps", uplinkRate = "4Gbps", delay = "5us", flows;
    bool sack = false;
};

struct Flow
{
    Ptr<Socket> socket;
    uint32_t from = 0, to = 0;
    uint64_t size = 0, received = 0;
    Time start, end;
};

struct Counts
{
    uint64_t hops = 0, data = 0, drops = 0, timeouts = 0, retransmissions = 0;
};

Settings g_set;
Counts g_count;
std::vector<Flow> g_flows;
std::map<std::pair<uint32_t, uint16_t>, Flow*> g_flowOf; // by the sender's address and port
Time g_first, g_last;
uint32_t g_done = 0;

uint32_t
HostOf(Ipv4Address address)
{
    return (address.Get() - FIRST_ADDRESS) >> 8;
}

// SplitMix64's finish: mixes the four numbers that make a flow.
uint64_t
Mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Switches know their ports by number: hosts or leaves below, then, at a leaf, the spines.
class PortRouting : public Ipv4RoutingProtocol
{
  public:
    void AddPort(Ptr<NetDevice> device)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetOutputDevice(device);
        route->SetGateway(Ipv4Address::GetAny());
        m_routes.push_back(route);
    }

    void SetLeaf(int leaf)
    {
        m_leaf = leaf;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice>,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback&) override
    {
        uint32_t to = HostOf(header.GetDestination());
        uint32_t port = to / g_set.hosts; // at a spine: the leaf
        if (m_leaf >= 0)
        {
            port = to % g_set.hosts;
            if (static_cast<int>(to / g_set.hosts) != m_leaf)
            {
                TcpHeader tcp;
                packet->PeekHeader(tcp);
                uint64_t ends = (uint64_t{header.GetSource().Get()} << 32) | header.GetDestination().Get();
                uint64_t ports = (uint64_t{tcp.GetSourcePort()} << 16) | tcp.GetDestinationPort();
                port = g_set.hosts + Mix(Mix(ends) + ports) % g_set.spines;
            }
        }
        forward(m_routes.at(port), packet, header);
        return true;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOROUTETOHOST; // a switch sends nothing of its own
        return nullptr;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4>) override
    {
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    std::vector<Ptr<Ipv4Route>> m_routes;
    int m_leaf = -1;
};

void
OnReceive(Flow* flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        flow->received += packet->GetSize();
    }
    if (flow->received >= flow->size && flow->end.IsZero())
    {
        flow->end = g_last = Simulator::Now();
        g_done++;
    }
}

void
OnAccept(Ptr<Socket> socket, const Address& from)
{
    InetSocketAddress peer = InetSocketAddress::ConvertFrom(from);
    Flow* flow = g_flowOf.at({peer.GetIpv4().Get(), peer.GetPort()});
    socket->SetRecvCallback(MakeBoundCallback(&OnReceive, flow));
}

void
OnRto(Time before, Time after)
{
    // Only a retransmission timeout doubles the timer; everything else computes it anew.
    g_count.timeouts += after == before + before;
}

void
OnRetransmission(Ptr<const Packet>, const TcpHeader&, const Address&, const Address&, Ptr<const TcpSocketBase>)
{
    g_count.retransmissions++;
}

void
OnHop(Ptr<const Packet>)
{
    g_count.hops++;
}

void
OnDataAtHost(Ptr<const Packet> packet)
{
    g_count.data += packet->GetSize() > LARGEST_ACK;
}

void
OnDrop(Ptr<const Packet>)
{
    g_count.drops++;
}

void
StartFlow(Flow* flow, Ptr<Node> host)
{
    flow->socket = Socket::CreateSocket(host, TcpSocketFactory::GetTypeId());
    flow->socket->Bind();
    Address own;
    flow->socket->GetSockName(own);
    Ipv4Address address(FIRST_ADDRESS + (flow->from << 8) + 1);
    g_flowOf[{address.Get(), InetSocketAddress::ConvertFrom(own).GetPort()}] = flow;
    flow->socket->TraceConnectWithoutContext("RTO", MakeCallback(&OnRto));
    flow->socket->TraceConnectWithoutContext("Retransmission", MakeCallback(&OnRetransmission));
    flow->socket->Connect(InetSocketAddress(Ipv4Address(FIRST_ADDRESS + (flow->to << 8) + 1), PORT));
    flow->socket->Send(Create<Packet>(flow->size));
}

void
SetDefaults(const Settings& s)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(s.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2000000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(s.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
}

void
SetDeviceQueue(Ptr<NetDevice> device, uint32_t packets)
{
    auto queue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, packets));
}

struct Fabric
{
    NodeContainer hosts, leaves, spines;
    std::vector<Ptr<PortRouting>> leafRouting, spineRouting;
};

// Joins two nodes; the second is a switch, and the first too where `below` is its routing.
void
Join(Ptr<Node> a, Ptr<Node> b, const std::string& rate, Ptr<PortRouting> below, Ptr<PortRouting> above)
{
    static uint32_t cables = 0;
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(g_set.delay));
    NetDeviceContainer ends = link.Install(a, b);
    // A device queue does not count the packet in transmission.
    SetDeviceQueue(ends.Get(0), below ? g_set.buffer - 1 : 1000000);
    SetDeviceQueue(ends.Get(1), g_set.buffer - 1);
    Ipv4AddressHelper net(Ipv4Address(FIRST_ADDRESS + (cables++ << 8)), "255.255.255.0");
    Ipv4InterfaceContainer addresses = net.Assign(ends);
    // Assigning an address installs FQ-CoDel wherever there is no queue discipline yet.
    TrafficControlHelper control;
    control.Uninstall(ends.Get(0));
    control.Uninstall(ends.Get(1));
    if (below)
    {
        below->AddPort(ends.Get(0));
    }
    else
    {
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(a->GetObject<Ipv4>())->SetDefaultRoute(addresses.GetAddress(1), 1);
        ends.Get(0)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&OnDataAtHost));
    }
    above->AddPort(ends.Get(1));
    for (uint32_t i = 0; i < 2; i++)
    {
        ends.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnHop));
    }
}

Fabric
Build(const Settings& s)
{
    Fabric fabric;
    fabric.hosts.Create(s.leaves * s.hosts);
    fabric.leaves.Create(s.leaves);
    fabric.spines.Create(s.spines);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    auto route = [](Ptr<Node> node) {
        Ptr<PortRouting> routing = CreateObject<PortRouting>();
        node->GetObject<Ipv4>()->SetRoutingProtocol(routing);
        node->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&OnDrop));
        return routing;
    };
    for (uint32_t i = 0; i < s.leaves; i++)
    {
        fabric.leafRouting.push_back(route(fabric.leaves.Get(i)));
        fabric.leafRouting.back()->SetLeaf(i);
    }
    for (uint32_t i = 0; i < s.spines; i++)
    {
        fabric.spineRouting.push_back(route(fabric.spines.Get(i)));
    }
    // Hosts first: the address of host i follows from the number of its cable.
    for (uint32_t i = 0; i < s.leaves * s.hosts; i++)
    {
        uint32_t leaf = i / s.hosts;
        Join(fabric.hosts.Get(i), fabric.leaves.Get(leaf), s.rate, nullptr, fabric.leafRouting[leaf]);
    }
    for (uint32_t leaf = 0; leaf < s.leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < s.spines; spine++)
        {
            Join(fabric.leaves.Get(leaf),
                 fabric.spines.Get(spine),
                 s.uplinkRate,
                 fabric.leafRouting[leaf],
                 fabric.spineRouting[spine]);
        }
    }
    return fabric;
}

void
ReadFlows(const Settings& s, const Fabric& fabric)
{
    std::ifstream file(s.flows);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line))
    {
        Flow flow;
        unsigned long start, size;
        NS_ABORT_MSG_IF(sscanf(line.c_str(), "%lu,%u,%u,%lu", &start, &flow.from, &flow.to, &size) != 4, line);
        flow.size = size;
        flow.start = NanoSeconds(start);
        g_flows.push_back(flow);
    }
    NS_ABORT_MSG_IF(g_flows.empty(), "no flows");
    g_first = g_flows.front().start;
    for (Flow& flow : g_flows)
    {
        Simulator::Schedule(flow.start, &StartFlow, &flow, fabric.hosts.Get(flow.from));
    }
    for (uint32_t i = 0; i < fabric.hosts.GetN(); i++)
    {
        Ptr<Socket> listener = Socket::CreateSocket(fabric.hosts.Get(i), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&OnAccept));
    }
}

void
Report()
{
    std::vector<int64_t> fct;
    double sum = 0, bytes = 0;
    for (const Flow& flow : g_flows)
    {
        NS_ABORT_MSG_IF(flow.end.IsZero(), "a flow did not finish");
        fct.push_back((flow.end - flow.start).GetNanoSeconds());
        sum += fct.back();
        bytes += flow.size;
    }
    const int64_t first = fct.front();
    std::sort(fct.begin(), fct.end());
    const size_t rank = std::ceil(0.99 * fct.size()); // nearest rank
    const int64_t span = (g_last - g_first).GetNanoSeconds();
    printf("{\"goodput_mbps\":%.6f,\"fct_mean_ms\":%.6f,\"fct_p99_ms\":%.6f,\"last_byte_ns\":%ld,"
           "\"first_fct_ns\":%ld,\"drops\":%lu,\"marks\":0,\"timeouts\":%lu,\"retransmissions\":%lu,"
           "\"queue_mean_packets\":0.0,\"queue_max_packets\":0,\"data_packets_received\":%lu,\"packet_hops\":%lu}\n",
           bytes * 8e3 / span, sum / fct.size() * 1e-6, fct[rank - 1] * 1e-6, span, first, g_count.drops,
           g_count.timeouts, g_count.retransmissions, g_count.data, g_count.hops);
}

} // namespace

int
main(int argc, char** argv)
{
    Settings& s = g_set;
    CommandLine cmd(__FILE__);
    cmd.AddValue("leaves", "number of leaves", s.leaves);
    cmd.AddValue("spines", "number of spines", s.spines);
    cmd.AddValue("hosts", "hosts of a leaf", s.hosts);
    cmd.AddValue("buffer", "packets at a switch port, the one in transmission included", s.buffer);
    cmd.AddValue("rate", "of the hosts' links", s.rate);
    cmd.AddValue("uplink-rate", "of the links between leaves and spines", s.uplinkRate);
    cmd.AddValue("delay", "one way, of every link", s.delay);
    cmd.AddValue("initial-window", "segments", s.initialWindow);
    cmd.AddValue("sack", "selective acknowledgements", s.sack);
    cmd.AddValue("flows", "CSV file: start_ns, src, dst, bytes", s.flows);
    cmd.Parse(argc, argv);
    SetDefaults(s);
    Fabric fabric = Build(s);
    ReadFlows(s, fabric);
    Simulator::Stop(Seconds(60));
    Simulator::Run();
    Report();
    Simulator::Destroy();
    return 0;
}
