//! What the compiler says should be added to a policy without its required handlers makes a policy of it.
//!
//! The handlers of the policies that are shipped are taken away, one by one and all at once, and what the message suggests is put in their place, as an
//! editor would do it.

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::{Absent, Framework};
use catapults_compiler::source::Source;
use catapults_tests::{framework_at, native, root, shipped_policies};
use std::fs;

/// The text with what is suggested, and what was missing.
fn mended(text: &str, framework: &Framework) -> Option<(String, String)> {
    let errors = compile(&Source::new("x.sched", text), framework).err()?;
    let missing = errors.iter().find(|one| one.code == "E0307")?;
    let [suggestion] = missing.suggestions.as_slice() else { panic!("{missing:?}") };
    let (start, end) = (suggestion.at.start as usize, suggestion.at.end as usize);
    let whole = format!("{}{}{}", &text[..start], suggestion.text, &text[end..]);
    Some((whole, missing.title.clone()))
}

/// Nothing is wrong with the text, apart from what is so without it.
fn accepted(text: &str, framework: &Framework, what: &str) {
    let source = Source::new("x.sched", text);
    let said = |said: &Diagnostics| said.render(&source, false);
    match compile(&source, framework) {
        Ok((_, warnings)) => {
            assert!(warnings.iter().all(|one| one.code != "E0415"), "{what}:\n{}\n{text}", said(&warnings));
        }
        Err(errors) => panic!("{what}:\n{}\n{text}", said(&errors)),
    }
}

/// The text without the handler of an event.
fn without(text: &str, event: &str) -> Option<String> {
    let start = text.find(&format!("event {event}(")).or_else(|| text.find(&format!("event {event} ")))?;
    let header = &text[start..start + text[start..].find('{')?];
    if header.contains(',') && !header.contains('(') || header.matches("event").count() > 1 || header.contains("),") {
        return None;
    }
    let (mut depth, mut end) = (0, start);
    for (offset, letter) in text[start..].char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == '}' && depth == 0 {
            end = start + offset + 1;
            break;
        }
    }
    Some(format!("{}{}", &text[..start], &text[end..]))
}

#[test]
fn of_an_empty_policy_is_a_whole_one() {
    for framework in [
        "frameworks/native/native.framework",
        "frameworks/pth/pth.framework",
        "tests/ui/frameworks/demanding.framework",
    ] {
        let framework = framework_at(framework);
        for text in
            ["scheduler x { }", "scheduler x {\n}\n", "scheduler x {\n  data { threadref current; queue ready; }\n}\n"]
        {
            let (whole, what) = mended(text, &framework).unwrap();
            accepted(&whole, &framework, &what);
        }
    }
}

#[test]
fn of_a_policy_without_some_of_its_handlers_is_accepted() {
    let framework = native();
    let required: Vec<&str> = framework
        .events
        .iter()
        .filter(|event| matches!(event.absent, Absent::Required))
        .map(|event| event.name.as_str())
        .collect();
    let mut tried = 0;
    for path in shipped_policies() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for event in &required {
            let Some(less) = without(&text, event) else { continue };
            // Without the handler some of what is left may be wrong by itself: a query that nothing is left to answer for.
            let Some((whole, what)) = mended(&less, &framework) else { continue };
            let refused = compile(&Source::new("x.sched", less.as_str()), &framework).err().unwrap_or_default();
            if refused.errors() > 1 {
                continue;
            }
            accepted(&whole, &framework, &format!("{}: {what}", path.display()));
            tried += 1;
        }
    }
    assert!(tried >= 30, "only {tried} were tried");
}
