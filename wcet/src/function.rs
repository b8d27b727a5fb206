//! The instructions of a function, and where each leads.

use std::collections::{BTreeMap, BTreeSet};

use crate::image::Image;
use crate::processors::{Flow, Instruction, Pointer, Processor, Register};
use crate::refused::{Refused, Why};

/// The code that is reached from a function's first instruction without a call.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its first instruction.
    pub entry: u16,
    /// By address.
    pub nodes: BTreeMap<u16, Node>,
}

/// An instruction, and where it leads.
#[derive(Clone, Debug)]
pub struct Node {
    /// The instruction.
    pub instruction: Instruction,
    /// What comes next, in the function, and the clocks that it takes to go there. Behind a call: without the function called.
    pub next: Vec<(u16, u32)>,
    /// How it leaves the function, and the clocks of that.
    pub leaves: Vec<(Leave, u32)>,
    /// The function that it calls, and which comes back.
    pub calls: Option<u16>,
}

/// How a function is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// To its caller.
    Return,
    /// To its caller, through a register into which its address has been taken off the stack first of all.
    ReturnThrough(Pointer),
    /// To another function, which returns to the caller.
    To(u16),
    /// To wherever a register points.
    Anywhere,
}

/// What registers hold, as far as that is known.
pub type Registers = BTreeMap<Register, u8>;

impl Function {
    /// Reads the function that begins at an address. `starts` says whether another function begins at one.
    pub fn read(
        image: &Image,
        processor: &dyn Processor,
        entry: u16,
        starts: &dyn Fn(u16) -> bool,
    ) -> Result<Function, Refused> {
        let mut function = Function { entry, nodes: BTreeMap::new() };
        let mut before: BTreeMap<u16, u16> = BTreeMap::new();
        let mut reached = vec![entry];
        while let Some(at) = reached.pop() {
            if function.nodes.contains_key(&at) {
                continue;
            }
            let instruction = processor.decode(at, &|at| image.byte(at)).ok_or_else(|| {
                let bytes = (0..4).filter_map(|offset| image.byte(at.wrapping_add(offset))).collect();
                Refused::at(image, at, Why::Unknown(bytes))
            })?;
            let node = function.node(image, instruction, &before, starts)?;
            for (to, _) in &node.next {
                before.entry(*to).or_insert(at);
                reached.push(*to);
            }
            function.nodes.insert(at, node);
        }
        function.straight(image)?;
        Ok(function)
    }

    fn node(
        &self,
        image: &Image,
        instruction: Instruction,
        before: &BTreeMap<u16, u16>,
        starts: &dyn Fn(u16) -> bool,
    ) -> Result<Node, Refused> {
        let (at, clocks) = (instruction.at, instruction.clocks);
        let behind = at.wrapping_add(instruction.length);
        let (mut next, mut leaves, mut calls) = (Vec::new(), Vec::new(), None);
        let mut to = |target: u16, clocks: u32| match starts(target) && target != self.entry {
            true => leaves.push((Leave::To(target), clocks)),
            false => next.push((target, clocks)),
        };
        match instruction.flow {
            Flow::Next | Flow::Pop(_) | Flow::Repeat(_) => next.push((behind, clocks)),
            Flow::Jump(target) => to(target, clocks),
            Flow::Branch(target, taken) => {
                to(target, taken);
                next.push((behind, clocks));
            }
            Flow::Call(target) => {
                calls = Some(target);
                next.push((behind, clocks));
            }
            Flow::Return => leaves.push((Leave::Return, clocks)),
            Flow::MayReturn(taken) => {
                leaves.push((Leave::Return, taken));
                next.push((behind, clocks));
            }
            Flow::Away => return Err(Refused::at(image, at, Why::Away)),
            Flow::Through(pointer) => match self.through(image, at, pointer, before) {
                Through::Return => leaves.push((Leave::Return, clocks)),
                Through::First => leaves.push((Leave::ReturnThrough(pointer), clocks)),
                Through::Table(table) => next.extend(table.into_iter().map(|target| (target, clocks))),
                Through::Unknown => leaves.push((Leave::Anywhere, clocks)),
            },
        }
        Ok(Node { instruction, next, leaves, calls })
    }

    /// Where a jump through a register leads, by the instructions before it.
    fn through(&self, image: &Image, at: u16, pointer: Pointer, before: &BTreeMap<u16, u16>) -> Through {
        let mut computed = false;
        for node in self.chain(at, before) {
            let instruction = &node.instruction;
            if instruction.flow == Flow::Pop(pointer) && !computed {
                return Through::Return;
            }
            let table = address(&instruction.text).map(|table| image.table(table)).unwrap_or_default();
            if instruction.flow == Flow::Next && instruction.writes.contains(&pointer) && !table.is_empty() {
                return Through::Table(table);
            }
            // An address that is read from a table, or computed in it.
            let computes = instruction.text.starts_with("add hl, ") || instruction.text == "ld hl, 0 (hl)";
            if instruction.writes.contains(&pointer) && !computes {
                break;
            }
            computed |= computes;
        }
        let first = self.nodes.get(&self.entry).map(|node| node.instruction.flow);
        if first == Some(Flow::Pop(pointer)) { Through::First } else { Through::Unknown }
    }

    /// The instructions before one, the last first, as far as each leads only to the next.
    fn chain<'a>(&'a self, at: u16, before: &'a BTreeMap<u16, u16>) -> impl Iterator<Item = &'a Node> {
        let mut here = at;
        std::iter::from_fn(move || {
            let node = self.nodes.get(before.get(&here)?)?;
            here = node.instruction.at;
            (node.next.len() == 1 && node.leaves.is_empty() && node.calls.is_none()).then_some(node)
        })
    }

    /// What was concluded from the instructions before a jump through a register holds for each way to it: there is one.
    fn straight(&self, image: &Image) -> Result<(), Refused> {
        let mut before: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
        for (at, node) in &self.nodes {
            for (to, _) in &node.next {
                before.entry(*to).or_default().insert(*at);
            }
        }
        for (at, node) in &self.nodes {
            let Flow::Through(pointer) = node.instruction.flow else { continue };
            if node.leaves.iter().any(|(leave, _)| *leave != Leave::Return) {
                continue;
            }
            let mut here = *at;
            loop {
                let all = before.get(&here).filter(|all| all.len() == 1);
                here = *all.and_then(BTreeSet::first).ok_or_else(|| Refused::at(image, *at, Why::Indirect))?;
                let instruction = &self.nodes[&here].instruction;
                let is_loaded = instruction.writes.contains(&pointer) && address(&instruction.text).is_some();
                if instruction.flow == Flow::Pop(pointer) || is_loaded {
                    break;
                }
            }
        }
        Ok(())
    }

    /// What comes next in the function.
    pub fn next(&self, at: u16) -> impl Iterator<Item = u16> {
        self.nodes.get(&at).into_iter().flat_map(|node| node.next.iter().map(|(to, _)| *to))
    }

    /// What registers hold before each instruction, whichever way has led there.
    pub fn registers(&self) -> BTreeMap<u16, Registers> {
        let mut known: BTreeMap<u16, Registers> = BTreeMap::from([(self.entry, Registers::new())]);
        let mut changed = vec![self.entry];
        while let Some(at) = changed.pop() {
            let after = self.after(at, &known[&at]);
            for to in self.next(at) {
                let joined = match known.get(&to) {
                    Some(before) => {
                        let mut joined = before.clone();
                        joined.retain(|register, value| after.get(register) == Some(value));
                        joined
                    }
                    None => after.clone(),
                };
                if known.get(&to) != Some(&joined) {
                    known.insert(to, joined);
                    changed.push(to);
                }
            }
        }
        known
    }

    /// What registers hold behind an instruction.
    pub fn after(&self, at: u16, before: &Registers) -> Registers {
        let mut after = before.clone();
        for (register, value) in &self.nodes[&at].instruction.sets {
            match value {
                Some(value) => after.insert(*register, *value),
                None => after.remove(register),
            };
        }
        after
    }
}

enum Through {
    Return,
    First,
    Table(Vec<u16>),
    Unknown,
}

/// The address that an instruction loads: `ld hl, 0x1234`.
fn address(text: &str) -> Option<u16> {
    let (_, operand) = text.split_once(", 0x")?;
    u16::from_str_radix(operand, 16).ok()
}
