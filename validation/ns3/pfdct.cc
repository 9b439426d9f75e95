// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The fanin contributors
#include "pfdct.h"

#include <algorithm>
#include <cmath>

namespace fanin
{

namespace
{

const Time SILENCE = MilliSeconds(2); // after which a flow no longer counts: longer than a full port and a round trip
const double G = 1.0 / 16;            // section 5.1
const double H = 1.0 / 16;            // the paper gives no value; ours
const uint32_t LONG_WINDOW = 20;      // segments, Algorithm 2 line 2
const uint32_t SHORT_BYTES = 10000;   // sent, the same
const uint32_t LEAST_WINDOW = 2;      // segments, as in RFC 8257

Time
SmoothedRtt(Ptr<const TcpSocketState> tcb)
{
#ifdef NS3_36
    return tcb->m_lastRtt;
#else
    return tcb->m_srtt;
#endif
}

} // namespace

Pfdct Pfdct::settings;
PfdctPort PfdctPort::port;

PfdctPort::Flow&
PfdctPort::Of(uint32_t sender)
{
    return m_flows[sender];
}

bool
PfdctPort::IsActive(const Flow& flow) const
{
    return !flow.last.IsNegative() && flow.last + SILENCE > Simulator::Now();
}

uint32_t
PfdctPort::Count() const
{
    return std::count_if(m_flows.begin(), m_flows.end(), [this](const auto& entry) { return IsActive(entry.second); });
}

double
PfdctPort::Threshold() const
{
    const Pfdct& set = Pfdct::settings;
    const double flows = Count();
    double sum = 0;
    for (const auto& [sender, flow] : m_flows)
    {
        if (IsActive(flow))
        {
            sum += flow.threshold > 0 ? flow.threshold : set.initial / flows;
        }
    }
    return set.moving ? std::clamp(sum, set.lowest, set.highest) : set.initial;
}

NS_OBJECT_ENSURE_REGISTERED(TcpPfdct);
NS_OBJECT_ENSURE_REGISTERED(PfdctQueueDisc);

TypeId
TcpPfdct::GetTypeId()
{
    static TypeId tid = TypeId("fanin::TcpPfdct").SetParent<TcpDctcp>().AddConstructor<TcpPfdct>();
    return tid;
}

std::string
TcpPfdct::GetName() const
{
    return "TcpPfdct";
}

Ptr<TcpCongestionOps>
TcpPfdct::Fork()
{
    return CopyObject<TcpPfdct>(this);
}

void
TcpPfdct::SetSender(uint32_t address)
{
    m_sender = address;
}

void
TcpPfdct::Init(Ptr<TcpSocketState> tcb)
{
    TcpDctcp::Init(tcb);
    tcb->m_ectCodePoint = TcpSocketState::NotECT; // as a short flow
}

// Algorithm 2, lines 1 to 6. A flow that has become long stays long.
void
TcpPfdct::Classify(Ptr<TcpSocketState> tcb)
{
    const uint32_t sent = tcb->m_highTxMark.Get() - SequenceNumber32(1);
    m_long = m_long || tcb->m_cWnd >= LONG_WINDOW * tcb->m_segmentSize || sent >= SHORT_BYTES;
    tcb->m_ectCodePoint = m_long ? TcpSocketState::Ect0 : TcpSocketState::NotECT;
}

// A flow's threshold is its share of the queue's, also when others come and go.
void
TcpPfdct::TakeShare()
{
    const Pfdct& set = Pfdct::settings;
    PfdctPort::Flow& own = PfdctPort::port.Of(m_sender);
    if (!m_long || !set.moving || !PfdctPort::port.IsActive(own))
    {
        return;
    }
    const double flows = PfdctPort::port.Count();
    const double share = own.threshold > 0 ? own.threshold * m_flows : set.initial;
    own.threshold = std::min(share, set.highest) / flows;
    m_flows = flows;
}

// Algorithm 2, lines 7 to 24, with Eqs. 1, 4, 5 and 15. By the order of its bounds Eq. 5 lowers the threshold while the
// queue is longer than the ideal one.
void
TcpPfdct::ManageThreshold(Ptr<TcpSocketState> tcb)
{
    const Pfdct& set = Pfdct::settings;
    const double rtt = SmoothedRtt(tcb).GetSeconds();
    const double shortest = tcb->m_minRtt.GetSeconds();
    const double window = static_cast<double>(tcb->m_cWnd.Get()) / tcb->m_segmentSize;
    const double queue = rtt > 0 ? window * std::max(0.0, rtt - shortest) / rtt : 0;
    m_averageQueue = (1 - H) * m_averageQueue + H * queue;
    const double ideal = std::max(0.0, (std::sqrt(std::max(0.0, 8 * set.packetsPerSecond * shortest - 7)) - 3) / 4);
    PfdctPort::Flow& own = PfdctPort::port.Of(m_sender);
    if (!m_long || !set.moving || own.threshold == 0 || m_averageQueue == ideal)
    {
        return;
    }
    const double next = own.threshold * m_flows + (m_averageQueue > ideal ? -set.step : set.step);
    own.threshold = std::clamp(next, set.lowest, set.highest) / m_flows;
}

// Eqs. 2 and 3, once all of a window is acknowledged. In recovery the loss has reduced the window already.
void
TcpPfdct::CloseWindow(Ptr<TcpSocketState> tcb)
{
    m_share = (1 - G) * m_share + G * m_marked / m_acked;
    ManageThreshold(tcb);
    if (m_marked > 0 && tcb->m_congState != TcpSocketState::CA_RECOVERY)
    {
        const uint32_t least = LEAST_WINDOW * tcb->m_segmentSize;
        tcb->m_cWnd = std::max(least, static_cast<uint32_t>(tcb->m_cWnd.Get() * (1 - m_share / 2)));
        tcb->m_ssThresh = tcb->m_cWnd; // which the end of state CWR makes the window
    }
    m_acked = m_marked = 0;
    m_windowEnd = tcb->m_nextTxSequence;
}

// The socket calls it for every acknowledgement, also for one that acknowledges nothing.
void
TcpPfdct::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t, const Time&)
{
    const SequenceNumber32 una = tcb->m_lastAckedSeq;
    const uint32_t acked = una > m_una ? una - m_una : 0;
    m_una = std::max(m_una, una);
    m_echo = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD;
    m_wasLong = m_long;
    TakeShare();
    m_acked += acked;
    m_marked += m_echo ? acked : 0;
    m_clean = m_marked == 0;
    m_windowOver = una > m_windowEnd;
    if (m_windowOver)
    {
        CloseWindow(tcb);
    }
    Classify(tcb);
}

// Algorithm 2, lines 28 to 31, or Eq. 3. The socket calls it neither in recovery nor in state CWR.
void
TcpPfdct::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    const double segment = tcb->m_segmentSize;
    const auto share = static_cast<uint32_t>(std::max(1.0, segment * segment / tcb->m_cWnd.Get()));
    if (Pfdct::settings.growEachAck)
    {
        // No line asks whether a segment is acknowledged: so also with the ACK that repairs a timeout.
        tcb->m_cWnd += m_clean ? share : 0;
    }
    else if (segmentsAcked > 0 && !m_wasLong)
    {
        tcb->m_cWnd += m_echo ? 0 : share;
    }
    else if (segmentsAcked > 0 && m_windowOver && m_clean)
    {
        tcb->m_cWnd += tcb->m_segmentSize;
    }
}

// A mark reduces the window at the window's end, so that state CWR changes nothing; a loss as in RFC 8257.
uint32_t
TcpPfdct::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    return tcb->m_congState == TcpSocketState::CA_RECOVERY
               ? std::max(LEAST_WINDOW * tcb->m_segmentSize, bytesInFlight / 2)
               : tcb->m_cWnd.Get();
}

// After a timeout too it has no slow start.
void
TcpPfdct::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    if (event == TcpSocketState::CA_EVENT_LOSS)
    {
        tcb->m_ssThresh = tcb->m_segmentSize;
    }
    TcpDctcp::CwndEvent(tcb, event);
}

TypeId
PfdctQueueDisc::GetTypeId()
{
    static TypeId tid = TypeId("fanin::PfdctQueueDisc").SetParent<QueueDisc>().AddConstructor<PfdctQueueDisc>();
    return tid;
}

PfdctQueueDisc::PfdctQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::NO_LIMITS)
{
}

// Algorithm 1, with the two bands of section 3.2.2: retransmissions share the one of short flows.
bool
PfdctQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    const Ipv4Header& ip = DynamicCast<Ipv4QueueDiscItem>(item)->GetHeader();
    TcpHeader tcp;
    item->GetPacket()->PeekHeader(tcp);
    const uint32_t payload = item->GetPacket()->GetSize() - tcp.GetLength() * 4;
    PfdctPort::Flow& flow = PfdctPort::port.Of(ip.GetSource().Get());
    const bool again = payload > 0 && tcp.GetSequenceNumber() < flow.highest;
    if (payload > 0)
    {
        flow.highest = std::max(flow.highest, tcp.GetSequenceNumber() + payload);
    }
    const bool ect = ip.GetEcn() != Ipv4Header::ECN_NotECT;
    if (ect)
    {
        flow.last = Simulator::Now();
    }
    const bool low = ect && !again;
    Ptr<QueueDisc> band = GetQueueDiscClass(low ? 1 : 0)->GetQueueDisc();
    const uint32_t waiting = band->GetNPackets();
    if (low && !Pfdct::settings.red && waiting < band->GetMaxSize().GetValue() && waiting > PfdctPort::port.Threshold())
    {
        Mark(item, "above K_t");
    }
    return band->Enqueue(item);
}

Ptr<QueueDiscItem>
PfdctQueueDisc::DoDequeue()
{
    Ptr<QueueDiscItem> item = GetQueueDiscClass(0)->GetQueueDisc()->Dequeue();
    return item ? item : GetQueueDiscClass(1)->GetQueueDisc()->Dequeue();
}

bool
PfdctQueueDisc::CheckConfig()
{
    return GetNQueueDiscClasses() == 2;
}

void
PfdctQueueDisc::InitializeParams()
{
}

} // namespace fanin
