//! The gate: a policy comes out as [`Verified`] or not at all.
//!
//! One property per file, each with one public `check`. What a property cannot prove of a transfer becomes a [`Guard`],
//! which every back-end evaluates before the transfer's effect.

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::{ContainerId, Policy, Statement, StatementId};

/// Proof that `verify` has accepted what is inside, with what it learnt. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    inner: T,
    facts: Vec<Facts>,
}

/// What is known of one statement whenever it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// To be evaluated in this order before the statement has any effect; when one fails the policy is out.
    pub guards: Vec<Guard>,
    /// Of a transfer or destruction of a named thread: the containers in which the thread can be.
    pub positions: Vec<ContainerId>,
    /// Of the same: whether the thread can be in hand, in no container yet. Always so when `positions` is empty.
    pub in_hand: bool,
    /// Of an assignment to a sort key: the sorted containers in which the thread can be, so that it must be re-filed.
    pub refile: Vec<ContainerId>,
}

/// What is left to be evaluated at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The source of the transfer, or the slot dispatched, holds a thread.
    Holds(ContainerId),
    /// The threadref that is the destination is empty.
    Vacant(ContainerId),
}

impl Verified<Policy> {
    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.inner
    }

    /// What is known of a statement.
    pub fn facts(&self, statement: StatementId) -> &Facts {
        &self.facts[statement.0]
    }
}

impl Verified<Policy> {
    /// What is said when this guard of this statement fails.
    pub fn guard_text(&self, statement: &Statement, guard: Guard) -> String {
        let _ = (statement, guard);
        String::new()
    }
}

/// Judges a policy. `None` if any property refuses it; the reasons are in `diagnostics`.
pub fn verify(policy: Policy, framework: &Framework, diagnostics: &mut Diagnostics) -> Option<Verified<Policy>> {
    let _ = (policy, framework, diagnostics);
    None
}
