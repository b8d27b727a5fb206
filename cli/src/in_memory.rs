//! Scenarios and policies that are texts, without files.

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Decides, Draft, FileName, Found, Scenario, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::{Staged, compile_scenarios};
use catapults_simulator::sim::{self, Deciding, Keep, Nowhere, Outcome, RunBy};

/// A policy, for all scenarios of a text.
#[derive(Clone, Copy)]
pub struct Under<'a> {
    pub policy: &'a Verified<Policy>,
    /// In place of the scenarios' own policy: variables that it does not import have no effect.
    pub instead: bool,
}

impl<'a> Under<'a> {
    /// The scenarios of a text whose names are `wanted`, with what there is to say of them.
    pub fn judge(self, text: &Source, framework: &Framework, wanted: &dyn Fn(&str) -> bool) -> Staged<Under<'a>> {
        compile_scenarios(text, framework, wanted, &mut { self })
    }

    /// What comes of a scenario, or why the framework cannot be simulated.
    pub fn simulate(self, scenario: &Scenario, framework: &Framework) -> Result<Outcome, String> {
        let deciding = Deciding::Policy(self.policy);
        sim::simulate(scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere)
    }
}

impl Decides for Under<'_> {
    fn subject(&self) -> Subject<'_> {
        Deciding::Policy(self.policy).subject()
    }
}

impl<'a> Surroundings for Under<'a> {
    type Policy = Under<'a>;

    fn policy(&mut self, draft: &Draft) -> Found<Under<'a>> {
        match &draft.policy {
            _ if self.instead => Found::Instead(*self),
            Some(named) => Found::None(format!("there is no policy `{}`", named.path), "leave the scenario out"),
            None => Found::Policy(*self),
        }
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        Err(format!("there is no file `{}`", file.path))
    }
}
