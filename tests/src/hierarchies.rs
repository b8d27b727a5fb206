//! Hierarchies in the tests: their policies are those of the library, and of `tests/hierarchies` and `tests/ui`.

use std::fs;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::NotFound;
use catapults_compiler::source::Source;
use catapults_compiler::{Judged, compile_hierarchy};

use crate::root;

/// What becomes of a hierarchy, wherever it stands.
pub fn judge(source: &Source, framework: &Framework) -> Judged {
    compile_hierarchy(source, framework, &mut |policy| {
        for folder in ["policies", "tests/hierarchies", "tests/ui"] {
            let path = format!("{folder}/{policy}");
            if let Ok(bytes) = fs::read(root().join(&path)) {
                return Source::from_bytes(path, bytes).map_err(NotFound::Unreadable);
            }
        }
        let library = crate::shipped_policies();
        let known = library.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
        Err(NotFound::Missing { why: format!("there is no policies/{policy}"), known: known.collect() })
    })
}

/// All that is said, as people read it.
pub fn said(judged: &Judged) -> String {
    let said = judged.said.iter().filter(|(_, diagnostics)| diagnostics.iter().next().is_some());
    said.map(|(source, diagnostics)| diagnostics.render(source, false)).collect()
}
