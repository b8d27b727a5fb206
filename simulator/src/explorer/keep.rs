//! What a situation keeps: indistinguishable values become equal, and values beyond a bound are brought within it.

use catapults_compiler::interp::Saved;
use catapults_compiler::policy::{Float, Policy, StateClass, Value};

use super::instants::{NOW, Role, is_from_zero};
use super::values::{Kept, Values};

/// How far values are followed.
pub(super) struct Keep<'s> {
    pub policy: &'s Policy,
    pub values: &'s Values,
    /// For each variable, whether its value does not matter while nothing runs.
    pub forgotten: &'s [bool],
    /// The bound of values that are no times.
    pub bound: i64,
    /// The policy's counters are not followed.
    pub loose: bool,
}

impl Keep<'_> {
    /// Makes indistinguishable values equal. Returns what to say of a value beyond the bound.
    pub fn apply(&self, saved: &mut Saved) -> Option<String> {
        self.forget(saved);
        let mut beyond = None;
        let (variables, attributes): (&[Role], &[Role]) = match &self.values.instants {
            Some(instants) => {
                instants.shift(saved);
                (&instants.variables, &instants.attributes)
            }
            None => (&[], &[]),
        };
        let role = |roles: &[Role], index: usize| roles.get(index).copied().unwrap_or(Role::Other);
        for (index, (value, kept)) in saved.variables.iter_mut().zip(&self.values.variables).enumerate() {
            if !self.one(value, *kept, role(variables, index), self.loose) {
                beyond.get_or_insert_with(|| {
                    self.said(&self.policy.variables[index].name, role(variables, index), *value)
                });
                self.fold(value, role(variables, index));
            }
        }
        for thread in saved.containers.iter_mut().flatten() {
            for (index, (value, kept)) in thread.attributes.iter_mut().zip(&self.values.attributes).enumerate() {
                if !self.one(value, *kept, role(attributes, index), false) {
                    let name = &self.policy.attributes[index].name;
                    beyond.get_or_insert_with(|| self.said(name, role(attributes, index), *value));
                    self.clamp(value, role(attributes, index));
                }
            }
        }
        beyond
    }

    /// Resets the variables that do not matter while nothing runs.
    fn forget(&self, saved: &mut Saved) {
        let mut containers = self.policy.containers.iter().zip(&saved.containers);
        if containers.any(|(container, threads)| container.class == StateClass::Running && !threads.is_empty()) {
            return;
        }
        let variables = saved.variables.iter_mut().zip(&self.policy.variables).zip(self.forgotten);
        variables.filter(|(_, forgotten)| **forgotten).for_each(|((value, variable), _)| *value = variable.initial);
    }

    /// What to say of a value that is not followed.
    fn said(&self, name: &str, role: Role, value: Value) -> String {
        match (value, role) {
            (Value::Int(_) | Value::Bool(_) | Value::Float(_), _) => {
                format!("`{name}` is followed from -{0} to {0} only (--bound)", self.bound)
            }
            (Value::Time(_), Role::Other) => {
                let bound = self.values.clock.bound;
                format!("`{name}` is followed from {} to {} only", Value::Time(-bound), Value::Time(bound))
            }
            (Value::Time(_), Role::Ordered { .. } | Role::Exact) => {
                format!("`{name}` is followed up to {} from now only", Value::Time(self.reach()))
            }
        }
    }

    fn reach(&self) -> i64 {
        self.values.instants.as_ref().map_or(0, |instants| instants.reach)
    }

    /// Another value within the bound. Ints are not clamped, so that many values remain.
    fn fold(&self, value: &mut Value, role: Role) {
        match value {
            Value::Int(number) => *number %= self.bound.saturating_add(1),
            Value::Time(_) | Value::Bool(_) | Value::Float(_) => self.clamp(value, role),
        }
    }

    /// The nearest value within the bound, which keeps sorted containers sorted.
    fn clamp(&self, value: &mut Value, role: Role) {
        match value {
            Value::Int(number) => *number = (*number).clamp(-self.bound, self.bound),
            Value::Time(time) => {
                let (lowest, highest) = self.range(role, *time);
                *time = (*time).clamp(lowest, highest);
            }
            Value::Float(float) => {
                let bound = self.bound as f64;
                *float = Float::new(float.get().clamp(-bound, bound));
            }
            Value::Bool(_) => {}
        }
    }

    /// The followed times around this one.
    fn range(&self, role: Role, time: i64) -> (i64, i64) {
        match role {
            Role::Other => (-self.values.clock.bound, self.values.clock.bound),
            Role::Ordered { .. } | Role::Exact if is_from_zero(time) => (-self.reach(), self.reach()),
            // What is long past is ranked.
            Role::Ordered { .. } => (i64::MIN, NOW + self.reach()),
            Role::Exact => (NOW - self.reach(), NOW + self.reach()),
        }
    }

    /// Replaces a value by the one that stands for all that cannot be told from it; `false` if it is beyond the bound.
    fn one(&self, value: &mut Value, kept: Kept, role: Role, loose: bool) -> bool {
        match (kept, &mut *value) {
            (Kept::Unread(constant), _) => *value = constant,
            (Kept::Counter { .. }, Value::Int(number)) if loose => *number = 0,
            (Kept::Counter { least, most }, Value::Int(number)) => *number = (*number).clamp(least, most),
            (Kept::Bounded, Value::Int(number)) => return number.unsigned_abs() <= self.bound.unsigned_abs(),
            (Kept::Bounded, Value::Time(time)) => {
                let (lowest, highest) = self.range(role, *time);
                return (lowest..=highest).contains(time);
            }
            (Kept::Bounded, Value::Float(float)) => return float.get().abs() <= self.bound as f64,
            (Kept::Counter { .. } | Kept::Bounded, Value::Bool(_))
            | (Kept::Counter { .. }, Value::Time(_) | Value::Float(_)) => {}
        }
        true
    }
}
