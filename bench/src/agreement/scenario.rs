//! A scenario, read with its policy and simulated.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Decides, Draft, FileName, Found, Scenario, Statistic, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{NotUsed, bring};
use catapults_compiler::verify::Verified;
use catapults_compiler::{compile, compile_scenarios};
use catapults_simulator::sim::{self, Deciding, Ending, Keep, Nowhere, Outcome, RunBy, Sink};

use crate::place::Place;

/// A scenario and the policy that it is for.
pub struct Case {
    pub scenario: Scenario,
    /// As its file is called: `fifo`.
    pub policy: String,
    verified: Verified<Policy>,
}

/// What became of a group of threads, simulated or not.
#[derive(Clone, Debug)]
pub struct Fate {
    pub name: String,
    /// Of the time of all processors, in hundredths.
    pub share: f64,
    /// Of the jobs that were done, in milliseconds.
    pub response: Option<Response>,
}

/// How long jobs took, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// How many there were.
    pub jobs: u64,
    pub mean: f64,
    /// Nine of ten took no longer.
    pub p90: f64,
}

/// The description of the native runtime.
///
/// # Errors
///
/// When it cannot be read.
pub fn native(place: &Place) -> Result<Framework> {
    let source = source(&place.source("frameworks/native/native.framework"))?;
    framework::read(&source).map_err(|said| anyhow!("{}", said.render(&source, false)))
}

/// The scenarios of a text; their policies are found from `bench/agreement`.
///
/// # Errors
///
/// When it, or a policy, has mistakes.
pub fn read(place: &Place, framework: &Framework, source: &Source) -> Result<Vec<Case>> {
    let mut library = Library { place, framework };
    let staged = compile_scenarios(source, framework, &|_| true, &mut library);
    if staged.said.has_errors() || staged.refused {
        bail!("{} cannot be simulated:\n{}", source.name, staged.said.render(source, false));
    }
    let cases = staged.scenarios.into_iter();
    Ok(cases.map(|(scenario, Known { name, verified })| Case { scenario, policy: name, verified }).collect())
}

/// A text file.
///
/// # Errors
///
/// When it cannot be read.
pub fn source(file: &Path) -> Result<Source> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Source::new(file.display().to_string(), text))
}

impl Case {
    /// Simulates it; what happens goes to `sink`.
    ///
    /// # Errors
    ///
    /// When the simulation has to stop.
    pub fn simulate(&self, framework: &Framework, sink: &mut dyn Sink) -> Result<Outcome> {
        let deciding = Deciding::Policy(&self.verified);
        let outcome = sim::simulate(&self.scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, sink)
            .map_err(|why| anyhow!("{}", why))?;
        match &outcome.ending {
            Ending::Out(out) => bail!("the simulation of {} stops: {}", self.scenario.name, out.why),
            Ending::Stuck(left) => bail!("in {} threads are left for ever: {}", self.scenario.name, left.join(", ")),
            Ending::Duration | Ending::AllEnded => Ok(outcome),
        }
    }

    /// What becomes of its threads.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn fates(&self, framework: &Framework) -> Result<Vec<Fate>> {
        let outcome = self.simulate(framework, &mut Nowhere)?;
        let milliseconds = |nanoseconds: i64| nanoseconds as f64 / 1e6;
        let threads = self.scenario.threads.iter().zip(&outcome.tallies);
        let fate = threads.map(|(thread, tally)| {
            let statistic = |which| tally.response.statistic(which).map(milliseconds);
            let both = statistic(Statistic::Mean).zip(statistic(Statistic::Quantile(900)));
            Fate {
                name: thread.name.clone(),
                share: 100.0 * tally.ran as f64 / outcome.capacity as f64,
                response: both.map(|(mean, p90)| Response { jobs: tally.jobs, mean, p90 }),
            }
        });
        Ok(fate.collect())
    }

    /// The names of its events, by which [`sim::Record`]s name them.
    pub fn event_names(&self, framework: &Framework) -> Vec<String> {
        sim::event_names(Deciding::Policy(&self.verified), framework)
    }
}

struct Known {
    name: String,
    verified: Verified<Policy>,
}

impl Decides for Known {
    fn subject(&self) -> Subject<'_> {
        Deciding::Policy(&self.verified).subject()
    }
}

struct Library<'a> {
    place: &'a Place,
    framework: &'a Framework,
}

impl Surroundings for Library<'_> {
    type Policy = Known;

    fn policy(&mut self, draft: &Draft) -> Found<Known> {
        let help = "name one of the library: `policy \"../../policies/fifo.sched\";`";
        let Some(named) = &draft.policy else { return Found::None("it names no policy".to_owned(), help) };
        let file = self.place.source("bench/agreement").join(&named.path);
        let Ok(source) = source(&file) else {
            return Found::None(format!("there is no policy `{}`", named.path), help);
        };
        let source = bring(source, &mut |wanted| {
            let used = fs::read_to_string(file.with_file_name(wanted.path));
            used.map(|text| Source::new(wanted.path, text)).map_err(|error| NotUsed::Refused(error.to_string()))
        });
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        compile(&source, self.framework).map_or(Found::Refused, |(verified, _)| Found::Policy(Known { name, verified }))
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        Err(format!("`{}`: numbers of files are not run here", file.path))
    }
}
