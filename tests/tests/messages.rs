//! `--message-format json`: what `docs/messages.md` says of the objects is what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output};

use catapults_tests::{catapults, root};
use serde_json::Value;

/// For each heading of the document the fields of its table, with their types.
fn described() -> BTreeMap<String, Vec<(String, String)>> {
    let text = fs::read_to_string(root().join("docs/messages.md")).unwrap();
    let mut described: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.trim_matches('`').to_owned();
        } else if let Some(row) = line.strip_prefix("| `") {
            let cells: Vec<&str> = row.split(" | ").collect();
            let field = (cells[0].trim_matches('`').to_owned(), cells[1].to_owned());
            described.entry(section.clone()).or_default().push(field);
        }
    }
    assert!(described.len() > 5);
    described
}

/// What the command writes to standard error as objects.
fn objects(arguments: &[&str]) -> (Vec<Value>, Output) {
    let mut command = Command::new(catapults());
    command.args(["--message-format", "json"]).args(arguments).current_dir(root());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    let objects = said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")));
    (objects.collect(), output)
}

struct Judge {
    described: BTreeMap<String, Vec<(String, String)>>,
    seen: BTreeSet<String>,
}

impl Judge {
    /// The object is as its section describes it.
    fn object(&mut self, object: &Value, section: &str) {
        let fields = self.described.get(section).unwrap_or_else(|| panic!("no section `{section}`: {object}")).clone();
        self.seen.insert(section.to_owned());
        let there: Vec<&String> = object.as_object().unwrap().keys().collect();
        let expected: Vec<&String> = fields.iter().map(|(field, _)| field).collect();
        assert_eq!(there, expected, "the fields of `{section}`");
        for (field, ty) in &fields {
            self.value(&object[field], ty, &format!("`{field}` of `{section}`"));
        }
    }

    fn value(&mut self, value: &Value, ty: &str, what: &str) {
        if let Some(ty) = ty.strip_suffix(" or null") {
            self.seen.insert(format!("{what}: {}", if value.is_null() { "null" } else { "not null" }));
            if !value.is_null() {
                self.value(value, ty, what);
            }
        } else if let Some(ty) = ty.strip_prefix("list of ") {
            value.as_array().unwrap_or_else(|| panic!("{what}")).iter().for_each(|one| self.value(one, ty, what));
        } else {
            match ty {
                "string" => assert!(value.is_string(), "{what}: {value}"),
                "number" => assert!(value.is_u64(), "{what}: {value}"),
                "fraction" => {
                    assert!(value.as_f64().is_some_and(|part| (0.0..=1.0).contains(&part)), "{what}: {value}")
                }
                "boolean" => assert!(value.is_boolean(), "{what}: {value}"),
                section => self.object(value, section),
            }
        }
    }
}

#[test]
fn objects_are_as_described() {
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("many.sched");
    let wrong: String = (0..150).map(|number| format!("x{number} = 1;\n")).collect();
    fs::write(&many, format!("scheduler x {{ event init {{\n{wrong}}} }}\n")).unwrap();
    let broken = folder.path().join("broken.framework");
    fs::write(&broken, "framework x { }").unwrap();
    let (many, broken) = (many.to_string_lossy().into_owned(), broken.to_string_lossy().into_owned());
    let out = folder.path().to_string_lossy().into_owned();

    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (trace, failing) = (inside("x.trace"), inside("failing.scenario"));
    let policy = root().join("policies/fifo.sched");
    let scenario = "thread a { run 2ms; sleep 1s; } thread b { sleep 2ms; } duration 1ms; expect share of a <= 1%;";
    fs::write(&failing, format!("scenario x {{ policy \"{}\"; {scenario} }}\n", policy.display())).unwrap();
    fs::write(inside("left.scenario"), "scenario y { thread a { run 1ms; } }\n").unwrap();

    let mut judge = Judge { described: described(), seen: BTreeSet::new() };
    let cases: [(&[&str], i32); 31] = [
        (&["check", "policies/fifo.sched"], 0),
        (
            &[
                "check",
                "tests/ui/check/E0301-names.sched",
                "tests/ui/check/E0321-unused.sched",
                "tests/ui/syntax/E0103-latin-1.sched",
            ],
            1,
        ),
        (&["check", "tests/ui/check/E0307-missing.sched"], 1),
        (&["check", "nowhere.sched", "policies", &many], 1),
        (&["check", "--framework", &broken, "policies/fifo.sched"], 1),
        (&["check", "--framework", "nowhere", "policies/fifo.sched"], 2),
        (&["check", "--explain-guards", "tests/run/refusal.sched"], 0),
        (&["explore", "--threads", "2", "tests/run/refusal.sched", "tests/cli/unfair.sched"], 1),
        (&["explore", "--threads", "2", "policies/fifo.sched"], 0),
        (&["fmt", "--check", "tests/figures/cow.sched", "tests/ui/syntax/E0101-missing-semicolon.sched"], 1),
        (&["build", "--output", "policies/fifo.sched", "policies/cow.sched"], 1),
        (&["build", "--as", "source", "--output", &out, "policies/cow.sched"], 0),
        (&["ir", "tests/ui/verify/E0402-may-be-empty.sched"], 1),
        (&["run", "tests/ui/verify/E0402-may-be-empty.sched", "--", "true"], 1),
        (&["explain", "E9999"], 2),
        (&["framework", "check", "native", &broken, "tests/ui/framework/E0212-E0213-warnings.framework", "nowhere"], 1),
        (&["framework", "list"], 0),
        (&["sim", "policies/edf.scenario", "--only", "JOB"], 2),
        (&["sim", "policies/fifo.sched", "--trace", &trace], 0),
        (&["trace", "summary", &trace], 0),
        (&["sim", &failing], 1),
        (&["test", "policies/edf.scenario"], 0),
        (&["test", &failing], 1),
        (&["test", &out], 1),
        (&["admit", "tests/cli/admit/late.csv", "--policy", "rm"], 4),
        (&["admit", "tests/cli/admit/tight.csv", "--policy", "edf"], 4),
        (&["admit", "tests/cli/admit/three.csv", "--policy", "edf", "--partitioned", "--processors", "2"], 4),
        (&["admit", "tests/cli/admit/plan.scenario"], 0),
        (&["wcet", "policies/least_loaded.sched", "--explain", "dispatch"], 0),
        (&["wcet", "tests/cli/wcet/endless.sched"], 1),
        (&["wcet", "policies/fifo.sched", "--framework", "rabbit", "--unit", "clocks", "--explain", "thread_yield"], 0),
    ];
    for (arguments, status) in cases {
        let (objects, output) = objects(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert!(status == 0 || !objects.is_empty(), "{arguments:?}");
        for object in &objects {
            judge.object(object, object["type"].as_str().unwrap());
        }
    }
    let unseen: Vec<_> = judge.described.keys().filter(|section| !judge.seen.contains(*section)).collect();
    assert!(unseen.is_empty(), "no case has {unseen:?}");
    for optional in ["`code` of `diagnostic`", "`error` of `explored`", "`starvation` of `explored`"] {
        for state in ["null", "not null"] {
            assert!(judge.seen.contains(&format!("{optional}: {state}")), "{optional} is never {state}");
        }
    }
}

/// Each span is where `rendered` and the source say.
#[test]
fn spans_are_places_of_the_source() {
    for case in
        ["tests/ui/check/E0301-names.sched", "tests/ui/check/E0302-twice.sched", "tests/ui/syntax/E0102-tokens.sched"]
    {
        let text = fs::read_to_string(root().join(case)).unwrap();
        let (objects, _) = objects(&["check", case]);
        let mut spans = 0;
        for object in objects.iter().filter(|object| object["type"] == "diagnostic") {
            let rendered = object["rendered"].as_str().unwrap();
            let primary = &object["spans"][0];
            assert_eq!(primary["primary"], true);
            let place = format!("{case}:{}:{}\n", primary["line"], primary["column"]);
            assert!(rendered.contains(&place), "{place} is not in\n{rendered}");
            assert!(rendered.starts_with(&format!("error[{}]: ", object["code"].as_str().unwrap())), "{rendered}");
            for span in object["spans"].as_array().unwrap() {
                let number = |field: &str| usize::try_from(span[field].as_u64().unwrap()).unwrap();
                for (offset, line, column) in [("start", "line", "column"), ("end", "end_line", "end_column")] {
                    let before = &text[..number(offset)];
                    assert_eq!(before.matches('\n').count() + 1, number(line), "{span}");
                    let last = before.rsplit('\n').next().unwrap();
                    assert_eq!(last.chars().count() + 1, number(column), "{span}");
                }
                spans += 1;
            }
        }
        assert!(spans > 2, "{case}");
    }
}

#[test]
fn standard_output_stays_what_it_is() {
    for arguments in
        [&["check", "policies/round_robin.sched"][..], &["ir", "policies/fifo.sched"], &["explain", "E0401"]]
    {
        let plain = Command::new(catapults()).args(arguments).current_dir(root()).output().unwrap();
        let (objects, output) = objects(arguments);
        assert_eq!(plain.stdout, output.stdout);
        assert!(objects.is_empty() && !plain.stdout.is_empty());
    }
}
