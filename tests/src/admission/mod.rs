//! What the policies with a test of admission decide of random sets, as `make admission` asks.
//!
//! Each set comes to each policy in a simulation: all threads at once, which is the worst that can happen on one processor. Whom the policy
//! admits must never be late until all begins anew. Of whom it refuses, the exact analysis (`simulator/src/admission`, which `make theory`
//! compares with an oracle) must say that a job of those admitted before, or its own, could be late.

pub mod servers;

use catapults_compiler::compile;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_simulator::admission::{Order, Processors, Task, TaskSet, Test, judge};
use catapults_simulator::sim::{Deciding, Keep, Nowhere, Outcome, RunBy, simulate};
use fastrand::Rng;

use crate::theory::staged;
use crate::{native, policy_at, root};

/// All begins anew after so many milliseconds: each period divides it.
const ANEW: i64 = 2000;
const PERIODS: [i64; 15] = [4, 5, 8, 10, 16, 20, 25, 40, 50, 80, 100, 200, 250, 400, 500];
const MILLISECOND: i64 = 1_000_000;
/// Budgets are whole millionths of their periods, as the policies count loads.
const WHOLE: i64 = 1_000_000;

/// The policies, and their orders.
const POLICIES: [(&str, Order); 3] =
    [("rm", Order::RateMonotonic), ("dm", Order::DeadlineMonotonic), ("edf", Order::EarliestDeadline)];

/// What sets come to.
pub struct Admission {
    framework: Framework,
    policies: Vec<(Order, Verified<Policy>)>,
}

/// What became of them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Decided {
    /// Sets of which a policy admitted all.
    pub admitted: usize,
    /// Jobs of admitted threads that were late.
    pub missed: u64,
    /// Sets of which a policy refused a thread.
    pub refused: usize,
    /// Threads that were refused, though no job could be late.
    pub wrongly_refused: usize,
    /// Sets with deadlines at the end of the period: how many Liu and Layland's bound admits, and how many rm and edf.
    pub by_bound: usize,
    pub by_rm: usize,
    pub by_edf: usize,
}

impl Admission {
    /// With the policies of the library.
    pub fn new() -> Self {
        let framework = native();
        let policy = |(name, order): (&str, Order)| {
            let path = root().join("policies").join(format!("{name}.sched"));
            let source = policy_at(&path);
            let compiled = compile(&source, &framework);
            (order, compiled.unwrap_or_else(|errors| panic!("{}", errors.render(&source, false))).0)
        };
        Admission { policies: POLICIES.into_iter().map(policy).collect(), framework }
    }

    /// Lets each policy decide of a random set. If a decision is wrong, says so, with a scenario that shows it.
    pub fn decide(&self, seed: u64) -> (Decided, Option<String>) {
        let mut rng = Rng::with_seed(seed);
        let constrained = rng.bool();
        let tasks = random(&mut rng, constrained);
        let text = scenario_of(&tasks);
        let (mut decided, mut wrong) = (Decided::default(), None);
        if !constrained && bound_holds(&tasks) {
            decided.by_bound = 1;
        }
        for (order, policy) in &self.policies {
            // By rate, deadlines are not kept that are sooner than the next job.
            if constrained && *order == Order::RateMonotonic {
                continue;
            }
            let outcome = self.simulated(policy, &text);
            let mut there: Vec<Task> = Vec::new();
            for (task, tally) in tasks.iter().zip(&outcome.tallies) {
                there.push(task.clone());
                if tally.refusals == 0 {
                    decided.missed += tally.misses;
                } else {
                    decided.wrongly_refused += usize::from(is_kept(&there, *order));
                    there.pop();
                }
            }
            if there.len() == tasks.len() {
                decided.admitted += 1;
                decided.by_rm += usize::from(!constrained && *order == Order::RateMonotonic);
                decided.by_edf += usize::from(!constrained && *order == Order::EarliestDeadline);
            } else {
                decided.refused += 1;
            }
            if decided.missed > 0 || decided.wrongly_refused > 0 {
                let name = &policy.policy().name;
                wrong.get_or_insert_with(|| format!("seed {seed}, under {name}: {decided:?}\n\n{text}"));
            }
        }
        (decided, wrong)
    }

    fn simulated(&self, policy: &Verified<Policy>, text: &str) -> Outcome {
        let deciding = Deciding::Policy(policy);
        let checked = staged(text, &deciding, &self.framework);
        simulate(&checked, deciding, &self.framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere).unwrap()
    }
}

impl Default for Admission {
    fn default() -> Self {
        Admission::new()
    }
}

impl Decided {
    /// Both.
    pub fn and(self, other: Decided) -> Decided {
        Decided {
            admitted: self.admitted + other.admitted,
            missed: self.missed + other.missed,
            refused: self.refused + other.refused,
            wrongly_refused: self.wrongly_refused + other.wrongly_refused,
            by_bound: self.by_bound + other.by_bound,
            by_rm: self.by_rm + other.by_rm,
            by_edf: self.by_edf + other.by_edf,
        }
    }

    /// How many sets rm and edf admit for each that Liu and Layland's bound admits, on the mean of the two.
    pub fn ratio(&self) -> f64 {
        (self.by_rm + self.by_edf) as f64 / (2 * self.by_bound.max(1)) as f64
    }
}

/// UUniFast: the shares of 2 to 20 tasks are uniformly distributed among those with a sum from 0.5 to 1.05.
/// E. Bini, G. Buttazzo: Measuring the performance of schedulability tests, Real-Time Systems 30, 2005.
fn random(rng: &mut Rng, constrained: bool) -> Vec<Task> {
    let count = rng.usize(2..=20);
    let mut left = 0.5 + 0.55 * rng.f64();
    let mut tasks = Vec::new();
    for number in 0..count {
        let behind = (count - number - 1) as f64;
        let next = if behind == 0.0 { 0.0 } else { left * rng.f64().powf(1.0 / behind) };
        let share = (((left - next) * WHOLE as f64) as i64).clamp(1, WHOLE);
        left = next;
        let period = PERIODS[rng.usize(..PERIODS.len())] * MILLISECOND;
        let budget = period / WHOLE * share;
        let least = (period / 2).max(budget) / MILLISECOND + 1;
        let deadline = if constrained {
            rng.i64(least.min(period / MILLISECOND)..=period / MILLISECOND) * MILLISECOND
        } else {
            period
        };
        let name = format!("T{number}");
        tasks.push(Task { name, period, budget, deadline, priority: None, jitter: 0, blocking: 0, section: 0 });
    }
    tasks
}

fn scenario_of(tasks: &[Task]) -> String {
    let threads = tasks.iter().map(|task| {
        let Task { name, period, budget, deadline, .. } = task;
        format!("  thread {name} period {period}ns deadline {deadline}ns with {{ budget = {budget}ns; }} {{ run {budget}ns; }}\n")
    });
    // Policies that go by the period alone are told so by a warning.
    format!("scenario admission {{\n  duration {ANEW}ms;\n{}}}\n", threads.collect::<String>())
}

/// Whether exact analysis says that no job is late.
fn is_kept(tasks: &[Task], order: Order) -> bool {
    let set = TaskSet::new(tasks.to_vec());
    set.is_ok_and(|set| judge(&set, order, Processors::Any(1)).unwrap().admitted)
}

fn bound_holds(tasks: &[Task]) -> bool {
    let set = TaskSet::new(tasks.to_vec());
    set.is_ok_and(|set| {
        let judged = judge(&set, Order::RateMonotonic, Processors::Any(1)).unwrap();
        judged.steps.iter().any(|step| step.test == Test::LiuLayland && step.holds == Some(true))
    })
}
