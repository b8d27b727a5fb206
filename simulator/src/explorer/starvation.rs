//! Starvation: a lasso. A round of events leaves a thread ready, dispatches others, and ends where it began. Events are
//! fair: a dispatched thread gives the processor back. Chance is fair, too: no number is drawn for ever. So a round
//! with a draw does not count.
//!
//! The searched graph has a node for each situation and each thread that is ready in it, and an edge if the thread is
//! still ready afterwards. A strongly connected part with an edge that dispatches contains such a round.

use std::collections::{BTreeMap, VecDeque};

use super::budget::{Budget, Spent};
use super::system::Next;

/// A transition to another situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub to: u32,
    /// Four bits for each thread, in the order of the numbers before: its number after, or 0 if it is gone.
    moved: u32,
    pub dispatches: bool,
    /// Whether time passes while a thread runs.
    passes: bool,
    /// Whether a value was brought within its bound.
    pub strayed: bool,
    /// Whether a number was drawn that could have been another one.
    drawn: bool,
}

impl Edge {
    pub fn new(to: u32, next: &Next) -> Self {
        let pack = |set: u32, (place, after): (usize, &usize)| set | (*after as u32 & 15) << (4 * place);
        let moved = next.moved.iter().enumerate().fold(0, pack);
        Edge {
            to,
            moved,
            dispatches: next.dispatches,
            passes: next.passes,
            strayed: next.strayed.is_some(),
            drawn: next.drawn,
        }
    }

    /// Where the thread in this place (from 0) goes; `None`: it is gone.
    pub fn place_after(&self, place: usize) -> Option<usize> {
        ((self.moved >> (4 * place) & 15) as usize).checked_sub(1)
    }
}

/// The explored situations.
pub(super) struct Graph<'a> {
    pub edges: &'a [Edge],
    /// For each situation, its first edge; then the end.
    pub first: &'a [usize],
    /// For each situation, the READY threads.
    pub ready: &'a [u8],
    pub threads: usize,
}

/// A round that starves a thread.
pub(super) struct Lasso {
    /// The situation where it begins and ends.
    pub start: usize,
    /// The place of the starved thread there, from 0.
    pub place: usize,
    pub round: Vec<Edge>,
}

/// The situation times the number of threads, plus the thread's place.
type Node = usize;

const UNSEEN: u32 = u32::MAX;

/// The lasso that begins soonest after the start, with a shortest round.
pub(super) fn find(graph: &Graph, budget: Budget) -> Result<Option<Lasso>, Spent> {
    graph.parts(budget).map(|parts| within(graph, &parts))
}

fn within(graph: &Graph, parts: &[u32]) -> Option<Lasso> {
    let parts_there = parts.iter().copied().filter(|part| *part != UNSEEN).max()? as usize + 1;
    let mut done = vec![(false, false); parts_there];
    for node in 0..parts.len() {
        for (edge, to) in graph.successors(node) {
            if parts[node] == parts[to] {
                let (dispatches, passes) = &mut done[parts[node] as usize];
                *dispatches |= edge.dispatches;
                *passes |= edge.passes;
            }
        }
    }
    let start = (0..parts.len()).find(|node| parts[*node] != UNSEEN && done[parts[*node] as usize] == (true, true))?;
    let round = graph.round(start, parts)?;
    Some(Lasso { start: start / graph.threads, place: start % graph.threads, round })
}

impl Graph<'_> {
    fn nodes(&self) -> usize {
        self.ready.len() * self.threads
    }

    fn is_ready(&self, node: Node) -> bool {
        self.ready.get(node / self.threads).is_some_and(|ready| ready >> (node % self.threads) & 1 == 1)
    }

    fn out(&self, node: Node) -> &[Edge] {
        let situation = node / self.threads;
        &self.edges[self.first[situation]..self.first[situation + 1]]
    }

    /// The node after an edge, if the thread is still ready there.
    fn after(&self, node: Node, edge: &Edge) -> Option<Node> {
        if edge.drawn {
            return None;
        }
        let to = edge.to as usize * self.threads + edge.place_after(node % self.threads)?;
        self.is_ready(to).then_some(to)
    }

    fn successors(&self, node: Node) -> impl Iterator<Item = (&Edge, Node)> {
        let out = if self.is_ready(node) { self.out(node) } else { &[] };
        out.iter().filter_map(move |edge| Some((edge, self.after(node, edge)?)))
    }

    /// The strongly connected part of each node, by Tarjan's algorithm without recursion.
    fn parts(&self, budget: Budget) -> Result<Vec<u32>, Spent> {
        let mut index = vec![UNSEEN; self.nodes()];
        let mut low = vec![0_u32; self.nodes()];
        let mut part = vec![UNSEEN; self.nodes()];
        let (mut stack, mut calls): (Vec<Node>, Vec<(Node, usize)>) = (Vec::new(), Vec::new());
        let (mut clock, mut parts, mut asked) = (0, 0, 0);
        for root in 0..self.nodes() {
            if !self.is_ready(root) || index[root] != UNSEEN {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, next)) = calls.pop() {
                budget.check(&mut asked)?;
                if next == 0 {
                    (index[node], low[node]) = (clock, clock);
                    clock += 1;
                    stack.push(node);
                }
                let mut descended = false;
                let out = self.out(node);
                for (number, edge) in out.iter().enumerate().skip(next) {
                    let Some(to) = self.after(node, edge) else { continue };
                    if index[to] == UNSEEN {
                        calls.push((node, number + 1));
                        calls.push((to, 0));
                        descended = true;
                        break;
                    }
                    if part[to] == UNSEEN {
                        low[node] = low[node].min(low[to]);
                    }
                }
                if descended {
                    continue;
                }
                if low[node] == index[node] {
                    while let Some(member) = stack.pop() {
                        part[member] = parts;
                        if member == node {
                            break;
                        }
                    }
                    parts += 1;
                } else if let Some((caller, _)) = calls.last() {
                    low[*caller] = low[*caller].min(low[node]);
                }
            }
        }
        Ok(part)
    }

    /// A shortest round from a node, within its part, in which a thread is dispatched and time passes.
    fn round(&self, start: Node, parts: &[u32]) -> Option<Vec<Edge>> {
        // Each node occurs four times: before and after a dispatch, and before and after time passes.
        type Stage = (Node, bool, bool);
        let first: Stage = (start, false, false);
        let mut reached: BTreeMap<Stage, (Stage, Edge)> = BTreeMap::new();
        let mut queue = VecDeque::from([first]);
        while let Some((node, dispatched, passed)) = queue.pop_front() {
            for (edge, to) in self.successors(node) {
                let next = (to, dispatched || edge.dispatches, passed || edge.passes);
                if parts[to] != parts[start] || reached.contains_key(&next) || next == first {
                    continue;
                }
                reached.insert(next, ((node, dispatched, passed), *edge));
                if next == (start, true, true) {
                    let (mut round, mut at) = (Vec::new(), next);
                    while let Some((before, edge)) = reached.get(&at) {
                        round.push(*edge);
                        at = *before;
                        if at == first {
                            break;
                        }
                    }
                    round.reverse();
                    return Some(round);
                }
                queue.push_back(next);
            }
        }
        None
    }
}
