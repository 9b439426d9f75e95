//! Active faults, and their effect on links and the controller.

use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::Packet;
use fanin_core::rng::Stream;
use fanin_core::roles::DropReason;
use fanin_core::units::{Rate, Time};
use fanin_network::fault::{Act, Chosen, DIRECTION_KEY, Effect, LINK_KEY, REGISTRY};
use fanin_network::topology::{Topology, twin};
use fanin_param::SpecError;
use fanin_port::spec::LinkState;
use fanin_scenario::{Scenario, ScenarioFault};
use std::collections::BTreeMap;

/// A fault of the scenario.
struct Planned {
    effect: Effect,
    at: Time,
    /// When it ends; [`Time::NEVER`] if it lasts until the end of the run.
    until: Time,
    links: Vec<LinkId>,
    on: bool,
}

/// A fault that loses packets of one link: its index, and its random stream.
struct Losing {
    fault: usize,
    stream: Stream,
}

/// A fault that chooses packets of one link.
struct Choosing {
    fault: usize,
    act: Act,
    chosen: Chosen,
    /// By flow, and the number of a segment, the copies that have crossed the link.
    copies: BTreeMap<(FlowId, u32), u32>,
}

/// What becomes of a packet that has crossed a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// Why it is lost, if it is.
    pub(crate) lost: Option<DropReason>,
    /// How much later it arrives.
    pub(crate) later: Time,
    /// Whether it is marked.
    pub(crate) marked: bool,
}

/// What changes when a fault begins or ends.
pub(crate) enum Turn {
    /// Links change their state.
    Links(Vec<(LinkId, LinkState)>),
    /// The controller is back, with the slots of its timers that became due while it was offline.
    Controller(Vec<usize>),
    /// Nothing that other parts react to.
    Nothing,
}

/// All faults of a run.
pub struct Faults {
    planned: Vec<Planned>,
    /// By link; empty where no fault loses packets.
    losing: Vec<Vec<Losing>>,
    /// By link; empty where no fault chooses packets.
    choosing: Vec<Vec<Choosing>>,
    /// The rate of each link without faults.
    nominal: Vec<Rate>,
    /// Timers of the controller that became due while it was offline: slots of their tokens.
    waiting: Vec<usize>,
}

impl Faults {
    /// The faults of a scenario, none of which has begun.
    pub fn build(scenario: &Scenario, topology: &Topology, seed: u64) -> Result<Self, SpecError> {
        let names = if scenario.faults.is_empty() { Vec::new() } else { topology.link_names() };
        let mut faults = Self {
            planned: Vec::new(),
            losing: Vec::new(),
            choosing: Vec::new(),
            nominal: topology.links.iter().map(|link| link.rate).collect(),
            waiting: Vec::new(),
        };
        for (i, fault) in scenario.faults.iter().enumerate() {
            let row = REGISTRY.iter().find(|row| row.key == fault.kind).expect("the parser knows the registry");
            let effect = (row.effect)(&fault.values);
            let links = if effect == Effect::ControllerOutage { Vec::new() } else { links(fault, topology, &names)? };
            let at = fault.values.time("at");
            let until = match fault.values.time("for") {
                Time::ZERO => Time::NEVER,
                lasting => at + lasting,
            };
            if let Effect::Loss(_) = effect {
                faults.losing.resize_with(names.len(), Vec::new);
                for link in &links {
                    // A stream for each link, so that losses on one link do not depend on the traffic of another.
                    let stream = Stream::named(seed, &format!("fault/{}/{}", fault.name, names[link.index()]));
                    faults.losing[link.index()].push(Losing { fault: i, stream });
                }
            }
            if let Effect::Packets(act) = effect {
                let chosen = Chosen::read(&fault.values, scenario.transport.bytes("mss").get())?;
                faults.choosing.resize_with(names.len(), Vec::new);
                for link in &links {
                    let (chosen, copies) = (chosen.clone(), BTreeMap::new());
                    faults.choosing[link.index()].push(Choosing { fault: i, act, chosen, copies });
                }
            }
            faults.planned.push(Planned { effect, at, until, links, on: false });
        }
        Ok(faults)
    }

    /// Whether a fault may change departures from the port of `link`, so that they are unknown when packets enter it.
    pub fn moves_departures(&self, link: LinkId) -> bool {
        let moves = |fault: &&Planned| matches!(fault.effect, Effect::Down { .. } | Effect::Rate(_));
        self.planned.iter().filter(moves).any(|fault| fault.links.contains(&link))
    }

    /// Rates that faults give to links, each with the fault's index, for checks.
    pub fn rates(&self) -> impl Iterator<Item = (usize, &[LinkId], Rate)> {
        self.planned.iter().enumerate().filter_map(|(i, fault)| match fault.effect {
            Effect::Rate(rate) => Some((i, &fault.links[..], rate)),
            _ => None,
        })
    }

    /// How long packets wait for links to come back, with the fault's index, for checks.
    pub fn waits(&self) -> impl Iterator<Item = (usize, Time)> {
        self.planned.iter().enumerate().filter_map(|(i, fault)| match fault.effect {
            Effect::Down { flush: false } if !fault.until.is_never() => Some((i, fault.until - fault.at)),
            _ => None,
        })
    }

    /// Whether any fault concerns packets that cross links: loses, delays or marks them.
    pub fn any_of_packets(&self) -> bool {
        !(self.losing.is_empty() && self.choosing.is_empty())
    }

    /// For each fault of the scenario, whether it chooses packets.
    pub fn chooses(&self) -> impl Iterator<Item = bool> {
        self.planned.iter().map(|fault| matches!(fault.effect, Effect::Packets(_)))
    }

    /// What happens to which packets of which link, and from when until when.
    pub fn choosing(&self) -> impl Iterator<Item = (LinkId, Act, &Chosen, [Time; 2])> {
        let all = self.choosing.iter().enumerate();
        all.flat_map(|(link, all)| all.iter().map(move |choosing| (LinkId::new(link), choosing))).map(
            |(link, choosing)| {
                let Planned { at, until, .. } = self.planned[choosing.fault];
                (link, choosing.act, &choosing.chosen, [at, until])
            },
        )
    }

    /// Whether any fault loses packets that it chooses.
    pub fn any_drop(&self) -> bool {
        self.planned.iter().any(|fault| fault.effect == Effect::Packets(Act::Drop))
    }

    /// Whether the controller is offline.
    pub(crate) fn controller_is_out(&self) -> bool {
        self.planned.iter().any(|fault| fault.on && fault.effect == Effect::ControllerOutage)
    }

    /// State of a link under the active faults. If several set a rate, the last one in the file applies.
    fn state(&self, link: LinkId) -> LinkState {
        let mut state = LinkState { up: true, admits: true, rate: self.nominal[link.index()] };
        for fault in self.planned.iter().filter(|fault| fault.on && fault.links.contains(&link)) {
            match fault.effect {
                Effect::Down { flush } => {
                    state.up = false;
                    state.admits &= !flush;
                }
                Effect::Rate(rate) => state.rate = rate,
                Effect::Loss(_) | Effect::Packets(_) | Effect::ControllerOutage => {}
            }
        }
        state
    }

    /// When faults begin and end, each with the index of its event: twice the fault, one more for the end.
    pub fn instants(&self) -> impl Iterator<Item = (Time, usize)> {
        let both = |(i, fault): (usize, &Planned)| [(fault.at, 2 * i), (fault.until, 2 * i + 1)];
        self.planned.iter().enumerate().flat_map(both)
    }

    /// A fault begins (even index) or ends (odd).
    pub(crate) fn turn(&mut self, index: usize) -> Turn {
        let fault = &mut self.planned[index / 2];
        fault.on = index.is_multiple_of(2);
        let (effect, links) = (fault.effect, fault.links.clone());
        match effect {
            Effect::Down { .. } | Effect::Rate(_) => {
                Turn::Links(links.into_iter().map(|link| (link, self.state(link))).collect())
            }
            Effect::ControllerOutage if !self.controller_is_out() => {
                Turn::Controller(std::mem::take(&mut self.waiting))
            }
            Effect::Loss(_) | Effect::Packets(_) | Effect::ControllerOutage => Turn::Nothing,
        }
    }

    /// Defers a timer of the controller while it is offline. Returns whether it is offline.
    pub(crate) fn defer_controller_timer(&mut self, slot: usize) -> bool {
        let out = self.controller_is_out();
        if out {
            self.waiting.push(slot);
        }
        out
    }

    /// What becomes of a packet that has crossed `link`. `header` is the size of every packet's headers.
    pub(crate) fn fate(&mut self, link: LinkId, packet: &Packet, header: u16) -> Fate {
        let mut fate = Fate::default();
        for losing in self.losing.get_mut(link.index()).into_iter().flatten() {
            let fault = &self.planned[losing.fault];
            if let Effect::Loss(share) = fault.effect
                && fault.on
                && losing.stream.unit() < share
            {
                fate.lost = Some(DropReason::RandomLoss);
            }
        }
        for choosing in self.choosing.get_mut(link.index()).into_iter().flatten() {
            if !self.planned[choosing.fault].on {
                continue;
            }
            let Some(number) = choosing.chosen.number(packet, header) else { continue };
            let copies = choosing.copies.entry((packet.flow, number)).or_default();
            *copies += 1;
            if choosing.chosen.has_copy(*copies) {
                match choosing.act {
                    Act::Drop => fate.lost = fate.lost.or(Some(DropReason::Chosen)),
                    Act::Delay(by) => fate.later += by,
                    Act::Mark => fate.marked = true,
                }
            }
        }
        fate
    }
}

/// The links that a fault names, in link order.
fn links(fault: &ScenarioFault, topology: &Topology, names: &[String]) -> Result<Vec<LinkId>, SpecError> {
    let wanted = fault.values.text(LINK_KEY);
    let mut links: Vec<LinkId> = if wanted == "bottleneck" {
        vec![topology.bottleneck]
    } else {
        // Parallel links share a name, followed by a number.
        let is = |name: &str| name == wanted || name.split_once('/').is_some_and(|(common, _)| common == wanted);
        (0..names.len()).filter(|i| is(&names[*i])).map(LinkId::new).collect()
    };
    if links.is_empty() {
        let valid: Vec<&str> = std::iter::once("bottleneck").chain(names.iter().map(String::as_str)).collect();
        return Err(fault.values.unknown_name(LINK_KEY, "no such link in this network", wanted, &valid));
    }
    if fault.values.has(DIRECTION_KEY) && fault.values.is(DIRECTION_KEY, "both") {
        links.extend(links.clone().into_iter().map(twin));
    }
    links.sort_unstable();
    links.dedup();
    Ok(links)
}
