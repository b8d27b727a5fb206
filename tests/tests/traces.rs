//! Hosts record the decisions that the simulator does: a few threads that do the same in a real program and in a scenario.
//! What hosts record of them is read as `catapults trace` reads it.

use catapults_simulator::trace::{Comparison, Reader, What, compare};
use catapults_tests::{catapults, root};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The threads, in the words of the framework that they are run in. SET gives one a value of what the policy imports of
/// threads, WITH from its beginning; main has one as soon as it runs. JOIN is for hosts where a thread can wait for the
/// end of another.
const SCENARIO: &str = "scenario threads {
  thread main { SET(5) spawn c; spawn a; spawn b; yield; yield; JOIN }
  thread a WITH(3) { yield; yield; yield; receive letters; sleep 300ms; receive letters; }
  thread b WITH(4) { yield; suspend c; yield; yield; yield; resume c; yield; yield; send letters; }
  thread c WITH(4) { yield; yield; yield; yield; yield; sleep 100ms; send letters; }
}
";

/// The scenario for a policy that imports this of threads.
fn scenario(imported: Option<&str>, joins: bool) -> String {
    let text = SCENARIO.replace("JOIN", if joins { "join a; join b; join c;" } else { "" });
    [5, 3, 4].iter().fold(text, |text, value| {
        let set = imported.map_or(String::new(), |name| format!("set {name} = {value};"));
        let with = imported.map_or(String::new(), |name| format!("with {{ {name} = {value}; }}"));
        text.replace(&format!("SET({value})"), &set).replace(&format!("WITH({value})"), &with)
    })
}

/// What all draw by.
const SEED: &str = "7";

/// Of the library, or one that draws.
fn source_of(policy: &str) -> PathBuf {
    let folder = if policy == "draws" { "frameworks/rabbit/tests" } else { "policies" };
    root().join(format!("{folder}/{policy}.sched"))
}

/// Runs it; it is to end well.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn simulate(folder: &Path, framework: &str, policy: &Path, imported: Option<&str>, trace: &Path) {
    let file = folder.join("threads.scenario");
    std::fs::write(&file, scenario(imported, framework == "pth")).unwrap();
    let mut command = Command::new(catapults());
    command.arg("sim").arg(&file).arg("--framework").arg(framework).arg("--policy").arg(policy);
    run(command.args(["--seed", SEED]).arg("--trace").arg(trace));
}

fn read(path: &Path) -> Reader<File> {
    Reader::new(File::open(path).unwrap()).unwrap()
}

/// They decided the same, so often.
fn decisions(host: &Path, simulated: &Path) -> u64 {
    match compare(&mut read(host), &mut read(simulated), true, &mut || {}).unwrap() {
        Comparison::Same { decisions, .. } => decisions,
        different @ Comparison::Different { .. } => panic!("{}: {different:#?}", host.display()),
    }
}

#[test]
fn pth_and_the_simulator_record_the_same_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path();
    let pth = root().join("frameworks/pth");
    let mut make = Command::new("make");
    make.arg("-C").arg(&pth).arg(format!("BUILD={}", build.display())).arg("all");
    run(make.env_remove("MAKEFLAGS").env_remove("OUT"));
    let (program, built) = (build.join("threads"), build.join("pth"));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c17", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    compiler.arg(format!("-I{}/include", pth.display())).arg(format!("-I{}/../shared", pth.display()));
    compiler.arg(root().join("tests/traces/pth.c")).arg(format!("-L{}", built.display()));
    run(compiler.arg(format!("-Wl,-rpath,{}", built.display())).args(["-lcatapults_pth", "-lpth"]));

    let imported = [("fifo", None), ("cow", Some("bytesleft")), ("fixed_priority", Some("priority")), ("draws", None)];
    for (policy, imported) in imported {
        let source = source_of(policy);
        run(Command::new(catapults()).args(["build", "--framework", "pth", "--output"]).arg(build).arg(&source));
        let (recorded, simulated) = (build.join(format!("{policy}.pth.trace")), build.join(format!("{policy}.trace")));
        let mut threads = Command::new("timeout");
        threads.args(["--signal=KILL", "60"]).arg(&program).env("PTH_SCHED", build.join(policy));
        threads.env("CATAPULTS_TRACE", &recorded).env("CATAPULTS_RANDOM_SEED", SEED);
        run(threads.env_remove("PTH_SCHED_TRACE"));
        simulate(build, "pth", &source, imported, &simulated);
        same(&recorded, &simulated, policy, "pth", imported.is_some());
        let mut trace = read(&recorded);
        while let Some(record) = trace.next_record().unwrap() {
            if record.what == What::Dispatched {
                assert!(record.ready.is_some_and(|ready| ready < 4), "{policy}: {record:?}");
            }
        }
    }
}

#[test]
fn freertos_and_the_simulator_record_the_same_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path();
    for (policy, imported) in [("fifo", None), ("cow", Some("bytesleft")), ("draws", None)] {
        let source = source_of(policy);
        run(Command::new(catapults()).args(["build", "--framework", "freertos", "--output"]).arg(build).arg(&source));
        let simulated = build.join(format!("{policy}.trace"));
        simulate(build, "freertos", &source, imported, &simulated);
        for target in ["posix", "cortex-m3"] {
            let recorded = on_freertos(build, policy, target, "-DconfigCATAPULTS_TRACE_RECORDS=256");
            same(&recorded, &simulated, policy, "freertos", imported.is_some());
            assert_eq!(clock(&recorded), ("ticks".to_owned(), 1_000_000));
            assert!(times(&recorded).iter().all(|time| time % 1_000_000 == 0));
            assert!(summary(&recorded).contains("\nall times are multiples of 1ms: "));
        }
    }

    // By a clock that is finer than ticks.
    let simulated = build.join("fifo.trace");
    for (target, resolution) in [("posix", 1), ("cortex-m3", 40)] {
        let defined = format!(
            "-DconfigCATAPULTS_TRACE_RECORDS=256 -DconfigCATAPULTS_TRACE_CLOCK=test_clock -DconfigCATAPULTS_TRACE_RESOLUTION={resolution}"
        );
        let recorded = on_freertos(build, "fifo", target, &defined);
        same(&recorded, &simulated, "fifo", "freertos", false);
        assert_eq!(clock(&recorded), ("application".to_owned(), resolution));
        let times = times(&recorded);
        let (first, last) = (times[0], times[times.len() - 1]);
        assert!(times.iter().all(|time| (time - first) % u64::from(resolution) == 0), "{target}: {times:?}");
        assert!(times.iter().filter(|time| (*time - first) % 1_000_000 != 0).count() > 20, "{target}: {times:?}");
        assert!(!summary(&recorded).contains("all times are multiples of"));
        // Two sleeps of 100 and of 300 ms, of which the first may last a tick less.
        assert!(last - first >= 299_000_000, "{target}: {times:?}");
    }

    // The last records, of the same.
    let (whole, last) = (build.join("whole"), build.join("last"));
    std::fs::copy(on_freertos(build, "fifo", "cortex-m3", "-DconfigCATAPULTS_TRACE_RECORDS=256"), &whole).unwrap();
    std::fs::copy(on_freertos(build, "fifo", "cortex-m3", "-DconfigCATAPULTS_TRACE_RECORDS=32"), &last).unwrap();
    let (mut whole, mut last) = (read(&whole), read(&last));
    assert_eq!((whole.lost(), last.lost()), (0, whole.header().written - 32));
    whole.newest(32).unwrap();
    for _ in 0..32 {
        assert_eq!(whole.next_record().unwrap().unwrap().what, last.next_record().unwrap().unwrap().what);
    }
    assert_eq!(last.next_record().unwrap(), None);
}

/// Which clock a trace's times are of, and how fine they are.
fn clock(path: &Path) -> (String, u32) {
    let trace = read(path);
    (trace.header().clock.clone(), trace.header().resolution_ns)
}

fn summary(path: &Path) -> String {
    let shown = Command::new(catapults()).args(["trace", "summary"]).arg(path).output().unwrap();
    assert!(shown.status.success(), "{shown:?}");
    String::from_utf8(shown.stdout).unwrap()
}

fn times(path: &Path) -> Vec<u64> {
    let (mut trace, mut times) = (read(path), Vec::new());
    while let Some(record) = trace.next_record().unwrap() {
        times.push(record.time_ns);
    }
    times
}

/// The trace that a program leaves that is compiled with this.
fn on_freertos(folder: &Path, policy: &str, target: &str, defined: &str) -> PathBuf {
    let home = root().join("frameworks/freertos");
    let program = folder.join(format!("{policy}-{target}"));
    let mut compiler = Command::new(home.join("tools/program"));
    compiler.arg(target).arg(folder.join(format!("{policy}-freertos"))).arg(&program);
    compiler.arg(format!("-I{}/tests/posix", home.display())).arg("-DconfigUSE_TICK_HOOK=1");
    compiler.arg(root().join("tests/traces/freertos.c")).arg(home.join("tests/posix/trace.c"));
    run(compiler.env("CFLAGS", format!("-DTRACE_SIZE=65536 -DconfigCATAPULTS_SEED={SEED} {defined}")));
    let mut threads = if target == "posix" {
        let mut threads = Command::new("timeout");
        threads.args(["--signal=KILL", "60"]);
        threads
    } else {
        Command::new(home.join("tools/run"))
    };
    let recorded = folder.join("freertos.trace");
    let _ = std::fs::remove_file(&recorded);
    run(threads.arg(&program).current_dir(folder));
    recorded
}

/// Both decided the same, by the same statements.
fn same(recorded: &Path, simulated: &Path, policy: &str, host: &str, has_values: bool) {
    let same = decisions(recorded, simulated);
    assert!(same >= 20, "{policy}: only {same} decisions");
    let (mut trace, mut expected) = (read(recorded), whys(simulated).into_iter());
    let header = trace.header();
    assert_eq!((header.policy.as_str(), header.host.as_str()), (policy, host));
    assert_eq!(header.seed, SEED.parse().ok());
    for why in whys(recorded) {
        assert_eq!(Some(why), expected.next(), "{policy}");
    }
    let mut values = 0;
    while let Some(record) = trace.next_record().unwrap() {
        values += u64::from(matches!(record.what, What::Value { .. }));
    }
    assert_eq!(values > 0, has_values, "{policy}: {values} values");
}

/// By which event and line each thread was dispatched.
fn whys(path: &Path) -> Vec<(String, u32)> {
    let (mut trace, mut whys) = (read(path), Vec::new());
    while let Some(record) = trace.next_record().unwrap() {
        if record.what == What::Dispatched {
            let (event, line) = trace.header().why(&record).unwrap();
            whys.push((event.to_owned(), line));
        }
    }
    whys
}

/// Threads with variables that policies read: known from the beginning, assigned by threads while they compute and before they give
/// the processor up, and from outside.
const VARIABLES: [(&str, &str); 4] = [
    (
        "cow",
        "thread first with { bytesleft = 9; } { repeat 3 { run 1ms; set bytesleft = 90; yield; run 2ms; set bytesleft = 3; run 1ms; yield; } }
         thread second * 2 at 500us with { bytesleft = 20; } { repeat 4 { run 500us; set bytesleft = 4; yield; yield; block io.read 1ms; } }
         thread third { repeat 4 { run 700us; yield; set bytesleft = 30; run 1ms; } }
         thread brief every 1300us * 9 with { bytesleft = 15; } { run 100us; yield; run 100us; }
         at 3ms { set second.bytesleft = 100; } at 7ms { set third.bytesleft = 1; }",
    ),
    (
        "edf",
        "thread A period 10ms with { period = 10ms; budget = 3ms; } { run 1ms; set budget = 2ms; run 1ms; }
         thread B * 2 at 2ms period 14ms with { period = 14ms; budget = 2ms; } { run 2ms; }
         thread plain { repeat { run 3ms; sleep 1ms; } }",
    ),
    (
        "stride",
        "thread A with { tickets = 1; } { repeat { run 1ms; yield; } }
         thread B * 2 with { tickets = 2; } { repeat { run 1ms; set tickets = 5; yield; run 1ms; set tickets = 2; yield; } }
         at 5ms { set A.tickets = 9; } at 30ms { set A.tickets = 2; }",
    ),
    // What it draws goes by the seed.
    ("lottery", "seed 7; thread A { repeat { run 1ms; yield; } } thread B * 3 { repeat { run 1ms; yield; } }"),
];

/// Who was dispatched when and where, by numbers, until an instant.
fn dispatched(path: &Path, until: u64) -> Vec<(u64, u32, u16)> {
    let (mut trace, mut all) = (read(path), Vec::new());
    while let Some(record) = trace.next_record().unwrap() {
        if record.what == What::Dispatched && record.time_ns < until {
            all.push((record.time_ns, record.thread, record.processor));
        }
    }
    all
}

#[test]
fn a_scenario_made_of_a_trace_leads_to_the_same_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (policy, text) in VARIABLES {
        let source = root().join(format!("policies/{policy}.sched"));
        let (made, again) = (folder.join("made.scenario"), folder.join("again.scenario"));
        let traces = ["made.trace", "again.trace"].map(|name| folder.join(name));
        std::fs::write(&made, format!("scenario made {{ duration 60ms; {text} }}")).unwrap();
        for (scenario, trace) in [(&made, &traces[0]), (&again, &traces[1])] {
            let mut sim = Command::new(catapults());
            run(sim.arg("sim").arg(scenario).arg("--policy").arg(&source).arg("--trace").arg(trace));
            if scenario == &made {
                run(Command::new(catapults()).args(["trace", "to-scenario", "-o"]).arg(&again).arg(trace));
            }
        }
        let text = std::fs::read_to_string(&again).unwrap();
        let last = dispatched(&traces[0], u64::MAX).last().unwrap().0;
        let [recorded, simulated] = traces.map(|trace| dispatched(&trace, last));
        assert!(recorded.len() >= 15, "{policy}: {recorded:?}");
        assert_eq!(recorded, simulated, "{policy}\n{text}");
    }
}
