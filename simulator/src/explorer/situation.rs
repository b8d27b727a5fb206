//! A situation: all that decides what can happen next; and its short form.
//!
//! Threads have no names. They are numbered from 1 in the order of the containers and, in each container, in the order
//! in which they would leave. So situations that differ only in the numbers of threads are one.

use catapults_compiler::interp::{Saved, SavedThread, ThreadId};
use catapults_compiler::policy::{Float, Policy, Type, Value};

/// A situation.
#[derive(Clone, Debug, Default)]
pub(super) struct Situation {
    /// How many of the events that come before all others have been raised.
    pub begun: usize,
    /// The states of the framework's sequences for all threads together.
    pub order: Vec<u64>,
    /// Variables and threads.
    pub saved: Saved,
    /// The state of each thread's life, in the order of the numbers.
    pub lives: Vec<u64>,
}

impl Situation {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.lives.len()
    }

    /// The short form. Only equal situations have equal ones.
    pub fn encode(&self) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(32);
        put(&mut bytes, self.begun as u64);
        put(&mut bytes, self.order.len() as u64);
        self.order.iter().for_each(|state| put(&mut bytes, *state));
        put_value(&mut bytes, Value::Time(self.saved.now));
        self.saved.variables.iter().for_each(|value| put_value(&mut bytes, *value));
        let mut lives = self.lives.iter();
        for container in &self.saved.containers {
            put(&mut bytes, container.len() as u64);
            for thread in container {
                thread.attributes.iter().for_each(|value| put_value(&mut bytes, *value));
                thread.links.iter().for_each(|to| put(&mut bytes, to.map_or(0, |to| u64::from(to.0))));
                put(&mut bytes, lives.next().copied().unwrap_or_default());
            }
        }
        bytes.into_boxed_slice()
    }

    /// The situation of a short form.
    pub fn decode(policy: &Policy, bytes: &[u8]) -> Self {
        let mut bytes = bytes.iter();
        let begun = usize::try_from(take(&mut bytes)).unwrap_or_default();
        let order = (0..take(&mut bytes)).map(|_| take(&mut bytes)).collect();
        let now = number_of(take(&mut bytes));
        let variables = policy.variables.iter().map(|variable| take_value(&mut bytes, variable.ty)).collect();
        let (mut containers, mut lives) = (Vec::with_capacity(policy.containers.len()), Vec::new());
        for _ in &policy.containers {
            let threads = (0..take(&mut bytes)).map(|_| {
                let attributes =
                    policy.attributes.iter().map(|attribute| take_value(&mut bytes, attribute.ty)).collect();
                let link = |to: u64| u32::try_from(to).ok().filter(|to| *to > 0).map(ThreadId);
                let links = policy.links.iter().map(|_| link(take(&mut bytes))).collect();
                lives.push(take(&mut bytes));
                SavedThread { id: number(lives.len()), attributes, links }
            });
            containers.push(threads.collect());
        }
        Situation { begun, order, saved: Saved { variables, containers, now }, lives }
    }
}

/// The n-th thread of a situation, from 1.
pub(super) fn number(place: usize) -> ThreadId {
    ThreadId(u32::try_from(place).unwrap_or(u32::MAX))
}

/// Seven bits a byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn put_value(bytes: &mut Vec<u8>, value: Value) {
    match value {
        // The sign goes to the lowest bit, so that small numbers are short whatever their sign.
        Value::Int(value) | Value::Time(value) => put(bytes, ((value << 1) ^ (value >> 63)) as u64),
        Value::Bool(value) => put(bytes, u64::from(value)),
        Value::Float(value) => put(bytes, value.get().to_bits()),
    }
}

fn take(bytes: &mut std::slice::Iter<'_, u8>) -> u64 {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes {
        value |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte & 128 == 0 {
            break;
        }
    }
    value
}

/// The number of which the lowest bit is the sign.
fn number_of(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn take_value(bytes: &mut std::slice::Iter<'_, u8>, ty: Type) -> Value {
    let value = take(bytes);
    match ty {
        Type::Int => Value::Int(number_of(value)),
        Type::Time => Value::Time(number_of(value)),
        Type::Bool => Value::Bool(value != 0),
        Type::Float => Value::Float(Float::new(f64::from_bits(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for value in [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_value(&mut bytes, Value::Int(value));
            assert_eq!(take_value(&mut bytes.iter(), Type::Int), Value::Int(value));
        }
    }
}
