//! The path that takes longest: how often it comes to each instruction, and what it takes there.

use std::collections::BTreeMap;
use std::rc::Rc;

use catapults_compiler::steps::{Counts, Formula};
use catapults_compiler::verify::Most;

/// What a way takes: as a formula, and in clocks for some number of threads, with a path that takes so long then.
#[derive(Clone, Debug)]
pub struct Cost {
    /// For any number of threads.
    pub formula: Formula,
    /// For the number given.
    pub clocks: u128,
    /// The path.
    pub path: Path,
}

/// A path, or a part of one. It is shared by the longer ones that are made of it.
#[derive(Clone, Debug)]
pub struct Path(Rc<Part>);

#[derive(Debug)]
enum Part {
    Nothing,
    /// An instruction, and its clocks.
    At(u16, u32),
    Then(Path, Path),
    Times(u64, Path),
}

/// What a path does at an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// How often it comes there.
    pub times: u64,
    /// The clocks of all of that.
    pub clocks: u128,
}

impl Cost {
    /// Of doing nothing.
    pub fn nothing() -> Cost {
        Cost { formula: Formula::number(0), clocks: 0, path: Path(Rc::new(Part::Nothing)) }
    }

    /// Of an instruction.
    pub fn at(address: u16, clocks: u32) -> Cost {
        let path = Path(Rc::new(Part::At(address, clocks)));
        Cost { formula: Formula::number(u64::from(clocks)), clocks: u128::from(clocks), path }
    }

    /// Of the one, and then the other.
    #[must_use]
    pub fn then(&self, next: &Cost) -> Cost {
        Cost {
            formula: self.formula.plus(&next.formula),
            clocks: self.clocks.saturating_add(next.clocks),
            path: self.path.then(&next.path),
        }
    }

    /// Of the one or the other.
    #[must_use]
    pub fn or(&self, other: &Cost) -> Cost {
        let formula = self.formula.or(&other.formula);
        let worst = if other.clocks > self.clocks { other } else { self };
        Cost { formula, ..worst.clone() }
    }

    /// So many of these, at the most, and `rest`.
    #[must_use]
    pub fn times(&self, most: Most, rest: &Cost, counts: Counts, capacity: Option<u64>) -> Cost {
        let times = counts.most(most);
        let many = Path(Rc::new(if times == 0 { Part::Nothing } else { Part::Times(times, self.path.clone()) }));
        Cost {
            formula: self.formula.turns(most, &rest.formula, capacity),
            clocks: self.clocks.saturating_mul(u128::from(times)).saturating_add(rest.clocks),
            path: rest.path.then(&many),
        }
    }
}

impl Path {
    fn then(&self, next: &Path) -> Path {
        match (&*self.0, &*next.0) {
            (Part::Nothing, _) => next.clone(),
            (_, Part::Nothing) => self.clone(),
            (_, _) => Path(Rc::new(Part::Then(self.clone(), next.clone()))),
        }
    }

    /// By address, in the order in which the path first comes there. Turns of a loop come after what is behind it.
    pub fn visits(&self) -> Vec<(u16, Visit)> {
        let (mut order, mut visits) = (Vec::new(), BTreeMap::<u16, Visit>::new());
        let mut open = vec![(self, 1_u64)];
        while let Some((path, often)) = open.pop() {
            match &*path.0 {
                Part::Nothing => {}
                Part::At(address, clocks) => {
                    let visit = visits.entry(*address).or_insert_with(|| {
                        order.push(*address);
                        Visit::default()
                    });
                    visit.times = visit.times.saturating_add(often);
                    visit.clocks = visit.clocks.saturating_add(u128::from(*clocks).saturating_mul(u128::from(often)));
                }
                Part::Then(first, last) => open.extend([(last, often), (first, often)]),
                Part::Times(times, path) => open.push((path, often.saturating_mul(*times))),
            }
        }
        order.into_iter().filter_map(|at| Some((at, *visits.get(&at)?))).collect()
    }
}
