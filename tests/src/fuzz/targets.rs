//! What is done with the bytes, and what must hold whatever they are.

use std::fs;
use std::io::Cursor;
use std::sync::OnceLock;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::format::{self as formatter, Unformatted};
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::hierarchy::NotFound;
use catapults_compiler::interp::{Machine, Variables};
use catapults_compiler::policy::{Policy, text};
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{self, Dialect, Feature, NotUsed, is_of_functions};
use catapults_compiler::verify::{Verified, verify};
use catapults_compiler::{check_functions, compile, compile_hierarchy, emit};
use catapults_simulator::script as scripts;
use catapults_simulator::trace::{self as traces, Reader};

use crate::host::drive;
use crate::{native, policies, root};

/// Tokens come in order, and what is between them is blank.
pub fn lexer(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut end, mut line) = (0, 1);
    for at in syntax::tokens(&text) {
        let (start, stop) = (at.start as usize, at.end as usize);
        assert!(end <= start && start < stop && stop <= text.len(), "{at:?} after {end}");
        assert!(text.is_char_boundary(start) && text.is_char_boundary(stop), "{at:?}");
        let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        line += lines(&text[end..start]);
        assert!(at.line as usize == line, "{at:?} is on line {line}");
        line += lines(&text[start..stop]);
        end = stop;
    }
}

/// A tree, or reasons.
pub fn parser(bytes: &[u8]) {
    let Ok(source) = Source::from_bytes("fuzzed.sched", bytes.to_vec()) else {
        return;
    };
    let dialect = Dialect { framework: "fuzzed".to_owned(), features: Feature::ALL.into_iter().collect() };
    let mut diagnostics = Diagnostics::new();
    syntax::parse(&source, &dialect, &mut diagnostics);
    shown(&diagnostics, &source);
}

/// What can be read is formatted without a change of meaning, and formatting again changes nothing.
pub fn format(bytes: &[u8]) {
    let Ok(source) = Source::from_bytes("fuzzed.sched", bytes.to_vec()) else {
        return;
    };
    match formatter::format(&source) {
        Err(Unformatted::Refused(diagnostics)) => refused(&diagnostics, &source),
        Err(Unformatted::Mistake) => panic!("formatting would change the meaning"),
        Ok(formatted) => match formatter::format(&Source::new("fuzzed.sched", formatted.as_str())) {
            Ok(again) => assert!(again == formatted, "formatting again changes something:\n{formatted}\n{again}"),
            Err(why) => panic!("{why:?}, of\n{formatted}"),
        },
    }
}

/// A text that uses files of the library, or, by other names, itself.
fn with_itself(source: Source) -> Source {
    let text = source.text.clone();
    syntax::bring(source, &mut |wanted| match fs::read_to_string(root().join("policies").join(wanted.path)) {
        Ok(found) => Ok(Source::new(wanted.path, found)),
        Err(_) if wanted.path.len() < 4 => Ok(Source::new(wanted.path, text.as_str())),
        Err(error) => Err(NotUsed::Refused(error.to_string())),
    })
}

/// All the way: what is accepted is translated, and its representation reads back as the same policy.
pub fn checker(bytes: &[u8]) {
    match Source::from_bytes("fuzzed.sched", bytes.to_vec()) {
        Err(unreadable) => refused(&unreadable.diagnostics, &unreadable.source),
        Ok(source) => {
            let source = with_itself(source);
            let framework = framework_of(&source);
            if is_of_functions(&source) {
                return shown(&check_functions(&source, framework), &source);
            }
            match compile(&source, framework) {
                Err(errors) => refused(&errors, &source),
                Ok((verified, warnings)) => {
                    shown(&warnings, &source);
                    accepted(&verified, framework, &source);
                }
            }
        }
    }
}

/// What reads as a policy prints as that policy. Whether it is a safe one the verifier says.
pub fn ir(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text::read(&text) {
        Err(error) => {
            assert!(!error.message.is_empty() && (1..=text.lines().count() + 1).contains(&error.line), "{error:?}");
        }
        Ok(policy) => {
            reads_back(&policy);
            let mut diagnostics = Diagnostics::new();
            let verified = verify(policy, known(None), &mut diagnostics);
            assert!(verified.is_some() || diagnostics.has_errors(), "refused without a reason");
            shown(&diagnostics, &Source::new("fuzzed.ir", ""));
        }
    }
}

/// A policy can be judged under every description that is accepted.
pub fn framework(bytes: &[u8]) {
    match Source::from_bytes("fuzzed.framework", bytes.to_vec()) {
        Err(unreadable) => refused(&unreadable.diagnostics, &unreadable.source),
        Ok(source) => match framework::read(&source) {
            Err(errors) => refused(&errors, &source),
            Ok(framework) => {
                for policy in shipped() {
                    match compile(policy, &framework) {
                        Err(errors) => refused(&errors, policy),
                        Ok((verified, _)) => {
                            // An unknown language is for the command line to report.
                            let _ = emit::emit(&verified, &framework);
                        }
                    }
                }
            }
        },
    }
}

/// A hierarchy that is accepted is translated; of one that is not there is something to say.
pub fn hierarchy(bytes: &[u8]) {
    let Ok(source) = Source::from_bytes("fuzzed.hierarchy", bytes.to_vec()) else {
        return;
    };
    let framework = framework_of(&source);
    // Other files are none of the target's business.
    let mut find = |path: &str| {
        let found = shipped().iter().find(|policy| policy.name == path).cloned();
        let why = format!("there is no {path}");
        found.ok_or_else(|| NotFound::Missing { why, known: vec!["fifo".to_owned(), "edf".to_owned()] })
    };
    let judged = compile_hierarchy(&source, framework, &mut find);
    judged.said.iter().for_each(|(source, diagnostics)| shown(diagnostics, source));
    match judged.hierarchy {
        None => assert!(judged.said.iter().any(|(_, said)| said.has_errors()), "refused without a reason"),
        Some(hierarchy) => {
            assert!(hierarchy.nodes().iter().skip(1).enumerate().all(|(before, node)| node.parent <= Some(before)));
            assert!(hierarchy.nodes()[0].parent.is_none() && hierarchy.default() < hierarchy.nodes().len());
            if let Err(error) = emit::emit_hierarchy(&hierarchy, framework) {
                assert!(emit::can_have(framework, Feature::Hierarchies).is_err(), "{error:?}");
            }
        }
    }
}

/// What reads as a script prints as that script; what a policy makes of it is said, not suffered.
pub fn script(bytes: &[u8]) {
    let Ok(steps) = scripts::parse(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    let printed: Vec<String> = steps.iter().map(ToString::to_string).collect();
    assert_eq!(scripts::parse(&printed.join("\n")).as_deref(), Ok(&steps[..]));
    for policy in scripted() {
        let mut machine = Machine::new(policy);
        let mut application = Variables::default();
        for step in &steps {
            // Scripts may be nonsense: only a panic is wrong.
            let _ = scripts::perform(&mut machine, &mut application, policy.policy(), step);
        }
    }
}

/// What reads as a recording can be exported, summed up, and compared.
pub fn trace(bytes: &[u8]) {
    let Ok(mut trace) = Reader::new(Cursor::new(bytes)) else { return };
    let (mut latest, mut sound) = (0, true);
    loop {
        match trace.next_record() {
            Ok(Some(record)) => {
                assert!(latest <= record.time_ns, "out of order");
                latest = record.time_ns;
                trace.line(&record);
            }
            Ok(None) => break,
            Err(_) => {
                sound = false;
                break;
            }
        }
    }
    let again = |newest: u64| {
        let mut trace = Reader::new(Cursor::new(bytes)).ok()?;
        trace.newest(newest).ok().map(|()| trace)
    };
    for newest in [3, u64::MAX] {
        let (Some(mut one), Some(mut other)) = (again(newest), again(newest)) else { continue };
        let mut out = Vec::new();
        let exported = traces::export_chrome(&mut one, &mut out, &mut || {}).is_ok();
        assert_eq!(exported, sound, "whether it makes sense");
        assert!(!exported || out.starts_with(b"{") && out.trim_ascii_end().ends_with(b"}"), "no timeline");
        assert_eq!(traces::export_perfetto(&mut other, &mut out, &mut || {}).is_ok(), sound);
    }
    if let (Some(mut one), Some(mut other)) = (again(u64::MAX), again(u64::MAX)) {
        assert_eq!(traces::compare(&mut one, &mut other, false, &mut || {}).is_ok(), sound);
    }
    if let Some(mut one) = again(u64::MAX) {
        assert_eq!(traces::summarise(&mut one, &mut || {}).is_ok(), sound);
    }
    for part in [(0, i64::MAX), (5, 1 << 40)] {
        let Some(mut one) = again(u64::MAX) else { continue };
        let picture = traces::picture(&mut one, "fuzzed", part, &mut || {});
        assert_eq!(picture.is_ok(), sound);
        let drawn = picture.map(|picture| (picture.text(), picture.draw().svg));
        assert!(drawn.is_err() || drawn.is_ok_and(|(_, svg)| svg.ends_with("</svg>\n")), "no picture");
    }
}

/// No accepted policy loses or duplicates a thread, whatever happens. The first two bytes say how many describe the policy;
/// the rest is what happens.
pub fn soundness(bytes: &[u8]) {
    let [low, high, rest @ ..] = bytes else {
        return;
    };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (policy, events) = rest.split_at(length);
    let text = policies::random(policy);
    let source = Source::new("random.sched", text);
    match compile(&source, known(None)) {
        Err(errors) => refused(&errors, &source),
        Ok((verified, _)) => {
            accepted(&verified, known(None), &source);
            if let Err(wrong) = drive(&verified, known(None), 150, events) {
                panic!("{wrong}\n{}", source.text);
            }
        }
    }
}

fn refused(errors: &Diagnostics, source: &Source) {
    assert!(errors.has_errors(), "refused without a reason");
    let said = errors.render(source, false);
    assert!(said.contains("error[E0") && said.contains(&source.name), "{said}");
}

/// Messages can be shown, plain and in colour.
fn shown(diagnostics: &Diagnostics, source: &Source) {
    let _ = (diagnostics.render(source, false), diagnostics.render(source, true));
}

fn accepted(verified: &Verified<Policy>, framework: &Framework, source: &Source) {
    reads_back(verified.policy());
    let mut guards = Diagnostics::new();
    verified.explain_guards().for_each(|guard| guards.push(guard.clone()));
    shown(&guards, source);
    if let Err(error) = emit::emit(verified, framework) {
        panic!("{error:?}");
    }
}

fn reads_back(policy: &Policy) {
    let printed = text::print(policy);
    match text::read(&printed) {
        Err(error) => panic!("{error}\n{printed}"),
        Ok(read) => {
            assert!(read == *policy, "reads back as another policy:\n{printed}\n{}", text::print(&read));
            assert!(text::print(&read) == printed, "prints as another text:\n{printed}");
        }
    }
}

/// The framework that a policy's line `// framework: NAME` names, if it is one of ours.
fn framework_of(source: &Source) -> &'static Framework {
    known(source.text.lines().find_map(|line| line.strip_prefix("// framework: ")))
}

/// The framework of this name among those of the tests, else the native one.
fn known(name: Option<&str>) -> &'static Framework {
    static KNOWN: OnceLock<Vec<Framework>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let folder = fs::read_dir(root().join("tests/ui/frameworks")).unwrap();
        let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let read = |path: &std::path::PathBuf| {
            let bytes = fs::read(path).unwrap();
            framework::read(&Source::from_bytes(path.display().to_string(), bytes).unwrap()).ok()
        };
        std::iter::once(native()).chain(paths.iter().filter_map(read)).collect()
    });
    let named = name.and_then(|name| known[1..].iter().find(|framework| framework.name == name.trim()));
    named.unwrap_or(&known[0])
}

fn shipped() -> &'static [Source] {
    static SHIPPED: OnceLock<Vec<Source>> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let source = |path: &std::path::PathBuf| crate::named_policy(path.file_name().unwrap().to_string_lossy(), path);
        crate::shipped_policies().iter().map(source).collect()
    })
}

/// Two policies that scripts are for.
fn scripted() -> &'static [Verified<Policy>] {
    static SCRIPTED: OnceLock<Vec<Verified<Policy>>> = OnceLock::new();
    SCRIPTED.get_or_init(|| {
        let wanted = shipped().iter().filter(|source| ["fifo.sched", "cow.sched"].contains(&source.name.as_str()));
        wanted.filter_map(|source| Some(compile(source, known(None)).ok()?.0)).collect()
    })
}
