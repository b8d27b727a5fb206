//! Scenarios in the tests: their policies are those of the library, and of `tests/run` and `tests/ui`.

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Decides, Draft, FileName, Found, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::{Staged, compile, compile_scenarios};
use catapults_simulator::sim::Deciding;

use crate::{named_policy, root};

/// A policy.
#[derive(Debug)]
pub struct Known(pub Verified<Policy>);

impl Decides for Known {
    fn subject(&self) -> Subject<'_> {
        Deciding::Policy(&self.0).subject()
    }
}

/// What becomes of scenarios, wherever they stand. One that names no policy is for `round_robin`.
pub fn judge(source: &Source, framework: &Framework) -> Staged<Known> {
    compile_scenarios(source, framework, &|_| true, &mut Library(framework))
}

struct Library<'a>(&'a Framework);

impl Surroundings for Library<'_> {
    type Policy = Known;

    fn policy(&mut self, draft: &Draft) -> Found<Known> {
        let name = draft.policy.as_ref().map_or("round_robin.sched", |named| named.path.as_str());
        for folder in ["policies", "tests/run", "tests/ui/accepted"] {
            let path = format!("{folder}/{name}");
            if root().join(&path).exists() {
                let source = named_policy(path.as_str(), &root().join(&path));
                return compile(&source, self.0).map_or(Found::Refused, |(policy, _)| Found::Policy(Known(policy)));
            }
        }
        Found::None(format!("there is no policy `{name}`"), "say which one it is, from the scenario's folder")
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        match file.path.as_str() {
            "sizes.txt" => Ok(vec![1_000_000, 9_000_000, 2_000_000]),
            "empty.txt" => Ok(Vec::new()),
            _ => Err("No such file or directory".to_owned()),
        }
    }
}
