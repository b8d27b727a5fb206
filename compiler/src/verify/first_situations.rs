//! Follows the first situations to which events lead from the policy as loaded, each by itself.
//!
//! In them, the number of threads and the policy's variables are known exactly. So each decision on a path is certain,
//! or the application makes it through its imports. Where attributes of threads decide, or paths have been joined,
//! nothing is reported. So what is reported can happen, after the events that are told.

use std::collections::{BTreeSet, VecDeque};

use super::between::is_first;
use super::flow::{self, Course, EndKind};
use super::situation;
use super::state::{Spot, State};
use super::{Known, paths, walk};
use crate::policy::{Entity, LocalId, Policy, StatementId};

/// So many threads are enough to find what fails first.
const MOST_THREADS: usize = 3;

/// At most this many situations are followed.
const MOST_SITUATIONS: usize = 200;

/// At most this many statements are followed, counted once for each situation.
const MOST_STATEMENTS: usize = 200_000;

/// A situation between two events.
struct Reached {
    state: State,
    /// The state of the framework's sequences.
    way: Vec<u64>,
    threads: usize,
    /// What led to it.
    events: Vec<String>,
}

/// A guard that fails.
pub(super) struct Failing {
    pub handler: usize,
    pub statement: StatementId,
    pub start: State,
    pub state: State,
    pub events: Vec<String>,
}

/// What some order of events leads to.
#[derive(Default)]
pub(super) struct Found {
    pub failing: Vec<Failing>,
    /// Loops that begin, and never end then.
    pub turning: BTreeSet<StatementId>,
}

/// Searches the first situations for what fails.
pub(super) fn search(known: &Known, unchanging: &BTreeSet<StatementId>) -> Found {
    let (policy, order) = (known.policy, known.between.order());
    let mut found = Found::default();
    // With nodes there are several instances, but only one is followed.
    if policy.has_nodes() {
        return found;
    }
    let start = Reached { state: State::loaded(policy), way: order.first(), threads: 0, events: Vec::new() };
    let mut seen = vec![(start.way.clone(), start.state.clone())];
    let mut pending = VecDeque::from([start]);
    let mut work = 0;
    while let Some(reached) = pending.pop_front() {
        for (number, handler) in policy.events.iter().enumerate().filter(|(number, _)| known.firsts[*number] == *number)
        {
            let event = known.framework.events.iter().find(|event| event.name == handler.name);
            let late = event.is_some_and(|event| is_first(known.framework, event)) && !reached.events.is_empty();
            let Some(way) = order.after(&reached.way, &handler.name).filter(|_| !late) else { continue };
            let course = Course { policy, handler, steps: known.steps };
            let entering = reached.state.entering(policy, handler);
            for arrival in known.between.arrivals(handler) {
                let starts = situation::from(policy, handler, event, &entering, Some(&arrival.spots));
                for start in starts.into_iter().flat_map(|situation| each(situation.start, handler.parameters)) {
                    let comes = (0..handler.parameters)
                        .any(|local| start.places(LocalId(local)).is_some_and(|places| places.contains(&Spot::Hand)));
                    let threads = reached.threads + usize::from(comes);
                    work += walk::length(&handler.body);
                    if threads > MOST_THREADS || work > MOST_STATEMENTS || comes && is_full(policy, &reached.state) {
                        continue;
                    }
                    let flow = flow::to_its_ends(course, start.clone(), paths(handler));
                    let stays = |id: &&StatementId| flow.loops.get(id).is_some_and(|loops| !loops.may && !loops.does);
                    found.turning.extend(flow.turned.iter().filter(stays));
                    found.turning.extend(flow.begun.union(&flow.turned).filter(|id| unchanging.contains(id)));
                    for (statement, state) in flow.failing.into_iter().filter(|(_, state)| state.sure) {
                        if !found.failing.iter().any(|known| (known.handler, known.statement) == (number, statement)) {
                            let (start, events) = (start.clone(), reached.events.clone());
                            found.failing.push(Failing { handler: number, statement, start, state, events });
                        }
                    }
                    let ends = flow.ends.into_iter().filter(|end| end.kind != EndKind::Fail && end.state.sure);
                    for end in ends {
                        let next = (way.clone(), end.state.between(policy));
                        if seen.len() < MOST_SITUATIONS && !seen.contains(&next) {
                            seen.push(next.clone());
                            let mut events = reached.events.clone();
                            events.push(handler.name.clone());
                            pending.push_back(Reached { way: next.0, state: next.1, threads, events });
                        }
                    }
                }
            }
        }
    }
    found
}

/// Whether no more threads can live.
fn is_full(policy: &Policy, state: &State) -> bool {
    let living = policy.holding(Entity::Thread).map(|container| state.size(container).least).sum::<u64>();
    policy.capacity.is_some_and(|capacity| living >= u64::from(capacity))
}

/// One start for each combination of places of the threads that the event names.
fn each(start: State, parameters: usize) -> Vec<State> {
    let mut starts = vec![start];
    for local in (0..parameters).map(LocalId) {
        let at = |state: State| {
            let places: Vec<Spot> = state.places(local).into_iter().flatten().copied().collect();
            let placed = move |place: Spot| state.clone().with_places(local, |spot| spot == place);
            places.into_iter().filter_map(placed).collect::<Vec<State>>()
        };
        starts = starts.into_iter().flat_map(at).collect();
    }
    starts
}
