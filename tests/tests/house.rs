//! What holds the house together: rules about the repository itself. Each test reads the files as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A path in a document is a promise.
#[test]
fn paths_named_in_documents_exist() {
    let mut wrong = Vec::new();
    for document in tracked(|path| path.ends_with(".md")) {
        let text = text(&document);
        let folder = root().join(&document).parent().unwrap().to_owned();
        for (line, path) in named_paths(&text) {
            let from_document = folder.join(&path);
            if !exists(&from_document) && !exists(&root().join(&path)) {
                wrong.push(format!("{document}:{line}: there is no {path}"));
            }
        }
    }
    none(&wrong, "name what exists, or make it");
}

/// An error code is made by writing its page; a page that nothing leads to is out of date.
#[test]
fn every_error_code_has_a_page_and_a_test() {
    let mut used = BTreeMap::new();
    for source in
        tracked(|path| path.ends_with(".rs") && (path.starts_with("compiler/src") || path.starts_with("cli/src")))
    {
        for code in codes(&text(&source)) {
            used.entry(code).or_insert(source.clone());
        }
    }
    let pages: BTreeSet<String> =
        tracked(|path| path.starts_with("docs/errors/E")).iter().flat_map(|path| codes(path)).collect();
    let tests = tracked(|path| path.starts_with("tests/") && path != "tests/tests/house.rs");
    let tested: BTreeSet<String> = tests.iter().flat_map(|path| codes(&text(path))).collect();

    let mut wrong = Vec::new();
    for (code, source) in &used {
        if !pages.contains(code) {
            wrong.push(format!("{source} reports {code}, and there is no docs/errors/{code}.md"));
        }
        if !tested.contains(code) {
            wrong.push(format!("{source} reports {code}, and no test expects it"));
        }
    }
    wrong.extend(pages.iter().filter(|code| !used.contains_key(*code)).map(|code| format!("nothing reports {code}")));
    none(&wrong, "write the page and a case in tests/ui, or remove the code");
}

/// A page opens with `# E0123: what it is`; one about policies shows a failing example and a mended one.
#[test]
fn every_error_page_has_its_parts() {
    let mut wrong = Vec::new();
    for page in tracked(|path| path.starts_with("docs/errors/E")) {
        let text = text(&page);
        let code = Path::new(&page).file_stem().unwrap().to_string_lossy().into_owned();
        if !text.starts_with(&format!("# {code}: ")) {
            wrong.push(format!("{page} does not open with `# {code}: ` and the error's title"));
        }
        let has_block = |opening: &str| text.lines().any(|line| line.trim_end() == opening);
        let language = match &code[..3] {
            "E02" | "E05" => continue,
            "E06" => "hierarchy",
            "E07" => "scenario",
            _ => "sched",
        };
        if !has_block(&format!("```{language} fail")) {
            wrong.push(format!("{page} lacks an example that fails (```{language} fail)"));
        }
        if !has_block(&format!("```{language}")) {
            wrong.push(format!("{page} lacks the mended example (```{language})"));
        }
    }
    none(&wrong, "see any other page");
}

/// The index of the error pages is generated from them: `UPDATE=1 cargo test -p catapults-tests --test house`.
#[test]
fn the_index_of_errors_is_current() {
    let mut index = String::from(
        "# Errors\n\nEach has a page; `catapults explain CODE` prints it.\n\n| code | what |\n|---|---|\n",
    );
    for page in tracked(|path| path.starts_with("docs/errors/E")) {
        let text = text(&page);
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let (code, what) = title.split_once(": ").unwrap_or((title, ""));
        index.push_str(&format!("| [{code}]({code}.md) | {what} |\n"));
    }
    let path = root().join("docs/errors/README.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &index).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == index,
        "docs/errors/README.md is out of date; UPDATE=1 cargo test -p catapults-tests --test house"
    );
}

/// The compiler knows hosts by their descriptions alone.
#[test]
fn no_host_is_named_in_the_compiler_outside_emit() {
    let hosts: BTreeSet<String> = tracked(|path| path.starts_with("frameworks/") && path.ends_with(".framework"))
        .iter()
        .map(|path| Path::new(path).file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(!hosts.is_empty());
    let mut wrong = Vec::new();
    for source in tracked(|path| path.starts_with("compiler/src/") && path.ends_with(".rs")) {
        if source.starts_with("compiler/src/emit/") || is_test(&source) {
            continue;
        }
        for (number, line) in without_tests(&text(&source)).lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for word in line.split(|character: char| !character.is_alphanumeric()) {
                if hosts.contains(word) {
                    wrong.push(format!("{source}:{}: names the host `{word}`", number + 1));
                }
            }
        }
    }
    none(&wrong, "what the compiler must know of a host belongs into its description");
}

/// `ARCHITECTURE.md`, invariant 1.
#[test]
fn imports_in_the_compiler_run_one_way() {
    const DATA: &[&str] = &["source", "vocabulary", "diagnostics"];
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("source", &[][..]),
        ("vocabulary", &["source"]),
        ("diagnostics", &[]),
        ("syntax", &[]),
        ("framework", &["syntax", "policy"]),
        ("hierarchy", &["syntax", "framework", "check", "policy", "verify"]),
        ("scenario", &["syntax", "framework", "check", "policy", "verify"]),
        ("format", &["syntax", "framework", "hierarchy", "scenario"]),
        ("policy", &[]),
        ("check", &["syntax", "framework", "policy"]),
        ("verify", &["policy", "framework"]),
        ("interp", &["policy", "framework", "verify"]),
        ("emit", &["policy", "framework", "verify", "hierarchy"]),
        // The pipeline itself.
        ("lib", &["syntax", "framework", "policy", "check", "verify", "hierarchy", "scenario", "interp", "emit"]),
    ]);
    let mut wrong = Vec::new();
    for source in tracked(|path| path.starts_with("compiler/src/") && path.ends_with(".rs") && !is_test(path)) {
        let module = source["compiler/src/".len()..].split(['/', '.']).next().unwrap().to_owned();
        let Some(allowed) = allowed.get(module.as_str()) else {
            wrong.push(format!("{source}: where does `{module}` stand? Say it here and in ARCHITECTURE.md"));
            continue;
        };
        for (number, line) in without_tests(&text(&source)).lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for used in line.split("crate::").skip(1).flat_map(used_modules) {
                if used != module && !DATA.contains(&used.as_str()) && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{source}:{}: `{module}` uses `{used}`", number + 1));
                }
            }
        }
    }
    none(&wrong, "a stage sees only what stands left of it");
}

#[test]
fn no_file_is_longer_than_a_thousand_lines() {
    let sources = tracked(|path| {
        [".rs", ".c", ".h", ".S", ".lua", ".sched", ".hierarchy", ".scenario", ".framework", ".md"]
            .iter()
            .any(|ending| path.ends_with(ending))
    });
    let long = |path: &String| {
        let lines = text(path).lines().count();
        (lines > 1000).then(|| format!("{path} has {lines} lines"))
    };
    none(&sources.iter().filter_map(long).collect::<Vec<_>>(), "split it: one concept per file");
}

#[test]
fn policies_say_their_goal_source_and_limits() {
    let mut wrong = Vec::new();
    let policies = tracked(|path| path.starts_with("policies/") && path.ends_with(".sched"));
    assert!(!policies.is_empty());
    for policy in policies {
        let text = text(&policy);
        let header: String = text.lines().take_while(|line| line.starts_with("//")).collect::<Vec<_>>().join("\n");
        let name = Path::new(&policy).file_stem().unwrap().to_string_lossy().into_owned();
        for part in [&*format!("// {name}: "), "// Goal:", "// Source:", "// Limits:"] {
            if !header.contains(part) {
                wrong.push(format!("{policy}: its header lacks `{part}`"));
            }
        }
        if !text.contains(&format!("scheduler {name} ")) {
            wrong.push(format!("{policy}: its scheduler is not called {name}"));
        }
    }
    for hierarchy in tracked(|path| path.starts_with("policies/") && path.ends_with(".hierarchy")) {
        let text = text(&hierarchy);
        let header: String = text.lines().take_while(|line| line.starts_with("//")).collect::<Vec<_>>().join("\n");
        let name = Path::new(&hierarchy).file_stem().unwrap().to_string_lossy().into_owned();
        for part in [&*format!("// {name}: "), "// Goal:", "// Source:", "// Limits:"] {
            if !header.contains(part) {
                wrong.push(format!("{hierarchy}: its header lacks `{part}`"));
            }
        }
        if !text.contains(&format!("hierarchy {name} ")) {
            wrong.push(format!("{hierarchy}: it is not called {name}"));
        }
    }
    none(&wrong, "see policies/fifo.sched");
}

/// What a clone is on somebody's disk is nobody else's business.
#[test]
fn no_file_names_a_place_on_one_machine() {
    let places = [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/tmp/", "target")];
    let mut wrong = Vec::new();
    for path in tracked(|_| true) {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            wrong.extend(
                places
                    .iter()
                    .filter(|place| line.contains(**place))
                    .map(|place| format!("{path}:{}: {place}", number + 1)),
            );
        }
    }
    none(&wrong, "paths are relative to the repository");
}

fn none(wrong: &[String], advice: &str) {
    assert!(wrong.is_empty(), "{advice}:\n  {}", wrong.join("\n  "));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files of the repository, those not yet committed included, in order.
fn tracked(wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).unwrap();
    let present: BTreeSet<&str> = listing.lines().filter(|path| root().join(path).is_file()).collect();
    assert!(!present.is_empty());
    present.into_iter().filter(|path| wanted(path)).map(str::to_owned).collect()
}

fn text(path: &str) -> String {
    String::from_utf8_lossy(&fs::read(root().join(path)).unwrap()).into_owned()
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// A source before its `#[cfg(test)]`, which stands last by custom.
fn without_tests(source: &str) -> &str {
    source.split("#[cfg(test)]").next().unwrap_or_default()
}

/// `E0123` wherever it stands as a word.
fn codes(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| word.len() == 5 && word.starts_with("E0") && word[1..].bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

/// The first segments of what follows `crate::`: of `a::b`, a; of `{a, b::c}`, a and b.
fn used_modules(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim().chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
    };
    match rest.strip_prefix('{') {
        Some(group) => {
            let mut depth = 0;
            let mut parts = vec![String::new()];
            for character in group.chars() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => parts.push(String::new()),
                    other => parts.last_mut().unwrap().push(other),
                }
            }
            parts.iter().map(|part| word(part)).filter(|part| !part.is_empty()).collect()
        }
        None => vec![word(rest)],
    }
}

/// Links, and code spans that look like a path of this repository, with their lines. What is built is no file of it.
fn named_paths(document: &str) -> Vec<(usize, String)> {
    let tops: BTreeSet<String> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !["build", "target", ".git"].contains(&name.as_str()))
        .collect();
    let mut paths = Vec::new();
    let mut in_block = false;
    for (index, line) in document.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block;
        }
        if in_block || line.starts_with("    ") {
            continue;
        }
        let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(|link| (link, true));
        let spans = line.split('`').skip(1).step_by(2).map(|span| (span, false));
        for (name, link) in links.chain(spans) {
            let name = name.split('#').next().unwrap_or_default();
            let top = name.split('/').next().unwrap_or_default();
            let local = link && !name.is_empty() && !name.contains("://");
            let path = name.contains('/') && tops.contains(top) && !name.contains([' ', '<', '{', '$']);
            // A word in capitals stands for any name.
            let pattern = name
                .split(['/', '.'])
                .any(|part| part.len() > 1 && part == part.to_uppercase() && part.contains("NAME"));
            if (local || path) && !pattern {
                paths.push((index + 1, name.trim_end_matches('/').to_owned()));
            }
        }
    }
    paths
}

/// Whether there is such a file or folder; `*` in the last segment stands for anything.
fn exists(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some((before, after)) = name.split_once('*') else { return path.exists() };
    let parent: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    fs::read_dir(parent).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(before) && name.ends_with(after)
        })
    })
}

#[test]
fn the_readers_of_this_file_read_right() {
    assert_eq!(used_modules("policy::Policy;"), ["policy"]);
    assert_eq!(
        used_modules("{check, framework::{Framework, Event}, vocabulary::At};"),
        ["check", "framework", "vocabulary"]
    );
    assert_eq!(codes("E0101 xE0102 E01023 (E0404)").into_iter().collect::<Vec<_>>(), ["E0101", "E0404"]);
    let named = named_paths(
        "see [a](compiler/src), `policies/*.sched`, `x/y`, `build/bin`, [w](https://a/b)\n```\n`cli/no`\n```\n",
    );
    assert_eq!(named, [(1, "compiler/src".to_owned()), (1, "policies/*.sched".to_owned())]);
    assert!(exists(&root().join("policies/*.sched")) && !exists(&root().join("policies/*.nothing")));
}
