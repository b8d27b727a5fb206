//! The examples of the documents: blocks of ```` ```sched ````, ```` ```hierarchy ````, ```` ```scenario ```` and ```` ```framework ````.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;
use crate::steps;

/// An example in a document.
#[derive(Clone, Debug)]
pub struct Example {
    /// As it is written.
    pub text: String,
    /// The line of the document on which the block opens.
    pub line: usize,
    /// `sched`, `hierarchy`, `scenario` or `framework`.
    pub language: String,
    /// The code of the error that it must give.
    pub fails: Option<String>,
}

/// The documents that have examples, in order.
pub fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md")];
    for folder in ["docs", "docs/errors"] {
        documents.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    documents.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    documents.sort();
    documents
}

/// The examples of a document. A line of one that ends in `(N times)` stands for as many. Scenarios that are steps of a page belong to what the
/// page has saved before, so they are left to whoever does these steps.
pub fn examples(document: &Path) -> Vec<Example> {
    let text = fs::read_to_string(document).unwrap();
    let followed = steps::PAGES.iter().any(|page| root().join(page) == document);
    let page = document.file_stem().unwrap().to_string_lossy().into_owned();
    let mut examples: Vec<Example> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        match line.trim_end() {
            "```" if open => open = false,
            start if !open && start.starts_with("```") => {
                let language = start[3..].split(' ').next().unwrap_or_default().to_owned();
                let fails = start.ends_with(" fail").then(|| page.clone());
                open = true;
                examples.push(Example { text: String::new(), line: index + 1, language, fails });
            }
            inside if open => {
                let example = examples.last_mut().unwrap();
                let times = inside
                    .rsplit_once('(')
                    .and_then(|(_, rest)| rest.strip_suffix(" times)"))
                    .and_then(|n| n.parse().ok());
                example.text.push_str(&format!("{inside}\n").repeat(times.unwrap_or(1)));
            }
            _ => {}
        }
    }
    let left = if followed { "scenario" } else { "" };
    examples.retain(|example| ["sched", "hierarchy", "scenario", "framework"].contains(&example.language.as_str()));
    examples.retain(|example| example.language != left);
    examples
}

/// How an example that is a whole file says that, in its first line: `// load.sched`.
fn file_name(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("// ").filter(|name| name.ends_with(".sched") && !name.contains(' '))
}

impl Example {
    /// The name of the file that it is, if it says so.
    pub fn file_name(&self) -> Option<&str> {
        file_name(&self.text)
    }

    /// The whole text that the example is a part of, with `\xNN` as bytes.
    pub fn completed(&self) -> Vec<u8> {
        bytes(&match self.language.as_str() {
            "sched" => policy(&self.text),
            "hierarchy" => hierarchy(&self.text),
            "scenario" => scenario(&self.text),
            _ => framework(&self.text),
        })
    }
}

/// The example as a whole policy. One that is about the whole file stays as it is.
fn policy(text: &str) -> String {
    let only_comments = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with("//"));
    if only_comments || file_name(text).is_some() || text.contains("scheduler ") {
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
        if !text.contains(sign) && !shared(text, sign) {
            whole.push_str(part);
            whole.push('\n');
        }
    }
    whole.push_str("}\n");
    whole
}

/// Whether an event, such as `event switch_out(`, is one of several that a handler is for.
fn shared(text: &str, sign: &str) -> bool {
    let Some(event) = sign.strip_prefix("event ") else { return false };
    let headers = text.lines().filter_map(|line| line.trim_start().strip_prefix("event ")?.split(['(', '{']).next());
    headers.flat_map(|header| header.split(',')).any(|name| name.trim() == event.trim_end_matches('('))
}

/// The example as a whole hierarchy.
fn hierarchy(text: &str) -> String {
    if text.contains("hierarchy ") { text.to_owned() } else { format!("hierarchy example {{\n{text}\n}}\n") }
}

/// The example as a whole scenario, with a thread if it has none.
fn scenario(text: &str) -> String {
    if text.contains("scenario ") || text.trim_start().starts_with("//") {
        return text.to_owned();
    }
    let thread = if text.contains("thread ") { "" } else { "thread A { run 5ms; }\n" };
    format!("scenario example {{\n{text}\n{thread}}}\n")
}

/// The example as a whole description.
fn framework(text: &str) -> String {
    if text.contains("framework ") {
        return text.to_owned();
    }
    let parts = [
        ("abi ", "abi 1;"),
        ("language ", "language c;"),
        ("int ", "int 32;"),
        ("header ", "header \"example.h\";"),
        ("event newthread(", "event newthread(t) { t: NEW -> READY }"),
        ("event schedule", "event schedule { some READY, none RUNNING: one READY -> RUNNING }"),
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
