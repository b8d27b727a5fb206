//! Loops: what goes round, and how often.

use std::collections::{BTreeMap, BTreeSet};

use catapults_compiler::verify::Most;

use crate::costs::annotated;
use crate::function::Function;
use crate::host::{Host, c_name};
use crate::image::Source;
use crate::processors::{Counts, Flow, Register};
use crate::refused::{Refused, Why};

/// Instructions of a function.
pub type Nodes = BTreeSet<u16>;

/// Those of `region` that lead to each other, as groups, in an order in which none leads to an earlier group; ways to `cut` do not count.
pub fn groups(function: &Function, region: &Nodes, cut: &Nodes) -> Vec<Nodes> {
    let mut search = Search {
        function,
        region,
        cut,
        number: BTreeMap::new(),
        low: BTreeMap::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    for at in region {
        if !search.number.contains_key(at) {
            search.from(*at);
        }
    }
    search.found.reverse();
    search.found
}

/// Whether a group is a loop: more than one instruction, or one that leads to itself.
pub fn goes_round(function: &Function, group: &Nodes, cut: &Nodes) -> bool {
    group.len() > 1 || group.iter().any(|at| function.next(*at).any(|to| to == *at && !cut.contains(&to)))
}

/// Tarjan's algorithm, without recursion.
struct Search<'a> {
    function: &'a Function,
    region: &'a Nodes,
    cut: &'a Nodes,
    number: BTreeMap<u16, usize>,
    low: BTreeMap<u16, usize>,
    open: Vec<u16>,
    found: Vec<Nodes>,
}

impl Search<'_> {
    fn from(&mut self, start: u16) {
        let mut way = vec![(start, self.next(start))];
        self.enter(start);
        while let Some((at, rest)) = way.last_mut() {
            let at = *at;
            if let Some(to) = rest.pop() {
                if !self.number.contains_key(&to) {
                    self.enter(to);
                    way.push((to, self.next(to)));
                } else if self.open.contains(&to) {
                    let low = self.low[&at].min(self.number[&to]);
                    self.low.insert(at, low);
                }
                continue;
            }
            way.pop();
            if let Some((before, _)) = way.last() {
                let low = self.low[before].min(self.low[&at]);
                self.low.insert(*before, low);
            }
            if self.low[&at] == self.number[&at] {
                let from = self.open.iter().rposition(|open| *open == at).unwrap_or(0);
                self.found.push(self.open.split_off(from).into_iter().collect());
            }
        }
    }

    fn next(&self, at: u16) -> Vec<u16> {
        self.function.next(at).filter(|to| self.region.contains(to) && !self.cut.contains(to)).collect()
    }

    fn enter(&mut self, at: u16) {
        let number = self.number.len();
        self.number.insert(at, number);
        self.low.insert(at, number);
        self.open.push(at);
    }
}

/// Finds how often a loop goes back to its head.
pub struct Turns<'a> {
    /// What is known of the program.
    pub host: &'a Host<'a>,
    /// The function in which the loop is.
    pub function: &'a Function,
    /// Heads of the loops around it.
    pub cut: &'a Nodes,
}

impl Turns<'_> {
    /// The most turns of a loop: how often one of its instructions leads to its head, from when the loop is entered.
    pub fn most(&self, group: &Nodes, head: u16) -> Result<Most, Refused> {
        if let Some(turns) = self.counted(group, head) {
            return Ok(Most::number(turns));
        }
        let lines: Vec<(Source, Most)> = self.lines(group, head).into_iter().collect();
        match lines.as_slice() {
            [(_, most)] => return Ok(*most),
            [] => {}
            [(one, _), (other, _), ..] => {
                let why = Why::Merged(Box::new([one.clone(), other.clone()]));
                return Err(Refused::at(self.host.image, head, why));
            }
        }
        let name = c_name(self.host.image.function(head));
        let said = self.host.image.source(head).is_none().then(|| self.host.costs.turns.get(name)).flatten();
        said.copied().ok_or_else(|| Refused::at(self.host.image, head, Why::Endless))
    }

    /// The lines of the source that say how often the loop goes round: that of its head, and those that lead back to it, if they are
    /// the policy's loops: two such lines are of two loops. Other lines in it can be of loops that are no more: what is shifted by a constant is shifted without one.
    /// Without those of loops within it.
    fn lines(&self, group: &Nodes, head: u16) -> BTreeMap<Source, Most> {
        let mut cut = self.cut.clone();
        cut.insert(head);
        let (mut own, mut inner) = (group.clone(), BTreeSet::new());
        for nested in groups(self.function, group, &cut) {
            if goes_round(self.function, &nested, &cut) {
                own.retain(|at| !nested.contains(at));
                inner.extend(nested.iter().filter_map(|at| self.host.image.source(*at)));
            }
        }
        let known = |at: u16, said: Option<Most>| {
            let source = self.host.image.source(at).filter(|source| !inner.contains(source))?;
            Some((source.clone(), said?))
        };
        let back = own.iter().copied().filter(|at| self.function.next(*at).any(|to| to == head));
        let of_back = back.filter_map(|at| known(at, self.said_by_policy(at)));
        known(head, self.said(head)).into_iter().chain(of_back).collect()
    }

    /// What the line of an instruction says of loops in it.
    fn said(&self, at: u16) -> Option<Most> {
        let source = self.host.image.source(at)?;
        let uses = |name: &str| source.text.contains(&format!("{name}("));
        let of_macros = self.host.costs.turns.iter().filter(|(name, _)| uses(name)).map(|(_, most)| *most);
        // Which of several loops in a line this is, nobody knows: it has no more turns than the one with most.
        let all = annotated(&source.text).into_iter().chain(of_macros).chain(self.said_by_policy(at));
        all.reduce(Most::or).filter(|most| most.is_known())
    }

    /// What is known of the policy's loop in the line of an instruction.
    fn said_by_policy(&self, at: u16) -> Option<Most> {
        self.host.image.source(at)?.origin().and_then(|place| (self.host.turns)(place))
    }

    /// How often a register that counts down leads back, if it is set to a number before the loop, and nothing else in it sets it.
    pub fn counted(&self, group: &Nodes, head: u16) -> Option<u64> {
        let (counter, down) = self.counter(group, head)?;
        let sets = |at: &u16| self.function.nodes[at].instruction.sets.iter().any(|(register, _)| *register == counter);
        if group.iter().any(|at| *at != down && sets(at)) {
            return None;
        }
        let registers = self.function.registers();
        let mut most = None;
        for at in self.function.nodes.keys().filter(|at| !group.contains(at)) {
            if self.function.next(*at).any(|to| group.contains(&to)) {
                let start = *self.function.after(*at, registers.get(at)?).get(&counter)?;
                // It is decremented first: 0 stands for 256.
                most = most.max(Some(u64::from(start.wrapping_sub(1))));
            }
        }
        most
    }

    /// The register that decides whether there is another turn, and the instruction that decrements it: each turn does once.
    fn counter(&self, group: &Nodes, head: u16) -> Option<(Register, u16)> {
        let function = self.function;
        let only = |to: u16| {
            let mut all = function.nodes.keys().filter(|at| function.next(**at).any(|next| next == to));
            all.next().copied().filter(|_| all.next().is_none())
        };
        let mut back = group.iter().copied().filter(|at| function.next(*at).any(|to| to == head));
        let (back, None) = (back.next()?, back.next()) else { return None };
        let branch = &function.nodes[&back];
        let leads_back = matches!(branch.instruction.flow, Flow::Branch(target, _) if target == head);
        if !leads_back || function.next(back).any(|to| to != head && group.contains(&to)) {
            return None;
        }
        match branch.instruction.counts {
            Counts::DownUnlessZero(register) => Some((register, back)),
            Counts::UnlessZero => {
                let before = only(back).filter(|before| group.contains(before))?;
                match function.nodes[&before].instruction.counts {
                    Counts::Down(register) => Some((register, before)),
                    Counts::DownUnlessZero(_) | Counts::UnlessZero | Counts::No => None,
                }
            }
            Counts::Down(_) | Counts::No => None,
        }
    }
}
