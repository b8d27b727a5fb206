//! Several processors: a thread that runs on another one is in `current` for who asks of the thread, and is not what `current` holds here.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::compile;
use catapults_compiler::emit::{Part, emit};
use catapults_compiler::interp::{Machine, RunningSet, ThreadId, Variables};
use catapults_compiler::policy::{AttributeId, Policy, Value};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::native;

const POLICY: &str = "scheduler elsewhere {
  thread { bool is_in, equals, held; threadref waker; }
  data { threadref current; queue ready; }
  event newthread(t)    { t.waker = current; t => ready; }
  event switch_out(t)   { t => ready; }
  event event_raised(t) { t => ready; }
  event set_next_thread(t) {
    t.is_in = false;
    t.equals = false;
    foreach w in t.waker {
      t.is_in = w in current;
      t.equals = w == current;
    }
    t.held = t.waker == current;
    t => ready;
  }
  event schedule { ready => current; dispatch current; }
}";

fn policy() -> Verified<Policy> {
    compile(&Source::new("elsewhere.sched", POLICY), &native()).unwrap().0
}

/// What a thread finds of its waker.
fn found(machine: &mut Machine, thread: u32) -> [bool; 3] {
    machine.raise("set_next_thread", &[ThreadId(thread)], &mut Variables::default()).unwrap();
    [0, 1, 2].map(|index| machine.attribute(ThreadId(thread), AttributeId(index)) == Some(Value::Bool(true)))
}

#[test]
fn the_interpreter_asks_the_thread_and_the_threadref() {
    let verified = policy();
    let mut machine = Machine::new(&verified);
    let comes = |machine: &mut Machine, thread: u32| {
        machine.spawn(ThreadId(thread)).unwrap();
        machine.raise("newthread", &[ThreadId(thread)], &mut Variables::default()).unwrap();
    };
    comes(&mut machine, 1);
    machine.raise("schedule", &[], &mut Variables::default()).unwrap();
    comes(&mut machine, 2);
    assert_eq!(found(&mut machine, 2), [true, true, true]);
    // On another processor, nothing runs.
    machine.exchange_running(&mut RunningSet::default());
    assert_eq!(found(&mut machine, 2), [true, true, false]);
    // Both name none.
    comes(&mut machine, 3);
    assert_eq!(found(&mut machine, 3), [false, false, true]);
}

#[test]
fn so_does_generated_code() {
    let files = emit(&policy(), &native()).unwrap();
    let text = &files.iter().find(|file| file.part == Part::Source).unwrap().text;
    for written in ["->is_in = w->container == in_current;", "->equals = w->container == in_current;"] {
        assert!(text.contains(written), "{written}\n{text}");
    }
    assert!(text.contains("->waker.to == self->current;"), "{text}");
}
