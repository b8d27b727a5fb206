//! What servers for threads without a period leave to periodic threads, in random sets: whom a policy admits is never late, however many
//! others come, and however long they want to run.

use catapults_compiler::compile;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_simulator::sim::{Deciding, Keep, Nowhere, RunBy, simulate};
use fastrand::Rng;

use crate::theory::staged;
use crate::{native, policy_at, root};

/// The policies with a server.
const POLICIES: [&str; 3] = ["rm_polling_server", "deferrable_server", "sporadic_server"];
/// In milliseconds. A server has one of these at the most, and a thread none that is shorter than the server's.
const PERIODS: [i64; 10] = [4, 5, 8, 10, 20, 25, 40, 50, 100, 200];

/// The policies of the library.
pub struct Servers {
    framework: Framework,
    policies: Vec<Verified<Policy>>,
}

impl Servers {
    /// With all of them.
    pub fn new() -> Self {
        let framework = native();
        let policy = |name: &str| {
            let source = policy_at(&root().join("policies").join(format!("{name}.sched")));
            let compiled = compile(&source, &framework);
            compiled.unwrap_or_else(|errors| panic!("{}", errors.render(&source, false))).0
        };
        Servers { policies: POLICIES.into_iter().map(policy).collect(), framework }
    }

    /// How many threads the policies admit of a random set.
    ///
    /// # Errors
    /// One of them is late: a scenario that shows it.
    pub fn admit(&self, seed: u64) -> Result<usize, String> {
        let mut rng = Rng::with_seed(seed);
        let (text, periodic) = scenario(&mut rng);
        let mut admitted = 0;
        for policy in &self.policies {
            let deciding = Deciding::Policy(policy);
            let checked = staged(&text, &deciding, &self.framework);
            let run_by = RunBy::Interpreter;
            let outcome = simulate(&checked, deciding, &self.framework, run_by, Keep::Beginning, &mut Nowhere)?;
            for tally in &outcome.tallies[..periodic] {
                admitted += usize::from(tally.refusals == 0);
                if tally.misses > 0 {
                    return Err(format!("seed {seed}, under {}: late\n\n{text}", policy.policy().name));
                }
            }
        }
        Ok(admitted)
    }
}

impl Default for Servers {
    fn default() -> Self {
        Servers::new()
    }
}

/// A server, threads that it must not harm, and how many these are: they come first.
fn scenario(rng: &mut Rng) -> (String, usize) {
    let server = PERIODS[rng.usize(..5)];
    let budget = rng.i64(1..=(server * 6 / 10).max(1));
    let periods: Vec<i64> = PERIODS.into_iter().filter(|period| *period >= server).collect();
    let count = rng.usize(1..=4);
    let (mut threads, mut starts) = (String::new(), Vec::new());
    for number in 0..count {
        let period = periods[rng.usize(..periods.len())] * 1000;
        let most = period * rng.i64(3..=50) / 100;
        let budget = rng.i64(1..=most);
        let start = if rng.bool() { 0 } else { rng.i64(0..period) };
        starts.push(start);
        threads.push_str(&format!(
            "  thread T{number} at {start}us period {period}us with {{ budget = {budget}us; }} {{ run {budget}us; }}\n"
        ));
    }
    let (often, long) = (server * rng.i64(200..2000), rng.i64(200..budget * 1500));
    // The worst is often that all come at once, and that the server has been able to keep its budget until then.
    let when = if rng.bool() { starts[rng.usize(..starts.len())] } else { rng.i64(0..50_000) };
    let at_once = rng.i64(500..6000);
    let text = format!(
        "scenario servers {{\n  duration 1s;\n  seed {};\n  set server_period = {server}ms;\n  set server_budget = {budget}ms;\n{threads}  \
         thread flood * 1000 every exponential({often}us) {{ run exponential({long}us); }}\n  \
         thread burst * 30 at {when}us {{ run {at_once}us; }}\n}}\n",
        rng.u32(1..1000)
    );
    (text, count)
}
