use std::io::{Cursor, SeekFrom};

use super::*;
use crate::trace::{Reader, summarise};

fn imported(text: &str) -> (Imported, Vec<u8>) {
    let mut out = Cursor::new(Vec::new());
    let imported = import_linux(&mut text.as_bytes(), &mut out, &mut |_| {}).unwrap();
    (imported, out.into_inner())
}

/// How long threads ran and were ready, in milliseconds.
fn times(trace: &[u8], name: &str) -> [u64; 3] {
    let summary = summarise(&mut Reader::new(Cursor::new(trace)).unwrap(), &mut || {}).unwrap();
    let thread = &summary.threads[name];
    [thread.running, thread.ready, thread.blocked].map(|time| time / 1_000_000)
}

const WAITS: &str =
    " <idle>-0 [000] d..2. 1.000: sched_switch: prev_comm=swapper prev_pid=0 prev_state=R ==> next_comm=a next_pid=1
 a-1 [000] d..2. 1.010: sched_switch: prev_comm=a prev_pid=1 prev_state=S ==> next_comm=b next_pid=2
 WOKEN
 b-2 [000] d..2. 1.050: sched_switch: prev_comm=b prev_pid=2 prev_state=S ==> next_comm=a next_pid=1
 a-1 [000] d..2. 1.060: sched_switch: prev_comm=a prev_pid=1 prev_state=X ==> next_comm=swapper next_pid=0
";

/// Newer kernels and `perf sched record` have one event, older kernels the other. If both occur, the first counts.
#[test]
fn who_is_woken_is_ready() {
    let waking = "b-2 [000] d..2. 1.020: sched_waking: comm=a pid=1 prio=120 target_cpu=000";
    let of_perf = "b 2 [000] 1.020: sched:sched_waking: comm=a pid=1 prio=120 target_cpu=000";
    let wakeup = "b 2 [000] 1.020: sched:sched_wakeup: a:1 [120] CPU:000";
    let later = waking.replace("1.020", "1.030").replace("waking", "wakeup");
    for told in [waking, of_perf, wakeup, &format!("{waking}\n{later}")] {
        let (imported, trace) = imported(&WAITS.replace("WOKEN", told));
        assert_eq!((imported.unreadable, imported.unwoken, imported.contradictions), (0, 0, 0), "{told}");
        assert!(imported.wakeups > 0);
        assert_eq!(times(&trace, "a"), [20, 30, 10], "{told}");
    }
    let (imported, trace) = imported(&WAITS.replace("WOKEN", ""));
    assert_eq!((imported.wakeups, imported.unwoken), (0, 1));
    assert_eq!(times(&trace, "a"), [20, 0, 40]);
}

#[test]
fn nobody_is_woken_who_is_no_thread() {
    let (imported, trace) = imported("a-1 [000] d..2. 1.020: sched_waking: comm=swapper pid=0 prio=120\n");
    assert_eq!((imported.wakeups, imported.records), (0, 0));
    assert_eq!(Reader::new(Cursor::new(trace.as_slice())).unwrap().left(), 0);
}

#[test]
fn names_can_be_like_what_stands_between_them() {
    let told = |line: &str| match event(line, Numbering::New).unwrap().what {
        Happened::Switch { from, to, state } => {
            format!("{} {} {state} > {} {}", from.name, from.number, to.name, to.number)
        }
        Happened::Wakeup(task) => format!("{} {}", task.name, task.number),
    };
    let switch = |from: &str, to: &str| {
        let full = format!(
            "x-1 [0] d. 1.0: sched_switch: prev_comm={from} prev_pid=812 prev_prio=1 prev_state=S ==> next_comm={to} next_pid=9 next_prio=1"
        );
        let brief = format!("x 1 [000] 1.0: sched:sched_switch: {from}:812 [120] S ==> {to}:9 [120]");
        [told(&full), told(&brief)]
    };
    for (from, to) in [
        ("a", "b"),
        ("a ==> b", "b ==> a"),
        ("k/0:1 x ==> y", "==>"),
        ("==> ", "x:1 [120]"),
        ("a=>b", "a b"),
        ("a [b]:7 [1]", "<...>"),
    ] {
        let expected = format!("{from} 812 S > {to} 9");
        let [full, brief] = switch(from, to);
        assert_eq!(full, expected);
        // There, no blanks surround the name.
        if from.trim() == from {
            assert_eq!(brief, expected);
        }
    }
    assert_eq!(told("x-1 [0] d. 1.0: sched_waking: comm=a pid=1 pid=5 prio=1 target_cpu=000"), "a pid=1 5");
}

/// Fields without arrows, as `trace-cmd report -R` and the option `fields` of newer kernels print them.
#[test]
fn fields_can_stand_alone() {
    let told = |fields: &str| match event(&format!("x-1 [0] d. 1.0: sched_switch: {fields}"), Numbering::New)
        .map(|event| event.what)
    {
        Some(Happened::Switch { from, to, state }) => {
            Some(format!("{} {} {state} > {} {}", from.name, from.number, to.name, to.number))
        }
        Some(Happened::Wakeup(_)) | None => None,
    };
    let raw = |from: &str, state: &str, to: &str| {
        told(&format!(
            "prev_comm={from} prev_pid=812 prev_prio=1 prev_state={state} next_comm={to} next_pid=9 next_prio=1"
        ))
    };
    assert_eq!(raw("web", "1", "db").as_deref(), Some("web 812 S > db 9"));
    assert_eq!(raw("web", "0x100", "db").as_deref(), Some("web 812 R+ > db 9"));
    assert_eq!(raw("web", "S", "db").as_deref(), Some("web 812 S > db 9"));
    assert_eq!(
        raw("a next_comm=b", "2", "prev_state=1 next_comm=c").as_deref(),
        Some("a next_comm=b 812 D > prev_state=1 next_comm=c 9")
    );
    let fields = "next_prio=120 (0x78) next_pid=9 (0x9) next_comm=d b prev_state=1 (0x1) prev_prio=1 (0x1) prev_pid=812 (0x32c) prev_comm=web";
    assert_eq!(told(fields).as_deref(), Some("web 812 S > d b 9"));
    assert_eq!(told("prev_comm=web prev_pid=812 prev_prio=1"), None, "it is cut off");
}

/// Which bit is which depends on the kernel.
#[test]
fn numbers_are_those_of_a_kernel() {
    let of = |states: [(u32, u64); 4]| {
        let mut text = String::from("version = 6\nCPU 1 is empty\ncpus=2\n");
        for (at, (thread, state)) in states.into_iter().enumerate() {
            let next = states.get(at + 1).map_or(0, |(next, _)| *next);
            text.push_str(&format!("x-1 [000] 1.{at:03}000: sched_switch: prev_comm=t{thread} prev_pid={thread} prev_prio=1 prev_state={state} next_comm=t{next} next_pid={next} next_prio=1\n"));
        }
        let (imported, trace) = imported(&text);
        assert_eq!((imported.unreadable, imported.contradictions, imported.others), (0, 0, 3), "{text}");
        let mut reader = Reader::new(Cursor::new(trace)).unwrap();
        let mut left = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            if record.thread != 0 && !matches!(record.what.word(), "new" | "named" | "dispatched") {
                left.push(format!("{} {}", record.thread, record.what.word()));
            }
        }
        left
    };
    assert_eq!(of([(7, 64), (0, 1), (8, 256), (9, 1)]), ["7 exited", "8 blocked", "9 switched-out"]);
    assert_eq!(of([(7, 16), (0, 0), (8, 256), (9, 1)]), ["7 exited", "8 preempted", "9 blocked"]);
    assert_eq!(of([(7, 64), (0, 0), (8, 2048), (9, 1)]), ["7 exited", "8 preempted", "9 blocked"]);
    assert_eq!(of([(7, 2049), (0, 0), (8, 1026), (9, 0)]), ["7 preempted", "8 blocked", "9 switched-out"]);
}

/// A thread that is preempted on its way to waiting is READY: the kernel has not yet taken it from its queue.
#[test]
fn who_is_preempted_on_the_way_to_sleep_is_ready() {
    let text = WAITS.replace("prev_pid=1 prev_state=S", "prev_pid=1 prev_state=S+").replace(" WOKEN\n", "");
    let (imported, trace) = imported(&text);
    assert_eq!((imported.unwoken, imported.contradictions), (0, 0));
    assert_eq!(times(&trace, "a"), [20, 40, 0]);
}

/// Variants that people have: other line ends, a UTF-8 mark, nanoseconds, time differences, `-l` of trace-cmd.
#[test]
fn texts_differ_in_what_does_not_matter() {
    let of = |text: &str| {
        let (imported, trace) = imported(text);
        assert_eq!((imported.events, imported.unreadable, imported.contradictions), (4, 0, 0), "{text}");
        times(&trace, "a")
    };
    let plain = WAITS.replace("WOKEN", "b-2 [000] d..2. 1.020: sched_waking: comm=a pid=1 prio=120 target_cpu=000");
    let expected = [20, 30, 10];
    // `of` only counts switches.
    let switches =
        |text: &str| text.replace(" b-2 [000] d..2. 1.020: sched_waking: comm=a pid=1 prio=120 target_cpu=000\n", "");
    let (all, trace) = imported(&plain);
    assert_eq!((all.events, times(&trace, "a")), (5, expected));
    let plain = switches(&plain);
    let expected = of(&plain);
    assert_eq!(of(&plain.replace('\n', "\r\n")), expected);
    assert_eq!(of(&format!("\u{feff}# tracer: nop\n{plain}")), expected);
    assert_eq!(of(&plain.replace(": sched_switch", ": (+17) sched_switch")), expected);
    assert_eq!(of(&plain.replace(": sched_switch", ":          1   sched:sched_switch")), expected);
    assert_eq!(of(&plain.replace("[000] d..2.", "  0d..2.")), expected);
    assert_eq!(of(&plain.replace("0: sched_switch", "0000001: sched_switch")), expected);
    assert_eq!(of(&plain.replace("a-1 [000]", "sched_switch: a-1 [000]")), expected);
}

/// ftrace's text in a page of systrace.
#[test]
fn a_page_has_a_text_in_it() {
    let lines = WAITS.replace(" WOKEN\n", "");
    let long = "x".repeat(2 << 20);
    let page = format!(
        "<!DOCTYPE html>\n<html><script>\n{long}\n sched_switch: \n</script>\n<script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n{lines}</script>\n</html>\n"
    );
    let (told, trace) = imported(&page);
    assert_eq!((told.events, told.others, told.unreadable), (4, 0, 0));
    assert_eq!(times(&trace, "a"), [20, 0, 40]);
    let quoted: String = lines.lines().map(|line| format!("{line}\\n\\\n")).collect();
    let (told, _) =
        imported(&format!("<html>\n<script>\nvar linuxPerfData = \"\\\n# tracer: nop\\n\\\n{quoted}\";\n</script>\n"));
    assert_eq!((told.events, told.unreadable), (4, 0));
    // The text may end in the last line.
    let last = quoted.trim_end_matches("\\\n");
    let (told, _) = imported(&format!("<html>\n<script>\nvar linuxPerfData = \"\\\n{last}\";\n</script>\n"));
    assert_eq!((told.events, told.unreadable), (4, 0));
}

#[test]
fn other_formats_are_known() {
    let of = |line: &str| imported(&format!("{line}\n{line}\n")).0.other_format;
    let switch = "sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> next_comm=b next_pid=2 next_prio=1";
    assert_eq!(of(&format!("a-1 0d..2 12us+: {switch}")), Some(OtherFormat::LatencyTrace));
    assert_eq!(of(&format!("a-1 0d..2 12us : {switch}")), Some(OtherFormat::LatencyTrace));
    assert_eq!(of(&format!("a-1 [000] d..2 123456: {switch}")), Some(OtherFormat::Ticks));
    assert_eq!(of(&format!("a 1 1.000: sched:{switch}")), Some(OtherFormat::NoProcessor));
    assert_eq!(of("{\"traceEvents\":["), Some(OtherFormat::Timeline));
    assert_eq!(
        of("[12:00:00.1] (+0.1) host sched_switch: { cpu_id = 3 }, { prev_comm = \"a\" }"),
        Some(OtherFormat::Lttng)
    );
    assert_eq!(of("/* CTF 1.8 */"), Some(OtherFormat::LttngData));
    assert_eq!(of("<html>"), Some(OtherFormat::Page));
    assert_eq!(of(&format!("a-1 [000] d..2 1.5: {switch}")), None);
}

/// Contradictions are counted, and the first is told: threads that run twice or leave where another runs, time that
/// goes back.
#[test]
fn contradictions_have_a_place() {
    let switch = |processor: u16, time: &str, from: u32, to: u32| {
        format!("x [{processor:03}] {time}: sched_switch: t{from}:{from} [120] S ==> t{to}:{to} [120]\n")
    };
    let first = |lines: &[String]| {
        let (imported, _) = imported(&lines.concat());
        let first = imported.first_contradiction.map(|first| (first.line.unwrap(), first.what));
        (imported.contradictions, first)
    };
    assert_eq!(first(&[switch(0, "1.0", 0, 1), switch(0, "1.1", 1, 2), switch(1, "1.2", 0, 1)]), (0, None));
    let twice = [switch(0, "1.0", 0, 1), switch(1, "1.1", 0, 1)];
    let said = "thread 1 runs on processor 0, and begins to run on 1".to_owned();
    assert_eq!(first(&twice), (1, Some((2, said))));
    let other = [switch(0, "1.0", 0, 1), switch(0, "1.1", 2, 3), switch(0, "1.2", 0, 1)];
    let said = "thread 2 leaves processor 0, where thread 1 runs".to_owned();
    assert_eq!(first(&other), (2, Some((2, said))));
    let unknown = [switch(0, "1.0", 0, 1), switch(1, "1.1", 1, 2)];
    let said = "thread 1 runs on processor 0, and leaves 1".to_owned();
    assert_eq!(first(&unknown), (1, Some((2, said))), "what ran on processor 1 is not known");
    let back = [switch(0, "1.0", 0, 1), switch(1, "0.9", 0, 2), switch(0, "0.8", 1, 0)];
    assert_eq!(first(&back), (1, Some((3, "the time goes back on processor 0".to_owned()))));
    let lost = [switch(0, "1.0", 0, 1), "CPU:0 [LOST 3 EVENTS]\n".to_owned(), switch(0, "1.1", 2, 3)];
    assert_eq!(first(&lost), (0, None), "it may have been so");
}

/// Events that stand in one line, because the end of a line is missing or none that is known, are not taken for a name.
#[test]
fn events_in_one_line_are_unreadable() {
    let one = "x [000] 1.0: sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> next_comm=b next_pid=2 next_prio=1";
    let two = "x [000] 1.1: sched_waking: comm=c pid=3 prio=1 target_cpu=000";
    let (imported, _) = imported(&format!("{one}\n{one}\r{two}\n{two}\n"));
    assert_eq!((imported.events, imported.unreadable), (2, 1));
}

#[test]
fn what_cannot_be_read_is_explained() {
    let switch = "sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> next_comm=b next_pid=2 next_prio=1";
    let why = |line: &str| imported(&format!("{line}\n")).0.first_unreadable.and_then(|line| line.why);
    let said = |line: &str| why(line).unwrap();
    assert_eq!(said(&format!("a-1 [000] 12x4.5: {switch}")), "`12x4.5` is no time in seconds, such as `1234.567890`");
    assert_eq!(
        said(&format!("a-1 [000] 99999999999999.5: (+3) {switch}")).split(' ').next(),
        Some("`99999999999999.5`")
    );
    assert_eq!(said(switch), "no time stands before the event");
    assert_eq!(said(&format!("a-1 [8192] 1.5: {switch}")), "`8192` is no processor: they are from 0 to 8191");
    assert_eq!(said(&format!("a-1 1.5: {switch}")), "it does not say on which processor it was");
    assert_eq!(said(&format!("a-1 [000] 1.5: {}", switch.replace("pid=2", "pid=2²"))), "`2²` is no number of a thread");
    assert_eq!(
        said(&format!("a-1 [000] 1.5: {}", switch.replace("pid=1", "pid=-4294967297"))),
        "`-4294967297` is no number of a thread"
    );
    assert_eq!(said("a-1 [000] 1.5: sched_switch: prev_comm=a prev_pid=1"), "a part of the event is missing");
    assert_eq!(why("what is this?"), None);
}

/// Tabs can stand for spaces.
#[test]
fn tabs_are_spaces() {
    let line = "a-1\t[000]\t1.5:\tsched_switch:\tprev_comm=a\tprev_pid=1\tprev_prio=1\tprev_state=S\t==>\tnext_comm=b\tnext_pid=2\tnext_prio=1";
    let (imported, _) = imported(&format!("{line}\n"));
    assert_eq!((imported.events, imported.unreadable), (1, 0));
}

#[test]
fn a_line_without_an_end_is_refused() {
    let refused = |mut text: &[u8]| import_linux(&mut text, Cursor::new(Vec::new()), &mut |_| {}).unwrap_err();
    let mut text = b"# tracer: nop\n".to_vec();
    text.resize(2 << 20, 0);
    assert!(matches!(refused(&text), Unimported::Endless(2)));
    let mut endless = io::BufReader::new(io::repeat(0));
    let refused = import_linux(&mut endless, Cursor::new(Vec::new()), &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Unimported::Endless(1)));
}

/// An error of writing the trace is told as such.
#[test]
fn a_full_disk_is_not_the_recording_s_fault() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl Seek for Full {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }
    let refused = import_linux(&mut WAITS.as_bytes(), Full, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Unimported::Output(_)));
}
