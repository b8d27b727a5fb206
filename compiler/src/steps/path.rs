//! The path that takes longest: how often it comes to each statement, and what it takes there.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::policy::StatementId;

/// A path, or a part of one. It is shared by the longer ones that are made of it.
#[derive(Clone, Debug)]
pub(super) struct Path(Rc<Part>);

#[derive(Debug)]
enum Part {
    Nothing,
    /// A statement: how often it is come to here, and the steps of all of that.
    At(StatementId, u64, u128),
    Then(Path, Path),
    Times(u64, Path),
}

/// What a path does at a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// How often it comes there. For a loop: how often its condition is tested, or how many threads it visits.
    pub times: u64,
    /// The steps of all of that.
    pub steps: u128,
}

impl Path {
    pub fn nothing() -> Path {
        Path(Rc::new(Part::Nothing))
    }

    pub fn at(statement: StatementId, times: u64, steps: u128) -> Path {
        Path(Rc::new(Part::At(statement, times, steps)))
    }

    pub fn then(&self, next: &Path) -> Path {
        match (&*self.0, &*next.0) {
            (Part::Nothing, _) => next.clone(),
            (_, Part::Nothing) => self.clone(),
            (_, _) => Path(Rc::new(Part::Then(self.clone(), next.clone()))),
        }
    }

    pub fn times(&self, times: u64) -> Path {
        if times == 0 { Path::nothing() } else { Path(Rc::new(Part::Times(times, self.clone()))) }
    }

    /// By statement, in their order.
    pub fn visits(&self) -> BTreeMap<StatementId, Visit> {
        let mut visits = BTreeMap::new();
        self.visit(1, &mut visits);
        visits
    }

    fn visit(&self, often: u64, visits: &mut BTreeMap<StatementId, Visit>) {
        match &*self.0 {
            Part::Nothing => {}
            Part::At(statement, times, steps) => {
                let visit = visits.entry(*statement).or_default();
                visit.times = visit.times.saturating_add(times.saturating_mul(often));
                visit.steps = visit.steps.saturating_add(steps.saturating_mul(u128::from(often)));
            }
            Part::Then(first, next) => {
                first.visit(often, visits);
                next.visit(often, visits);
            }
            Part::Times(times, path) => path.visit(often.saturating_mul(*times), visits),
        }
    }
}
