#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use super::*;

/// One processor, under a policy that imports nothing.
const ALONE: Taker<'_> = Taker { processors: 1, plain: false, imports: &|_| false };

fn lines(json: &str) -> Vec<String> {
    to_scenario(json, "x", ALONE).unwrap().text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn what_threads_do_is_translated() {
    let json = r#"{ /* two threads */
            "global": { "duration": 2, "default_policy": "SCHED_OTHER" },
            "tasks": {
                "heavy-1": { "instance": 2, "delay": 1000, "phases": {
                    "light": { "loop": 10, "run": 300, "sleep": 700 }, // a comment
                    "heavy": { "loop": 5, "run": 900, "lock": "m", "run": 50, "unlock": "m", "sleep": 100, } } },
                "tick": { "priority": 10, "run": 2000, "timer": { "ref": "unique", "period": 10000 } },
                "once": { "loop": 1, "run": 5, "resume": "heavy-1", "yield": "" },
            } }"#;
    let text = to_scenario(json, "my file", ALONE).unwrap().text;
    assert_eq!(
        text,
        "scenario my_file {
  duration 2s;
  thread heavy_1 * 2 at 1000us with { priority = -20; } {
    repeat {
      repeat 10 {
        run 300us;
        sleep 700us;
      }
      repeat 5 {
        run 900us;
        lock m;
        run 50us;
        unlock m;
        sleep 100us;
      }
    }
  }
  thread tick relative period 10000us with { priority = -30; } {
    run 2000us;
  }
  thread once with { priority = -20; } {
    run 5us;
    broadcast heavy_1_resumed;
    yield;
  }
}
"
    );
}

/// The lines of a scenario that say how threads are scheduled.
fn told(json: &str) -> Vec<String> {
    lines(json).into_iter().filter(|line| line.starts_with("thread") || line.starts_with("set")).collect()
}

#[test]
fn how_threads_are_to_be_run_are_values() {
    let text = lines(
        r#"{"tasks": {"a": {"policy": "SCHED_DEADLINE", "dl-runtime": 2000, "dl-period": 9000, "dl-deadline": 8000, "loop": 1,
            "phases": {"p": {"dl-runtime": 7, "loop": 2, "run": 5}, "r": {"run": 6}}}}}"#,
    );
    assert_eq!(
        text[1..9],
        [
            "thread a with { budget = 2000us; period = 9000us; deadline = 8000us; } {",
            "set budget = 7us;",
            "set period = 7us;",
            "repeat 2 {",
            "run 5us;",
            "}",
            "run 6us;",
            "}"
        ]
    );
    let wrong = to_scenario(r#"{"tasks": {"a": {"priority": "high", "run": 5}}}"#, "x", ALONE).unwrap_err();
    assert_eq!(wrong.place, "tasks.a.priority");
}

/// Old files use these names, and rt-app accepts them.
#[test]
fn periods_and_deadlines_have_older_names() {
    let of = |task: &str| {
        let json =
            format!(r#"{{"global": {{"default_policy": "SCHED_DEADLINE"}}, "tasks": {{"a": {{"loop": 1, {task}}}}}}}"#);
        to_scenario(&json, "x", ALONE)
            .map(|scenario| scenario.text.lines().nth(1).unwrap().trim().to_owned())
            .map_err(|wrong| wrong.place)
    };
    let thread = |values: &str| Ok(format!("thread a with {{ {values} }} {{"));
    assert_eq!(of(r#""period": 30, "deadline": 20, "run": 1"#), thread("period = 30us; deadline = 20us;"));
    assert_eq!(
        of(r#""runtime": 5, "period": 30, "phases": {"p": {"run": 1}}"#),
        thread("budget = 5us; period = 30us;")
    );
    assert_eq!(of(r#""dl-runtime": 5, "run": 1"#), thread("budget = 5us; period = 5us;"));
    // It would be both an event and a budget.
    assert_eq!(of(r#""runtime": 5, "period": 30"#), Err("tasks.a.runtime".to_owned()));
    assert_eq!(of(r#""period": 30, "dl-period": 30, "run": 1"#), Err("tasks.a.period".to_owned()));
    assert_eq!(of(r#""phases": {"p": {"period": 30, "run": 1}}"#), Err("tasks.a.phases.p.period".to_owned()));
    assert_eq!(of(r#""dl-runtime": 31, "dl-period": 30, "run": 1"#), Err("tasks.a.dl-runtime".to_owned()));
    assert_eq!(of(r#""dl-deadline": 31, "dl-period": 30, "run": 1"#), Err("tasks.a.dl-deadline".to_owned()));
    for name in ["dl-runtime", "dl-period", "dl-deadline", "period", "deadline"] {
        for policy in ["SCHED_OTHER", "SCHED_FIFO"] {
            let place = of(&format!(r#""policy": "{policy}", "{name}": 30, "run": 1"#));
            assert_eq!(place, Err(format!("tasks.a.{name}")), "{policy}");
        }
    }
}

/// Lower nice values are more urgent. Higher real-time priorities are, and they come before all nice values.
#[test]
fn priorities_are_turned_the_right_way_round() {
    let nice = r#"{"tasks": {"a": {"priority": -19, "run": 1}, "b": {"priority": 19, "run": 1}, "c": {"run": 1}}}"#;
    assert_eq!(
        told(nice),
        [
            "thread a with { priority = -1; } {",
            "thread b with { priority = -39; } {",
            "thread c with { priority = -20; } {"
        ]
    );
    let mixed = r#"{"global": {"default_policy": "SCHED_RR"}, "tasks": {
        "idle": {"policy": "SCHED_IDLE", "run": 1}, "nice": {"policy": "SCHED_BATCH", "priority": -20, "run": 1},
        "low": {"priority": 1, "run": 1}, "usual": {"run": 1}, "high": {"policy": "SCHED_FIFO", "priority": 99, "run": 1},
        "due": {"policy": "SCHED_DEADLINE", "dl-runtime": 1, "run": 1}}}"#;
    let priorities: Vec<String> = told(mixed)
        .iter()
        .map(|line| line.split("priority = ").nth(1).unwrap().split(';').next().unwrap().to_owned())
        .collect();
    assert_eq!(priorities, ["-60", "0", "1", "10", "99", "100"]);
    assert_eq!(
        told(r#"{"tasks": {"a": {"run": 1}, "b": {"policy": "SCHED_BATCH", "run": 1}}}"#),
        ["thread a {", "thread b {"]
    );
    let phases = r#"{"tasks": {"a": {"phases": {"p": {"priority": 5, "run": 1}, "q": {"run": 1},
        "r": {"policy": "SCHED_OTHER", "run": 1}}}, "b": {"policy": "SCHED_FIFO", "phases": {"p": {"priority": 5, "run": 1}}}}}"#;
    assert_eq!(
        told(phases),
        [
            "thread a with { priority = -20; } {",
            "set priority = -25;",
            "set priority = -20;",
            "thread b with { priority = 10; } {",
            "set priority = 5;"
        ]
    );
    let of_linux = |name: &str| ["nice", "class", "rt_priority"].contains(&name);
    let told_linux = |json: &str| -> Vec<String> {
        let text = to_scenario(json, "x", Taker { imports: &of_linux, ..ALONE }).unwrap().text;
        text.lines().filter(|line| line.contains("nice = ")).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(
        told_linux(nice),
        [
            "thread a with { nice = -19; class = 0; rt_priority = 0; } {",
            "thread b with { nice = 19; class = 0; rt_priority = 0; } {",
            "thread c with { nice = 0; class = 0; rt_priority = 0; } {"
        ]
    );
    assert_eq!(
        told_linux(mixed),
        [
            "thread idle with { nice = 19; class = 0; rt_priority = 0; } {",
            "thread nice with { nice = -20; class = 0; rt_priority = 0; } {",
            "thread low with { nice = 0; class = 2; rt_priority = 1; } {",
            "thread usual with { nice = 0; class = 2; rt_priority = 10; } {",
            "thread high with { nice = 0; class = 1; rt_priority = 99; } {",
            "thread due with { nice = 0; class = 1; rt_priority = 99; budget = 1us; period = 1us; } {"
        ]
    );
    let refused = |task: &str| {
        let json = format!(r#"{{"tasks": {{"a": {{{task}}}}}}}"#);
        to_scenario(&json, "x", ALONE).map(|scenario| scenario.text).map_err(|wrong| wrong.to_string())
    };
    for (task, said) in [
        (
            r#""policy": "SCHED_OTHER", "priority": 20, "run": 1"#,
            "tasks.a.priority: a nice value is a whole number from -20 to 19, and this is 20",
        ),
        (
            r#""priority": -21, "run": 1"#,
            "tasks.a.priority: a nice value is a whole number from -20 to 19, and this is -21",
        ),
        (
            r#""policy": "SCHED_FIFO", "priority": 0, "run": 1"#,
            "tasks.a.priority: a real-time priority is a whole number from 1 to 99, and this is 0",
        ),
        (
            r#""policy": "SCHED_RR", "phases": {"p": {"priority": 100, "run": 1}}"#,
            "tasks.a.phases.p.priority: a real-time priority is a whole number from 1 to 99, and this is 100",
        ),
        (
            r#""policy": "SCHED_DEADLINE", "priority": 5, "run": 1"#,
            "tasks.a.priority: SCHED_DEADLINE has none but 0, and this is 5",
        ),
        (
            r#""policy": "FIFO", "run": 1"#,
            "tasks.a.policy: Linux has no policy `FIFO`; it has SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR and SCHED_DEADLINE",
        ),
    ] {
        assert_eq!(refused(task), Err(said.to_owned()));
    }
    // The second round is of SCHED_FIFO.
    let turning = r#""phases": {"p": {"priority": 5, "run": 1}, "q": {"policy": "SCHED_FIFO", "run": 1}}"#;
    assert!(refused(turning).unwrap_err().starts_with("tasks.a.phases.p.priority: the thread has one class"));
    assert!(refused(&format!(r#""loop": 1, {turning}"#)).is_ok());
}

/// Without a class, rt-app takes priorities for nice values, which these need not be.
#[test]
fn priorities_without_a_class_are_unclear() {
    let of = |tasks: &str| {
        let json = format!(r#"{{"tasks": {{{tasks}}}}}"#);
        let scenario = to_scenario(&json, "x", ALONE).unwrap();
        let place = scenario.unclear.map(|place| json[place].to_owned());
        (place, told(&json)[0].clone())
    };
    let real = (Some("\"priority\"".to_owned()), "thread a with { priority = 2; } {".to_owned());
    let nice = (None, "thread a with { priority = -22; } {".to_owned());
    assert_eq!(of(r#""a": {"priority": 2, "run": 1}, "b": {"priority": 1, "run": 1}"#), real);
    assert_eq!(of(r#""a": {"priority": 2, "run": 1}, "b": {"run": 1}"#), nice);
    assert_eq!(of(r#""a": {"priority": 2, "run": 1}, "b": {"priority": -1, "run": 1}"#), nice);
    assert_eq!(of(r#""a": {"priority": 2, "policy": "SCHED_OTHER", "run": 1}"#), nice);
    assert_eq!(of(r#""a": {"priority": 2, "phases": {"p": {"priority": 0, "run": 1}}}"#), nice);
}

/// Nothing in a file is ignored, unless it makes no difference to threads.
#[test]
fn what_is_not_simulated_is_refused_where_it_stands() {
    let refused = |json: &str| to_scenario(json, "x", ALONE).map(|scenario| scenario.text).map_err(|wrong| wrong.place);
    let task = |task: &str| refused(&format!(r#"{{"tasks": {{"a": {{{task}}}}}}}"#));
    for (body, place) in [
        (r#""run": 1, "nodes_membind": [0]"#, "nodes_membind"),
        (r#""run": 1, "membind_nodes": [0]"#, "membind_nodes"),
        (r#""run": 1, "cpus": [1]"#, "cpus"),
        (r#""run": 1, "cpus": [0, 1]"#, "cpus"),
        (r#""run": 1, "cpus": []"#, "cpus"),
        (r#""run": 1, "cpus": 0"#, "cpus"),
        (r#""run": 1, "taskgroup": "/a""#, "taskgroup"),
        (r#""run": 1, "util_min": 5"#, "util_min"),
        (r#""run": 1, "util_max": 1024"#, "util_max"),
        (r#""run": 1, "slice": 5"#, "slice"),
        (r#""run": 1, "exec": 5"#, "exec"),
        (r#""run": 1, "comment": "five""#, "comment"),
        (r#""run": 1, "delay": 5, "delay": 5"#, "delay[2]"),
        (r#""run": 1, "phases": {"p": {"run": 1}}"#, "run"),
        (r#""runtime": 1, "phases": {"p": {"run": 1}}"#, "runtime"),
        (r#""runtime": 1"#, "runtime"),
        (r#""memrun": {"type": "read", "size": 5, "count": 5}"#, "memrun"),
        (r#""mem": 5"#, "mem"),
        (r#""phases": {"p": {"delay": 5, "run": 1}}"#, "phases.p.delay"),
        (r#""phases": {"p": {"instance": 5, "run": 1}}"#, "phases.p.instance"),
        (r#""phases": {"p": {"nodes_membind": [0], "run": 1}}"#, "phases.p.nodes_membind"),
        (r#""phases": {"p": {"run": 1}, "q": {"loop": 5}}"#, "phases.q"),
        (r#""run": 1, "barrier": "b", "barrier2": "b""#, "barrier2"),
        (r#""run": 1, "timer": {"ref": "t", "period": 5, "slack": 5}"#, "timer.slack"),
        (r#""run": 1, "timer": {"ref": "t", "period": 5, "period": 6}"#, "timer.period[2]"),
    ] {
        assert_eq!(task(body), Err(format!("tasks.a.{place}")), "{body}");
    }
    for body in [
        r#""run_a": 1, "running": 1, "run2": 1, "cpus": [0], "taskgroup": "", "util_min": -1"#,
        r#""phases": {"p": {"cpus": [0, 0], "run": 1}}"#,
    ] {
        assert!(task(body).is_ok(), "{body}");
    }
    let several = |cpus: &str| {
        let json = format!(r#"{{"tasks": {{"a": {{"run": 1, "cpus": {cpus}}}}}}}"#);
        to_scenario(&json, "x", Taker { processors: 2, ..ALONE })
            .map(|scenario| scenario.text)
            .map_err(|wrong| wrong.what)
    };
    assert!(several("[1, 0]").is_ok());
    assert!(several("[0]").unwrap_err().contains("some of the 2 processors"));
    assert!(several("[0, 2]").unwrap_err().contains("processor 2 is not among the 2"));
    let rest = r#""tasks": {"a": {"run": 1}}"#;
    for (also, place) in [
        (r#""global": {"duration": 1, "durations": 1}"#, "global.durations"),
        (r#""global": {"duration": 1, "duration": 2}"#, "global.duration[2]"),
        (r#""global": {"default_policy": "SCHED_FAIR"}"#, "global.default_policy"),
        (r#""global": {"pi_enabled": "yes"}"#, "global.pi_enabled"),
        (r#""globals": {}"#, "globals"),
        (r#""resources": 5"#, "resources"),
        (r#""resources": {"m": {"type": "mutex", "size": 5}}"#, "resources.m.size"),
    ] {
        assert_eq!(refused(&format!("{{{also}, {rest}}}")), Err(place.to_owned()), "{also}");
    }
    let all = r#""resources": {"m": {"type": "mutex"}}, "global": {"duration": 1, "calibration": "CPU0", "pi_enabled": false,
        "lock_pages": true, "logdir": "./", "log_size": "file", "log_basename": "x", "ftrace": "none", "gnuplot": false,
        "io_device": "/dev/null", "mem_buffer_size": 5, "cumulative_slack": false}"#;
    assert!(refused(&format!("{{{all}, {rest}}}")).is_ok());
    let forked = |what: &str| {
        refused(&format!(r#"{{"tasks": {{"a": {{"fork": "b"}}, "b": {{"instance": 0, "run": 1, {what}}}}}}}"#))
    };
    assert_eq!(forked(r#""delay": 5"#), Err("tasks.b.delay".to_owned()));
    assert_eq!(forked(r#""barrier": "b""#), Err("tasks.b.barrier".to_owned()));
    assert_eq!(forked(r#""timer": {"ref": "unique", "period": 5}"#), Err("tasks.b.timer".to_owned()));
}

/// Posts are kept for threads that wait later.
#[test]
fn semaphores_keep_what_is_posted() {
    let text =
        lines(r#"{"tasks": {"a": {"loop": 1, "sem_post": "s", "signal": "s"}, "b": {"loop": 1, "sem_wait": "s"}}}"#);
    assert_eq!(text[2..4], ["send s_semaphore;", "signal s;"]);
    assert!(text.contains(&"receive s_semaphore;".to_owned()));
}

/// Since 2025, a task suspends itself by its own name, whatever it says. Before, it did so by what it says.
#[test]
fn who_suspends_himself_has_a_name() {
    let of = |name: &str| {
        let json = format!(
            r#"{{"tasks": {{"a": {{"loop": 1, "suspend": {name}}}, "b": {{"loop": 1, "resume": "a", "resume": "old"}},
            "c": {{"loop": 1, "suspend": "old"}}}}}}"#
        );
        to_scenario(&json, "x", ALONE)
            .map(|scenario| scenario.text.lines().nth(2).unwrap().trim().to_owned())
            .map_err(|wrong| wrong.place)
    };
    for own in [r#""""#, r#""a""#, "5"] {
        assert_eq!(of(own), Ok("receive a_resumed;".to_owned()));
    }
    assert_eq!(of(r#""old""#), Ok("receive old_resumed;".to_owned()));
    assert_eq!(of(r#""b""#), Err("tasks.a.suspend".to_owned()));
}

/// What a timer does when it is late holds wherever it is used, as in rt-app, where there is only one.
#[test]
fn a_timer_is_absolute_wherever_it_is_used() {
    let timers =
        |json: &str| -> Vec<String> { lines(json).into_iter().filter(|line| line.contains("timer ")).collect() };
    let once = |first: &str, second: &str| {
        timers(&format!(
            r#"{{"tasks": {{"a": {{"run": 5, "timer": {{"ref": "{first}", "period": 20}},
            "timer2": {{"ref": "{second}", "period": 20, "mode": "absolute"}}}}}}}}"#
        ))
    };
    assert_eq!(once("t", "t"), ["absolute timer t 20us;", "absolute timer t 20us;"]);
    assert_eq!(once("t", "u"), ["timer t 20us;", "absolute timer u 20us;"]);
    assert_eq!(once("unique", "unique"), ["absolute timer unique 20us;", "absolute timer unique 20us;"]);
    // Another task's timer with such a name is another timer.
    let others = r#"{"tasks": {"a": {"run": 5, "timer": {"ref": "unique", "period": 20}, "run": 5},
        "b": {"run": 5, "timer": {"ref": "unique", "period": 20, "mode": "absolute"}, "run": 5}}}"#;
    assert_eq!(timers(others), ["timer unique 20us;", "absolute timer unique 20us;"]);
    let period = |mode: &str| {
        let json = format!(r#"{{"tasks": {{"a": {{"run": 5, "timer": {{"ref": "unique", "period": 20{mode}}}}}}}}}"#);
        told(&json)
    };
    assert_eq!(period(""), ["thread a relative period 20us {"]);
    assert_eq!(period(r#", "mode": "relative""#), ["thread a relative period 20us {"]);
    assert_eq!(period(r#", "mode": "absolute""#), ["thread a period 20us {"]);
}

#[test]
fn timers_and_barriers_are_phases() {
    let several = lines(
        r#"{"tasks": {"a": {"loop": 3, "run": 5, "timer": {"ref": "tick", "period": 20}, "barrier": "b",
            "timer": {"ref": "uniqueB", "period": 0}, "timer": {"ref": "uniqueB", "period": 7}}}}"#,
    );
    assert_eq!(
        several[1..9],
        [
            "thread a {",
            "repeat 3 {",
            "run 5us;",
            "timer tick 20us;",
            "barrier b;",
            "timer uniqueB 0us;",
            "timer uniqueB 7us;",
            "}"
        ]
    );
    let shared = |json| lines(json).into_iter().find(|line| line.contains("timer tick"));
    assert_eq!(
        shared(r#"{"tasks": {"a": {"instance": 2, "run": 5, "timer": {"ref": "tick", "period": 20}}}}"#).as_deref(),
        Some("shared timer tick 20us;"),
        "two threads have it together, whatever the period would be of one"
    );
    assert_eq!(
        shared(
            r#"{"tasks": {"a": {"loop": 1, "timer": {"ref": "tick", "period": 20}}, "b": {"run": 5,
                "timer": {"ref": "tick", "period": 20, "mode": "absolute"}}}}"#
        )
        .as_deref(),
        Some("shared absolute timer tick 20us;")
    );
    let absolute = r#"{"tasks": {"a": {"timer": {"ref": "tick", "period": 20, "mode": "absolute"}, "run": 5}}}"#;
    assert_eq!(shared(absolute).as_deref(), Some("absolute timer tick 20us;"));
    let odd = r#"{"tasks": {"a": {"timer": {"ref": "t", "period": 20, "mode": "late"}, "run": 5}}}"#;
    assert_eq!(to_scenario(odd, "x", ALONE).map_err(|wrong| wrong.place), Err("tasks.a.timer.mode".to_owned()));
}

#[test]
fn forked_tasks_come_when_they_are_forked_and_by_themselves() {
    let both = lines(
        r#"{"tasks": {"a": {"loop": 1, "fork": "b", "fork": "c"}, "b": {"loop": 1, "run": 5}, "c": {"instance": 0, "loop": 1, "run": 6}}}"#,
    );
    let threads: Vec<&str> = both.iter().filter(|line| line.starts_with("thread")).map(String::as_str).collect();
    assert_eq!(threads, ["thread a {", "thread b {", "thread b_forked {", "thread c_forked {"]);
    assert!(both.contains(&"spawn b_forked;".to_owned()));
}

#[test]
fn what_is_said_has_an_origin() {
    let json = r#"{"global": {"duration": 3}, "tasks": {"a": {"instance": 2, "policy": "SCHED_FIFO", "priority": 7,
            "phases": {"p": {"loop": 2, "run": 1, "run": 2, "priority": 8}}},
            "b": {"policy": "SCHED_DEADLINE", "dl-period": 9, "run": 5}}}"#;
    let scenario = to_scenario(json, "x", ALONE).unwrap();
    let origin = |part: &str| {
        let at = scenario.text.find(part).unwrap_or_else(|| panic!("{part} in {}", scenario.text));
        let range = scenario.origin(json, at).unwrap();
        (json[..range.start].matches(&json[range.clone()]).count() + 1, &json[range])
    };
    assert_eq!(origin("scenario x"), (1, "\"tasks\""));
    assert_eq!(origin("duration"), (1, "\"duration\""));
    assert_eq!(origin("thread a"), (1, "\"a\""));
    assert_eq!(origin("priority = 7"), (1, "\"priority\""));
    assert_eq!(origin("period = 9us"), (1, "\"dl-period\""));
    assert_eq!(origin("priority = 8"), (2, "\"priority\""));
    assert_eq!(origin("repeat 2"), (1, "\"p\""));
    assert_eq!(origin("run 2us"), (2, "\"run\""));
}

#[test]
fn names_stay_apart() {
    let text = lines(
        r#"{"tasks": {"thread": {"loop": 1, "run": 5, "lock": "a-b", "lock": "a_b", "unlock": "a_b", "unlock": "a-b"}}}"#,
    );
    assert_eq!(text[1..7], ["thread thread_ {", "run 5us;", "lock a_b;", "lock a_b_;", "unlock a_b_;", "unlock a_b;"]);
    assert!(lines(r#"{"tasks": {"a": {"run": 5}}}"#).contains(&"duration 10s;".to_owned()), "it has no end");
    let endless = |json: &str| to_scenario(json, "x", ALONE).map(|translation| translation.endless);
    let said = r#"{"global": {"duration": -1}, "tasks": {"a": {"run": 5}}}"#;
    assert_eq!(endless(said).map(|place| place.map(|place| &said[place])), Ok(Some("\"duration\"")));
    assert_eq!(endless(r#"{"global": {"duration": -1}, "tasks": {"a": {"loop": 1, "run": 5}}}"#), Ok(None));
}

#[test]
fn what_is_not_understood_has_a_place() {
    let said = |json: &str| to_scenario(json, "x", ALONE).unwrap_err().to_string();
    assert_eq!(said(r#"{"tasks": {"a": {"iorun": 5}}}"#).split(':').next(), Some("tasks.a.iorun"));
    assert_eq!(
        said(r#"{"tasks": {"a": {"run": -5}}}"#),
        "tasks.a.run: this is no whole number from 0 to 2305843009213693"
    );
    for (body, place) in [
        (r#"{"run": 18446744073709551615}"#, "tasks.a.run"),
        (r#"{"run": 1.5}"#, "tasks.a.run"),
        (r#"{"run": "5"}"#, "tasks.a.run"),
        (r#"{"run": [5]}"#, "tasks.a.run"),
        (r#"{"loop": 0, "run": 5}"#, "tasks.a.loop"),
        (r#"{"loop": -2, "run": 5}"#, "tasks.a.loop"),
        (r#"{"instance": 10000001, "run": 5}"#, "tasks.a.instance"),
        (r#"{"delay": -1, "run": 5}"#, "tasks.a.delay"),
        (r#"{"phases": []}"#, "tasks.a.phases"),
        (r#"{"phases": {"p": {"priority": 5}}}"#, "tasks.a"),
        (r#"{"run": 5, "resume": "nobody"}"#, "tasks.a.resume"),
        (r#"{"run": 5, "fork": "nobody"}"#, "tasks.a.fork"),
        (r#"{"run": 5, "timer": {"ref": "t"}}"#, "tasks.a.timer"),
        (r#"{"run": 5, "timer": {"period": 5}}"#, "tasks.a.timer"),
        (r#"{"run": 5, "wait": {"ref": "c"}}"#, "tasks.a.wait"),
    ] {
        let json = format!(r#"{{"tasks": {{"a": {body}}}}}"#);
        assert_eq!(to_scenario(&json, "x", ALONE).map_err(|wrong| wrong.place), Err(place.to_owned()), "{body}");
    }
    assert_eq!(said(r#"{"tasks": []}"#), "tasks: this is no object, `{ … }`");
    assert_eq!(
        said(r#"{"tasks": {"a": {"run": 5}, "a": {"run": 6}}}"#),
        "tasks.a[2]: there are two tasks of this name"
    );
    assert!(said(r#"{"tasks": {"a": {"run": 1e400}}}"#).contains("out of range"));
    assert_eq!(said(" \n"), "the file is empty");
    assert_eq!(said("/* never closed"), "the file ends in a value, which is not closed");
    let at = |json: &str| json[to_scenario(json, "x", ALONE).unwrap_err().at].to_owned();
    assert_eq!(at(r#"{"tasks": {"a": {"run": 5, "run2": x}}}"#), "x");
    assert_eq!(at(r#"{"tasks": {"a": {"run": 5}, "a": {"iorun": 6}}}"#), r#""a""#);
    assert_eq!(at(r#"{"tasks": {"a": {"phases": {"p": {"timer": {"ref": "t", "period": -1}}}}}}"#), r#""period""#);
    for hostile in ["\"\\", "/", "{\"tasks\":{\"\u{e9}\":{\"run\":1}}}", "\u{0}", &"[".repeat(10_000)] {
        let _ = to_scenario(hostile, "\u{1F600}", ALONE);
    }
}

/// As in rt-app, a mutex lends nothing unless the file says so. If the framework has no such locks and the file says
/// nothing, locks have the default.
#[test]
fn locks_have_the_protocol_that_the_file_says() {
    let said = |global: &str, plain: bool| {
        let task = r#""a": {"loop": 1, "lock": "m-1", "run": 5, "wait": {"ref": "c", "mutex": "n"}, "unlock": "m-1"}"#;
        let json =
            format!(r#"{{"global": {{{global}}}, "tasks": {{{task}, "b": {{"loop": 1, "run": 5, "signal": "c"}}}}}}"#);
        let text = to_scenario(&json, "x", Taker { plain, ..ALONE }).unwrap().text;
        text.lines().map(str::trim).filter(|line| line.contains("protocol")).map(str::to_owned).collect::<Vec<_>>()
    };
    let both = |protocol: &str| vec![format!("lock m_1 protocol {protocol};"), format!("lock n protocol {protocol};")];
    for plain in [false, true] {
        assert_eq!(said(r#""pi_enabled": true"#, plain), both("inheritance"));
        assert_eq!(said(r#""pi_enabled": false"#, plain), both("none"));
    }
    assert_eq!((said("", true), said("", false)), (both("none"), Vec::new()));
    // An error in the protocol has that place.
    let json = r#"{"global": {"pi_enabled": true}, "tasks": {"a": {"loop": 1, "lock": "m", "run": 5, "unlock": "m"}}}"#;
    let scenario = to_scenario(json, "x", Taker { plain: true, ..ALONE }).unwrap();
    let place = scenario.origin(json, scenario.text.find("inheritance").unwrap()).unwrap();
    assert_eq!(&json[place], "\"pi_enabled\"");
    // Without locks, no protocol is written.
    let none = r#"{"global": {"pi_enabled": true}, "tasks": {"a": {"loop": 1, "run": 5}}}"#;
    assert!(!to_scenario(none, "x", Taker { plain: true, ..ALONE }).unwrap().text.contains("protocol"));
}
