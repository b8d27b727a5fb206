//! What holds the house together: rules about the repository itself. Each test reads the files as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use catapults_tests::repository::{none, text, tracked};
use catapults_tests::root;

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
    for source in tracked(|path| {
        path.ends_with(".rs") && (path.starts_with("compiler/src") || path.starts_with("cli/src"))
            || path.ends_with(".c") && path.starts_with("frameworks/native/beneath/")
    }) {
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
        ("program", &["syntax"]),
        ("hierarchy", &["syntax", "framework", "check", "policy", "verify"]),
        ("scenario", &["syntax", "framework", "check", "policy", "verify"]),
        ("format", &["syntax", "framework", "hierarchy", "scenario"]),
        ("policy", &[]),
        ("check", &["syntax", "framework", "policy"]),
        ("verify", &["policy", "framework"]),
        ("families", &["syntax", "framework", "policy", "check", "verify"]),
        ("interp", &["policy", "framework", "verify"]),
        ("steps", &["policy", "framework", "verify"]),
        ("emit", &["policy", "framework", "verify", "hierarchy"]),
        // The pipeline itself.
        (
            "lib",
            &[
                "syntax",
                "framework",
                "policy",
                "check",
                "verify",
                "families",
                "hierarchy",
                "scenario",
                "interp",
                "emit",
            ],
        ),
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

/// No file has more lines.
const MOST_LINES: usize = 700;

#[test]
fn no_file_is_too_long() {
    let sources = tracked(|path| {
        [".rs", ".c", ".h", ".S", ".lua", ".sched", ".family", ".hierarchy", ".scenario", ".framework", ".md"]
            .iter()
            .any(|ending| path.ends_with(ending))
    });
    let long = |path: &String| {
        let lines = text(path).lines().count() - lines_of_grammar(path);
        (lines > MOST_LINES).then(|| format!("{path} has {lines} lines"))
    };
    none(&sources.iter().filter_map(long).collect::<Vec<_>>(), "split it: one concept per file");
}

/// Of the grammar that is generated into a reference.
fn lines_of_grammar(path: &str) -> usize {
    let text = text(path);
    let grammar = text.split_once("\n```ebnf\n").and_then(|(_, rest)| rest.split_once("\n```\n"));
    grammar.map_or(0, |(grammar, _)| grammar.lines().count())
}

/// A kind of change, as CONTRIBUTING.md has it, and how many files it takes. More is a sign that one thing is in too many places.
const CHANGES: [(&str, usize); 6] = [
    ("A policy", 5),
    ("A property of policies", 7),
    ("A statement of the language", 35),
    ("A host", 14),
    ("An event of the native host", 18),
    ("An upcall", 11),
];

#[test]
fn changes_take_the_files_that_are_named() {
    let contributing = text("CONTRIBUTING.md");
    let mut wrong = Vec::new();
    for (change, most) in CHANGES {
        let Some((_, section)) = contributing.split_once(&format!("\n## {change}\n")) else {
            wrong.push(format!("there is no section `{change}`"));
            continue;
        };
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let files: BTreeSet<&str> = rows.flat_map(|files| files.split('`').skip(1).step_by(2)).collect();
        // A name in capitals is that of what is added.
        let is_pattern = |file: &str| file.contains("NAME") || file.contains('*');
        let missing = files.iter().filter(|file| !is_pattern(file) && !root().join(file).exists());
        wrong.extend(missing.map(|file| format!("`{change}` names {file}, which is not there")));
        if files.is_empty() || files.len() > most {
            wrong.push(format!("`{change}` takes {} files, not up to {most}", files.len()));
        }
    }
    none(&wrong, "let a change take fewer files, or name what exists");
}

#[test]
fn policies_say_their_goal_source_and_limits() {
    let mut wrong = Vec::new();
    let ours = |path: &str| path.starts_with("policies/") || path.starts_with("examples/");
    let policies = tracked(|path| ours(path) && path.ends_with(".sched"));
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
        let shared = policy.starts_with("policies/") && policy.matches('/').count() > 1;
        let (what, head) =
            if shared { ("function", format!(" {name}(")) } else { ("scheduler", format!("scheduler {name} ")) };
        if !text.contains(&head) {
            wrong.push(format!("{policy}: its {what} is not called {name}"));
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

/// What a system call says is looked at; or it stands beside it, in a comment, why not.
#[test]
fn no_result_of_a_system_call_is_ignored_without_a_reason() {
    let mut wrong = Vec::new();
    for source in tracked(|path| {
        (path.ends_with(".c") || path.ends_with(".h")) && path.starts_with("frameworks/") && !is_test(path)
    }) {
        let text = text(&source);
        wrong.extend(ignored_results(&text).into_iter().map(|line| format!("{source}:{line}")));
    }
    none(&wrong, "look at the result, or say in a comment beside it why it does not matter");
}

/// What the runtime keeps for a kernel thread must be told from what a program has for each thread.
#[test]
fn variables_of_kernel_threads_are_in_one_struct() {
    let mut wrong = Vec::new();
    for source in tracked(|path| {
        (path.ends_with(".c") || path.ends_with(".h"))
            && path.starts_with("frameworks/native/")
            && !is_test(path)
            && path != "frameworks/native/contexts/here.c"
    }) {
        for (index, line) in text(&source).lines().enumerate() {
            let code = line.trim_start();
            let defines = ["_Thread_local ", "static _Thread_local ", "__thread ", "static __thread "];
            if defines.iter().any(|begin| code.starts_with(begin)) {
                wrong.push(format!("{source}:{}", index + 1));
            }
        }
    }
    none(&wrong, "make it a member of struct here (contexts/here.h)");
}

/// What is built is built again: it fills clones, and names folders of one machine.
#[test]
fn nothing_that_is_built_is_kept() {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--ignored", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let mut wrong: Vec<String> = String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
    let built = |path: &str| {
        ["target/", "__pycache__/"]
            .iter()
            .any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
            || [".o", ".a", ".so", ".rlib", ".rmeta", ".pyc"].iter().any(|ending| path.ends_with(ending))
    };
    wrong.extend(tracked(built));
    none(&wrong, "name it in .gitignore, and remove it: git rm -r --cached");
}

/// What a clone is on somebody's disk is nobody else's business.
#[test]
fn no_file_names_a_place_on_one_machine() {
    let places = [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/tmp/", "target"), concat!("/tmp/", "wt/")];
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

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// A source before its `#[cfg(test)]`, which stands last by custom.
fn without_tests(source: &str) -> &str {
    source.split("#[cfg(test)]").next().unwrap_or_default()
}

/// System calls, and functions of libc and of the runtime's layers that are little more, which can fail.
const SYSTEM_CALLS: &[&str] = &[
    "syscall",
    "system_call",
    "read",
    "write",
    "pread",
    "pwrite",
    "close",
    "fcntl",
    "ioctl",
    "dup",
    "dup2",
    "pipe",
    "pipe2",
    "ftruncate",
    "fsync",
    "fflush",
    "fclose",
    "unlink",
    "rename",
    "eventfd",
    "epoll_ctl",
    "epoll_wait",
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "process_madvise",
    "nanosleep",
    "clock_gettime",
    "clock_nanosleep",
    "timer_create",
    "timer_settime",
    "timer_delete",
    "setitimer",
    "signal",
    "sigaction",
    "sigprocmask",
    "sigaltstack",
    "sigqueue",
    "kill",
    "tgkill",
    "raise",
    "getrlimit",
    "setrlimit",
    "sched_setaffinity",
    "sched_getaffinity",
    "sched_setscheduler",
    "pthread_create",
    "pthread_join",
    "pthread_detach",
    "pthread_sigmask",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize",
    "libc_make_thread",
    "sem_init",
    "sem_wait",
    "sem_post",
    "io_uring_submit",
    "io_uring_submit_and_wait",
    "io_uring_submit_and_wait_timeout",
    "io_uring_submit_and_get_events",
    "io_uring_enter",
    "io_uring_enter2",
    "io_uring_register_ring_fd",
    "sa_signals",
    "sa_alarm",
    "preemption_catch",
    "preemption_install",
    "preemption_attach",
];

/// The lines of C with a statement that is such a call and nothing else, and no comment there or on the line before.
fn ignored_results(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |code: &str| {
        let name: String = code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let kernels = name.strip_prefix("system_").unwrap_or(&name); // see contexts/system.h
        (SYSTEM_CALLS.contains(&name.as_str()) || SYSTEM_CALLS.contains(&kernels))
            && code[name.len()..].starts_with('(')
    };
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut code = line.trim();
        if let Some((_, inside)) = code.split_once("{ ") {
            code = inside;
        }
        code = code.strip_prefix("else ").unwrap_or(code);
        if code.starts_with("if (") || code.starts_with("while (") || code.starts_with("for (") {
            code = behind_parentheses(code).unwrap_or_default();
        }
        code = code.strip_prefix("(void)").unwrap_or(code).trim_start();
        let continues = index > 0 && !ends_statement(lines[index - 1]);
        if continues || !begins(code) {
            continue;
        }
        let mut end = index;
        while end + 1 < lines.len() && !lines[end].contains(';') {
            end += 1;
        }
        let told = lines[index..=end].iter().any(|line| line.contains("/*"));
        if !(told || index > 0 && lines[index - 1].trim_end().ends_with("*/")) {
            found.push(index + 1);
        }
    }
    found
}

/// Whether what follows the line begins a statement.
fn ends_statement(line: &str) -> bool {
    let code = line.split("/*").next().unwrap_or_default().trim();
    let rest = code.trim_start_matches("} ").trim_start_matches("else ");
    let control = ["if (", "for (", "while ("].iter().any(|word| rest.starts_with(word));
    let closes = control && behind_parentheses(rest) == Some("");
    code.is_empty()
        || code.ends_with([';', '{', '}', ':'])
        || code.ends_with("else")
        || code == "do"
        || line.trim_end().ends_with("*/")
        || code.starts_with('#')
        || closes
}

/// What stands behind the first group of parentheses, if it ends there.
fn behind_parentheses(code: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, character) in code.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(code[at + 1..].trim());
        }
    }
    None
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
    assert_eq!(
        ignored_results(
            "f();\nclose(1);\nif (close(2))\n    close(3); /* why */\nelse if (x(1))\n    kill(4);\nint a =\n    read(5);\n"
        ),
        [2, 6]
    );
    assert_eq!(ignored_results("void f(void) { munmap(a, b); }\n/* Why. */\n(void)write(1);\n(void)write(2);"), [1, 4]);
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
