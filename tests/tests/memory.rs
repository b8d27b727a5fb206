//! Memory is bounded by how many threads live at a time, not by how long a trace or a simulation is: each command at two lengths,
//! of threads that live shortly, with names and variables of their own.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use catapults_compiler::vocabulary::Value;
use catapults_simulator::trace::{Header, Name, Reason, Record, What, Writer};
use catapults_tests::packets::{compressed, field, message, number};
use catapults_tests::{catapults, root};

/// So many threads come and go; ten times as many in the longer one.
const THREADS: u32 = 12_000;
/// What ten times the length may cost. If 40 bytes were kept of each thread it would cost more.
const MORE: u64 = 3 << 10;

/// The most memory, in KiB, that a process ever had, as far as it is seen every millisecond: what grows with the length is there to the end.
fn peak(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Ok(text) = std::fs::read_to_string(&status)
            && let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))
        {
            peak = line.trim().trim_end_matches(" kB").parse().unwrap();
        }
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(ended.success(), "{command:?}: {ended}");
    assert!(peak > 0, "{command:?} was never seen");
    peak
}

/// Ten times the length costs little more. `make` writes an input with so many threads and says how it is read.
fn bounded(what: &str, make: impl Fn(&Path, u32) -> Vec<Command>) {
    let folder = tempfile::tempdir().unwrap();
    let lengths = [THREADS, 10 * THREADS].map(|threads| make(folder.path(), threads));
    let [short, long] = lengths;
    for (mut short, mut long) in short.into_iter().zip(long) {
        let (few, many) = (peak(&mut short), peak(&mut long));
        assert!(many <= few + MORE, "{what}: {few} KiB, and {many} KiB for ten times the length: {long:?}");
    }
}

fn command(words: &[&str]) -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(BUILT.get_or_init(catapults));
    command.current_dir(root()).args(words);
    command
}

/// One thread after the other lives for a millisecond, has a name and a number of its own, and a variable.
fn trace(folder: &Path, threads: u32) -> PathBuf {
    let path = folder.join(format!("{threads}.trace"));
    let names = ["churn", "churn.sched", "simulator", "virtual", "schedule", "work"];
    let names = names.map(|text| Name { text: text.to_owned(), line: 7, ..Name::default() });
    let header =
        Header { policy: "churn".to_owned(), host: "simulator".to_owned(), names: names.to_vec(), ..Header::default() };
    let mut writer = Writer::new(BufWriter::new(File::create(&path).unwrap()), &header).unwrap();
    for thread in 1..=threads {
        let start = u64::from(thread) * 1_000_000;
        let mut write = |after, what| {
            let record =
                Record { time_ns: start + after, thread, processor: 0, what, event: 4, line: 0, ready: Some(1) };
            writer.record(&record).unwrap();
        };
        write(0, What::New);
        write(1, What::Value { variable: 5, value: Value::Int(i64::from(thread)) });
        write(2, What::Dispatched);
        write(500_000, What::Blocked(Reason::Sleep));
        write(600_000, What::Raised);
        write(600_000, What::Dispatched);
        write(900_000, What::Exited);
        writer.name(start + 900_000, thread + 1, &format!("one-of-many-{}", thread + 1)).unwrap();
    }
    writer.finish().unwrap();
    path
}

#[test]
fn a_trace_is_read_in_memory_that_its_length_does_not_change() {
    bounded("traces", |folder, threads| {
        let trace = trace(folder, threads);
        let trace = trace.to_str().unwrap();
        let out = |ending: &str| folder.join(format!("out.{ending}")).to_str().unwrap().to_owned();
        vec![
            command(&["trace", "summary", trace]),
            command(&["trace", "plot", trace, "-o", &out("svg")]),
            command(&["trace", "show", trace, "--thread", "7"]),
            command(&["trace", "compare", trace, trace]),
            command(&["trace", "export", trace, "-o", &out("json")]),
            command(&["trace", "export", trace, "-o", &out("pftrace")]),
            command(&["trace", "to-scenario", trace, "--most", "10000", "-o", &out("scenario")]),
        ]
    });
}

#[test]
fn threads_that_do_nothing_count_in_a_scenario_made_of_a_trace() {
    bounded("threads that do nothing", |folder, threads| {
        let path = folder.join(format!("{threads}.trace"));
        let header = Header { names: vec![Name::default(); 4], ..Header::default() };
        let mut writer = Writer::new(BufWriter::new(File::create(&path).unwrap()), &header).unwrap();
        for thread in 1..=threads {
            for what in [What::New, What::Exited] {
                let time_ns = u64::from(thread);
                writer.record(&Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None }).unwrap();
            }
        }
        writer.finish().unwrap();
        let scenario = folder.join("out.scenario");
        vec![command(&[
            "trace",
            "to-scenario",
            path.to_str().unwrap(),
            "--most",
            "10000",
            "-o",
            scenario.to_str().unwrap(),
        ])]
    });
}

#[test]
fn what_linux_recorded_is_read_in_memory_that_its_length_does_not_change() {
    bounded("recordings of Linux", |folder, threads| {
        let (mut ftrace, mut perf) = (String::new(), String::new());
        let (mut packets, mut packed) = (Vec::new(), Vec::new());
        let mut bundles = Vec::new();
        for thread in 1..=threads {
            let (seconds, part) = (thread / 1000, thread % 1000);
            let _ = writeln!(
                ftrace,
                "<idle>-0 [002] d..2. {seconds}.{part:03}000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=job-{thread} next_pid={thread} next_prio=120\n\
                 job-{thread}-{thread} [002] d..2. {seconds}.{part:03}500: sched_switch: prev_comm=job-{thread} prev_pid={thread} prev_prio=120 prev_state=X ==> next_comm=swapper/2 next_pid=0 next_prio=120"
            );
            let _ = writeln!(
                perf,
                "swapper 0 [002] {seconds}.{part:03}000: sched:sched_switch: swapper/2:0 [120] R ==> job-{thread}:{thread} [120]\n\
                 job-{thread} {thread} [002] {seconds}.{part:03}500: sched:sched_switch: job-{thread}:{thread} [120] X ==> swapper/2:0 [120]"
            );
            let (name, start) = (format!("job-{thread}"), u64::from(thread) * 1_000_000);
            let (idle, this) = (("swapper/2", 0), (name.as_str(), thread));
            let events = [switch(start, idle, 0, this), switch(start + 500_000, this, 0x10, idle)].concat();
            field(&mut bundles, 1, &message(1, &events));
            if thread % 1000 == 0 || thread == threads {
                packed.extend(compressed(&bundles));
                packets.append(&mut bundles);
            }
        }
        ["ftrace.txt", "perf.txt", "pftrace", "compressed.pftrace"]
            .iter()
            .zip([ftrace.as_bytes(), perf.as_bytes(), &packets, &packed])
            .map(|(ending, bytes)| {
                let path = folder.join(format!("{threads}.{ending}"));
                std::fs::write(&path, bytes).unwrap();
                command(&["trace", "import", path.to_str().unwrap(), "-o", folder.join("out.trace").to_str().unwrap()])
            })
            .collect()
    });
}

/// An ftrace event of Perfetto's: who ran, in what state he is left, who runs.
fn switch(time: u64, from: (&str, u32), state: u64, to: (&str, u32)) -> Vec<u8> {
    let mut switch = Vec::new();
    field(&mut switch, 1, from.0.as_bytes());
    number(&mut switch, 2, u64::from(from.1));
    number(&mut switch, 4, state);
    field(&mut switch, 5, to.0.as_bytes());
    number(&mut switch, 6, u64::from(to.1));
    let mut event = Vec::new();
    number(&mut event, 1, time);
    field(&mut event, 4, &switch);
    message(2, &event)
}

/// A long turn that is interrupted again and again, each time planning its end anew.
#[test]
fn a_simulation_takes_memory_that_its_length_does_not_change() {
    bounded("simulations", |folder, threads| {
        let policy = root().join("policies/fixed_priority.sched");
        let text = format!(
            "scenario interrupted {{ policy \"{}\"; duration {threads}us; thread low {{ run 1000s; }} thread high with {{ priority = 9; }} {{ repeat {{ run 400ns; sleep 600ns; }} }} }}",
            policy.display()
        );
        let path = folder.join(format!("{threads}.scenario"));
        std::fs::write(&path, text).unwrap();
        vec![command(&["sim", path.to_str().unwrap()])]
    });
}
