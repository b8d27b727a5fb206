//! The native host as one whose policies are in Python: with all its events, every part of that translation is compared.

use std::fs;

use catapults_compiler::framework::{self, Framework};
use catapults_compiler::source::Source;

use crate::root;

/// What the native description says otherwise.
const CHANGES: [(&str, &str); 4] = [
    ("  abi 3;", "  abi 1;"),
    ("  language c;\n", "  language python;\n"),
    ("\"native_policy.h\"", "\"catapults_dask/policy.py\""),
    (
        "dialect { failure; loops; time; timers; verbatim; floats; hierarchies; nodes; }",
        "dialect { failure; loops; time; floats; nodes; }",
    ),
];

/// Its description: without timers, which Python does not have, and with the steps of the host that is written in Python.
///
/// # Panics
/// If the native description is another than is known here.
pub fn native_in_python() -> &'static Framework {
    let text = fs::read_to_string(root().join("frameworks/native/native.framework")).unwrap();
    let changed = CHANGES.into_iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "native.framework: {old}");
        text.replace(old, new)
    });
    let (described, _) = changed.split_once("  build shared ").unwrap();
    let described: String =
        described.lines().filter(|line| !line.contains("timer event")).map(|line| format!("{line}\n")).collect();
    let steps = root().join("frameworks/dask/tools/steps");
    let build = format!(
        "  build steps \"{{policy}}-steps\" {{ {:?}, \"{{source}}\", \"{{output}}\" }}\n}}\n",
        steps.display().to_string()
    );
    let source = Source::new("native.framework", described + &build);
    let read = framework::read(&source).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    Box::leak(Box::new(read))
}
