//! The library: what its headers claim, and `docs/policies.md`, which is generated from them
//! (`UPDATE=1 cargo test -p catapults-tests --test library`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use catapults_compiler::policy::{Import, Policy};
use catapults_compiler::source::Source;
use catapults_compiler::syntax::header::Header;
use catapults_compiler::syntax::is_of_functions;
use catapults_compiler::verify::Verified;
use catapults_compiler::{check_functions, compile};
use catapults_simulator::explorer::{Options, explore};
use catapults_tests::repository::below;
use catapults_tests::{native, root, shipped_policies};

/// A policy of the library.
struct Entry {
    name: String,
    /// With the functions of other files that it uses.
    text: String,
    header: Header,
    verified: Verified<Policy>,
    warnings: usize,
}

impl Entry {
    fn of(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = catapults_tests::named_policy(format!("policies/{name}.sched"), path);
        let (verified, diagnostics) =
            compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
        let (header, text) = (Header::of(&source.text), source.whole().to_owned());
        Entry { name, header, text, verified, warnings: diagnostics.warnings() }
    }

    /// Lines with something else than a comment.
    fn lines(&self) -> usize {
        let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.text.lines().filter(code).count()
    }

    /// How many lines the same policy has in Bossa: `// Bossa: 162 lines (…)`.
    fn bossa(&self) -> Option<usize> {
        let part = self.header.part("Bossa")?;
        Some(part.split(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{}: `Bossa: {part}`", self.name)))
    }

    /// The declaration of an import, as it is written: type, default and comment. Each has a line.
    fn declaration(&self, import: &Import) -> (&str, &str, &str) {
        let declares = |line: &&str| line.contains(&format!(" {} default ", import.name));
        let line = self.text.lines().find(declares).unwrap();
        let (declaration, comment) = line.split_once("// ").unwrap_or((line, ""));
        let (before, default) = declaration.split_once(&format!(" {} default ", import.name)).unwrap();
        let ty = before.rsplit([' ', '{']).next().unwrap();
        let Some((default, "")) = default.trim_end_matches([' ', '}']).split_once(';') else {
            panic!("policies/{}.sched: `{}` needs a line of its own", self.name, import.name)
        };
        (ty, default, comment.trim())
    }
}

fn library() -> Vec<Entry> {
    shipped_policies().iter().map(|path| Entry::of(path)).collect()
}

#[test]
fn comments_of_several_lines_are_not_counted() {
    // `lines` would count what stands between.
    for entry in library() {
        assert!(!entry.text.contains("/*"), "policies/{}.sched: write comments with //", entry.name);
    }
}

#[test]
fn each_is_accepted_without_a_warning_and_nearly_without_guards() {
    for entry in library() {
        assert_eq!(entry.warnings, 0, "policies/{}.sched", entry.name);
        let share = entry.verified.share();
        assert!(share.guarded * 10 <= share.total, "policies/{}.sched: {share:?}", entry.name);
    }
}

/// Table 1: Linux 2.4, EDF, rate monotonic, deadline monotonic, least laxity, rate monotonic with a polling server, BEST, BVT,
/// progress-based; virtual fixed priority and proportional.
const TABLE: [usize; 11] = [201, 162, 154, 159, 168, 262, 160, 238, 234, 94, 102];

#[test]
fn each_of_bossa_is_here_and_shorter() {
    let mut claimed: Vec<usize> = library().iter().filter_map(Entry::bossa).collect();
    let mut table = TABLE.to_vec();
    claimed.sort_unstable();
    table.sort_unstable();
    assert_eq!(claimed, table);
    for entry in library() {
        let (lines, bossa) = (entry.lines(), entry.bossa());
        assert!(bossa.is_none_or(|bossa| lines < bossa), "policies/{}.sched: {lines} lines, {bossa:?}", entry.name);
    }
}

/// Nothing goes wrong in any order of events that is explored; and a policy starves a thread exactly if it says so.
#[test]
fn exploration_finds_what_the_header_states() {
    let mut wrong = Vec::new();
    for entry in library() {
        let options = Options { threads: 3, states: 2_000, ..Options::default() };
        let report = explore(&entry.verified, &native(), &options, &mut |_, _| {}).unwrap();
        let path = format!("policies/{}.sched", entry.name);
        if let Some(found) = &report.counterexample {
            wrong.push(format!("{path}: {}\n{}", found.what, found.scenario));
        }
        // Not to look, or not everywhere, is not to find nothing.
        let looked =
            !report.limits.iter().any(|limit| limit.starts_with("starvation was") || limit.starts_with("only "));
        match (&report.starvation, entry.header.part("Starves")) {
            (Some(found), None) => wrong.push(format!("{path}: a line `// Starves:` is missing\n{}", found.scenario)),
            (None, Some(_)) if looked => wrong.push(format!("{path}: says that it starves, which is not found")),
            (Some(_), Some(_)) | (None, _) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files of functions that are shipped, by their paths in `policies`, with their texts and headers.
fn functions() -> Vec<(String, Source, Header)> {
    let folder = root().join("policies");
    let mut paths = below(&["policies"], "sched");
    paths.retain(|path| path.parent() != Some(&folder));
    paths.sort();
    let of = |path: &PathBuf| {
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let source = catapults_tests::policy_at(path);
        let header = Header::of(&source.text);
        (name, source, header)
    };
    paths.iter().map(of).collect()
}

#[test]
fn shared_functions_are_accepted_and_shared() {
    let policies: Vec<String> = shipped_policies().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for (name, source, _) in functions() {
        assert!(is_of_functions(&source), "{name}");
        let said = check_functions(&source, &native());
        assert_eq!(said.render(&source, false), "");
        let used = policies.iter().filter(|policy| policy.contains(&format!("\nuse \"{name}\";"))).count();
        assert!(used > 1, "policies/{name} is for several policies, and {used} use it");
    }
}

#[test]
fn the_page_is_current() {
    let page = page(&library());
    let path = root().join("docs/policies.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/policies.md is out of date; UPDATE=1 cargo test -p catapults-tests --test library");
}

/// The hierarchies that are shipped, with what their headers say.
fn hierarchies() -> Vec<(String, Header)> {
    let paths = fs::read_dir(root().join("policies")).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "hierarchy"));
    let mut all: Vec<(String, Header)> = paths
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, Header::of(&fs::read_to_string(path).unwrap()))
        })
        .collect();
    all.sort_by(|left, right| left.0.cmp(&right.0));
    all
}

fn page(library: &[Entry]) -> String {
    let mut page = String::from(
        "# Policies\n\nThe library is the folder [policies](../policies), one file each, to be used as it is or to start from: \
         `catapults new mine --like edf` copies one with its scenarios, under a name of your own. This page is generated from the files.\n\nLines are those with code, comments and empty lines left out, with those of the [functions](#functions) that a policy uses. Table 1 of the Bossa paper (2005) \
         gives the size of some of these policies in Bossa's language. A guard is a transfer that is checked at run time \
         ([docs/verification.md](verification.md)).\n\n\
         | policy | | lines | in Bossa | guards |\n|---|---|---:|---:|---:|\n",
    );
    for entry in library {
        let bossa = entry.bossa().map_or(String::new(), |lines| lines.to_string());
        let share = entry.verified.share();
        let _ = writeln!(
            page,
            "| [{0}](#{0}) | {1} | {2} | {bossa} | {3} of {4} |",
            entry.name,
            entry.header.summary.trim_end_matches('.'),
            entry.lines(),
            share.guarded,
            share.total
        );
    }
    let compared = || library.iter().filter_map(|entry| Some((entry.lines(), entry.bossa()?)));
    let (ours, bossa): (Vec<usize>, Vec<usize>) = compared().unzip();
    let sum = |lines: Vec<usize>| lines.into_iter().sum::<usize>();
    let _ = writeln!(page, "| all that Bossa has | | {} | {} | |", sum(ours), sum(bossa));
    for entry in library {
        let _ =
            write!(page, "\n## {}\n\n[{0}.sched](../policies/{0}.sched): {1}\n\n", entry.name, entry.header.summary);
        for (word, text) in entry.header.parts.iter().filter(|(word, _)| word != "Bossa") {
            let _ = writeln!(page, "- **{word}**: {text}");
        }
        if entry.verified.unlimited_turns(&native()).is_some() {
            page.push_str(
                "- **Turns**: not limited. A thread that computes keeps the processor until it blocks or yields.\n",
            );
        }
        let policy = entry.verified.policy();
        let of_threads = policy.thread_imports.iter().map(|import| ("of each thread", import));
        let imports: Vec<(&str, &Import)> =
            of_threads.chain(policy.imports.iter().map(|import| ("of the application", import))).collect();
        if imports.is_empty() {
            continue;
        }
        page.push_str("\n| variable | | default | |\n|---|---|---|---|\n");
        for (whose, import) in imports {
            let (ty, default, comment) = entry.declaration(import);
            let _ = writeln!(page, "| `{ty} {}` | {whose} | {default} | {comment} |", import.name);
        }
    }
    page.push_str("\n# Functions\n\nFor policies, which bring them in by `use` ([docs/use.md](use.md)).\n");
    for (name, _, header) in functions() {
        let _ = write!(page, "\n## {name}\n\n[{name}](../policies/{name}): {}\n\n", header.summary);
        for (word, text) in &header.parts {
            let _ = writeln!(page, "- **{word}**: {text}");
        }
    }
    page.push_str("\n# Hierarchies\n\nSeveral of these policies at once ([docs/hierarchies.md](hierarchies.md)).\n");
    for (name, header) in hierarchies() {
        let _ = write!(page, "\n## {name}\n\n[{name}.hierarchy](../policies/{name}.hierarchy): {}\n\n", header.summary);
        for (word, text) in &header.parts {
            let _ = writeln!(page, "- **{word}**: {text}");
        }
    }
    page
}
