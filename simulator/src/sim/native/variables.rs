//! Variables that compiled policies import.
#![allow(unsafe_code, reason = "they are in memory that policies lay out")]

use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::{Float, Value};

use super::super::compiled::layout::{CImport, CPolicy, imports, text, type_of};
use super::Native;
use super::calls::{CValue, CValues, simulated_policy_part};

impl Native<'_, '_> {
    /// The place of a variable of a thread that its policy imports.
    pub(super) fn import(&self, thread: ThreadId, such: impl Fn(&CImport) -> bool) -> Option<(*mut u8, u32)> {
        let of = self.of(thread)?;
        let policy = self.schedulers[of.under].object.policy();
        let mut all = imports(policy.thread_imports, policy.thread_imports_count).iter();
        let import = all.find(|import| such(import))?;
        // SAFETY: the thread was made; the policy's part is as large as the policy asked.
        let place = unsafe { simulated_policy_part(of.memory.at(0)).cast::<u8>().add(import.fallback as usize) };
        Some((place, import.ty))
    }
}

/// Values for variables that a policy imports; others are left out.
pub(super) fn of_instance(policy: &CPolicy, values: &[(String, Value)]) -> Vec<CValue> {
    placed(imports(policy.imports, policy.imports_count), values)
}

pub(super) fn of_thread(policy: &CPolicy, values: &[(String, Value)]) -> Vec<CValue> {
    placed(imports(policy.thread_imports, policy.thread_imports_count), values)
}

fn placed(imports: &[CImport], values: &[(String, Value)]) -> Vec<CValue> {
    let place = |(name, value): &(String, Value)| {
        let mut such = imports.iter();
        let import = such.find(|import| text(import.name) == name && import.ty == type_of(*value))?;
        let (size, bits) = match *value {
            Value::Int(value) | Value::Time(value) => (8, value.cast_unsigned()),
            Value::Bool(value) => (1, u64::from(value)),
            Value::Float(value) => (8, Float::get(value).to_bits()),
        };
        Some(CValue { offset: import.fallback, size, bits })
    };
    values.iter().filter_map(place).collect()
}

pub(super) fn all(values: &[CValue]) -> CValues {
    CValues { values: values.as_ptr(), count: values.len() as u64 }
}
