//! Every policy in a document is compiled: blocks of ```` ```sched ````, which must be accepted, and of
//! ```` ```sched fail ````, which must give the error of the page that they stand on. Frameworks, in blocks of
//! ```` ```framework ```` and ```` ```framework fail ````, likewise.
//!
//! What a block leaves out is added: the scheduler around it, and the containers and handlers that every policy has. In a
//! block `// framework: NAME` names a description in `tests/ui/frameworks`, `\xNN` stands for a byte, and a line that ends in `(N times)` for as many.

use std::fs;
use std::path::Path;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::{compile, framework};
use catapults_tests::{framework_for, root};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut documents = vec![root().join("README.md")];
    for folder in ["docs", "docs/errors"] {
        documents.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    documents.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    documents.sort();
    let mut trials = Vec::new();
    for document in documents {
        let name = document.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        for block in blocks(&document) {
            trials.push(Trial::test(format!("{name}:{}", block.line), move || block.judge()));
        }
    }
    assert!(!trials.is_empty());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// An example in a document.
struct Block {
    text: String,
    line: usize,
    language: String,
    /// The code that it must give.
    fails: Option<String>,
}

fn blocks(document: &Path) -> Vec<Block> {
    let text = fs::read_to_string(document).unwrap();
    let page = document.file_stem().unwrap().to_string_lossy().into_owned();
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        match line.trim_end() {
            "```" if open => open = false,
            start if !open && start.starts_with("```") => {
                let language = start[3..].split(' ').next().unwrap_or_default().to_owned();
                let fails = start.ends_with(" fail").then(|| page.clone());
                open = true;
                blocks.push(Block { text: String::new(), line: index + 1, language, fails });
            }
            inside if open => {
                let block = blocks.last_mut().unwrap();
                let times = inside
                    .rsplit_once('(')
                    .and_then(|(_, rest)| rest.strip_suffix(" times)"))
                    .and_then(|n| n.parse().ok());
                block.text.push_str(&format!("{inside}\n").repeat(times.unwrap_or(1)));
            }
            _ => {}
        }
    }
    blocks.retain(|block| block.language == "sched" || block.language == "framework");
    blocks
}

impl Block {
    fn judge(&self) -> Result<(), Failed> {
        let text = if self.language == "sched" { completed(&self.text) } else { completed_framework(&self.text) };
        let (said, codes) = match Source::from_bytes("example", bytes(&text)) {
            Err(unreadable) => shown(&unreadable.diagnostics, &unreadable.source),
            Ok(source) if self.language == "framework" => {
                shown(&framework::read(&source).err().unwrap_or_default(), &source)
            }
            Ok(source) => {
                let framework = framework_for(&source);
                shown(&compile(&source, &framework).map_or_else(|errors| errors, |(_, warnings)| warnings), &source)
            }
        };
        match &self.fails {
            None if codes.is_empty() => Ok(()),
            None => Err(format!("it should be accepted:\n{said}").into()),
            Some(code) if codes.len() == 1 && codes.contains(code) => Ok(()),
            Some(code) => Err(format!("it should give {code} and nothing else:\n{said}").into()),
        }
    }
}

fn shown(diagnostics: &Diagnostics, source: &Source) -> (String, Vec<String>) {
    let mut codes: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.code.to_owned()).collect();
    codes.dedup();
    (diagnostics.render(source, false), codes)
}

/// The example as a whole policy. One that is about the whole file stays as it is.
fn completed(text: &str) -> String {
    let only_comments = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with("//"));
    if only_comments || text.contains("scheduler ") {
        return text.to_owned();
    }
    let mut whole = format!("scheduler example {{\n{text}\n");
    let parts = [
        ("threadref current;", "data { threadref current; }"),
        ("queue ready", "data { queue ready; }"),
        ("event newthread(", "event newthread(t) { t => ready; }"),
        ("event schedule", "event schedule { ready => current; dispatch current; }"),
        ("event switch_out(", "event switch_out(t) { t => ready; }"),
        ("event event_raised(", "event event_raised(t) { t => ready; }"),
    ];
    for (sign, part) in parts {
        if !text.contains(sign) {
            whole.push_str(part);
            whole.push('\n');
        }
    }
    whole.push_str("}\n");
    whole
}

/// The example as a whole description.
fn completed_framework(text: &str) -> String {
    if text.contains("framework ") {
        return text.to_owned();
    }
    let parts = [
        ("abi ", "abi 1;"),
        ("language ", "language c;"),
        ("int ", "int 32;"),
        ("header ", "header \"example.h\";"),
        ("event ", "event newthread(t) { t: NEW -> READY }"),
    ];
    let missing: Vec<&str> = parts.into_iter().filter(|(sign, _)| !text.contains(sign)).map(|(_, part)| part).collect();
    format!("framework example {{\n{text}\n{}\n}}\n", missing.join("\n"))
}

/// The text with `\xNN` as bytes.
fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).expect("two digits after \\x");
        bytes.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits after \\x"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}
