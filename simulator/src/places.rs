//! What a host with several nodes knows besides its policy: which threads are on their way, and how far each node has
//! come. From this follows what the host can do next, and whether the policy did what the event types promise.

use std::collections::BTreeMap;

use catapults_compiler::framework::automaton::Order;
use catapults_compiler::framework::life::Lives;
use catapults_compiler::framework::{Event, Framework, Move, Stage};
use catapults_compiler::interp::{Machine, Position, ThreadId};
use catapults_compiler::policy::{ContainerId, Entity, Policy};

use crate::event_types::{EventTypes, Legal, Violation};
use crate::script::Step;

/// A thread that is in no instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Travel {
    /// The node to which it goes; `None`: it is to be placed.
    to: Option<ThreadId>,
    /// It was never on a node.
    new: bool,
}

/// The state of one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    /// The states of the framework's sequences.
    order: Vec<u64>,
    /// The state of each thread's life.
    lives: BTreeMap<ThreadId, u64>,
    /// How many of the events that come before all others have been raised.
    begun: usize,
}

/// The nodes, and the threads that are on their way between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Places {
    nodes: BTreeMap<ThreadId, Place>,
    travels: BTreeMap<ThreadId, Travel>,
}

/// A host with several nodes, for one policy.
pub struct Hosts<'a> {
    framework: &'a Framework,
    policy: &'a Policy,
    types: EventTypes<'a>,
    order: Order,
    lives: Lives,
    /// How many nodes there are at most.
    nodes: usize,
    threads: usize,
}

impl<'a> Hosts<'a> {
    /// A host with at most so many nodes and threads. `framework` includes the events of the policy's timers.
    pub fn new(framework: &'a Framework, policy: &'a Policy, nodes: usize, threads: usize) -> Self {
        let (order, lives) = (Order::of(framework), Lives::of(framework));
        Hosts { framework, policy, types: EventTypes::new(framework, policy), order, lives, nodes, threads }
    }

    /// The existing nodes.
    pub fn nodes(&self, places: &Places) -> Vec<ThreadId> {
        places.nodes.keys().copied().collect()
    }

    /// The living threads.
    pub fn threads(&self, machine: &Machine, places: &Places) -> Vec<ThreadId> {
        let on_nodes = places.nodes.values().flat_map(|place| place.lives.keys());
        let living = on_nodes.chain(places.travels.keys()).copied();
        living.filter(|thread| machine.position(*thread).is_some()).collect()
    }

    /// All that can happen now, each as the steps that it takes: entering the node, and the event.
    pub fn legal(&self, machine: &mut Machine, places: &Places) -> Vec<Vec<Step>> {
        let mut legal = self.global(machine, places);
        for (node, place) in &places.nodes {
            let Some(number) = node.node() else { continue };
            // An existing node can be entered.
            if machine.enter(*node).is_err() {
                continue;
            }
            let all = self.of_node(machine, places, *node, place);
            legal.extend(all.into_iter().map(|step| vec![Step::Enter(number), step]));
        }
        legal
    }

    /// Events that run in no node's instance.
    fn global(&self, machine: &Machine, places: &Places) -> Vec<Vec<Step>> {
        let mut legal = Vec::new();
        let living = self.threads(machine, places).len();
        for event in self.events(machine).filter(|event| event.is_global()) {
            let named: Vec<u32> = match starts(event) {
                Some((Entity::Node, Stage::New)) if places.nodes.len() < self.nodes => {
                    let free = (0..).map(ThreadId::of_node).find(|node| !places.nodes.contains_key(node));
                    free.and_then(ThreadId::node).into_iter().collect()
                }
                Some((Entity::Node, Stage::In(_))) => places.nodes.keys().filter_map(|node| node.node()).collect(),
                // There is a node.
                Some((Entity::Thread, Stage::New)) if !places.nodes.is_empty() => {
                    let homeless = places.travels.iter().filter(|(_, travel)| travel.to.is_none());
                    let homeless = homeless.map(|(thread, _)| thread.0);
                    let new = (living < self.threads).then(|| free(places)).into_iter();
                    homeless.chain(new).collect()
                }
                Some(_) | None => Vec::new(),
            };
            legal.extend(named.into_iter().map(|id| vec![raise(event, &[ThreadId(id)])]));
        }
        // If no handler places threads, the host does.
        let places_threads = |event: &Event| starts(event) == Some((Entity::Thread, Stage::New));
        if !self.events(machine).any(|event| event.is_global() && places_threads(event)) {
            let homeless = places.travels.iter().filter(|(_, travel)| travel.to.is_none());
            let all: Vec<(u32, bool)> = homeless.map(|(thread, travel)| (thread.0, travel.new)).collect();
            let new = (living < self.threads).then(|| (free(places), true));
            for (thread, new) in all.into_iter().chain(new) {
                // Threads come only after the events that come before all others.
                let begun = |place: &Place| self.types.first(machine).get(place.begun).is_none();
                let ready = places.nodes.iter().filter(|(_, place)| begun(place));
                for node in ready.filter_map(|(node, _)| node.node()) {
                    let arriving = self.events(machine).filter(|event| !event.is_global() && arrives(event, new));
                    let steps = arriving.map(|event| vec![Step::Enter(node), raise(event, &[ThreadId(thread)])]);
                    legal.extend(steps);
                }
            }
        }
        legal
    }

    /// The events of the entered node.
    fn of_node(&self, machine: &Machine, places: &Places, node: ThreadId, place: &Place) -> Vec<Step> {
        let Ok(classes) = self.types.classes(machine) else { return Vec::new() };
        if let Some(first) = self.types.first(machine).get(place.begun) {
            return vec![raise(first, &[])];
        }
        let arriving = |new: bool| {
            let here = move |(_, travel): &(&ThreadId, &Travel)| travel.to == Some(node) && travel.new == new;
            places.travels.iter().filter(here).map(|(thread, _)| *thread)
        };
        let mut legal = Vec::new();
        let placeholder = ThreadId(u32::MAX >> 1);
        for Legal { event, candidates } in self.types.legal(machine, &classes, Some(placeholder)) {
            if event.is_global() || self.order.after(&place.order, &event.name).is_none() {
                continue;
            }
            let mut all: Vec<Vec<ThreadId>> = vec![Vec::new()];
            for (index, threads) in candidates.into_iter().enumerate() {
                let named: Vec<ThreadId> = if event.names(index, Entity::Node) {
                    places.nodes.keys().copied().filter(|other| *other != node).collect()
                } else if threads == [placeholder] {
                    [true, false].into_iter().filter(|new| arrives(event, *new)).flat_map(arriving).collect()
                } else {
                    threads
                };
                let fits = |thread: &ThreadId| {
                    thread.node().is_some() || self.lives.after(place.lives.get(thread).copied(), &event.name).is_some()
                };
                let named: Vec<ThreadId> = named.into_iter().filter(fits).collect();
                all = all
                    .iter()
                    .flat_map(|some| named.iter().map(move |one| [some.as_slice(), &[*one]].concat()))
                    .collect();
            }
            legal.extend(all.into_iter().map(|threads| match event.timer {
                Some(_) => Step::Expire,
                None => {
                    raise(event, &threads.iter().map(|one| ThreadId(one.node().unwrap_or(one.0))).collect::<Vec<_>>())
                }
            }));
        }
        legal
    }

    fn events(&self, machine: &Machine) -> impl Iterator<Item = &'a Event> {
        let handled: Vec<&Event> = self.framework.events.iter().filter(|event| machine.handles(&event.name)).collect();
        handled.into_iter()
    }

    /// Updates the places after an event. `before`: the state of the instance and of the nodes before it.
    ///
    /// # Errors
    /// The policy did what it must not do.
    pub fn after(
        &self,
        machine: &Machine,
        places: &mut Places,
        before: &Before,
        (event, threads): (&str, &[ThreadId]),
        dispatched: Option<ThreadId>,
        sent: &[(ThreadId, ThreadId)],
    ) -> Result<(), Violation> {
        let Some(event) = self.framework.events.iter().find(|known| known.name == event) else { return Ok(()) };
        let entity = |index: usize| if event.names(index, Entity::Node) { Entity::Node } else { Entity::Thread };
        let named: Vec<ThreadId> = threads
            .iter()
            .enumerate()
            .map(|(index, id)| match entity(index) {
                Entity::Node => ThreadId::of_node(id.node().unwrap_or(id.0)),
                Entity::Thread => *id,
            })
            .collect();
        self.nodes_kept(machine, event, &named, before)?;
        for (thread, node) in sent {
            let known = before.classes.get(thread).copied().map_or(Stage::New, Stage::In);
            let allowed = event.rules.iter().flat_map(|rule| &rule.moves).any(|step| match step {
                Move::Parameter(index, from, Stage::Placed) => named.get(*index) == Some(thread) && *from == known,
                Move::One(from, Stage::Placed) => *from == known,
                Move::Parameter(..) | Move::One(..) => false,
            });
            if !allowed || machine.position(*thread) != Some(Position::Hand) || machine.position(*node).is_none() {
                return Err(Violation::Type(format!("{thread} was sent to {node}")));
            }
        }
        if event.is_global() {
            self.after_global(machine, places, event, &named, before, sent)
        } else {
            self.after_local(machine, places, event, &named, (before, dispatched, sent))
        }
    }

    fn after_global(
        &self,
        machine: &Machine,
        places: &mut Places,
        event: &Event,
        named: &[ThreadId],
        before: &Before,
        sent: &[(ThreadId, ThreadId)],
    ) -> Result<(), Violation> {
        // No other thread has moved: only the departure of its node touches a thread.
        for id in named {
            if id.node().is_some() && machine.position(*id).is_none() {
                if let Some(place) = places.nodes.remove(id) {
                    for thread in place.lives.into_keys().filter(|thread| machine.position(*thread).is_some()) {
                        places.travels.insert(thread, Travel { to: None, new: false });
                    }
                }
                places.travels.values_mut().filter(|travel| travel.to == Some(*id)).for_each(|travel| travel.to = None);
            } else if id.node().is_some() && !places.nodes.contains_key(id) {
                places.nodes.insert(*id, Place { order: self.order.first(), ..Place::default() });
            }
        }
        let departs = named.iter().any(|id| id.node().is_some() && machine.position(*id).is_none());
        let after = self.types.classes(machine)?;
        if !departs && after != before.classes {
            return Err(Violation::Type(format!("`{}` has moved threads", event.name)));
        }
        for thread in named.iter().filter(|id| id.node().is_none()) {
            let Some((_, node)) = sent.iter().find(|(one, _)| one == thread) else {
                return Err(Violation::Lost(*thread));
            };
            let new = places.travels.get(thread).is_none_or(|travel| travel.new);
            places.travels.insert(*thread, Travel { to: Some(*node), new });
        }
        if sent.len() > named.iter().filter(|id| id.node().is_none()).count() {
            return Err(Violation::Type("a thread was sent twice".to_owned()));
        }
        Ok(())
    }

    fn after_local(
        &self,
        machine: &Machine,
        places: &mut Places,
        event: &Event,
        named: &[ThreadId],
        (before, dispatched, sent): (&Before, Option<ThreadId>, &[(ThreadId, ThreadId)]),
    ) -> Result<(), Violation> {
        let after = self.types.classes(machine)?;
        let gone = |thread: &ThreadId| sent.iter().any(|(one, _)| one == thread);
        // Threads that have gone were judged above. The others are judged as if those had never been there.
        let stayed = before.classes.iter().filter(|(thread, _)| !gone(thread)).map(|(thread, class)| (*thread, *class));
        let stayed = stayed.collect();
        let threads: Vec<ThreadId> = named.iter().copied().filter(|id| id.node().is_none()).collect();
        if event.gives_away() {
            if stayed != after {
                return Err(Violation::Type(format!("`{}` has done more than give threads away", event.name)));
            }
        } else {
            self.types.judge(event, &threads, &stayed, &after, dispatched)?;
        }
        let first = event.rules.is_empty() && event.parameters.is_empty();
        let here = machine.entered();
        let Some(place) = here.and_then(|here| places.nodes.get_mut(&here)) else { return Ok(()) };
        place.begun += usize::from(first);
        if let Some(order) = self.order.after(&place.order, &event.name) {
            place.order = order;
        }
        for thread in threads.iter().copied().chain(dispatched) {
            if let Some(life) = self.lives.after(place.lives.get(&thread).copied(), &event.name) {
                place.lives.insert(thread, life);
            }
        }
        place.lives.retain(|thread, _| after.contains_key(thread));
        for thread in &threads {
            places.travels.remove(thread);
        }
        for (thread, node) in sent {
            places.travels.insert(*thread, Travel { to: Some(*node), new: false });
        }
        Ok(())
    }

    /// Every node is in one container, unless it departs. No node has come but the one that arrives.
    fn nodes_kept(
        &self,
        machine: &Machine,
        event: &Event,
        named: &[ThreadId],
        before: &Before,
    ) -> Result<(), Violation> {
        let after = held(machine, self.policy)?;
        for node in &before.nodes {
            let leaves =
                named.contains(node) && may(event, Stage::In(catapults_compiler::policy::StateClass::Terminated));
            if !leaves && !after.contains(node) {
                return Err(Violation::Lost(*node));
            }
            if leaves && after.contains(node) {
                return Err(Violation::Type(format!("{node} has not been given up")));
            }
        }
        for node in named.iter().filter(|id| id.node().is_some() && !before.nodes.contains(id)) {
            if !after.contains(node) {
                return Err(Violation::Lost(*node));
            }
        }
        Ok(())
    }

    /// A request was refused, so the threads that it named do not exist.
    pub fn refused(&self, places: &mut Places, threads: &[ThreadId]) {
        places.travels.retain(|thread, _| !threads.contains(thread));
    }

    /// The state to compare with after an event.
    ///
    /// # Errors
    /// A thread or node is held twice.
    pub fn before(&self, machine: &Machine) -> Result<Before, Violation> {
        Ok(Before { classes: self.types.classes(machine)?, nodes: held(machine, self.policy)? })
    }
}

/// The state before an event.
pub struct Before {
    classes: crate::event_types::Classes,
    nodes: Vec<ThreadId>,
}

/// The nodes that containers hold.
fn held(machine: &Machine, policy: &Policy) -> Result<Vec<ThreadId>, Violation> {
    let mut held = Vec::new();
    for container in policy.holding(Entity::Node) {
        for node in machine.contents(ContainerId(container.0)) {
            if held.contains(&node) || machine.position(node) != Some(Position::In(container)) {
                return Err(Violation::Duplicated(node));
            }
            held.push(node);
        }
    }
    Ok(held)
}

/// The lowest number without a thread.
fn free(places: &Places) -> u32 {
    let taken = |number: &u32| {
        let thread = ThreadId(*number);
        places.travels.contains_key(&thread) || places.nodes.values().any(|place| place.lives.contains_key(&thread))
    };
    (1..).find(|number| !taken(number)).unwrap_or(1)
}

fn raise(event: &Event, threads: &[ThreadId]) -> Step {
    Step::Raise(event.name.clone(), threads.to_vec())
}

/// The sort and the previous stage of an event's first parameter.
fn starts(event: &Event) -> Option<(Entity, Stage)> {
    let entity = *event.entities.first()?;
    event.rules.iter().flat_map(|rule| &rule.moves).find_map(|step| match step {
        Move::Parameter(0, from, _) => Some((entity, *from)),
        Move::Parameter(..) | Move::One(..) => None,
    })
}

/// Whether it is the event of a thread that comes to a node, new or from another node.
fn arrives(event: &Event, new: bool) -> bool {
    let of_node = event.extent == catapults_compiler::framework::Extent::Node;
    starts(event) == Some((Entity::Thread, Stage::New)) && of_node != new
}

fn may(event: &Event, end: Stage) -> bool {
    event.rules.iter().flat_map(|rule| &rule.moves).any(|step| match step {
        Move::Parameter(_, _, to) | Move::One(_, to) => *to == end,
    })
}
