use super::*;

#[test]
fn what_linux_recorded_is_a_trace() {
    let text = "# tracer: nop
          <idle>-0     [002] d..2.  1234.500000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=web server next_pid=812 next_prio=120
web server   812 [002]  1234.500001: sched:sched_switch: web server:812 [120] S ==> db:9 [120]
              db     9 [002]  1234.500002:       sched:sched_wakeup: web server:812 [120] success=1 CPU:002
              db-9     [002] d..2.  1234.500003: sched_switch: prev_comm=db prev_pid=9 prev_prio=120 prev_state=R+ ==> next_comm=web server next_pid=812 next_prio=120
what is this?
      web server-812   [002] d..2.  1234.500002: sched_switch: prev_comm=web server prev_pid=812 prev_prio=120 prev_state=X ==> next_comm=swapper/2 next_pid=0 next_prio=120
";
    let mut bytes = Cursor::new(Vec::new());
    let imported = import_linux(&mut text.as_bytes(), &mut bytes, &mut |_| {}).unwrap();
    assert_eq!((imported.events, imported.others, imported.unreadable), (5, 0, 1));
    assert_eq!(imported.first_unreadable, Some(Line { number: 6, text: "what is this?".to_owned(), why: None }));
    let bytes = bytes.into_inner();
    let (_, records) = read(&bytes).unwrap();
    let told = |record: &Record| format!("{} {} {}", record.time_ns % 1_000_000_000, record.what.word(), record.thread);
    let expected = [
        "500000000 new 812",
        "500000000 named 812",
        "500000000 dispatched 812",
        "500001000 blocked 812",
        "500001000 new 9",
        "500001000 named 9",
        "500001000 dispatched 9",
        "500002000 raised 812",
        "500003000 preempted 9",
        "500003000 dispatched 812",
        "500003000 exited 812",
        "500003000 idle 0",
    ];
    assert_eq!(records.iter().map(told).collect::<Vec<_>>(), expected);
}

/// Lines of other events and of stacks are counted apart from unreadable lines.
#[test]
fn lines_that_cannot_be_read_are_counted() {
    let told = |line: &str| {
        let text = format!("{line}\n");
        let imported = import_linux(&mut text.as_bytes(), Cursor::new(Vec::new()), &mut |_| {}).unwrap();
        (imported.events, imported.others, imported.unreadable)
    };
    let event = "web-812 [003] d..2. 1234.567890: sched_wakeup: comm=db pid=9 prio=120 target_cpu=003";
    assert_eq!(told(event), (1, 0, 0));
    for length in (1..event.len()).filter(|length| event.is_char_boundary(*length)) {
        let (events, others, unreadable) = told(&event[..length]);
        // Cut off after the thread's number, the line is whole; within the event's name, it is another event's.
        assert!(
            match &event[..length] {
                cut if cut.contains("pid=9") => events == 1,
                cut if cut.contains("890: s") && !cut.contains("sched_wakeup") => others == 1,
                _ => unreadable == 1,
            },
            "{length}: {events} {others} {unreadable}"
        );
    }
    for line in [
        "web-812 [70000] d..2. 1234.567890: sched_wakeup: comm=db pid=9 prio=120",
        "web-812 [003] d..2. 99999999999999999999.567890: sched_wakeup: comm=db pid=9 prio=120",
        "web-812 [003] d..2. 1234.567890: sched_wakeup: comm=db pid=99999999999 prio=120",
        "web-812 [003] d..2. 1234.567890: sched_switch: prev_comm=web prev_pid=812 prev_state=S ==> next_co",
        "what is this?",
        "CPU:70000 [LOST 3 EVENTS]",
        "web-812 [8192] d..2. 1234.567890: sched_wakeup: comm=db pid=9 prio=120",
    ] {
        assert_eq!(told(line), (0, 0, 1), "{line}");
    }
    for line in [
        "web-812 [003] d..2. 1234.567890: irq_handler_entry: irq=9 name=eth0",
        "web 812 [003] 1234.567890:       sched:sched_stat_runtime: comm=web pid=812 runtime=11 [ns]",
        "web 812 1234.567890:          1 cycles:P:  ffffffff81a0b0c0 schedule+0x2e ([kernel.kallsyms])",
        "\tffffffff81a0b0c0 schedule+0x2e ([kernel.kallsyms])",
        " => schedule",
        "web-812 [003] d..2. 1234.567890: <stack trace>",
    ] {
        assert_eq!(told(line), (0, 1, 0), "{line}");
    }
    assert_eq!(told(&"x".repeat(200_000)), (0, 0, 1), "a long line is one");
}

/// After lost events, threads that ran there, were ready or waited have no known state until their next event. Threads
/// on other processors run on.
#[test]
fn nothing_is_made_up_of_what_linux_has_lost() {
    let text = "
 a-1 [000] d..2. 1.000: sched_wakeup: comm=a pid=1 prio=120
 a-1 [000] d..2. 1.000: sched_wakeup: comm=b pid=2 prio=120
 <idle>-0 [000] d..2. 1.010: sched_switch: prev_comm=swapper prev_pid=0 prev_state=R ==> next_comm=a next_pid=1
 <idle>-0 [001] d..2. 1.010: sched_switch: prev_comm=swapper prev_pid=0 prev_state=R ==> next_comm=c next_pid=3
 a-1 [000] d..2. 1.030: sched_wakeup: comm=d pid=4 prio=120
CPU:0 [LOST 120 EVENTS]
CPU:0 [LOST EVENTS]
 b-2 [000] d..2. 1.500: sched_wakeup: comm=a pid=1 prio=120
 b-2 [000] d..2. 1.520: sched_switch: prev_comm=b prev_pid=2 prev_state=S ==> next_comm=a next_pid=1
 c-3 [001] d..2. 1.600: sched_switch: prev_comm=c prev_pid=3 prev_state=S ==> next_comm=d next_pid=4
 a-1 [000] d..2. 1.600: sched_switch: prev_comm=a prev_pid=1 prev_state=X ==> next_comm=swapper next_pid=0
CPU:1 [7 EVENTS DROPPED]
";
    let mut bytes = Cursor::new(Vec::new());
    let imported = import_linux(&mut text.as_bytes(), &mut bytes, &mut |_| {}).unwrap();
    assert_eq!((imported.events, imported.unreadable), (9, 0));
    let lost = [(0, Lost { times: 2, events: 120, more: true }), (1, Lost { times: 1, events: 7, more: false })];
    assert_eq!(imported.lost.into_iter().collect::<Vec<_>>(), lost);
    let mut trace = Reader::new(Cursor::new(bytes.get_ref().as_slice())).unwrap();
    let summary = summarise(&mut trace, &mut || {}).unwrap();
    let times = |name: &str| {
        let thread = &summary.threads[name];
        [thread.running, thread.ready, thread.blocked].map(|time| time / 1_000_000)
    };
    assert_eq!(times("a"), [20 + 80, 10 + 20, 0], "until 1.030, and from 1.500 on");
    assert_eq!(times("b"), [20, 30, 80], "it runs where events are lost from then on");
    assert_eq!(times("c"), [590, 0, 0], "its other processor lost nothing until it left");
    assert_eq!(times("d"), [0, 0, 0], "since when it was ready is not known, nor how long it ran");
    assert_eq!(summary.processors[&0].busy / 1_000_000, 20 + 100);
    let missing: Vec<String> = lines(bytes.get_ref()).into_iter().filter(|line| line.contains("missing")).collect();
    let expected = ["500ms    0  events are missing before this", "600ms    1  7 events are missing before this"];
    assert_eq!(missing.iter().map(|line| line.trim()).collect::<Vec<_>>(), expected);
}

#[test]
fn other_texts_of_linux_s_scheduler_are_known() {
    let format =
        |text: &str| import_linux(&mut text.as_bytes(), Cursor::new(Vec::new()), &mut |_| {}).unwrap().other_format;
    let history = "           time    cpu  task name                       wait time  sch delay   run time\n";
    assert_eq!(format(history), Some(OtherFormat::TimeHistory));
    let table = "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    |\n";
    assert_eq!(format(table), Some(OtherFormat::LatencyTable));
    assert_eq!(format("  *A0           1.000 secs A0 => web:812\n"), Some(OtherFormat::Map));
    assert_eq!(format("# tracer: nop\n#\n# nop latency trace v1.1.5 on 6.1.0\n"), Some(OtherFormat::LatencyTrace));
    assert_eq!(format("# tracer: nop\n"), None);
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let mut trace = Reader::new(Cursor::new(bytes)).unwrap();
    let mut lines = Vec::new();
    while let Some(record) = trace.next_record().unwrap() {
        lines.push(trace.line(&record));
    }
    lines
}
