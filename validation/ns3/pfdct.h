// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The fanin contributors
//
// PFDCT (Li et al., Electronics 2023, 12(8), 1890) for ns-3: Algorithm 1's switch and Algorithm 2's sender. The paper
// leaves open how a sender's threshold reaches the switch, and the number of flows the sender: here both share memory.
#ifndef FANIN_PFDCT_H
#define FANIN_PFDCT_H

#include "ns3/internet-module.h"
#include "ns3/traffic-control-module.h"

#include <map>

namespace fanin
{

using namespace ns3;

// What a run chooses, and the values of section 5.1. Packets, of the whole queue.
struct Pfdct
{
    bool growEachAck = false; // Algorithm 2 lines 28 to 31; or Eq. 3, once a window
    bool moving = true;       // Eq. 5; or the first threshold throughout
    bool red = false;         // both bands are ns-3's RED, by fixed thresholds; or a step at K_t
    double lowest = 20;
    double highest = 60;
    double initial = 20;
    double step = 1;              // of Eq. 5, which prints none
    double packetsPerSecond = 0;  // C of Eq. 15
    static Pfdct settings;
};

// The long flows of the port towards the receiver, and what it has seen of all flows; by the sender's address.
class PfdctPort
{
  public:
    struct Flow
    {
        SequenceNumber32 highest{0}; // one past the last number seen: Algorithm 1, lines 1 to 6
        Time last{Time::Min()};      // of a long flow's packet
        double threshold = 0;        // 0: none told yet
    };

    Flow& Of(uint32_t sender);
    bool IsActive(const Flow& flow) const;
    uint32_t Count() const;     // N
    double Threshold() const;   // the sum of the flows' K_t (N K_t = Q, Eq. 7), within the limits of section 5.1

    static PfdctPort port;

  private:
    std::map<uint32_t, Flow> m_flows;
};

class TcpPfdct : public TcpDctcp
{
  public:
    static TypeId GetTypeId();
    std::string GetName() const override;
    Ptr<TcpCongestionOps> Fork() override;
    void SetSender(uint32_t address);

    void Init(Ptr<TcpSocketState> tcb) override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;

  private:
    void Classify(Ptr<TcpSocketState> tcb);
    void TakeShare();
    void CloseWindow(Ptr<TcpSocketState> tcb);
    void ManageThreshold(Ptr<TcpSocketState> tcb);

    uint32_t m_sender = 0;
    bool m_long = false;
    bool m_wasLong = false;  // before this acknowledgement
    bool m_echo = false;     // this acknowledgement reports a mark
    bool m_clean = true;     // none of its window did so far
    bool m_windowOver = false;
    uint64_t m_acked = 0;
    uint64_t m_marked = 0;
    double m_share = 1;      // alpha of Eq. 2
    double m_averageQueue = 0;
    double m_flows = 1;      // N when the threshold was set
    SequenceNumber32 m_una{1};
    SequenceNumber32 m_windowEnd{1};
};

class PfdctQueueDisc : public QueueDisc
{
  public:
    static TypeId GetTypeId();
    PfdctQueueDisc();

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;
};

} // namespace fanin

#endif
