// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The fanin contributors
//
// Incast on a star, in ns-3: N senders -> switch -> receiver, every link point-to-point with the same rate and
// delay. All connections are open before t0; each sender then hands its whole answer to TCP at t0 + jitter.
// Prints one line of JSON. The definitions of its fields stand in docs/validation/ns3.md.
#include "pfdct.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const Time T0 = Seconds(1);
const double PACKET = 1500;               // bytes, of C in PFDCT's Eq. 15
const uint32_t LARGEST_ACK = 2 + 20 + 60; // PPP, IPv4, TCP with all options: anything larger carries data

struct Settings
{
    uint32_t senders = 10;
    uint64_t size = 512000;
    std::string tcp = "newreno"; // newreno | dctcp (as ns-3 has it) | dctcp-rfc (see RfcDctcp) | pfdct
    bool sack = false;
    std::string recovery = "classic"; // classic (RFC 5681/6675: cwnd = ssthresh at once) | prr (ns-3's default)
    uint32_t buffer = 100;            // packets at each switch port, the one in transmission included
    uint32_t k = 20;                  // DCTCP: mark the packet that finds k or more at the port, same count
    uint32_t device = 0; // packets of the device's queue; buffer and k then count those above it only
    bool red = false;    // gentle RED between 20 and 60 packets (ns-3's dctcp-example) in place of the step at k
    std::string rate = "1Gbps";
    std::string delay = "25us";
    uint32_t mss = 1460;
    uint32_t initialWindow = 10;
    uint32_t ackEvery = 1;
    bool limitedTransmit = true;
    bool timestamps = false;
    double minRtoMs = 10;
    double granularityMs = 1;
    uint64_t jitterNs = 100000;
    uint64_t seed = 1;
    uint32_t tieNoiseNs = 0; // a sender's packet takes 1 to so many ns longer, drawn anew for each
    std::string starts; // file of start offsets in ns, one per sender, instead of the drawn ones
    bool measure = true; // false: hook nothing but the receiver's byte count, to time ns-3 itself
};

// ns-3's DCTCP scales its reaction to LOSS by alpha too, and lets the window fall below one segment, where
// the sender is silent until its retransmission timer fires. RFC 8257 section 3.5 wants losses handled as in
// RFC 5681, and every deployed DCTCP keeps two segments. This one does both, to tell those two deviations of
// ns-3 from differences between the simulators.
class RfcDctcp : public TcpDctcp
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("fanin::RfcDctcp").SetParent<TcpDctcp>().AddConstructor<RfcDctcp>();
        return tid;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t inFlight) override
    {
        const uint32_t least = 2 * tcb->m_segmentSize;
        m_half = std::max(least, inFlight / 2);
        // Fast recovery changes the state before it asks; a timeout tells us afterwards, in CwndEvent.
        return tcb->m_congState == TcpSocketState::CA_RECOVERY
                   ? m_half
                   : std::max(least, TcpDctcp::GetSsThresh(tcb, inFlight));
    }

    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override
    {
        if (event == TcpSocketState::CA_EVENT_LOSS)
        {
            tcb->m_ssThresh = m_half;
        }
        TcpDctcp::CwndEvent(tcb, event);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<RfcDctcp>(this);
    }

  private:
    uint32_t m_half = 0;
};

NS_OBJECT_ENSURE_REGISTERED(RfcDctcp);

// ns-3.36 is given callbacks by value.
#ifdef NS3_36
template <typename T>
using Given = T;
#else
template <typename T>
using Given = const T&;
#endif

// Routing for the switch: host i is behind port i. ns-3's static routing looks through every route and every
// interface for each packet, which at 100 ports is half of a run's time and says nothing about the simulator.
class PortRouting : public Ipv4RoutingProtocol
{
  public:
    static uint32_t Network(uint32_t port)
    {
        return 0x0A000000 + (port << 8);
    }

    void AddPort(Ptr<NetDevice> device)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetOutputDevice(device);
        route->SetGateway(Ipv4Address::GetAny());
        m_routes.push_back(route);
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice>,
                    Given<UnicastForwardCallback> forward,
                    Given<MulticastForwardCallback>,
                    Given<LocalDeliverCallback>,
                    Given<ErrorCallback>) override
    {
        forward(m_routes.at((header.GetDestination().Get() - Network(0)) >> 8), packet, header);
        return true;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOROUTETOHOST; // the switch sends nothing of its own
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
};

struct Flow
{
    Ptr<Socket> socket;
    uint64_t received = 0;
    Time start, end;
    bool done = false;
};

// What one run counts, from t0 on.
struct Counts
{
    uint64_t hops = 0, data = 0, drops = 0, marks = 0, timeouts = 0, retransmissions = 0, events = 0;
    // The switch's port towards the receiver: packets waiting and in transmission.
    uint32_t queue = 0, queueMax = 0;
    Time queueSince;
    double queueArea = 0; // packets x seconds
    double queueAreaAtEnd = 0;
};

Settings g_set;
Counts g_count;
std::vector<Flow> g_flows;
std::map<uint32_t, Flow*> g_flowOf; // by the sender's address
uint32_t g_unfinished = 0;
Time g_lastByte;

void
SetQueue(int change)
{
    Time now = Simulator::Now();
    g_count.queueArea += g_count.queue * (now - std::max(g_count.queueSince, T0)).GetSeconds();
    g_count.queueSince = now;
    g_count.queue += change;
    g_count.queueMax = std::max(g_count.queueMax, g_count.queue);
}

void
OnReceive(Flow* flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        flow->received += packet->GetSize();
    }
    if (!flow->done && flow->received >= g_set.size)
    {
        flow->done = true;
        flow->end = g_lastByte = Simulator::Now();
        if (--g_unfinished == 0)
        {
            SetQueue(0);
            g_count.queueAreaAtEnd = g_count.queueArea;
        }
    }
}

void
OnAccept(Ptr<Socket> socket, const Address& from)
{
    Flow* flow = g_flowOf.at(InetSocketAddress::ConvertFrom(from).GetIpv4().Get());
    socket->SetRecvCallback(MakeBoundCallback(&OnReceive, flow));
}

void
StartFlow(Flow* flow)
{
    int taken = flow->socket->Send(Create<Packet>(g_set.size));
    NS_ABORT_MSG_IF(taken != static_cast<int>(g_set.size), "the send buffer did not take the whole answer");
}

void
OnRto(Flow* flow, Time before, Time after)
{
    // Only a retransmission timeout doubles the timer; everything else computes it anew. Once the receiver has all, only
    // the timer of a delayed acknowledgement is longer than the sender's.
    g_count.timeouts += !flow->done && after == before + before;
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
OnDataAtReceiver(Ptr<const Packet> packet)
{
    g_count.data += packet->GetSize() > LARGEST_ACK;
}

void
OnPortIn(Ptr<const Packet>)
{
    SetQueue(+1);
}

void
OnPortOut(Ptr<const Packet>)
{
    SetQueue(-1);
}

void
OnDiscIn(Ptr<const QueueDiscItem>)
{
    SetQueue(+1);
}

void
OnDrop(Ptr<const Packet>)
{
    g_count.drops++;
}

void
OnDiscDrop(Ptr<const QueueDiscItem>)
{
    g_count.drops++;
}

void
OnHostDrop(Ptr<const Packet>)
{
    NS_ABORT_MSG("a host dropped a packet: its queue is meant to be unbounded");
}

void
OnMark(Ptr<const QueueDiscItem>, const char*)
{
    g_count.marks++;
}

// The handshakes are no part of the measurement.
void
OnT0()
{
    uint32_t queue = g_count.queue;
    g_count = Counts();
    g_count.queue = g_count.queueMax = queue;
    g_count.queueSince = T0;
    g_count.events = Simulator::GetEventCount();
}

// The generator behind the jitter: SplitMix64, so that the starts are the same with any ns-3.
uint64_t
Draw(uint64_t& state)
{
    uint64_t x = state += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

std::vector<uint64_t>
Starts()
{
    std::vector<uint64_t> starts;
    if (!g_set.starts.empty())
    {
        std::ifstream file(g_set.starts);
        for (uint64_t ns; file >> ns;)
        {
            starts.push_back(ns);
        }
        NS_ABORT_MSG_IF(starts.size() != g_set.senders, "the file of starts needs one line per sender");
        return starts;
    }
    uint64_t state = g_set.seed;
    for (uint32_t i = 0; i < g_set.senders; i++)
    {
        starts.push_back(g_set.jitterNs ? Draw(state) % g_set.jitterNs : 0);
    }
    return starts;
}

void
SetDefaults(const Settings& s)
{
    TypeId tcp = s.tcp == "newreno"     ? TcpNewReno::GetTypeId()
                 : s.tcp == "dctcp"     ? TcpDctcp::GetTypeId()
                 : s.tcp == "dctcp-rfc" ? RfcDctcp::GetTypeId()
                 : s.tcp == "pfdct"     ? fanin::TcpPfdct::GetTypeId()
                                        : TypeId();
    NS_ABORT_MSG_IF(tcp == TypeId(), "--tcp is newreno, dctcp, dctcp-rfc or pfdct");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(tcp));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(s.recovery == "prr" ? TcpPrrRecovery::GetTypeId()
                                                       : TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(s.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(s.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(s.ackEvery));
    // Buffers that never limit the window.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(s.size + 1000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(s.size + 1000000));
    // After its default of six timeouts in a row ns-3 gives a connection up, which deep incast reaches.
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(s.minRtoMs * 1e-3)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(Seconds(s.granularityMs * 1e-3)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(s.sack));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(s.limitedTransmit));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(s.timestamps));
}

// RED as a step: mark every packet that finds k or more at the port. The average is the instantaneous length
// (QW = 1) and both thresholds are equal; Gentle, on by default, would mark with a probability that reaches 1
// only at twice the threshold. RED sees neither the packet in transmission nor the one that waits in the
// device, hence the 2 where the buffer counts them.
void
SetMarking(TrafficControlHelper& helper, const Settings& s)
{
    const uint32_t below = s.device > 0 ? 0 : 2;
    NS_ABORT_MSG_IF(s.k < 2 + below, "RED never marks with fewer than two packets in its queue");
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(s.red));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1.0));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(s.red ? 20 : s.k - below));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(s.red ? 60 : s.k - below));
    const QueueSizeValue room(QueueSize(QueueSizeUnit::PACKETS, s.buffer - below));
    if (s.tcp != "pfdct")
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", room);
        return;
    }
    const uint16_t root = helper.SetRootQueueDisc("fanin::PfdctQueueDisc");
    for (uint16_t band : helper.AddQueueDiscClasses(root, 2, "ns3::QueueDiscClass"))
    {
        helper.AddChildQueueDisc(root, band, s.red ? "ns3::RedQueueDisc" : "ns3::FifoQueueDisc", "MaxSize", room);
    }
}

void
SetDeviceQueue(Ptr<NetDevice> device, uint32_t packets)
{
    auto queue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, packets));
}

#ifndef NS3_36 // where callbacks are no functions
// Packets of several senders that would reach the switch at one instant come in an order that is drawn anew for each, as
// the delay of a link is read when a transmission begins. Acknowledgements take the same link back without noise.
void
DrawTies(Ptr<NetDevice> host, Ptr<NetDevice> port, uint64_t seed)
{
    Ptr<Channel> channel = host->GetChannel();
    const Time delay = Time(g_set.delay);
    auto state = std::make_shared<uint64_t>(seed);
    host->TraceConnectWithoutContext("PhyTxBegin", Callback<void, Ptr<const Packet>>([=](Ptr<const Packet>) {
        const Time noise = NanoSeconds(1 + Draw(*state) % g_set.tieNoiseNs);
        channel->SetAttribute("Delay", TimeValue(delay + noise));
    }));
    port->TraceConnectWithoutContext("PhyTxBegin", Callback<void, Ptr<const Packet>>([=](Ptr<const Packet>) {
        channel->SetAttribute("Delay", TimeValue(delay));
    }));
}
#endif

struct Star
{
    NodeContainer senders, hub, receiver;
    NetDeviceContainer devices;
    Ptr<NetDevice> port;   // the switch's port towards the receiver
    Ptr<QueueDisc> disc;   // its queue discipline, if it has one
    std::vector<Ipv4Address> address; // of each host, the receiver last
};

Star
Build(const Settings& s)
{
    Star star;
    star.senders.Create(s.senders);
    star.hub.Create(1);
    star.receiver.Create(1);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(s.rate));
    link.SetChannelAttribute("Delay", StringValue(s.delay));
    const bool marking = s.tcp != "newreno";
    TrafficControlHelper control;
    SetMarking(control, s);
    Ipv4StaticRoutingHelper hostRouting;
    Ptr<PortRouting> switchRouting = CreateObject<PortRouting>();
    star.hub.Get(0)->GetObject<Ipv4>()->SetRoutingProtocol(switchRouting);
    for (uint32_t i = 0; i <= s.senders; i++)
    {
        Ptr<Node> host = i < s.senders ? star.senders.Get(i) : star.receiver.Get(0);
        NetDeviceContainer ends = link.Install(host, star.hub.Get(0));
        star.devices.Add(ends);
        star.port = ends.Get(1);
        SetDeviceQueue(ends.Get(0), 1000000);
#ifndef NS3_36
        if (s.tieNoiseNs > 0 && i < s.senders)
        {
            DrawTies(ends.Get(0), ends.Get(1), s.seed * 1000 + i);
        }
#endif
        // A device queue does not count the packet in transmission.
        SetDeviceQueue(ends.Get(1), s.device > 0 ? s.device : marking ? 1 : s.buffer - 1);
        // The port towards the receiver is the last. PFDCT's switch knows that one only; no other ever marks.
        if (marking && (s.tcp != "pfdct" || i == s.senders))
        {
            star.disc = control.Install(ends.Get(1)).Get(0);
        }
        Ipv4AddressHelper net(Ipv4Address(PortRouting::Network(i)), "255.255.255.0");
        Ipv4InterfaceContainer addresses = net.Assign(ends);
        star.address.push_back(addresses.GetAddress(0));
        switchRouting->AddPort(ends.Get(1));
        hostRouting.GetStaticRouting(host->GetObject<Ipv4>())->SetDefaultRoute(addresses.GetAddress(1), 1);
        // Assigning an address installs FQ-CoDel wherever there is no queue discipline yet.
        control.Uninstall(ends.Get(0));
        if (!marking || (s.tcp == "pfdct" && i < s.senders))
        {
            control.Uninstall(ends.Get(1));
        }
    }
    return star;
}

void
Hook(const Star& star)
{
    for (uint32_t i = 0; i < star.devices.GetN(); i++)
    {
        star.devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnHop));
    }
    for (uint32_t i = 0; i < star.senders.GetN(); i++)
    {
        star.senders.Get(i)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                       MakeCallback(&OnHostDrop));
    }
    star.receiver.Get(0)->GetDevice(1)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&OnDataAtReceiver));
    star.port->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnPortOut));
    if (star.disc)
    {
        star.disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&OnDiscIn));
        star.disc->TraceConnectWithoutContext("Drop", MakeCallback(&OnDiscDrop));
        star.disc->TraceConnectWithoutContext("Mark", MakeCallback(&OnMark));
    }
    else
    {
        // A full device queue is "stopped": the drop happens above it, in the traffic control layer.
        star.port->TraceConnectWithoutContext("MacTx", MakeCallback(&OnPortIn));
        star.port->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&OnHostDrop));
        star.hub.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                  MakeCallback(&OnDrop));
    }
    for (Flow& flow : g_flows)
    {
        flow.socket->TraceConnectWithoutContext("RTO", MakeBoundCallback(&OnRto, &flow));
        flow.socket->TraceConnectWithoutContext("Retransmission", MakeCallback(&OnRetransmission));
    }
}

void
OpenFlows(const Star& star)
{
    const uint16_t port = 5000;
    Ptr<Socket> listener = Socket::CreateSocket(star.receiver.Get(0), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&OnAccept));
    const std::vector<uint64_t> starts = Starts();
    g_flows.resize(g_set.senders);
    g_unfinished = g_set.senders;
    for (uint32_t i = 0; i < g_set.senders; i++)
    {
        Flow* flow = &g_flows[i];
        flow->socket = Socket::CreateSocket(star.senders.Get(i), TcpSocketFactory::GetTypeId());
        if (g_set.tcp == "pfdct")
        {
            Ptr<fanin::TcpPfdct> sender = CreateObject<fanin::TcpPfdct>();
            sender->SetSender(star.address[i].Get());
            DynamicCast<TcpSocketBase>(flow->socket)->SetCongestionControlAlgorithm(sender);
        }
        flow->start = T0 + NanoSeconds(starts[i]);
        g_flowOf[star.address[i].Get()] = flow;
        InetSocketAddress to(star.address.back(), port);
        Ptr<Socket> socket = flow->socket;
        // Apart, so that no SYN is lost: ns-3 would wait 3 s to send another.
        Simulator::Schedule(MicroSeconds(500) * (i + 1), [socket, to]() { socket->Connect(to); });
        // Send() lets TCP begin one time step later.
        Simulator::Schedule(flow->start - TimeStep(1), &StartFlow, flow);
    }
}

double
CpuSeconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

void
Report(double cpu)
{
    std::vector<int64_t> fct;
    for (const Flow& flow : g_flows)
    {
        NS_ABORT_MSG_IF(!flow.done, "a flow did not finish");
        fct.push_back((flow.end - flow.start).GetNanoSeconds());
    }
    std::sort(fct.begin(), fct.end());
    double sum = 0;
    for (int64_t ns : fct)
    {
        sum += ns;
    }
    const size_t rank = std::ceil(0.99 * fct.size()); // nearest rank
    const int64_t span = (g_lastByte - T0).GetNanoSeconds();
    const Settings& s = g_set;
    printf("{\"senders\":%u,\"size\":%lu,\"tcp\":\"%s\",\"sack\":%s,\"recovery\":\"%s\",\"seed\":%lu,"
           "\"goodput_mbps\":%.6f,\"fct_mean_ms\":%.6f,\"fct_p99_ms\":%.6f,\"last_byte_ns\":%ld,"
           "\"first_fct_ns\":%ld",
           s.senders, s.size, s.tcp.c_str(), s.sack ? "true" : "false", s.recovery.c_str(), s.seed,
           s.size * s.senders * 8e3 / span, sum / fct.size() * 1e-6, fct[rank - 1] * 1e-6, span,
           (g_flows[0].end - g_flows[0].start).GetNanoSeconds());
    if (s.measure)
    {
        printf(",\"drops\":%lu,\"marks\":%lu,\"timeouts\":%lu,\"retransmissions\":%lu,"
               "\"queue_mean_packets\":%.6f,\"queue_max_packets\":%u,\"data_packets_received\":%lu,"
               "\"packet_hops\":%lu",
               g_count.drops, g_count.marks, g_count.timeouts, g_count.retransmissions,
               g_count.queueAreaAtEnd / (span * 1e-9), g_count.queueMax, g_count.data, g_count.hops);
    }
    printf(",\"events\":%lu,\"cpu_s\":%.4f}\n", Simulator::GetEventCount() - g_count.events, cpu);
}

} // namespace

int
main(int argc, char** argv)
{
    Settings& s = g_set;
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "number of senders", s.senders);
    cmd.AddValue("size", "bytes each sender answers", s.size);
    cmd.AddValue("tcp", "newreno (drop-tail) | dctcp | dctcp-rfc | pfdct (these marking)", s.tcp);
    cmd.AddValue("sack", "selective acknowledgements", s.sack);
    cmd.AddValue("recovery", "classic | prr", s.recovery);
    cmd.AddValue("buffer", "packets at a switch port, the one in transmission included", s.buffer);
    cmd.AddValue("k", "marking threshold in packets, same count", s.k);
    cmd.AddValue("device", "packets of the device's queue, below --buffer; 0: the buffer has all", s.device);
    cmd.AddValue("red", "gentle RED between 20 and 60 packets, not a step", s.red);
    cmd.AddValue("grow-each-ack", "PFDCT: with each ACK, not once a window", fanin::Pfdct::settings.growEachAck);
    cmd.AddValue("moving", "PFDCT: the threshold follows Eq. 5", fanin::Pfdct::settings.moving);
    cmd.AddValue("rate", "of every link", s.rate);
    cmd.AddValue("delay", "one way, of every link", s.delay);
    cmd.AddValue("mss", "payload bytes of a full segment", s.mss);
    cmd.AddValue("initial-window", "segments", s.initialWindow);
    cmd.AddValue("ack-every", "segments per acknowledgement", s.ackEvery);
    cmd.AddValue("limited-transmit", "RFC 3042", s.limitedTransmit);
    cmd.AddValue("timestamps", "RTTs by the timestamp option, in ms", s.timestamps);
    cmd.AddValue("min-rto", "ms", s.minRtoMs);
    cmd.AddValue("granularity", "of the retransmission timer, ms", s.granularityMs);
    cmd.AddValue("jitter", "senders start uniformly in [t0, t0 + jitter), ns", s.jitterNs);
    cmd.AddValue("seed", "of the jitter", s.seed);
    cmd.AddValue("tie-noise", "each packet of a sender takes 1 to so many ns longer, drawn by the seed", s.tieNoiseNs);
    cmd.AddValue("starts", "file of start offsets in ns, instead of jitter and seed", s.starts);
    cmd.AddValue("measure", "false: only the receiver's bytes, to time ns-3 itself", s.measure);
    cmd.Parse(argc, argv);
    fanin::Pfdct::settings.red = s.red;
    fanin::Pfdct::settings.packetsPerSecond = DataRate(s.rate).GetBitRate() / 8.0 / PACKET;

    SetDefaults(s);
    Star star = Build(s);
    OpenFlows(star);
    if (s.measure)
    {
        Hook(star);
    }
    Simulator::Schedule(T0, &OnT0);
    Simulator::Stop(T0 + Seconds(600)); // a guard: without a fault, the run ends when nothing is left to do
    double before = CpuSeconds();
    Simulator::Run();
    Report(CpuSeconds() - before);
    Simulator::Destroy();
    return 0;
}
