//! How long handlers take at the most, in steps: on every host the same (`docs/wcet.md`).
//!
//! ```text
//! Verified<Policy> ──► limits (verify) ──► bound ──► Formula, path
//! ```
//!
//! [`crate::policy::cost`] says what a step is. The interpreter counts by it, so each bound can be compared with what is observed.

mod bound;
mod formula;
mod path;
mod refused;
mod turns;

pub use formula::{Counts, Formula};
pub use path::Visit;
pub use turns::TurnsByPlace;

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::text::Heads;
use crate::policy::{At, Block, Handler, Policy, Statement};
use crate::verify::{Limits, Verified};

/// The most steps of a handler.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    /// The handler, of an event or a query.
    pub handler: &'a Handler,
    /// For any numbers of threads and nodes. It can be more than `steps`, where a formula would be too long.
    pub formula: Formula,
    /// For the numbers given.
    pub steps: u128,
    /// The path that takes so long, in the order of the source. All steps on it together are `steps`.
    pub path: Vec<Line>,
}

/// A statement on a path.
#[derive(Clone, Debug)]
pub struct Line {
    /// Where it is written; line 0 in a handler of the framework.
    pub at: At,
    /// As the policy writes it, without what is inside it.
    pub text: String,
    /// How often the path comes there, and what that takes.
    pub visit: Visit,
}

/// A policy of which is known what bounds the work of its handlers.
#[derive(Debug)]
pub struct Steps<'a> {
    verified: &'a Verified<Policy>,
    limits: Limits,
}

impl<'a> Steps<'a> {
    /// Of a policy for this framework.
    pub fn of(verified: &'a Verified<Policy>, framework: &Framework) -> Self {
        Steps { verified, limits: verified.limits(framework) }
    }

    /// The bound of each handler that is `wanted` and has one, events first; and why the others have none.
    pub fn bounds(&self, counts: Counts, wanted: &dyn Fn(&Handler) -> bool) -> (Vec<Bound<'a>>, Diagnostics) {
        let policy = self.verified.policy();
        let known = bound::Known { verified: self.verified, limits: &self.limits, counts };
        let (mut bounds, mut diagnostics) = (Vec::new(), Diagnostics::new());
        for handler in policy.events.iter().chain(&policy.queries).filter(|handler| wanted(handler)) {
            match bound::bound(&known, &handler.body) {
                Ok(cost) if u64::try_from(cost.steps).is_err() => {
                    diagnostics.push(refused::too_large(handler, &cost.formula))
                }
                Ok(cost) => {
                    let visits = cost.path.visits();
                    let heads = Heads::of(policy, handler);
                    let mut path = Vec::new();
                    each(&handler.body, &mut |statement| {
                        if let Some(visit) = visits.get(&statement.id) {
                            path.push(Line { at: statement.at, text: heads.head(statement), visit: *visit });
                        }
                    });
                    bounds.push(Bound { handler, formula: cost.formula, steps: cost.steps, path });
                }
                Err(refused) => refused.into_iter().for_each(|one| diagnostics.push(one.diagnostic(handler))),
            }
        }
        (bounds, diagnostics)
    }
}

fn each(block: &Block, visit: &mut impl FnMut(&Statement)) {
    for statement in block {
        visit(statement);
        statement.blocks().for_each(|inner| each(inner, visit));
    }
}
