//! The most clocks of each function that the application calls, over all of its paths.
//!
//! A function is a graph of instructions. What goes round in it is a loop, with a head; without the ways to its head, it is a smaller
//! graph, in which other loops are. So the longest path is found from the innermost loops outwards, and is a formula, as bounds in steps
//! are: the turns of a loop times its longest turn, and the longest rest.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::function::{Function, Leave};
use crate::host::{Host, Kind, c_name, symbol};
use crate::loops::{Nodes, Turns, goes_round, groups};
use crate::path::Cost;
use crate::processors::{Flow, Pointer, Register};
use crate::refused::{Refused, Why};

/// The bound of a function that the application calls.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The function.
    pub entry: String,
    /// The events that it raises.
    pub events: Vec<String>,
    /// From its first instruction until it has returned; or, if it switches, until the thread that goes on has returned from what it
    /// called.
    pub cost: Cost,
    /// Where the switch returns to on this path, if it switches.
    pub into: Option<String>,
}

/// How a path through a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// In the caller.
    Return,
    /// In another thread.
    Switch,
    /// In the application, which was called.
    Application,
}

/// What is known of a function.
struct Summary {
    /// The longest path that ends so.
    ends: BTreeMap<End, Cost>,
    /// For a thread that has come back here: the longest path from the switch to the end of this function.
    resumed: Option<Cost>,
    /// Registers of addresses that have other values behind it.
    writes: Vec<Pointer>,
}

/// Bounds all entries of a host that are in the program: each one's bound, or why it has none.
pub fn bounds(host: &Host<'_>) -> Vec<(String, Result<Bound, Refused>)> {
    let mut walker = Walker { host, kinds: host.kinds(), known: BTreeMap::new(), open: Vec::new() };
    let is_there = |name: &&(String, Vec<String>)| host.image.symbol(&symbol(&name.0)).is_some();
    let entries: Vec<&(String, Vec<String>)> = host.costs.entries.iter().filter(is_there).collect();
    let resumed = walker.resumed(entries.iter().map(|(name, _)| name));
    let bound = |(name, events): &&(String, Vec<String>)| {
        let found = walker.named(name).and_then(|summary| {
            // Only a thread's start calls the application: whatever else does so never returns to be bounded.
            if let Some(cost) = summary.ends.get(&End::Application) {
                let at = cost.path.visits().into_iter().next_back().map(|(at, _)| at);
                let entry = host.image.symbol(&symbol(name)).unwrap_or(0);
                return Err(walker.refused(at.unwrap_or(entry), Why::Indirect));
            }
            let returned = summary.ends.get(&End::Return).map(|cost| (cost.clone(), None));
            let switched = match summary.ends.get(&End::Switch) {
                Some(before) => {
                    let (after, into) = resumed.clone()?;
                    Some((before.then(&after), Some(into)))
                }
                None => None,
            };
            let worst = match (returned, switched) {
                (Some((one, _)), Some((other, into))) => {
                    let into = into.filter(|_| other.clocks >= one.clocks);
                    Some((other.or(&one), into))
                }
                (one, other) => one.or(other),
            };
            let (cost, into) =
                worst.ok_or_else(|| walker.refused(host.image.symbol(&symbol(name)).unwrap_or(0), Why::NoPath))?;
            Ok(Bound { entry: name.clone(), events: events.clone(), cost, into })
        });
        (name.clone(), found)
    };
    entries.iter().map(bound).collect()
}

struct Walker<'a> {
    host: &'a Host<'a>,
    kinds: BTreeMap<u16, Kind>,
    known: BTreeMap<u16, Result<Rc<Summary>, Refused>>,
    /// Functions that are being looked at, each called by the one before it.
    open: Vec<u16>,
}

/// A function, with what the functions that it calls take.
struct Body<'a> {
    function: &'a Function,
    /// What it takes to go from an instruction to one that may come next.
    ways: BTreeMap<u16, Vec<(u16, Cost)>>,
}

impl Walker<'_> {
    fn refused(&self, at: u16, why: Why) -> Refused {
        Refused::at(self.host.image, at, why)
    }

    fn named(&mut self, name: &str) -> Result<Rc<Summary>, Refused> {
        let at = self.host.image.symbol(&symbol(name)).unwrap_or_default();
        self.summary(at, at)
    }

    /// The longest path of a thread from when it has come back until it has returned to the application, and where it came back.
    fn resumed<'n>(&mut self, entries: impl Iterator<Item = &'n String>) -> Result<(Cost, String), Refused> {
        let mut worst: Option<(Cost, String)> = None;
        let mut add = |cost: &Cost, name: &str| {
            worst = Some(match worst.take() {
                Some((known, into)) if known.clocks >= cost.clocks => (known.or(cost), into),
                Some((known, _)) => (known.or(cost), name.to_owned()),
                None => (cost.clone(), name.to_owned()),
            });
        };
        for name in entries {
            // No thread comes back in what cannot switch, even if it has no bound.
            if !self.may_switch(name) {
                continue;
            }
            if let Some(resumed) = &self.named(name)?.resumed {
                add(resumed, name);
            }
        }
        let starts: Vec<String> = self.host.costs.starts.clone();
        for name in starts.iter().filter(|name| self.host.image.symbol(&symbol(name)).is_some()) {
            if let Some(started) = self.named(name)?.ends.get(&End::Application) {
                add(started, name);
            }
        }
        worst.ok_or_else(|| self.refused(0, Why::NoPath))
    }

    /// Whether a switch can be reached from a function by calls. What cannot be read may do anything.
    fn may_switch(&self, name: &str) -> bool {
        let host = self.host;
        let starts = |at: u16| host.image.name_at(at).is_some();
        let (mut open, mut seen) = (vec![host.image.symbol(&symbol(name)).unwrap_or_default()], Nodes::new());
        while let Some(at) = open.pop() {
            match self.kinds.get(&at) {
                Some(Kind::Switch) => return true,
                Some(Kind::Stays | Kind::Application | Kind::End) => continue,
                None if !seen.insert(at) => continue,
                None => {}
            }
            let Ok(function) = Function::read(host.image, host.processor, at, &starts) else { return true };
            for node in function.nodes.values() {
                open.extend(node.calls);
                open.extend(node.leaves.iter().filter_map(|(leave, _)| match leave {
                    Leave::To(to) => Some(*to),
                    Leave::Return | Leave::ReturnThrough(_) | Leave::Anywhere => None,
                }));
            }
        }
        false
    }

    /// Of the function that begins at an address, and is called at another.
    fn summary(&mut self, entry: u16, caller: u16) -> Result<Rc<Summary>, Refused> {
        if let Some(known) = self.known.get(&entry) {
            return known.clone();
        }
        if self.open.contains(&entry) {
            let names = self.open.iter().map(|at| c_name(self.host.image.function(*at)).to_owned());
            return Err(self.refused(caller, Why::Recursive(names.collect())));
        }
        self.open.push(entry);
        let found = self.summarised(entry).map(Rc::new);
        self.open.pop();
        self.known.insert(entry, found.clone());
        found
    }

    fn summarised(&mut self, entry: u16) -> Result<Summary, Refused> {
        let host = self.host;
        let starts = |at: u16| host.image.name_at(at).is_some();
        let function = Function::read(host.image, host.processor, entry, &starts)?;
        let kind = self.kinds.get(&entry).copied();
        let registers = function.registers();
        let mut body = Body { function: &function, ways: BTreeMap::new() };
        let mut leaves: Vec<(u16, End, Cost)> = Vec::new();
        let mut comes_back: Vec<(u16, Cost)> = Vec::new();
        let mut writes: Vec<Pointer> = Vec::new();
        for (at, node) in &function.nodes {
            // What is taken off the stack first to be jumped through is the caller's address, and holds until then.
            if *at != entry || !matches!(node.instruction.flow, Flow::Pop(_)) {
                writes.extend(&node.instruction.writes);
            }
            let mut more = 0;
            if let Flow::Repeat(each) = node.instruction.flow {
                let value = |register| registers.get(at).and_then(|known| known.get(&register));
                let (Some(high), Some(low)) = (value(Register::B), value(Register::C)) else {
                    return Err(self.refused(*at, Why::Move));
                };
                more = each * u32::from(u16::from_be_bytes([*high, *low]).wrapping_sub(1));
            }
            let mut ways: Vec<(u16, Cost)> =
                node.next.iter().map(|(to, clocks)| (*to, Cost::at(*at, clocks + more))).collect();
            if let Some(called) = node.calls {
                let reached = std::mem::take(&mut ways);
                let callee = self.called(called, *at)?;
                writes.extend(&callee.writes);
                for (to, call) in reached {
                    let through = |end| callee.ends.get(&end).map(|cost| call.then(cost));
                    ways.extend(through(End::Return).map(|cost| (to, cost)));
                    leaves.extend(through(End::Switch).map(|cost| (*at, End::Switch, cost)));
                    leaves.extend(through(End::Application).map(|cost| (*at, End::Application, cost)));
                    comes_back.extend(callee.resumed.clone().map(|resumed| (to, resumed)));
                }
            }
            body.ways.insert(*at, ways);
        }
        let mut through = Vec::new();
        let mut tails = Vec::new();
        for (at, node) in &function.nodes {
            for (leave, clocks) in &node.leaves {
                let own = Cost::at(*at, *clocks);
                match (leave, kind) {
                    (Leave::Return | Leave::ReturnThrough(_), Some(Kind::Switch)) => {
                        leaves.push((*at, End::Switch, own))
                    }
                    (Leave::Return, _) => leaves.push((*at, End::Return, own)),
                    (Leave::ReturnThrough(pointer), _) => {
                        through.push((*at, *pointer));
                        leaves.push((*at, End::Return, own));
                    }
                    (Leave::Anywhere, Some(Kind::Application)) => leaves.push((*at, End::Application, own)),
                    (Leave::Anywhere, _) => return Err(self.refused(*at, Why::Indirect)),
                    (Leave::To(next), _) => {
                        let callee = self.called(*next, *at)?;
                        writes.extend(&callee.writes);
                        leaves.extend(callee.ends.iter().map(|(end, cost)| (*at, *end, own.then(cost))));
                        tails.extend(callee.resumed.clone());
                    }
                }
            }
        }
        if let Some((at, _)) = through.iter().find(|(_, pointer)| writes.contains(pointer)) {
            return Err(self.refused(*at, Why::Indirect));
        }
        if kind == Some(Kind::Stays) {
            leaves.retain(|(_, end, _)| *end != End::Switch);
            comes_back.clear();
            tails.clear();
        }
        let ends = self.ends(&body, entry, &leaves)?;
        let mut resumed: Option<Cost> = if kind == Some(Kind::Switch) { Some(Cost::nothing()) } else { None };
        let mut add = |cost: Cost| resumed = Some(resumed.as_ref().map_or(cost.clone(), |known| known.or(&cost)));
        tails.into_iter().for_each(&mut add);
        let all: Nodes = function.nodes.keys().copied().collect();
        for (at, back) in comes_back {
            // How many turns of a loop are left to a thread that comes back in it, nobody knows.
            let around = groups(&function, &all, &Nodes::new()).into_iter().find(|group| group.contains(&at));
            if around.is_some_and(|group| goes_round(&function, &group, &Nodes::new())) {
                return Err(self.refused(at, Why::SwitchesInLoop));
            }
            let rest = self.ends(&body, at, &leaves)?;
            if rest.contains_key(&End::Switch) || rest.contains_key(&End::Application) {
                return Err(self.refused(at, Why::SwitchesAgain));
            }
            if let Some(rest) = rest.get(&End::Return) {
                add(back.then(rest));
            }
        }
        if kind == Some(Kind::Switch) {
            resumed = Some(Cost::nothing());
        }
        writes.dedup();
        Ok(Summary { ends, resumed, writes })
    }

    /// A function that is called or jumped to.
    fn called(&mut self, at: u16, caller: u16) -> Result<Rc<Summary>, Refused> {
        if self.kinds.get(&at) == Some(&Kind::End) {
            return Ok(Rc::new(Summary { ends: BTreeMap::new(), resumed: None, writes: Vec::new() }));
        }
        self.summary(at, caller)
    }

    /// The longest path from an instruction to each kind of end.
    fn ends(&self, body: &Body<'_>, from: u16, leaves: &[(u16, End, Cost)]) -> Result<BTreeMap<End, Cost>, Refused> {
        let region = reached(body, from);
        let costs = self.paths(body, &region, &[(from, Cost::nothing())], &Nodes::new())?;
        let mut ends: BTreeMap<End, Cost> = BTreeMap::new();
        for (at, end, cost) in leaves {
            if let Some(before) = costs.get(at) {
                let all = before.then(cost);
                let worst = ends.get(end).map_or(all.clone(), |known| known.or(&all));
                ends.insert(*end, worst);
            }
        }
        Ok(ends)
    }

    /// The longest paths to each instruction of a region from those where it is entered; ways to `cut` do not count.
    fn paths(
        &self,
        body: &Body<'_>,
        region: &Nodes,
        entered: &[(u16, Cost)],
        cut: &Nodes,
    ) -> Result<BTreeMap<u16, Cost>, Refused> {
        let mut before: BTreeMap<u16, Cost> = BTreeMap::new();
        for (at, cost) in entered {
            add(&mut before, *at, cost.clone());
        }
        let mut all = BTreeMap::new();
        for group in groups(body.function, region, cut) {
            let own: Vec<(u16, Cost)> =
                group.iter().filter_map(|at| before.get(at).map(|cost| (*at, cost.clone()))).collect();
            if own.is_empty() {
                continue;
            }
            let inside = match goes_round(body.function, &group, cut) {
                true => self.around(body, &group, &own, cut)?,
                false => own.into_iter().collect(),
            };
            for (at, cost) in &inside {
                for (to, way) in &body.ways[at] {
                    if region.contains(to) && !group.contains(to) && !cut.contains(to) {
                        add(&mut before, *to, cost.then(way));
                    }
                }
            }
            all.extend(inside);
        }
        Ok(all)
    }

    /// The longest paths to each instruction of a loop.
    fn around(
        &self,
        body: &Body<'_>,
        group: &Nodes,
        entered: &[(u16, Cost)],
        cut: &Nodes,
    ) -> Result<BTreeMap<u16, Cost>, Refused> {
        let head = self.head(body, group, entered, cut)?;
        let mut inner_cut = cut.clone();
        inner_cut.insert(head);
        let to_head = |inside: &BTreeMap<u16, Cost>| {
            let ways = inside.iter().flat_map(|(at, cost)| {
                body.ways[at].iter().filter(|(to, _)| *to == head).map(move |(_, way)| cost.then(way))
            });
            ways.reduce(|one, other| one.or(&other))
        };
        let from_head = self.paths(body, group, &[(head, Cost::nothing())], &inner_cut)?;
        // Those that are entered elsewhere come to the head, or leave before.
        let others: Vec<(u16, Cost)> = entered.iter().filter(|(at, _)| *at != head).cloned().collect();
        let direct = if others.is_empty() { BTreeMap::new() } else { self.paths(body, group, &others, &inner_cut)? };
        let at_head = entered.iter().find(|(at, _)| *at == head).map(|(_, cost)| cost.clone());
        let come = to_head(&direct);
        let mut all = direct;
        if let Some(turn) = to_head(&from_head) {
            let turns = Turns { host: self.host, function: body.function, cut };
            let most = turns.most(group, head)?;
            // Who has come to the head from elsewhere in the loop has come back once, where that is what is counted.
            let rest = if turns.counted(group, head).is_some() { most.plus(-1) } else { most };
            for (before, most) in [(at_head, most), (come, rest)] {
                let Some(before) = before else { continue };
                for (at, cost) in &from_head {
                    let rest = before.then(cost);
                    add(&mut all, *at, turn.times(most, &rest, self.host.counts, self.host.capacity));
                }
            }
        }
        Ok(all)
    }

    /// The instruction at which the turns of a loop are counted: where it is entered; or one that is on each way round.
    fn head(&self, body: &Body<'_>, group: &Nodes, entered: &[(u16, Cost)], cut: &Nodes) -> Result<u16, Refused> {
        let is_on_each = |at: &u16| {
            let mut without = cut.clone();
            without.insert(*at);
            groups(body.function, group, &without).iter().all(|rest| !goes_round(body.function, rest, &without))
        };
        // Where a counter leads back to, its turns are counted, wherever the loop is entered.
        let turns = Turns { host: self.host, function: body.function, cut };
        if let Some(counted) = group.iter().copied().find(|at| turns.counted(group, *at).is_some() && is_on_each(at)) {
            return Ok(counted);
        }
        if let [(only, _)] = entered {
            return Ok(*only);
        }
        let first = group.first().copied().unwrap_or_default();
        group.iter().copied().find(is_on_each).ok_or_else(|| self.refused(first, Why::Tangled))
    }
}

fn add(to: &mut BTreeMap<u16, Cost>, at: u16, cost: Cost) {
    let worst = to.get(&at).map_or(cost.clone(), |known| known.or(&cost));
    to.insert(at, worst);
}

/// What can be reached from an instruction.
fn reached(body: &Body<'_>, from: u16) -> Nodes {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if found.insert(at) {
            open.extend(body.ways.get(&at).into_iter().flatten().map(|(to, _)| *to));
        }
    }
    found
}
