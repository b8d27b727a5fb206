//! A counterexample as a `.scenario`: threads come, run, wait and are suspended as the trail says.
//!
//! A script says what the host raises, whatever the policy decides. In a `.scenario`, the simulated host raises events
//! by itself, which shows whether another policy does better. Each step comes a millisecond after the last, or at the
//! trail's instant. Decisions take no time, and are made as soon as possible. Not every order of events comes about
//! like this. So there are several shapes, which the caller simulates one after the other.

use std::collections::BTreeMap;
use std::fmt::Write;

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::{Policy, StateClass};
use catapults_compiler::vocabulary::Value;

use super::{Moment, Scenario};
use crate::script::Step;

/// The time between two steps.
const STEP: i64 = 1_000_000;
/// The time between two steps if instants matter.
const SMALL_STEP: i64 = 1_000;
/// The time after the last step.
const REST: i64 = 10 * STEP;

/// How to make the trail happen where a host that decides at once would take another way.
#[derive(Clone, Copy)]
struct Shape {
    /// Before the first decision, a helper thread has the processor, so that others can come and be suspended
    /// meanwhile.
    helped: bool,
    /// What happens between a thread's giving up the processor and the next decision happens before the thread does so.
    prompt: bool,
    /// Threads that remain compute for long and yield, so that the policy's timers expire and it is asked after that.
    lingers: bool,
}

/// The plainest come first.
const SHAPES: [Shape; 8] = {
    const fn shape(helped: bool, prompt: bool, lingers: bool) -> Shape {
        Shape { helped, prompt, lingers }
    }
    [
        shape(false, false, false),
        shape(true, false, false),
        shape(false, true, false),
        shape(true, true, false),
        shape(false, false, true),
        shape(true, false, true),
        shape(false, true, true),
        shape(true, true, true),
    ]
};

/// The helper's number. The trail's threads have numbers from 1.
const HELPER: u32 = 0;

impl Scenario {
    /// `.scenario`s for a policy, the plainest first. `file`: the policy's path from their folder. `title`: what goes
    /// wrong.
    ///
    /// # Errors
    /// The reason why threads cannot do all that the host does.
    pub fn workloads(
        &self,
        policy: &Policy,
        framework: &Framework,
        file: &str,
        title: &str,
    ) -> Result<Vec<String>, &'static str> {
        // Threads that compute for long make others wait, even under a fair policy.
        let shapes = SHAPES.into_iter().filter(|shape| !shape.lingers || self.starved.is_none());
        let texts: Vec<_> = shapes.map(|shape| self.workload(shape, policy, framework, file, title)).collect();
        if texts.iter().any(Result::is_ok) {
            Ok(texts.into_iter().flatten().collect())
        } else {
            texts.into_iter().collect()
        }
    }

    fn workload<'a>(
        &'a self,
        shape: Shape,
        policy: &'a Policy,
        framework: &'a Framework,
        file: &str,
        title: &str,
    ) -> Result<String, &'static str> {
        let all = || self.moments.iter().chain(&self.again);
        let timed = all().any(|moment| matches!(moment.step, Step::At(_)));
        let mut walk = Walk::of(shape, policy, framework, if timed { SMALL_STEP } else { STEP });
        let stem = self.stem.unwrap_or(self.moments.len());
        self.moments[..stem].iter().try_for_each(|moment| walk.follow(moment))?;
        let rounds = walk.now;
        all().skip(stem).try_for_each(|moment| walk.follow(moment))?;
        walk.comes_now()?;
        // A fair policy lets it run within half the time of the rounds.
        let half = (walk.now - rounds) / 2;
        let starved = self.starved.filter(|_| half > 0);
        Ok(walk.written(file, title, starved.map(|thread| (thread, half))))
    }
}

#[derive(Default)]
struct Life {
    start: i64,
    /// The values that were set before the thread came.
    values: BTreeMap<String, Value>,
    phases: Vec<String>,
    /// How long it has run since its last phase.
    ran: i64,
    /// The event in which it waits, and since when.
    waits: Option<(String, i64)>,
    ended: bool,
}

struct Walk<'a> {
    shape: Shape,
    policy: &'a Policy,
    framework: &'a Framework,
    step: i64,
    now: i64,
    lives: BTreeMap<u32, Life>,
    /// The running thread, and since when it runs.
    running: Option<(u32, i64)>,
    /// Since when a thread is ready while none runs.
    free: Option<i64>,
    /// The lines for actions from outside.
    outside: Vec<String>,
    /// The values that are set before the first step.
    values: BTreeMap<String, Value>,
    /// Whether anything has happened.
    begun: bool,
    /// The thread that has asked for another one to be next, and is about to give up the processor.
    asks: Option<u32>,
    tick: Option<i64>,
    /// Since when a thread runs while another one is ready.
    contended: Option<i64>,
    /// The event that gave the processor up, put off by [`Shape::prompt`].
    deferred: Option<&'a Moment>,
}

impl<'a> Walk<'a> {
    fn of(shape: Shape, policy: &'a Policy, framework: &'a Framework, step: i64) -> Self {
        let helper = shape.helped.then(|| (HELPER, Life::default()));
        Walk {
            shape,
            policy,
            framework,
            step,
            now: 0,
            lives: helper.into_iter().collect(),
            running: shape.helped.then_some((HELPER, 0)),
            free: None,
            outside: Vec::new(),
            values: BTreeMap::new(),
            begun: shape.helped,
            asks: None,
            tick: None,
            contended: None,
            deferred: None,
        }
    }

    fn follow(&mut self, moment: &'a Moment) -> Result<(), &'static str> {
        if let Step::Raise(event, threads) = &moment.step {
            if self.shape.prompt && self.deferred.is_none() && self.is_given_up(event, threads) {
                self.deferred = Some(moment);
                return Ok(());
            }
            if event == "schedule" || self.deferred.is_some_and(|moment| is_of(&moment.step, threads)) {
                self.comes_now()?;
            }
        }
        match &moment.step {
            Step::At(instant) => self.now = self.now.max(*instant),
            Step::Ask(..) | Step::Expire => {}
            Step::LetRead(..) => return Err("the application changes a variable while a handler runs"),
            Step::LetDraw(_) => return Err("it depends on certain random numbers"),
            Step::Enter(_) | Step::SetProperty(..) | Step::Take(_) => return Err("nodes come and go in it"),
            Step::Show(_) => return Err("several threads run at once in it"),
            Step::SetImport(name, value) if self.begun => {
                let instant = Value::Time(self.next());
                self.outside.push(format!("at {instant} {{ set {name} = {value}; }}"));
            }
            Step::SetImport(name, value) => {
                self.values.insert(name.clone(), *value);
            }
            Step::SetThreadImport(thread, name, value) => match self.lives.get(&thread.0) {
                Some(life) if life.start <= self.now && self.begun => {
                    let instant = Value::Time(self.next());
                    self.outside.push(format!("at {instant} {{ set {}.{name} = {value}; }}", called(thread.0)));
                }
                Some(_) | None => {
                    self.lives.entry(thread.0).or_default().values.insert(name.clone(), *value);
                }
            },
            Step::Raise(event, threads) => self.raised(event, threads)?,
        }
        if self.deferred.is_none() {
            self.look(moment);
        }
        Ok(())
    }

    /// Whether the running thread gives up the processor by this event.
    fn is_given_up(&self, event: &str, threads: &[ThreadId]) -> bool {
        let gives_up = event == "switch_out" || event == "exit" || event.starts_with("block.");
        let runs = |thread: &ThreadId| self.running.is_some_and(|(one, _)| one == thread.0);
        gives_up && matches!(threads, [thread] if runs(thread) && self.asks != Some(thread.0))
    }

    /// Raises the event that was put off.
    fn comes_now(&mut self) -> Result<(), &'static str> {
        if let Some(moment) = self.deferred.take()
            && let Step::Raise(event, threads) = &moment.step
        {
            self.raised(event, threads)?;
            self.look(moment);
        }
        Ok(())
    }

    /// The instant of the next step.
    fn next(&self) -> i64 {
        if self.begun { self.now + self.step } else { self.now }
    }

    fn raised(&mut self, event: &str, threads: &[ThreadId]) -> Result<(), &'static str> {
        if event == "schedule" {
            self.helper_ends();
            return Ok(());
        }
        if event == "init" {
            return Ok(());
        }
        if !self.framework.events.iter().any(|known| known.name == event) {
            // A timer of the policy, which the simulated host raises itself.
            return Ok(());
        }
        let [thread] = threads else { return Err("an event in it concerns no thread") };
        if event == "switch_out" && self.asks.take() == Some(thread.0) {
            return Ok(());
        }
        self.now = self.next();
        self.begun = true;
        let now = self.now;
        let running = self.running;
        let life = self.lives.entry(thread.0).or_default();
        if let Some((one, since)) = running.filter(|(one, _)| *one == thread.0) {
            life.ran += now - since;
            self.running = Some((one, now));
        }
        match event {
            "newthread" => life.start = now,
            "switch_out" => life.does("yield;".to_owned()),
            "exit" => {
                life.does("exit;".to_owned());
                life.ended = true;
            }
            "event_raised" => life.woken(now),
            "suspend_thread" => {
                self.outside.push(format!("at {} {{ suspend {}; }}", Value::Time(now), called(thread.0)))
            }
            "resume_thread" => self.outside.push(format!("at {} {{ resume {}; }}", Value::Time(now), called(thread.0))),
            "tick" => {
                let since = self.contended.replace(now).or(running.map(|(_, since)| since)).unwrap_or(now);
                let tick = (now - since).max(1);
                self.tick = Some(self.tick.map_or(tick, |shortest| shortest.min(tick)));
            }
            "set_next_thread" => {
                let Some((one, since)) = running else {
                    return Err("no thread runs that could ask for another one to be next");
                };
                self.asks = Some(one);
                let life = self.lives.entry(one).or_default();
                life.ran += now - since;
                self.running = Some((one, now));
                life.does(format!("yield to {};", called(thread.0)));
            }
            _ => match event.strip_prefix("block.") {
                Some(_) => {
                    life.has_run();
                    life.waits = Some((event.to_owned(), now));
                }
                None => return Err("no thread can cause one of its events"),
            },
        }
        Ok(())
    }

    /// At the first decision, the helper ends.
    fn helper_ends(&mut self) {
        if let Some((HELPER, since)) = self.running
            && let Some(life) = self.lives.get_mut(&HELPER)
        {
            life.ran += self.now - since;
            life.has_run();
            life.ended = true;
            (self.running, self.free) = (None, Some(self.now));
        }
    }

    /// Finds the running thread in the containers.
    fn look(&mut self, moment: &Moment) {
        let policy = self.policy;
        let such = |name: &str, class: StateClass| {
            policy.containers.iter().any(|container| container.name == name && container.class == class)
        };
        let mut of = moment.contents.iter().filter(|(name, _)| such(name, StateClass::Running));
        let runs = of.find_map(|(_, threads)| threads.first()).map(|thread| thread.0);
        let ready = moment.contents.iter().any(|(name, _)| such(name, StateClass::Ready));
        if runs.is_none() && matches!(self.running, Some((HELPER, _))) {
            return;
        }
        if runs != self.running.map(|(thread, _)| thread) {
            self.contended = None;
        }
        if runs.is_some() && ready {
            self.contended = self.contended.or(Some(self.now));
        }
        if runs == self.running.map(|(thread, _)| thread) {
            if runs.is_none() && ready {
                self.free = self.free.or(Some(self.now));
            }
            return;
        }
        if let Some((thread, since)) = self.running
            && let Some(life) = self.lives.get_mut(&thread)
        {
            life.ran += self.now - since;
        }
        self.running = runs.map(|thread| (thread, self.free.take().unwrap_or(self.now)));
        if runs.is_none() && ready {
            self.free = Some(self.now);
        }
    }

    fn written(mut self, file: &str, title: &str, waits: Option<(ThreadId, i64)>) -> String {
        self.helper_ends();
        let lingers = self.shape.lingers;
        let end = self.now + if lingers { 3 * REST * i64::try_from(self.lives.len() + 1).unwrap_or(1) } else { REST };
        if let Some((thread, since)) = self.running
            && let Some(life) = self.lives.get_mut(&thread)
        {
            life.ran += self.now - since;
        }
        for life in self.lives.values_mut() {
            if life.waits.is_some() {
                life.woken(end);
            } else if !life.ended && lingers {
                life.ran += REST;
                life.does("yield;".to_owned());
                life.phases.push(format!("run {};", Value::Time(REST)));
            } else if !life.ended {
                life.ran += STEP;
                life.has_run();
            }
        }
        let mut text = format!("// {title}\nscenario counterexample {{\n");
        let _ = writeln!(text, "  policy \"{}\";", file.replace('\\', "\\\\").replace('"', "\\\""));
        let _ = writeln!(text, "  duration {};", Value::Time(end));
        let _ = writeln!(text, "  tick {};", Value::Time(self.tick.unwrap_or(end)));
        for (name, value) in &self.values {
            let _ = writeln!(text, "  set {name} = {value};");
        }
        for (number, life) in &self.lives {
            let _ = write!(text, "  thread {}", called(*number));
            if life.start > 0 {
                let _ = write!(text, " at {}", Value::Time(life.start));
            }
            if !life.values.is_empty() {
                let values: Vec<String> =
                    life.values.iter().map(|(name, value)| format!("{name} = {value};")).collect();
                let _ = write!(text, " with {{ {} }}", values.join(" "));
            }
            let _ = writeln!(text, " {{ {} }}", life.phases.join(" "));
        }
        for line in &self.outside {
            let _ = writeln!(text, "  {line}");
        }
        if let Some((thread, within)) = waits {
            let _ = writeln!(text, "  expect {} runs within {};", called(thread.0), Value::Time(within));
        }
        text.push_str("}\n");
        text
    }
}

impl Life {
    fn has_run(&mut self) {
        let ran = std::mem::take(&mut self.ran);
        if ran > 0 {
            self.phases.push(format!("run {};", Value::Time(ran)));
        }
    }

    fn does(&mut self, phase: String) {
        self.has_run();
        self.phases.push(phase);
    }

    fn woken(&mut self, now: i64) {
        if let Some((event, since)) = self.waits.take() {
            let event = event.strip_prefix("block.").unwrap_or(&event);
            self.phases.push(format!("block {event} {};", Value::Time(now - since)));
        }
    }
}

fn is_of(step: &Step, threads: &[ThreadId]) -> bool {
    matches!(step, Step::Raise(_, others) if others == threads)
}

fn called(thread: u32) -> String {
    if thread == HELPER { "helper".to_owned() } else { format!("thread_{thread}") }
}
