//! The layouts of the crate are those of the headers, as a C compiler sees them.
#![allow(clippy::unwrap_used, reason = "a test says so by panicking")]

#[path = "../src/ffi.rs"]
#[allow(dead_code, missing_docs, reason = "as the crate has it")]
mod ffi;

use std::fmt::Write;
use std::mem::{align_of, offset_of, size_of};
use std::path::Path;
use std::process::Command;

/// What a C compiler has to find true.
fn claims() -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"catapults.h\"\n");
    macro_rules! same {
        ($ours:ty, $theirs:literal $(, $field:ident)*) => {
            let (size, align) = (size_of::<$ours>(), align_of::<$ours>());
            writeln!(text, "_Static_assert(sizeof({}) == {size} && _Alignof({}) == {align}, \"\");", $theirs, $theirs).unwrap();
            $({
                let (field, offset) = (stringify!($field), offset_of!($ours, $field));
                writeln!(text, "_Static_assert(offsetof({}, {field}) == {offset}, \"{field}\");", $theirs).unwrap();
            })*
        };
    }
    same!(
        ffi::Options,
        "struct catapults_options",
        policy,
        strict_imports,
        io,
        trace,
        stack_size,
        cooperative,
        processors,
        activations,
        handler_limit,
        starvation_limit,
        seed,
        tick,
        accounting,
        own_thread_locals
    );
    same!(
        ffi::Attributes,
        "struct catapults_attributes",
        name,
        stack_size,
        object,
        detached,
        scheduler,
        scheduled_by,
        processors,
        values,
        values_count,
        period
    );
    same!(ffi::Value, "struct catapults_value", name, is);
    same!(ffi::Mutex, "catapults_mutex_t");
    same!(ffi::Condition, "catapults_cond_t");
    same!(ffi::RwLock, "catapults_rwlock_t");
    same!(ffi::Semaphore, "catapults_sem_t");
    same!(ffi::Barrier, "catapults_barrier_t");
    // What all-zero memory is, and the numbers of the kinds of values.
    text.push_str(
        "_Static_assert(CATAPULTS_MUTEX_ERRORCHECK == 0 && CATAPULTS_PROTOCOL_INHERIT == 0, \"\");
_Static_assert(CATAPULTS_VALUE_INT == 0 && CATAPULTS_VALUE_BOOL == 1 && CATAPULTS_VALUE_TIME == 2, \"\");
_Static_assert(CATAPULTS_VALUE_FLOAT == 3 && CATAPULTS_ACCOUNTING_DEFAULT == 0 && CATAPULTS_PROCESSORS_ALL == -1, \"\");
_Static_assert(CATAPULTS_BARRIER_SERIAL_THREAD == -1 && offsetof(struct catapults_value, type) == 8, \"\");
",
    );
    text
}

#[test]
fn layouts_are_those_of_the_headers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layout.c");
    std::fs::write(&file, claims()).unwrap();
    let output = Command::new("cc")
        .args(["-std=c17", "-fsyntax-only"])
        .arg(format!("-I{}", root.join("frameworks/native/include").display()))
        .arg(format!("-I{}", root.join("frameworks/shared").display()))
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
