#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::native::calls::{CFailure, CRecord, CState, CValue, CValues, TIMEOUT};
use super::layout::{BOOL, CPart, CPlace, CProperty, FLOAT, INT};
use super::*;

/// C expressions, with the values that they must have according to this module.
struct Expected(Vec<(String, i64)>);

impl Expected {
    fn is(&mut self, expression: String, value: usize) {
        self.0.push((expression, i64::try_from(value).unwrap()));
    }

    fn member(&mut self, of: &str, member: &str, offset: usize, size: usize) {
        self.is(format!("offsetof(struct {of}, {member})"), offset);
        self.is(format!("sizeof(((struct {of} *)0)->{member})"), size);
    }
}

fn size_of_member<T, M>(_: impl Fn(&T) -> &M) -> usize {
    size_of::<M>()
}

/// All members of a struct. `as`: the name in C, where Rust cannot use it.
macro_rules! layout {
    ($expected:ident, $of:literal, $rust:ident { $($member:ident $(as $called:literal)?),* $(,)? }) => {
        let _of_all_members = |it: &$rust| {
            let $rust { $($member: _),* } = it;
        };
        $expected.is(format!("sizeof(struct {})", $of), size_of::<$rust>());
        $(
            let called = [stringify!($member), $($called)?];
            let size = size_of_member(|it: &$rust| &it.$member);
            $expected.member($of, called[called.len() - 1], offset_of!($rust, $member), size);
        )*
    };
}

#[test]
fn layouts_and_numbers_are_those_of_the_headers() {
    let mut expected = Expected(Vec::new());
    layout!(
        expected,
        "catapults_thread",
        CThread { next, previous, container, color, number, parent, left, right, walk }
    );
    layout!(expected, "catapults_stop", CStop { why, line, text });
    layout!(expected, "catapults_import", CImport { name, ty as "type", pointer, fallback });
    layout!(expected, "catapults_place", CPlace { event, line });
    layout!(expected, "catapults_property", CProperty { name, ty as "type", set });
    layout!(expected, "catapults_timeout", CTimeout { name, raise });
    layout!(expected, "catapults_part", CPart { offset, size });
    layout!(expected, "catapults_timer", CTimer { links as "node", instant, thread, timeout });
    layout!(expected, "catapults_list", CList { first, last, count });
    layout!(expected, "catapults_random", CRandom { state });
    layout!(expected, "catapults_policy", CPolicy {
        magic, contract, framework_abi, instance_size, thread_size, imports_count, thread_imports_count,
        attributes_count, unbounded, framework, name, source, classes, imports, thread_imports, attributes, now,
        random, timers, timeouts_count, timeouts, places_count, places, running_count, running, ready_order, moved_by, start,
        adopt, handlers, yields as "yield", shared_size, node_size, sent, properties_count, properties, share,
        adopt_node,
    });
    layout!(expected, "simulated_value", CValue { offset, size, bits });
    layout!(expected, "simulated_values", CValues { values, count });
    layout!(expected, "simulated_record", CRecord { kind, thread, donor, scheduler, line, event, of_scheduler, ready });
    layout!(expected, "simulated_failure", CFailure { failed, event, stop, text });
    layout!(expected, "simulated_state", CState { now, event_raised, suspend_thread, resume_thread, failure });
    expected.is("SIMULATED_TIMEOUT".to_owned(), TIMEOUT as usize);
    for (number, kind) in (1..).zip([
        "NEW",
        "NAMED",
        "DISPATCHED",
        "SWITCHED_OUT",
        "BLOCKED",
        "RAISED",
        "EXITED",
        "POLICY_OUT",
        "SUSPENDED",
        "RESUMED",
        "IDLE",
        "REFUSED",
        "LENT",
        "PREEMPTED",
    ]) {
        // `native/records.rs` relies on these.
        expected.is(format!("TRACE_{kind}"), number);
    }
    // `Running::disarm_all` relies on these two.
    for (link, member) in ["child", "sibling"].into_iter().enumerate() {
        expected.is(format!("offsetof(struct catapults_heap_node, {member})"), link * size_of::<*mut c_void>());
    }
    expected.is("offsetof(struct catapults_timers, first)".to_owned(), 0);
    for (name, value) in [
        ("MAGIC", MAGIC),
        ("CONTRACT", CONTRACT),
        ("IMPORT_INT", INT),
        ("IMPORT_BOOL", BOOL),
        ("IMPORT_TIME", TIME),
        ("IMPORT_FLOAT", FLOAT),
        ("STOP_GUARD", GUARD),
    ] {
        expected.is(format!("CATAPULTS_{name}"), value as usize);
    }
    for (index, class) in CLASSES.into_iter().enumerate() {
        expected.is(format!("CATAPULTS_{}", class.word()), index + 1);
    }

    let said = of_the_headers(&expected);
    let wrong: Vec<String> = expected
        .0
        .iter()
        .filter(|(expression, here)| said.get(expression) != Some(here))
        .map(|(expression, here)| format!("{expression}: {here} here, {:?} there", said.get(expression)))
        .collect();
    assert!(wrong.is_empty(), "compiled.rs and the headers differ:\n  {}", wrong.join("\n  "));
}

/// The values that a C compiler gives the expressions.
fn of_the_headers(expected: &Expected) -> BTreeMap<String, i64> {
    let mut text =
        "#include <stdio.h>\n#include \"catapults/list.h\"\n#include \"catapults/random.h\"\n#include \"catapults/timers.h\"\n#include \"catapults/trace.h\"\n#include \"simulated.h\"\nint main(void) {\n"
            .to_owned();
    for (expression, _) in &expected.0 {
        let _ = writeln!(text, "    printf(\"%lld {expression}\\n\", (long long)({expression}));");
    }
    text.push_str("}\n");
    let program = std::env::temp_dir().join(format!("catapults-layout-{}", std::process::id()));
    let simulator = Path::new(env!("CARGO_MANIFEST_DIR"));
    let frameworks = simulator.parent().unwrap().join("frameworks");
    let mut command = Command::new("cc");
    command.args(["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o"]).arg(&program);
    for folder in [frameworks.join("shared"), frameworks.join("native/include"), simulator.join("core")] {
        command.arg("-I").arg(folder);
    }
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success(), "{}\n{text}", String::from_utf8_lossy(&said.stderr));
    let printed = Command::new(&program).output();
    fs::remove_file(&program).unwrap();
    let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
    let lines = printed.lines().map(|line| line.split_once(' ').unwrap());
    lines.map(|(value, expression)| (expression.to_owned(), value.parse().unwrap())).collect()
}
