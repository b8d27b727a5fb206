//! What a release says of itself is so: its version, its change log, what a user does about it, and what judges a push.

use std::collections::BTreeSet;
use std::fs;

use catapults_tests::repository::{none, text, tracked};
use catapults_tests::root;
use serde_yaml_ng::Value;

/// The one source: `Cargo.toml` of the workspace.
fn version() -> String {
    let manifest = text("Cargo.toml");
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    line.and_then(|rest| rest.strip_suffix('"')).unwrap().to_owned()
}

/// The releases of `CHANGELOG.md`, newest first: the version, and its lines.
fn releases() -> Vec<(String, Vec<String>)> {
    let mut releases: Vec<(String, Vec<String>)> = Vec::new();
    for line in text("CHANGELOG.md").lines() {
        if let Some(title) = line.strip_prefix("## ") {
            releases.push((title.to_owned(), Vec::new()));
        } else if let Some((_, lines)) = releases.last_mut() {
            lines.extend((!line.is_empty()).then(|| line.to_owned()));
        }
    }
    releases
}

#[test]
fn one_version_is_said_everywhere() {
    let version = version();
    let releases = releases();
    assert_eq!(releases[0].0, "Unreleased", "CHANGELOG.md begins with what is not released yet");
    assert_eq!(releases[1].0, version, "the newest release of CHANGELOG.md");
    let debian = text("packaging/debian/changelog");
    assert!(debian.starts_with(&format!("catapults ({version}) ")), "packaging/debian/changelog: {debian}");
    let upgrading = text("docs/upgrading.md");
    assert!(upgrading.contains(&format!("| Catapults | {version} |")), "docs/upgrading.md lacks {version}");
    assert!(upgrading.contains(&format!("\n### {version}\n")), "docs/upgrading.md has no note on {version}");

    let mut wrong = Vec::new();
    // Crates and modules that are shipped: what is measured or fuzzed has no version.
    for manifest in tracked(|path| path.ends_with("Cargo.toml") || path.ends_with("pyproject.toml")) {
        for line in text(&manifest).lines().filter(|line| line.starts_with("version = ")) {
            let said = line.trim_start_matches("version = ").trim_matches('"');
            if ![version.as_str(), "0.0.0"].contains(&said) {
                wrong.push(format!("{manifest}: {said}"));
            }
        }
    }
    none(&wrong, &format!("the version is {version}, that of Cargo.toml; `version.workspace = true` takes it over"));
    let output = std::process::Command::new(catapults_tests::catapults()).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), format!("catapults {version}"));
}

/// What a user cares about: forty lines, each of which can be read at once. The rest is in `docs/history.md`.
#[test]
fn a_release_is_told_in_forty_lines() {
    let mut wrong = Vec::new();
    for (title, lines) in releases().iter().filter(|(title, _)| title != "Unreleased") {
        if lines.is_empty() || lines.len() > 40 {
            wrong.push(format!("{title} has {} lines", lines.len()));
        }
        wrong.extend(lines.iter().filter(|line| line.chars().count() > 200).map(|line| format!("{title}: {line}")));
    }
    none(
        &wrong,
        "at most forty lines of 200 characters; move what only followers of the project notice to docs/history.md",
    );
}

/// The number behind a word in a file, such as `#define NAME 12u`.
fn number(path: &str, before: &str) -> u32 {
    let text = text(path);
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{path} has no {before}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Whoever raises one of them says there what users must do.
#[test]
fn upgrade_notes_name_what_a_policy_and_a_trace_are_built_for() {
    let upgrading = text("docs/upgrading.md");
    let contract = number("frameworks/shared/catapults/policy.h", "#define CATAPULTS_CONTRACT ");
    let trace = number("frameworks/shared/catapults/trace.h", "#define TRACE_VERSION ");
    let library = number("frameworks/native/Makefile", "SONAME  := libcatapults.so.");
    let mut expected = vec![
        format!("| contract {contract} |"),
        format!("| trace version {trace} |"),
        format!("| libcatapults.so.{library} |"),
    ];
    for framework in tracked(|path| path.starts_with("frameworks/") && path.ends_with(".framework")) {
        let name = framework.rsplit('/').next().unwrap().trim_end_matches(".framework").to_owned();
        if text(&framework).contains("\n  abi ") {
            expected.push(format!("`{name}` | abi {} |", number(&framework, "\n  abi ")));
        }
    }
    assert!(expected.len() > 4, "{expected:?}");
    let missing: Vec<String> = expected.into_iter().filter(|row| !upgrading.contains(row)).collect();
    none(&missing, "docs/upgrading.md lacks it in its table; write below it what a user must do");
}

/// A hosted builder finds out only once it runs.
#[test]
fn workflows_are_sound_and_run_what_there_is() {
    let makefile = text("Makefile");
    let targets: BTreeSet<&str> =
        makefile.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    let workflows: Vec<_> =
        fs::read_dir(root().join(".github/workflows")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut commands = Vec::new();
    for path in &workflows {
        let workflow: Value = serde_yaml_ng::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert!(workflow["name"].is_string() && workflow["on"].is_mapping(), "{path:?}");
        for (name, job) in workflow["jobs"].as_mapping().unwrap() {
            assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_u64(), "{path:?}: {name:?}");
            let matrix = job["strategy"]["matrix"]["target"].as_sequence().cloned().unwrap_or_default();
            for step in job["steps"].as_sequence().unwrap() {
                assert!(step["run"].is_string() != step["uses"].is_string(), "{path:?}: {step:?}");
                let Some(run) = step["run"].as_str() else { continue };
                if !run.contains("${{") {
                    commands.push(run.to_owned());
                }
                commands.extend(
                    matrix
                        .iter()
                        .filter(|_| run.contains("${{"))
                        .map(|target| run.replace("${{ matrix.target }}", target.as_str().unwrap())),
                );
            }
        }
    }
    let made: Vec<&str> = commands.iter().filter_map(|command| command.strip_prefix("make ")).collect();
    assert!(made.contains(&"test") && made.contains(&"demo"), "the README's own commands: {commands:?}");
    let readme = text("README.md");
    let wrong: Vec<String> = made
        .iter()
        .filter(|target| !targets.contains(**target) || !readme.contains(&format!("make {target}")))
        .map(|target| format!("make {target}"))
        .collect();
    none(&wrong, "the Makefile has no such target, or README.md does not name it");
    assert!(commands.iter().all(|command| !command.contains("${{")), "{commands:?}");
}
