//! Where threads can be between two events, by how far each has come in its life.
//!
//! The framework's sequence for a thread says which events can name it next. A thread that an event names is followed
//! through the handler, from where such threads can be to where the handler leaves it. After that it has come one event
//! further. Of others only this is known: a transfer of a thread that the event does not name can move any thread at
//! its source.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{End, EndKind};
use super::situation::entity;
use super::state::{Places, Spot};
use super::ways::Ways;
use crate::framework::Framework;
use crate::framework::life::{Lives, UNTOLD};
use crate::policy::{ContainerId, ContainerKind, Entity, Handler, LocalId, Policy};

/// Where threads can be.
pub(super) struct Positions {
    lives: Lives,
    /// By life.
    places: BTreeMap<u64, BTreeSet<ContainerId>>,
}

/// How threads come to an event that names them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arrival {
    /// How far they had come before the event; `None`: several possibilities, or none.
    pub life: Option<u64>,
    /// Where they are.
    pub spots: Places,
    /// How far they have come after the event.
    after: BTreeSet<u64>,
}

/// What a handler does, on any path, to threads that its event does not name.
#[derive(Default)]
pub(super) struct Trace {
    moves: Ways,
    /// What is dispatched at the ends; `None`: nothing.
    dispatched: BTreeSet<Option<ContainerId>>,
}

/// If there are more lives, the rest are not told apart.
const MOST_LIVES: usize = 64;

impl Positions {
    /// Before any event, threads are nowhere.
    pub fn none(framework: &Framework) -> Self {
        Positions { lives: Lives::of(framework), places: BTreeMap::new() }
    }

    /// The ways in which threads can come to this handler, each followed by itself.
    pub fn arrivals(&self, handler: &Handler) -> Vec<Arrival> {
        let arrival = |life, spots, after| Arrival { life, spots, after };
        let new = self.lives.after(None, &handler.name).into_iter();
        let new = new.map(|after| arrival(None, Places::from([Spot::Hand]), BTreeSet::from([after])));
        let old = self.places.iter().filter_map(|(life, places)| {
            let after = self.lives.after(Some(*life), &handler.name)?;
            Some(arrival(Some(*life), spots(places), BTreeSet::from([after])))
        });
        let threads = (0..handler.parameters).filter(|index| entity(handler, *index) == Entity::Thread);
        match threads.count() {
            0 => vec![arrival(None, Places::new(), BTreeSet::new())],
            1 => new.chain(old).collect(),
            // Each of several threads can have come as far as any.
            _ => {
                let all = new.chain(old).reduce(|one, other| Arrival {
                    life: None,
                    spots: &one.spots | &other.spots,
                    after: &one.after | &other.after,
                });
                all.into_iter().collect()
            }
        }
    }

    /// Where the threads can be that the event or query of this handler names.
    pub fn before(&self, handler: &Handler) -> Places {
        self.arrivals(handler).into_iter().flat_map(|arrival| arrival.spots).collect()
    }

    /// The handler leaves the threads of `arrival` as they are at this end. Returns whether that is new.
    pub fn left(&mut self, handler: &Handler, arrival: &Arrival, end: &End) -> bool {
        let mut news = false;
        // A request that is refused changes nothing.
        if end.kind != EndKind::Fail {
            let places: BTreeSet<ContainerId> = (0..handler.parameters)
                .filter(|parameter| entity(handler, *parameter) == Entity::Thread)
                .filter_map(|parameter| end.state.places(LocalId(parameter)))
                .flatten()
                .filter_map(|spot| spot.container())
                .collect();
            for life in &arrival.after {
                news |= self.add(*life, &places);
            }
        }
        news
    }

    /// Moves the threads that the event does not name. Returns whether that leads anywhere new.
    pub fn moved(&mut self, event: &str, trace: &Trace) -> bool {
        let mut news = false;
        for (life, places) in self.places.clone() {
            let reached = trace.moves.reached(places);
            for dispatched in &trace.dispatched {
                let mut others = reached.clone();
                if let Some(slot) = dispatched
                    && others.remove(slot)
                {
                    // The thread in this slot is the one that runs.
                    let after = self.lives.after(Some(life), event).unwrap_or(life);
                    news |= self.add(after, &BTreeSet::from([*slot]));
                }
                news |= self.add(life, &others);
            }
        }
        news
    }

    /// An event that the policy does not handle moves no thread, but the threads it can name come further. Returns
    /// whether that is new.
    pub fn unhandled(&mut self, policy: &Policy, framework: &Framework) -> bool {
        let mut news = false;
        let handled = |name: &str| policy.events.iter().any(|handler| handler.name == name);
        for event in framework.events.iter().filter(|event| !handled(&event.name)) {
            for (life, places) in self.places.clone() {
                if let Some(after) = self.lives.after(Some(life), &event.name) {
                    news |= self.add(after, &places);
                }
            }
        }
        news
    }

    fn add(&mut self, life: u64, places: &BTreeSet<ContainerId>) -> bool {
        if places.is_empty() {
            return false;
        }
        let told = self.places.len() < MOST_LIVES || self.places.contains_key(&life);
        let known = self.places.entry(if told { life } else { UNTOLD }).or_default();
        let before = known.len();
        known.extend(places);
        known.len() > before
    }
}

impl Trace {
    /// Adds one pass through a handler. Returns whether it is news.
    pub fn add(&mut self, policy: &Policy, moves: Ways, ends: &[End]) -> bool {
        let before = self.dispatched.len();
        let new = self.moves.extend(moves);
        for end in ends {
            match end.kind {
                EndKind::Dispatch(slot) => {
                    self.dispatched.insert(Some(slot));
                    // What is no threadref can hold others, too.
                    if policy.containers[slot.0].kind != ContainerKind::Threadref {
                        self.dispatched.insert(None);
                    }
                }
                EndKind::Last | EndKind::Return => {
                    self.dispatched.insert(None);
                }
                EndKind::Fail => {}
            }
        }
        new || self.dispatched.len() > before
    }
}

fn spots(places: &BTreeSet<ContainerId>) -> Places {
    places.iter().copied().map(Spot::In).collect()
}
