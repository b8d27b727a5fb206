//! Finds the variables that, while nothing runs, are always assigned before they are read, such as the instant at which
//! the running thread was dispatched. While nothing runs, their values do not matter: situations have the initial ones.
//!
//! A variable is one of them if no handler that can be called while nothing runs reads it before it assigns it, or
//! moves a thread to RUNNING without having assigned it. Then nothing runs after a handler that has not assigned it,
//! and the same holds again. In such a handler, RUNNING containers are known to be empty until it moves a thread there.

use catapults_compiler::framework::{Condition, Event, Framework, Move, Rule, Stage};
use catapults_compiler::policy::{
    Block, ContainerRef, Expression, Place, Policy, StateClass, Statement, StatementKind, UnaryOperator, Value,
    VariableId,
};

/// For each variable, whether it is one of them.
pub(super) fn forgotten(policy: &Policy, framework: &Framework) -> Vec<bool> {
    let can_come = |name: &str| {
        let event = framework.events.iter().find(|event| event.name == name);
        event.is_none_or(|event: &Event| event.rules.is_empty() || event.rules.iter().any(comes_while_idle))
    };
    let events = policy.events.iter().filter(|handler| can_come(&handler.name));
    let handlers: Vec<&Block> = events.chain(&policy.queries).map(|handler| &handler.body).collect();
    let variables = (0..policy.variables.len()).map(VariableId);
    let is_forgotten = |variable: VariableId| {
        let walk = Walk { policy, variable };
        let start = State { idle: true, written: false };
        handlers.iter().all(|body| walk.block(body, start).and_then(|end| end.map_or(Ok(()), State::ends)).is_ok())
    };
    variables.map(is_forgotten).collect()
}

/// Whether the event of a rule can come while nothing runs.
fn comes_while_idle(rule: &Rule) -> bool {
    let running = Stage::In(StateClass::Running);
    let given = rule.given.contains(&Condition::Some(StateClass::Running));
    let moved = rule.moves.iter().any(|step| match step {
        Move::Parameter(_, from, _) | Move::One(from, _) => *from == running,
    });
    !given && !moved
}

/// The value of the variable matters.
struct Read;

#[derive(Clone, Copy)]
struct State {
    /// Surely, nothing runs.
    idle: bool,
    /// Surely, the variable was assigned.
    written: bool,
}

impl State {
    /// Judges the end of a handler.
    fn ends(self) -> Result<(), Read> {
        if self.idle || self.written { Ok(()) } else { Err(Read) }
    }
}

/// Walks through handlers for one variable.
struct Walk<'a> {
    policy: &'a Policy,
    variable: VariableId,
}

impl Walk<'_> {
    /// The state after a block; `None` if no path reaches its end.
    fn block(&self, block: &Block, mut state: State) -> Result<Option<State>, Read> {
        for statement in block {
            match self.statement(statement, state)? {
                Some(after) => state = after,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    fn statement(&self, statement: &Statement, state: State) -> Result<Option<State>, Read> {
        statement.expressions().try_for_each(|expression| self.expression(expression, state))?;
        Ok(Some(match &statement.kind {
            StatementKind::Set { place, .. } => {
                State { written: state.written || *place == Place::Variable(self.variable), ..state }
            }
            StatementKind::Transfer { destination, .. } => {
                State { idle: state.idle && !self.may_run(destination), ..state }
            }
            StatementKind::If { condition, then, otherwise } => match self.known(condition, state) {
                Some(true) => return self.block(then, state),
                Some(false) => return self.block(otherwise, state),
                None => match (self.block(then, state)?, self.block(otherwise, state)?) {
                    (Some(one), Some(other)) => {
                        State { idle: one.idle && other.idle, written: one.written && other.written }
                    }
                    (one, other) => return Ok(one.or(other)),
                },
            },
            StatementKind::Foreach { container, body, .. } => {
                if state.idle && self.runs(container) {
                    return Ok(Some(state));
                }
                self.turns(body, &Block::new(), state)?
            }
            StatementKind::Follow { body, .. } => self.turns(body, &Block::new(), state)?,
            StatementKind::Loop { condition, body, step, .. } => {
                let state = self.turns(body, step, state)?;
                self.expression(condition, state)?;
                state
            }
            StatementKind::Verbatim { otherwise: Some(body), .. } => return self.block(body, state),
            StatementKind::Link { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Send { .. }
            | StatementKind::Verbatim { otherwise: None, .. } => state,
            // The variable may be read where it goes on.
            StatementKind::Leave { .. } => return Err(Read),
            // The handler has no effect.
            StatementKind::Fail { .. } => return Ok(None),
            StatementKind::Dispatch { .. } | StatementKind::Return { .. } => {
                state.ends()?;
                return Ok(None);
            }
        }))
    }

    /// Any number of iterations, or none.
    fn turns(&self, body: &Block, step: &Block, state: State) -> Result<State, Read> {
        let idle = state.idle && !self.moves_to_run(body) && !self.moves_to_run(step);
        let state = State { idle, ..state };
        if let Some(after) = self.block(body, state)? {
            self.block(step, after)?;
        }
        Ok(state)
    }

    fn moves_to_run(&self, block: &Block) -> bool {
        block.iter().any(|statement| {
            let moves =
                matches!(&statement.kind, StatementKind::Transfer { destination, .. } if self.may_run(destination));
            moves || statement.blocks().any(|inner| self.moves_to_run(inner))
        })
    }

    fn is_running(&self, container: &ContainerRef) -> impl Iterator<Item = bool> {
        container.candidates().map(|one| self.policy.containers[one.0].class == StateClass::Running)
    }

    /// Whether a thread in the container may be running.
    fn may_run(&self, container: &ContainerRef) -> bool {
        self.is_running(container).any(|running| running)
    }

    /// Whether a thread in the container surely runs.
    fn runs(&self, container: &ContainerRef) -> bool {
        self.is_running(container).all(|running| running)
    }

    /// Fails if evaluating the expression may read the variable.
    fn expression(&self, expression: &Expression, state: State) -> Result<(), Read> {
        match expression {
            Expression::Read(place) if !state.written && place.variables().contains(&self.variable.0) => Err(Read),
            Expression::Binary(operator, left, right) => {
                self.expression(left, state)?;
                // The right side of `&&` and `||` is evaluated only if the left one does not decide.
                let decided = operator.goes_on_if().is_some_and(|goes_on| self.known(left, state) == Some(!goes_on));
                if decided { Ok(()) } else { self.expression(right, state) }
            }
            Expression::Choose(condition, one, other) => {
                self.expression(condition, state)?;
                let known = self.known(condition, state);
                let chosen = [(true, one), (false, other)].into_iter().filter(|(outcome, _)| known != Some(!outcome));
                chosen.into_iter().try_for_each(|(_, value)| self.expression(value, state))
            }
            Expression::Read(_)
            | Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Unary(..)
            | Expression::NotZero(_)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => {
                let mut parts = expression.parts();
                parts.try_for_each(|part| self.expression(part, state))
            }
        }
    }

    /// The value of a condition, if it follows from nothing running.
    fn known(&self, condition: &Expression, state: State) -> Option<bool> {
        if !state.idle {
            return None;
        }
        match condition {
            Expression::In(_, container, _) if self.runs(container) => Some(false),
            Expression::NotZero(operand) => Some(self.size(operand)? != 0),
            Expression::Unary(UnaryOperator::Not, operand) => Some(!self.known(operand, state)?),
            Expression::Binary(operator, left, right) => match (operator.goes_on_if(), operator.comparison()) {
                (Some(goes_on), _) => match (self.known(left, state), self.known(right, state)) {
                    (Some(one), Some(other)) if one == goes_on && other == goes_on => Some(goes_on),
                    (one, other) => (one == Some(!goes_on) || other == Some(!goes_on)).then_some(!goes_on),
                },
                (None, Some(comparison)) => Some(comparison.holds(self.size(left)?, self.size(right)?)),
                (None, None) => None,
            },
            Expression::Choose(condition, one, other) => {
                self.known(if self.known(condition, state)? { one } else { other }, state)
            }
            Expression::Literal(Value::Bool(value)) => Some(*value),
            Expression::Literal(Value::Int(_) | Value::Time(_) | Value::Float(_))
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Size(_)
            | Expression::Convert(..)
            | Expression::Unary(UnaryOperator::Negate, _)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => None,
        }
    }

    /// A number, or the size of RUNNING containers: 0.
    fn size(&self, expression: &Expression) -> Option<i64> {
        match expression {
            Expression::Literal(Value::Int(number)) => Some(*number),
            Expression::Size(container) if self.runs(container) => Some(0),
            Expression::Literal(Value::Bool(_) | Value::Time(_) | Value::Float(_))
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Convert(..)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

    use super::*;
    use catapults_compiler::compile;
    use catapults_compiler::framework::read;
    use catapults_compiler::source::Source;

    fn names(policy: &str) -> Vec<String> {
        let description = include_str!("../../../frameworks/native/native.framework");
        let framework = read(&Source::new("native.framework", description)).unwrap();
        let (verified, _) = compile(&Source::new("example.sched", policy), &framework).unwrap();
        let policy = verified.policy();
        let forgotten = forgotten(policy, &framework.as_met(policy.timers(), policy.has_nodes()));
        let variables = policy.variables.iter().zip(forgotten).filter(|(_, forgotten)| *forgotten);
        variables.map(|(variable, _)| variable.name.clone()).collect()
    }

    #[test]
    fn when_a_thread_was_dispatched_is_forgotten() {
        let policy = "scheduler example {
          thread { time used; }
          data { threadref current; queue ready; queue blocked : BLOCKED; time started; }
          function charge(t) { t.used += now - started; started = now; }
          event newthread, event_raised(t) { t => ready; if (|current| == 1) charge(current); }
          event block.*, suspend_thread(t) { if (t in current) charge(t); t => blocked; }
          event switch_out(t) { charge(t); t => ready; }
          event schedule { ready => current; started = now; dispatch current; }
        }";
        assert_eq!(names(policy), ["started"]);
    }

    #[test]
    fn what_can_be_read_before_it_is_assigned_is_not() {
        let with = |body: &str| {
            names(&format!(
                "scheduler example {{
                   data {{ threadref current; queue ready; int n, m; }}
                   event newthread, switch_out(t) {{ t => ready; }}
                   event event_raised(t) {{ t => ready; {body} }}
                   event schedule {{ if (m > 3) n = 0; ready => current; if (n > 2) m = 0; n = 1; dispatch current; }}
                 }}"
            ))
        };
        assert!(with("").is_empty());
        let assigned = |body: &str| {
            names(&format!(
                "scheduler example {{
                   data {{ threadref current; queue ready; int n, m; }}
                   event newthread, switch_out(t) {{ t => ready; }}
                   event event_raised(t) {{ t => ready; {body} }}
                   event schedule {{ ready => current; n = 1; if (n > m) m = n; dispatch current; }}
                 }}"
            ))
        };
        assert_eq!(assigned("if (|current| == 1 && n > 2) m++;"), ["n"]);
        assert_eq!(assigned("if (|current| == 0 || n > 2) m++;"), ["n"]);
        assert_eq!(assigned("if (!empty(current)) m = n;"), ["n"]);
        assert_eq!(assigned("if (t in current) m = n;"), ["n"]);
        assert!(assigned("if (|current| == 0 && n > 2) m++;").is_empty());
        assert!(assigned("if (|ready| > 1) m = n;").is_empty());
        assert!(assigned("if (|ready| > 1) n = 2; m = n;").is_empty());
        assert!(assigned("foreach u in ready m = n;").is_empty());
    }
}
