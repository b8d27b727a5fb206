//! The most steps of a handler, over all of its paths.

use super::formula::{Counts, Formula};
use super::path::Path;
use super::refused::{Refused, is_verbatim};
use crate::policy::cost;
use crate::policy::{
    Block, Container, ContainerId, ContainerKind, Entity, Leave, Policy, Statement, StatementKind, Test,
};
use crate::verify::{Guard, Limit, Limits, Most, Multiple, Turns, Verified};

/// What paths cost that end in the same way: as a formula, and the worst of them for some numbers of threads and nodes.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    pub formula: Formula,
    pub steps: u128,
    pub path: Path,
}

/// The worst path of each kind through a block; `None`: there is none.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// Goes on behind it.
    next: Option<Cost>,
    /// Leaves a turn of the loop around it.
    turn: Option<Cost>,
    /// Leaves that loop.
    out: Option<Cost>,
    /// Ends the handler.
    end: Option<Cost>,
}

/// The worst path through a handler's body, or all that has no bound.
pub(super) fn bound(known: &Known, body: &Block) -> Result<Cost, Vec<Refused>> {
    let mut walker = Walker { known, refused: Vec::new() };
    let ways = walker.block(body);
    let paths = [ways.next, ways.end].into_iter().flatten();
    let worst = paths.reduce(|one, other| one.or(other));
    match walker.refused.is_empty() {
        true => Ok(worst.unwrap_or_else(Cost::nothing)),
        false => Err(walker.refused),
    }
}

/// What bounds are computed from.
pub(super) struct Known<'a> {
    pub verified: &'a Verified<Policy>,
    pub limits: &'a Limits,
    pub counts: Counts,
}

struct Walker<'a> {
    known: &'a Known<'a>,
    refused: Vec<Refused>,
}

impl Walker<'_> {
    fn block(&mut self, block: &Block) -> Ways {
        let mut ways = Ways::default();
        let mut before = Cost::nothing();
        for statement in block {
            if !self.is_reached(statement) {
                // A guard has stopped the handler before it.
                ways.end = worse(ways.end, Some(before));
                return ways;
            }
            let own = self.statement(statement);
            let after = |way: Option<Cost>| way.map(|way| before.then(&way));
            ways.turn = worse(ways.turn, after(own.turn));
            ways.out = worse(ways.out, after(own.out));
            ways.end = worse(ways.end, after(own.end));
            match after(own.next) {
                Some(next) => before = next,
                None => return ways,
            }
        }
        ways.next = Some(before);
        ways
    }

    fn statement(&mut self, statement: &Statement) -> Ways {
        if is_verbatim(statement) {
            self.refused.push(Refused::verbatim(statement));
        }
        let begun = self.begun(statement);
        match &statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                let (yes, no) = self.limit(statement).outcomes;
                let mut ways = Ways::default();
                for (_, block) in [(yes, then), (no, otherwise)].into_iter().filter(|(can_be, _)| *can_be) {
                    ways = ways.or(self.block(block));
                }
                // Nothing is known of either: an error elsewhere, or a path on which a guard has failed.
                if !yes && !no {
                    ways.end = Some(Cost::nothing());
                }
                ways.after(&begun)
            }
            StatementKind::Foreach { body, .. } => {
                let visited = self.limit(statement).source;
                self.turns(statement, (visited, visited), body, &Vec::new(), Cost::nothing(), &begun)
            }
            StatementKind::Follow { body, .. } => {
                let once = Most::number(1);
                self.turns(statement, (once, once), body, &Vec::new(), Cost::nothing(), &begun)
            }
            StatementKind::Loop { condition, test, body, step } => {
                let Some(Turns { begun: begins, completed }) = self.limit(statement).turns else {
                    self.refused.push(Refused::endless(statement));
                    // All that has no bound is told at once.
                    self.block(body);
                    return Ways { next: Some(begun), ..Ways::default() };
                };
                let tested = self.own(statement, 1, cost::evaluated(condition));
                let begun = if *test == Test::Before { begun.then(&tested) } else { begun };
                self.turns(statement, (begins, completed), body, step, tested, &begun)
            }
            StatementKind::Leave { what: Leave::Turn } => Ways { turn: Some(begun), ..Ways::default() },
            StatementKind::Leave { what: Leave::Loop } => Ways { out: Some(begun), ..Ways::default() },
            StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => {
                Ways { end: Some(begun), ..Ways::default() }
            }
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Verbatim { .. } => Ways { next: Some(begun), ..Ways::default() },
        }
    }

    /// The paths through a loop, of which so many turns begin and are completed. `test`: what each of them ends with.
    fn turns(
        &mut self,
        statement: &Statement,
        (begins, completed): (Most, Most),
        body: &Block,
        step: &Block,
        test: Cost,
        begun: &Cost,
    ) -> Ways {
        if body.first().is_some_and(|first| !self.is_reached(first)) {
            return Ways { next: Some(begun.clone()), ..Ways::default() };
        }
        let times = if matches!(statement.kind, StatementKind::Loop { .. }) { 0 } else { 1 };
        let turn = self.own(statement, times, cost::TURN);
        let (body, step) = (self.block(body), self.block(step));
        let stepped = worse(body.next, body.turn).map(|way| turn.then(&way));
        let all = stepped.as_ref().zip(step.next.as_ref()).map(|(way, step)| way.then(step).then(&test));
        let (counts, capacity) = (self.known.counts, self.capacity());
        // So many whole turns, and then what is left.
        let whole = |most: Most, last: &Cost| match &all {
            Some(all) => begun.then(&all.times(counts.most(most), most, last, capacity)),
            None => begun.then(last),
        };
        // The last turn is left early, if there is one.
        let last = |way: Option<Cost>| {
            let left = whole(begins.plus(-1), &way?);
            let formula = left.formula.clone();
            Some(if counts.most(begins) > 0 { left } else { Cost { formula, ..begun.clone() } })
        };
        let left = |way: Option<Cost>| way.map(|way| turn.then(&way));
        let in_step = stepped.as_ref().zip(step.end.as_ref()).map(|(way, step)| way.then(step));
        Ways {
            next: worse(Some(whole(completed, &Cost::nothing())), last(left(body.out))),
            end: worse(last(left(body.end)), last(in_step)),
            ..Ways::default()
        }
    }

    /// What a statement costs itself: with its guards, and with what it moves.
    fn begun(&self, statement: &Statement) -> Cost {
        let guards = &self.known.verified.facts(statement.id).guards;
        let guards = guards.iter().map(|guard| {
            let (Guard::Holds(container) | Guard::Vacant(container)) = guard;
            cost::GUARD + cost::named(container)
        });
        let loops = matches!(
            statement.kind,
            StatementKind::Loop { .. } | StatementKind::Foreach { .. } | StatementKind::Follow { .. }
        );
        let own = self.own(statement, u64::from(!loops), cost::begun(statement) + guards.sum::<u64>());
        let moved = self.moved(statement);
        let steps = moved.iter().map(|(steps, _)| u128::from(*steps)).sum::<u128>();
        let formula = moved.into_iter().fold(Formula::number(0), |sum, (_, formula)| sum.plus(&formula));
        own.then(&Cost { formula, steps, path: Path::at(statement.id, 0, steps) })
    }

    /// What it costs to move what the statement moves.
    fn moved(&self, statement: &Statement) -> Vec<(u64, Formula)> {
        let (verified, limit) = (self.known.verified, self.limit(statement));
        let facts = verified.facts(statement.id);
        let mut moved = Vec::new();
        if let Some((source, destination)) = statement.moves() {
            let from: Vec<ContainerId> = match source.container() {
                Some(container) => container.candidates().collect(),
                None => facts.positions.clone(),
            };
            moved.extend(self.moving(&from, limit.source));
            let to: Vec<ContainerId> = destination.into_iter().flat_map(|to| to.candidates()).collect();
            moved.extend(self.moving(&to, limit.destination));
        }
        if matches!(statement.kind, StatementKind::Destroy { .. }) {
            let links = verified.policy().links.len() as u64;
            let most = Most { number: None, counted: Some(Multiple { of: Entity::Thread, each: links, more: 0 }) };
            let (own, naming) = (cost::LINK * links, self.known.counts.most(most));
            let formula = Formula::number(cost::LINK).turns(most, &Formula::number(own), self.capacity());
            moved.push((own + cost::LINK * naming, formula));
        }
        for _ in 0..2 {
            moved.extend(self.moving(&facts.refile, limit.refiled));
        }
        moved
    }

    /// What it costs to move a thread into or out of one of these containers, with so many threads.
    fn moving(&self, containers: &[ContainerId], most: Most) -> Option<(u64, Formula)> {
        let sorted = |container: &Container| match container.kind {
            ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => true,
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
        };
        let of = |id: &ContainerId| &self.known.verified.policy().containers[id.0];
        let worst = containers.iter().map(of).max_by_key(|container| sorted(container))?;
        let steps = cost::moving(&worst.kind, self.known.counts.most(most));
        let formula = if sorted(worst) { Formula::of_sorted(most, self.capacity()) } else { Formula::number(steps) };
        Some((steps, formula))
    }

    fn own(&self, statement: &Statement, times: u64, steps: u64) -> Cost {
        let path = Path::at(statement.id, times, u128::from(steps));
        Cost { formula: Formula::number(steps), steps: u128::from(steps), path }
    }

    fn is_reached(&self, statement: &Statement) -> bool {
        self.limit(statement).reached
    }

    fn limit(&self, statement: &Statement) -> &Limit {
        self.known.limits.of(statement.id)
    }

    fn capacity(&self) -> Option<u64> {
        self.known.verified.policy().capacity.map(u64::from)
    }
}

impl Ways {
    fn or(self, other: Ways) -> Ways {
        Ways {
            next: worse(self.next, other.next),
            turn: worse(self.turn, other.turn),
            out: worse(self.out, other.out),
            end: worse(self.end, other.end),
        }
    }

    fn after(self, before: &Cost) -> Ways {
        let after = |way: Option<Cost>| way.map(|way| before.then(&way));
        Ways { next: after(self.next), turn: after(self.turn), out: after(self.out), end: after(self.end) }
    }
}

impl Cost {
    fn nothing() -> Cost {
        Cost { formula: Formula::number(0), steps: 0, path: Path::nothing() }
    }

    fn then(&self, next: &Cost) -> Cost {
        Cost {
            formula: self.formula.plus(&next.formula),
            steps: self.steps.saturating_add(next.steps),
            path: self.path.then(&next.path),
        }
    }

    fn or(self, other: Cost) -> Cost {
        let formula = self.formula.or(&other.formula);
        let worst = if other.steps > self.steps { other } else { self };
        Cost { formula, ..worst }
    }

    /// So many of these, `most` by its formula, and then `last`.
    fn times(&self, times: u64, most: Most, last: &Cost, capacity: Option<u64>) -> Cost {
        Cost {
            formula: self.formula.turns(most, &last.formula, capacity),
            steps: self.steps.saturating_mul(u128::from(times)).saturating_add(last.steps),
            path: self.path.times(times).then(&last.path),
        }
    }
}

fn worse(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.or(other)),
        (one, other) => one.or(other),
    }
}
