//! Turns a draft into a scenario: resolves names, and checks values against their types and ranges.

mod amounts;
mod expectations;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Values, unused_constants};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{Import, Policy, ThreadImportId};
use crate::syntax::ast::{Expression, Name};
use crate::syntax::words::nearest;
use crate::vocabulary::{At, Type, Value};

use amounts::distribution;

use super::due::is_taken_for_a_time;
use super::meetings::locks_of;
use super::reader::{ActionDraft, AmountDraft, Draft, FileName, Given, ThreadDraft};
use super::{Action, Amount, Assignment, Moment, Scenario, Semaphore, Thread};

/// What decides in a simulation.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The policy, or those of a hierarchy, the root's first.
    pub policies: Vec<&'a Policy>,
    /// The schedulers of a hierarchy, each with the index of its policy above. Empty for a single policy.
    pub schedulers: Vec<(&'a str, usize)>,
    /// It is simulated in place of the scenario's own. What it lacks has no effect, and is no error.
    pub instead: bool,
}

impl Subject<'_> {
    /// What decides is not known, so nothing that depends on it is judged.
    pub(crate) const UNKNOWN: Subject<'static> =
        Subject { policies: Vec::new(), schedulers: Vec::new(), instead: false };

    fn is_unknown(&self) -> bool {
        self.policies.is_empty()
    }
}

/// The most threads that a scenario declares in one line, and the most processors.
const MOST_THREADS: i64 = 10_000_000;
pub(super) const MOST_PROCESSORS: i64 = 1024;

/// The longest time in a scenario, some 73 years. Sums of a few such times still fit.
const LONGEST: i64 = i64::MAX / 4;

/// The scenario, or `None` if anything is wrong with it. `numbers` reads a file, one number a line, or says why not.
pub fn check(
    draft: &Draft,
    subject: &Subject<'_>,
    framework: &Framework,
    numbers: &mut dyn FnMut(&FileName) -> Result<Vec<i64>, String>,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    let mut values = Values::new(framework);
    for constant in &draft.constants {
        values.declare(constant, diagnostics);
    }
    let mut locked = BTreeSet::new();
    draft.threads.iter().for_each(|thread| locks_of(&thread.phases, &mut locked));
    let before = diagnostics.errors();
    let mut checker = Checker {
        draft,
        subject,
        framework,
        values,
        numbers,
        diagnostics,
        names: BTreeMap::new(),
        locks: BTreeMap::new(),
        semaphores: Vec::new(),
        lacks_locks: false,
        ports: BTreeMap::new(),
        timers: BTreeMap::new(),
        shared_timers: BTreeMap::new(),
        barriers: BTreeMap::new(),
        locked,
        spawned: vec![false; draft.threads.len()],
        places: Vec::new(),
        used: Vec::new(),
        instants: Vec::new(),
        without_effect: BTreeSet::new(),
    };
    let scenario = checker.scenario();
    let used = std::mem::take(&mut checker.used);
    // What was not judged may use a constant.
    if diagnostics.errors() > before || subject.is_unknown() {
        return None;
    }
    unused_constants(&draft.constants, used.into_iter(), diagnostics);
    scenario
}

/// Two scenarios of one file have different names.
pub(crate) fn twice(drafts: &[Draft], diagnostics: &mut Diagnostics) {
    let mut names: BTreeMap<&str, &Name> = BTreeMap::new();
    for draft in drafts {
        if let Some(first) = names.get(draft.name.text.as_str()) {
            let title = format!("two scenarios are called `{}`", draft.name.text);
            let twice = Diagnostic::error("E0703", title, draft.name.at, "the second");
            diagnostics.push(twice.related(first.at, "the first"));
        } else {
            names.insert(&draft.name.text, &draft.name);
        }
    }
}

pub(super) struct Checker<'a, 'b> {
    pub(super) draft: &'a Draft,
    pub(super) subject: &'b Subject<'b>,
    pub(super) framework: &'a Framework,
    values: Values<'a>,
    numbers: &'b mut dyn FnMut(&FileName) -> Result<Vec<i64>, String>,
    pub(super) diagnostics: &'b mut Diagnostics,
    /// The indices of threads.
    pub(super) names: BTreeMap<&'a str, usize>,
    /// As above.
    pub(super) locks: BTreeMap<&'a str, usize>,
    /// As declared.
    pub(super) semaphores: Vec<Semaphore>,
    /// It has been reported that the framework has no locks.
    pub(super) lacks_locks: bool,
    pub(super) ports: BTreeMap<&'a str, usize>,
    pub(super) timers: BTreeMap<&'a str, usize>,
    pub(super) shared_timers: BTreeMap<&'a str, usize>,
    pub(super) barriers: BTreeMap<&'a str, usize>,
    /// All locks that some thread takes.
    pub(super) locked: BTreeSet<&'a str>,
    spawned: Vec<bool>,
    /// The places of the phases of the current thread, as far as they have been read.
    pub(super) places: Vec<At>,
    /// Expressions that have been computed, or need not be.
    used: Vec<&'a Expression>,
    /// When something happens from outside, and where that is written.
    pub(super) instants: Vec<(At, i64)>,
    /// The titles of what has been reported to have no effect.
    without_effect: BTreeSet<String>,
}

impl<'a> Checker<'a, '_> {
    fn scenario(&mut self) -> Option<Scenario> {
        for (index, thread) in self.draft.threads.iter().enumerate() {
            let text = thread.name.text.as_str();
            if let Some(first) = self.names.get(text) {
                let first = self.draft.threads[*first].name.at;
                let title = format!("two threads are called `{text}`");
                let twice = Diagnostic::error("E0703", title, thread.name.at, "the second").related(first, "the first");
                self.diagnostics.push(twice.help("choose another name; `* 2` after a name makes two threads of it"));
            } else {
                self.names.insert(text, index);
            }
        }
        let mut scenario = Scenario {
            name: self.draft.name.text.clone(),
            processors: 1,
            nodes: Vec::new(),
            seed: 1,
            duration: None,
            tick: 1_000_000,
            poll: 0,
            switch_cost: 0,
            values: Vec::new(),
            threads: Vec::new(),
            locks: Vec::new(),
            semaphores: Vec::new(),
            ports: Vec::new(),
            barriers: Vec::new(),
            moments: Vec::new(),
            expectations: Vec::new(),
        };
        self.settings(&mut scenario);
        scenario.nodes = self.nodes(&mut scenario.processors);
        self.declare_semaphores();
        let root = self.subject.policies.first().copied();
        scenario.values = self.draft.values.iter().filter_map(|given| self.assignment(given, root, false)).collect();
        for thread in &self.draft.threads {
            let thread = self.one(thread);
            scenario.threads.extend(thread);
        }
        for (thread, spawned) in scenario.threads.iter_mut().zip(&self.spawned) {
            thread.spawned = *spawned;
        }
        if self.draft.threads.is_empty() {
            let title = format!("the scenario `{}` has no thread", self.draft.name.text);
            let none = Diagnostic::error("E0704", title, self.draft.name.at, "");
            self.diagnostics.push(none.help("say what one does: `thread A { run 5ms; }`"));
        }
        for (instant, actions) in &self.draft.moments {
            let at = instant.at;
            let instant = self.time(instant, 0);
            self.instants.extend(instant.map(|instant| (at, instant)));
            let actions = actions.iter().filter_map(|action| self.action(action)).collect();
            scenario.moments.extend(instant.map(|instant| Moment { instant, actions }));
        }
        scenario.moments.sort_by_key(|moment| moment.instant);
        let expectations = self.draft.expectations.iter().flat_map(|expectation| self.expectation(expectation));
        scenario.expectations = expectations.collect();
        self.refuse_ineffective(&scenario);
        scenario.barriers = self.barriers(&scenario);
        if self.all_come(&scenario) {
            self.ends(&scenario);
        }
        (scenario.locks, scenario.ports) = (self.locks(), names_of(&self.ports));
        scenario.semaphores = std::mem::take(&mut self.semaphores);
        Some(scenario)
    }

    fn settings(&mut self, scenario: &mut Scenario) {
        if let (Some(first), Some(second)) = (&self.draft.policy, self.draft.policies.first()) {
            let twice = Diagnostic::error("E0703", "`policy` is said twice", second.at, "the second time");
            self.diagnostics.push(twice.related(first.at, "the first time"));
        }
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for setting in &self.draft.settings {
            let word = &setting.word;
            if let Some(first) = seen.insert(word.text.as_str(), word) {
                let title = format!("`{}` is said twice", word.text);
                let twice = Diagnostic::error("E0703", title, word.at, "the second time");
                self.diagnostics.push(twice.related(first.at, "the first time"));
            }
            let value = &setting.value;
            match word.text.as_str() {
                "processors" => {
                    let count = self.count(value, 1, MOST_PROCESSORS).and_then(|count| u32::try_from(count).ok());
                    scenario.processors = count.unwrap_or(1);
                }
                "seed" => scenario.seed = self.count(value, 0, i64::MAX).unwrap_or(0).unsigned_abs(),
                "duration" => scenario.duration = self.time(value, 1),
                "tick" => scenario.tick = self.time(value, 1).unwrap_or(1),
                "poll" => scenario.poll = self.time(value, 0).unwrap_or(0),
                _ => scenario.switch_cost = self.time(value, 0).unwrap_or(0),
            }
        }
    }

    fn one(&mut self, draft: &'a ThreadDraft) -> Option<Thread> {
        let mut thread = Thread {
            name: draft.name.text.clone(),
            count: Some(1),
            spawned: false,
            start: Amount::Fixed(Value::Time(0)),
            every: None,
            period: None,
            relative: draft.relative,
            deadline: None,
            under: None,
            values: Vec::new(),
            phases: Vec::new(),
            places: Vec::new(),
            at: draft.name.at,
        };
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for (word, amount) in &draft.clauses {
            if let Some(first) = seen.insert(word.text.as_str(), word) {
                let title = format!("`{}` is said twice", word.text);
                let twice = Diagnostic::error("E0703", title, word.at, "the second time");
                self.diagnostics.push(twice.related(first.at, "the first time"));
            }
            match word.text.as_str() {
                "at" => thread.start = self.duration(amount).unwrap_or(Amount::Fixed(Value::Time(0))),
                "every" => thread.every = self.duration(amount),
                "period" => thread.period = self.fixed(word, amount, 1),
                _ => thread.deadline = self.fixed(word, amount, 1),
            }
        }
        if let Some(count) = &draft.count {
            thread.count = Some(self.count(count, 1, MOST_THREADS).and_then(|count| u32::try_from(count).ok())?);
        } else if thread.every.is_some() {
            thread.count = None;
        }
        if thread.every == Some(Amount::Fixed(Value::Time(0))) && thread.count.is_none() {
            let title = format!("infinitely many threads `{}` come at once", thread.name);
            let many = Diagnostic::error("E0704", title, thread.at, "");
            self.diagnostics
                .push(many.help("say how long after one the next one comes, or how many there are: `* 10`"));
        }
        if thread.period.is_some() {
            self.blocking_for(super::phases::SLEEP, &draft.name);
            thread.deadline = thread.deadline.or(thread.period);
        }
        let mut policy = self.subject.policies.first().copied();
        if let [_, second, ..] = draft.under.as_slice() {
            let twice = Diagnostic::error("E0703", "`under` is said twice", second.at, "the second time");
            self.diagnostics.push(twice.related(draft.under[0].at, "the first time"));
        }
        if let Some(under) = draft.under.first() {
            thread.under = self.scheduler(under);
            policy =
                thread.under.and_then(|index| self.subject.policies.get(self.subject.schedulers[index].1).copied());
        } else if !self.subject.schedulers.is_empty() {
            // The hierarchy says which policy.
            policy = None;
        }
        let anywhere = policy.is_none();
        thread.values = draft.values.iter().filter_map(|given| self.value_of(given, policy, anywhere)).collect();
        let mut twice: BTreeMap<&str, &Name> = BTreeMap::new();
        for given in &draft.values {
            if let Some(first) = twice.insert(given.name.text.as_str(), &given.name) {
                let title = format!("`{}` is given twice", given.name.text);
                let twice = Diagnostic::error("E0703", title, given.name.at, "the second time");
                self.diagnostics.push(twice.related(first.at, "the first time"));
            }
        }
        self.times_of_jobs(draft, &mut thread, policy, anywhere);
        let before = self.diagnostics.errors();
        (thread.phases, thread.places) = self.phases(draft);
        self.waits_for_others(&thread);
        if self.diagnostics.errors() == before && !self.lacks_locks {
            self.locks_are_given_back(&thread);
        }
        Some(thread)
    }

    /// Gives period and deadline to policies that import them, unless other values are given. Without a deadline, a job
    /// is due a period after its release: if a policy took an import's 0 for a deadline, it would prefer the thread for
    /// ever.
    fn times_of_jobs(&mut self, draft: &ThreadDraft, thread: &mut Thread, policy: Option<&Policy>, anywhere: bool) {
        let given = |thread: &Thread, word: &str| {
            thread.values.iter().find(|given| given.name == word).map(|given| given.value.clone())
        };
        if let (Some(period), None) = (thread.period, given(thread, "period"))
            && self.imports_time("period", policy, anywhere)
        {
            let value = Amount::Fixed(Value::Time(period));
            thread.values.push(Assignment { name: "period".to_owned(), value });
        }
        for (name, said) in [("deadline", thread.deadline), ("period", thread.period)] {
            if said.is_none() && given(thread, name).is_none() {
                self.has_none(thread, name, policy);
            }
        }
        if given(thread, "deadline").is_some() {
            return;
        }
        if self.imports_time("deadline", policy, anywhere) {
            let said = thread.deadline.map(|deadline| Amount::Fixed(Value::Time(deadline)));
            if let Some(value) = said.or_else(|| given(thread, "period")) {
                thread.values.push(Assignment { name: "deadline".to_owned(), value });
            }
        } else if let Some((clause, _)) = draft.clauses.iter().find(|(clause, _)| clause.text == "deadline")
            && thread.period.is_some_and(|period| thread.deadline != Some(period))
        {
            self.knows_no_deadline(clause, policy, anywhere);
        }
    }

    /// Warns if the policy takes an import's default for the deadline or period of a thread that has none, and prefers
    /// it.
    fn has_none(&mut self, thread: &Thread, name: &str, policy: Option<&Policy>) {
        let Some(policy) = policy else { return };
        let such = |import: &Import| import.name == name && import.ty == Type::Time;
        let Some(place) = policy.thread_imports.iter().position(such) else { return };
        if name == "deadline" && thread.values.iter().any(|given| given.name == "period")
            || !is_taken_for_a_time(policy, ThreadImportId(place))
        {
            return;
        }
        let title = format!("`{}` has no {name}, and the policy takes that for the soonest", thread.name);
        let none = Diagnostic::warning("E0702", title, thread.at, "comes before all others");
        let none = none.note(format!("the import `time {name}` has its default, which is no more than 0"));
        self.diagnostics.push(none.help(format!(
            "say one, `{name} 100ms`, or a time so long that others come first: `with {{ {name} = 1000s; }}`"
        )));
    }

    /// By their numbers.
    pub(super) fn lock_names(&self) -> Vec<String> {
        names_of(&self.locks)
    }

    /// Whether the thread's policy imports a time of this name; `anywhere`: or that of any scheduler.
    fn imports_time(&self, name: &str, policy: Option<&Policy>, anywhere: bool) -> bool {
        let has =
            |policy: &Policy| policy.thread_imports.iter().any(|import| import.name == name && import.ty == Type::Time);
        policy.is_some_and(has) || anywhere && self.subject.policies.iter().any(|policy| has(policy))
    }

    /// A policy that imports periods takes them for deadlines, so it does not learn that a job is due sooner.
    fn knows_no_deadline(&mut self, clause: &Name, policy: Option<&Policy>, anywhere: bool) {
        if !self.imports_time("period", policy, anywhere) {
            return;
        }
        let title = "the policy is told the period, and not the deadline".to_owned();
        if self.without_effect.insert(title.clone()) {
            let untold = Diagnostic::warning("E0702", title, clause.at, "only measured");
            let untold = untold.note("it imports no `time deadline` of threads");
            self.diagnostics
                .push(untold.help("misses count by this deadline; `dm.sched` is a policy that goes by deadlines"));
        }
    }

    fn scheduler(&mut self, name: &Name) -> Option<usize> {
        if self.subject.is_unknown() {
            return None;
        }
        let found = self.subject.schedulers.iter().position(|(scheduler, _)| *scheduler == name.text);
        if found.is_none() {
            let names: Vec<&str> = self.subject.schedulers.iter().map(|(name, _)| *name).collect();
            let unknown = if names.is_empty() {
                let alone = Diagnostic::error("E0702", "a policy alone has no schedulers", name.at, "");
                alone.help("leave `under` out, or simulate a hierarchy: `policy \"desktop.hierarchy\";`")
            } else {
                let title = format!("the hierarchy has no scheduler `{}`", name.text);
                let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let unknown = Diagnostic::error("E0702", title, name.at, "unknown scheduler");
                let unknown = unknown.note(format!("it has {}", listed.join(", ")));
                near(unknown, name, &names)
            };
            self.has_not(unknown);
        }
        found
    }

    /// A variable of threads that a thread assigns for itself.
    pub(super) fn of_thread(&mut self, given: &'a Given) -> Option<Assignment> {
        let alone = self.subject.schedulers.is_empty();
        let policy = self.subject.policies.first().copied().filter(|_| alone);
        self.value_of(given, policy, !alone)
    }

    /// `anywhere`: of any policy of the hierarchy.
    fn value_of(&mut self, given: &'a Given, policy: Option<&Policy>, anywhere: bool) -> Option<Assignment> {
        if !anywhere {
            return self.assignment(given, policy, true);
        }
        let has = |policy: &&&Policy| policy.thread_imports.iter().any(|import| import.name == given.name.text);
        let policies = &self.subject.policies;
        let policy = policies.iter().find(has).or(policies.first()).copied();
        self.assignment(given, policy, true)
    }

    fn assignment(&mut self, given: &'a Given, policy: Option<&Policy>, of_threads: bool) -> Option<Assignment> {
        let policy = policy?;
        let imports = if of_threads { &policy.thread_imports } else { &policy.imports };
        let Some(import) = imports.iter().find(|import| import.name == given.name.text) else {
            if of_threads && self.framework.urgency() == Some(given.name.text.as_str()) {
                // The host itself uses it, whatever the policy does.
                let value = self.amount(&given.value, Type::Int, false)?;
                return Some(Assignment { name: given.name.text.clone(), value });
            }
            self.has_not(unknown(&given.name, policy, imports, of_threads));
            if let AmountDraft::Written(value) = &given.value {
                self.used.push(value);
            }
            return None;
        };
        if self.subject.instead
            && let AmountDraft::Written(value) = &given.value
            && self.is_of_another_type(value, import.ty)
        {
            self.used.push(value);
            let title = format!("the policy `{}` imports `{} {}`", policy.name, import.ty.word(), import.name);
            let other = Diagnostic::error("E0702", title, given.name.at, "");
            self.has_not(other.note("its value here is of another type"));
            return None;
        }
        let value = self.amount(&given.value, import.ty, false)?;
        Some(Assignment { name: import.name.clone(), value })
    }

    /// Whether it has a value, but none of this type.
    fn is_of_another_type(&self, expression: &Expression, ty: Type) -> bool {
        let can_be = |ty: Type| {
            let mut said = Diagnostics::new();
            self.values.value(expression, ty, &mut said).is_some() && !said.has_errors()
        };
        distribution(expression).is_none() && !can_be(ty) && Type::ALL.into_iter().any(can_be)
    }

    /// Reports what the policy lacks: an error, unless it stands in for the scenario's own.
    pub(super) fn has_not(&mut self, unknown: Diagnostic) {
        if !self.subject.instead {
            self.diagnostics.push(unknown);
        } else if self.without_effect.insert(unknown.title.clone()) {
            self.diagnostics.push(unknown.without_effect());
        }
    }

    fn action(&mut self, draft: &'a ActionDraft) -> Option<Action> {
        Some(match draft {
            ActionDraft::Set(None, given) => {
                let root = self.subject.policies.first().copied();
                Action::Set(self.assignment(given, root, false)?)
            }
            ActionDraft::Set(Some(of), given) => {
                let (of, given) = (self.thread(of), self.of_thread(given));
                Action::SetOf(of?, given?)
            }
            ActionDraft::Of(word, of) => {
                let of = self.thread_there(of)?;
                if word.text == "suspend" { Action::Suspend(of) } else { Action::Resume(of) }
            }
            ActionDraft::Processors(count) => {
                Action::Processors(self.count(count, 1, MOST_PROCESSORS).and_then(|count| u32::try_from(count).ok())?)
            }
        })
    }

    // ---- Names and values

    /// The index of a thread, by its name.
    pub(super) fn thread(&mut self, name: &Name) -> Option<usize> {
        self.thread_there(name)
    }

    pub(super) fn is_spawned(&mut self, thread: usize) {
        self.spawned[thread] = true;
    }

    fn thread_there(&mut self, name: &Name) -> Option<usize> {
        let found = self.names.get(name.text.as_str()).copied();
        if found.is_none() {
            let names: Vec<&str> = self.names.keys().copied().collect();
            let title = format!("there is no thread `{}`", name.text);
            self.diagnostics.push(near(Diagnostic::error("E0702", title, name.at, "unknown name"), name, &names));
        }
        found
    }

    fn threads_there(&mut self, names: &[Name]) -> Option<Vec<usize>> {
        let found: Vec<Option<usize>> = names.iter().map(|name| self.thread_there(name)).collect();
        found.into_iter().collect()
    }

    /// An expression that need not be computed.
    pub(super) fn is_used(&mut self, expression: &'a Expression) {
        self.used.push(expression);
    }

    pub(super) fn compute(&mut self, expression: &'a Expression, ty: Type) -> Option<Value> {
        self.used.push(expression);
        self.values.value(expression, ty, self.diagnostics)
    }

    /// A time in nanoseconds.
    fn time(&mut self, expression: &'a Expression, least: i64) -> Option<i64> {
        match self.compute(expression, Type::Time)? {
            Value::Time(nanoseconds) if nanoseconds > LONGEST => {
                let title = format!("this must be no longer than {} s", LONGEST / 1_000_000_000);
                self.diagnostics.push(Diagnostic::error("E0704", title, expression.at, ""));
                None
            }
            Value::Time(nanoseconds) if nanoseconds >= least => Some(nanoseconds),
            Value::Time(_) | Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                let what = if least > 0 { "longer than 0" } else { "no less than 0" };
                self.diagnostics.push(Diagnostic::error("E0704", format!("this must be {what}"), expression.at, ""));
                None
            }
        }
    }

    pub(super) fn count(&mut self, expression: &'a Expression, least: i64, most: i64) -> Option<i64> {
        match self.compute(expression, Type::Int)? {
            Value::Int(count) if (least..=most).contains(&count) => Some(count),
            value @ (Value::Int(_) | Value::Bool(_) | Value::Time(_) | Value::Float(_)) => {
                let title = format!("this must be from {least} to {most}");
                self.diagnostics.push(Diagnostic::error("E0704", title, expression.at, format!("this is {value}")));
                None
            }
        }
    }
}

/// By their numbers.
pub(super) fn names_of(numbers: &BTreeMap<&str, usize>) -> Vec<String> {
    let mut names = vec![String::new(); numbers.len()];
    numbers.iter().for_each(|(name, number)| (*name).clone_into(&mut names[*number]));
    names
}

pub(super) fn near(unknown: Diagnostic, name: &Name, names: &[&str]) -> Diagnostic {
    match nearest(&name.text, names.iter().copied()) {
        Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(name.at, near),
        None => unknown,
    }
}

fn unknown(name: &Name, policy: &Policy, imports: &[Import], of_threads: bool) -> Diagnostic {
    let (kind, place) = if of_threads { ("variable of threads", "threadimports") } else { ("variable", "imports") };
    let title = format!("the policy `{}` imports no {kind} `{}`", policy.name, name.text);
    let unknown = Diagnostic::error("E0702", title, name.at, "unknown name");
    if imports.is_empty() {
        return unknown.note(format!("`{}` has no `{place}`", policy.name));
    }
    let names: Vec<&str> = imports.iter().map(|import| import.name.as_str()).collect();
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    near(unknown.note(format!("it imports {}", listed.join(", "))), name, &names)
}
