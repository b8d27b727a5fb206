//! Texts that have something of everything, and the words that they are made of.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;

use catapults_compiler::policy::text;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;
use catapults_compiler::{compile, syntax};
use catapults_simulator::trace::{Header, Name, Reason, Record, What, Writer};

use crate::examples::{documents, examples};
use crate::repository::below;
use crate::{brought, framework_for, root};

/// Longer ones would make a fuzzer slow, and say nothing that the others do not.
const LONGEST: usize = 12 << 10;

/// Policies, good and bad: the library, the tests' cases, the documents' examples.
pub fn policies() -> Vec<Vec<u8>> {
    let mut seeds = files(&["policies", "tests/ui", "tests/run", "tests/figures"], "sched");
    seeds.extend(from_documents("sched"));
    unique(seeds)
}

/// Framework descriptions, good and bad.
pub fn frameworks() -> Vec<Vec<u8>> {
    let mut seeds = from_documents("framework");
    seeds.extend(files(&["frameworks", "tests"], "framework"));
    unique(seeds)
}

/// Hierarchies, good and bad.
pub fn hierarchies() -> Vec<Vec<u8>> {
    let mut seeds = files(&["policies", "tests/ui"], "hierarchy");
    seeds.extend(from_documents("hierarchy"));
    unique(seeds)
}

/// Scenarios, good and bad.
pub fn scenarios() -> Vec<Vec<u8>> {
    let mut seeds = files(&["policies", "tests/ui", "tests/cli"], "scenario");
    seeds.extend(from_documents("scenario"));
    seeds.push(SHORT.into());
    unique(seeds)
}

/// One that is short enough to be simulated each time.
const SHORT: &str = r#"scenario s {
  policy "round_robin.sched";
  processors 2;
  duration 9us;
  tick 100ns;
  set quantum = 1us;
  thread a * 3 every uniform(1us, 2us) { repeat 4 { run exponential(1us); lock m; run 200ns; yield; unlock m; sleep 1us; } }
  thread b period 3us deadline 2us { run 1us; send p; }
  thread c { repeat { receive p; shared absolute timer t 2us; run 1us; } }
  at 4us { processors 1; }
  expect share of a >= 1%;
  expect misses of b = 0;
}
"#;

/// Sets of tasks of each kind, and what is none.
pub fn tasks() -> Vec<Vec<u8>> {
    let of = |ending| files(&["tests/cli/admit"], ending);
    unique(["csv", "yaml", "scenario", "json"].into_iter().flat_map(of).collect())
}

/// Workloads of rt-app, and what is none.
pub fn rtapp() -> Vec<Vec<u8>> {
    let mut seeds = files(&["tests/cli"], "json");
    seeds.push(
        br#"{"tasks": {"a": {"instance": 2, "loop": 3, "run": 1000, "sleep": 20, "lock": "m", "unlock": "m"},
  "b": {"phases": {"p": {"loop": 2, "runtime": 10, "timer": {"ref": "t", "period": 1000, "mode": "absolute"}, "timer": {"ref": "t", "period": 7}}, "q": {"suspend": 1, "resume": "a"}}}},
  "global": {"duration": 2, "default_policy": "SCHED_OTHER"}, "resources": {"m": {"type": "mutex"}}}"#
            .to_vec(),
    );
    unique(seeds)
}

/// What perf and ftrace print.
pub fn linux() -> Vec<Vec<u8>> {
    unique(files(&["tests/cli"], "txt"))
}

/// What Perfetto writes.
pub fn packets() -> Vec<Vec<u8>> {
    unique(files(&["tests/cli"], "pftrace"))
}

/// What is formatted, but descriptions.
pub fn formatted() -> Vec<Vec<u8>> {
    let mut seeds = policies();
    seeds.extend(hierarchies());
    unique(seeds)
}

/// Whatever the lexer reads.
pub fn texts() -> Vec<Vec<u8>> {
    let mut seeds = policies();
    seeds.extend(frameworks());
    seeds.extend(hierarchies());
    unique(seeds)
}

/// The compiler's own form of all policies that it accepts.
pub fn representations() -> Vec<Vec<u8>> {
    let mut seeds = files(&["tests/ir"], "ir");
    for policy in policies() {
        if let Ok(source) = Source::from_bytes("seed.sched", policy)
            && let source = brought(source, &root().join("policies"))
            && let Ok((verified, _)) = compile(&source, &framework_for(&source))
        {
            seeds.push(text::print(verified.policy()).into_bytes());
        }
    }
    unique(seeds)
}

/// Scripts.
pub fn scripts() -> Vec<Vec<u8>> {
    unique(files(&["tests/run"], "script"))
}

/// Recordings: one whose ring has not come round, one whose ring has, one that says nothing.
pub fn traces() -> Vec<Vec<u8>> {
    vec![trace(32, 20), trace(8, 20), trace(1, 0), newer(20)]
}

/// A recording of version 2, with names and each kind of record.
fn newer(count: u16) -> Vec<u8> {
    let name = |text: &str, line| Name { text: text.to_owned(), line, ..Name::default() };
    let mut names = vec![Name::default(); 4];
    names.extend([name("schedule", 12), name("block.lock", 0), name("tickets", 0)]);
    let header = Header { policy: "lottery".to_owned(), source: "a.sched".to_owned(), names, ..Header::default() };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut bytes, &header).unwrap();
    let whats = [
        What::New,
        What::Dispatched,
        What::Lent { donor: 1 },
        What::Value { variable: 6, value: Value::Int(7) },
        What::Blocked(Reason::Lock),
        What::Raised,
        What::Preempted,
        What::Exited,
    ];
    for (time, what) in (0..u64::from(count)).zip(whats.into_iter().cycle()) {
        let thread = (time % 3) as u32;
        let record = Record { time_ns: time, thread, processor: 0, what, event: 4, line: 14, ready: Some(2) };
        writer.record(&record).unwrap();
        writer.name(time, thread, "name").unwrap();
    }
    writer.finish().unwrap();
    bytes.into_inner()
}

/// Choices for a policy, and for what happens to it.
pub fn choices() -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(7);
    let seed = |length: u16| {
        let mut seed = length.to_le_bytes().to_vec();
        seed.extend(std::iter::repeat_with(|| random.u8(..)).take(usize::from(length) + 300));
        seed
    };
    (0..40).map(|index| index * 10).map(seed).collect()
}

/// What stands in several of the seeds: the words of the language, and the names that tests like.
pub fn dictionary() -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in texts() {
        let seed = String::from_utf8_lossy(&seed);
        let mut words: Vec<&str> = syntax::tokens(&seed).map(|at| &seed[at.start as usize..at.end as usize]).collect();
        words.sort_unstable();
        words.dedup();
        for word in words.into_iter().filter(|word| word.len() <= 20 && word.is_ascii()) {
            *seen.entry(word.to_owned()).or_default() += 1;
        }
    }
    let mut words: Vec<String> = seen.into_iter().filter(|(_, seeds)| *seeds >= 3).map(|(word, _)| word).collect();
    words.extend(["/*", "*/", "//", "\n", "\"", "\\", "\u{e9}", "0x", "9223372036854775808"].map(str::to_owned));
    words.sort();
    words.dedup();
    words
}

/// A recording of two threads that take turns.
fn trace(capacity: u64, written: u64) -> Vec<u8> {
    let mut bytes = b"CATTRACE".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(32_u32.to_le_bytes());
    bytes.extend(capacity.to_le_bytes());
    bytes.extend(written.to_le_bytes());
    bytes.extend(100_u64.to_le_bytes());
    bytes.extend(b"fifo\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let mut ring = vec![[0_u8; 32]; usize::try_from(capacity).unwrap()];
    for (number, place) in (0..written).zip((0..ring.len()).cycle()) {
        let record = &mut ring[place];
        record[..8].copy_from_slice(&(110 + number).to_le_bytes());
        record[8] = u8::try_from(number % 2).unwrap() + 1;
        record[12] = u8::try_from(number % 12).unwrap();
        record[16..20].copy_from_slice(b"name");
    }
    bytes.extend(ring.concat());
    bytes
}

fn files(folders: &[&str], ending: &str) -> Vec<Vec<u8>> {
    below(folders, ending).iter().map(|path| fs::read(path).unwrap()).collect()
}

fn from_documents(language: &str) -> Vec<Vec<u8>> {
    let all = documents().into_iter().flat_map(|document| examples(&document));
    all.filter(|example| example.language == language).map(|example| example.completed()).collect()
}

fn unique(mut seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.retain(|seed| seed.len() <= LONGEST);
    seeds.sort();
    seeds.dedup();
    seeds
}
