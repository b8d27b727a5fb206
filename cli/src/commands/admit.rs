//! `catapults admit`.

mod data;
mod shown;

use super::{is_of_rtapp, is_of_scenarios, is_standard_input, read_source};
use crate::arguments::{Admit, OrderName, UnitName};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{apart, is_read, ready, whole_text};
use crate::frameworks;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use catapults_simulator::admission::{
    self, Found, Judgement, Kind, NoTest, NotRead, Order, Processors, Step, Unit, judge, kind_of, of_rtapp, of_scenario,
};
use catapults_simulator::picture::visible;
use std::ops::Range;
use std::path::Path;

/// A set that was judged.
struct Judged<'a> {
    file: &'a Path,
    found: &'a Found,
    order: OrderName,
    processors: Processors,
    judgement: &'a Judgement,
}

pub fn admit(console: &Console, arguments: &Admit) -> Result<(), Failure> {
    is_read(&arguments.file);
    arguments.poet.as_ref().map_or(Ok(()), |output| ready("--poet", output))?;
    let (source, found, named) = read(console, arguments)?;
    arguments.poet.as_ref().map_or(Ok(()), |output| apart("--poet", output))?;
    let order = order(arguments, &found, named.as_deref())?;
    let count = arguments.processors.or(found.processors).unwrap_or(1);
    let processors = if arguments.partitioned { Processors::Own(count) } else { Processors::Any(count) };
    let judgement = judge(&found.set, order.order(), processors).map_err(|none| without_test(source, &found, none))?;
    let judged = Judged { file: &arguments.file, found: &found, order, processors, judgement: &judgement };
    console.result(&shown::text(&judged))?;
    if console.is_json() {
        console.record(&data::object(&judged));
    }
    if let Some(output) = &arguments.poet {
        whole_text("--poet", output, &for_poet(&judged)?)?;
    }
    if judgement.admitted { Ok(()) } else { Err(Failure::Refused) }
}

/// The test that has decided.
fn decisive(judgement: &Judgement) -> Option<&Step> {
    let of_it = |step: &&Step| (step.holds == Some(true)) == judgement.admitted;
    judgement.steps.iter().rev().find(of_it)
}

/// The file, the set in it, and the policy that it names.
fn read(console: &Console, arguments: &Admit) -> Result<(Source, Found, Option<String>), Failure> {
    let file = &arguments.file;
    let kind = if is_standard_input(file) { None } else { kind_of(file) };
    let source = read_source(file)?;
    let is_scenario = is_of_scenarios(file);
    if !is_scenario && let Some(only) = &arguments.only {
        let title = format!("there is no scenario `{only}`: this is no file of scenarios");
        return Err(Failure::of_usage("--only", error(title, At::default(), "leave --only out")));
    }
    if is_scenario || is_of_rtapp(file) {
        let framework = frameworks::find(console, &arguments.framework.framework)?.framework;
        let read = match is_scenario {
            true => of_scenario(&source, &framework, arguments.only.as_deref())
                .map(|of| (of.found, of.policy.or_else(|| stem(file)))),
            false => of_rtapp(&source, &framework, arguments.processors.unwrap_or(1)).map(|found| (found, None)),
        };
        return match read {
            Ok((found, policy)) => Ok((source, found, policy)),
            Err(why) => Err(unread(console, source, why)),
        };
    }
    let kind = match kind {
        Some(kind) => kind,
        None if is_standard_input(file) => of_text(&source.text),
        None => {
            let help = "give POET's .yaml, a table (.csv, .tsv), a .scenario, or a workload of rt-app (.json)";
            return Err(Failure::of_file("E0534", file, "the name does not say which kind of task set this is", help));
        }
    };
    match admission::read(&source.text, kind, arguments.unit.unit()) {
        Ok(found) => Ok((source, found, None)),
        Err(wrong) => Err(unread(console, source, NotRead::Wrong(wrong))),
    }
}

/// A table has no colon in its first line.
fn of_text(text: &str) -> Kind {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    if first.is_some_and(|line| line.contains(':') || line.starts_with("---")) { Kind::Poet } else { Kind::Table }
}

/// `edf` of `edf.overload.scenario`, whose policy is `edf.sched` unless it names another.
fn stem(file: &Path) -> Option<String> {
    let name = file.file_name().filter(|_| !is_standard_input(file))?.to_string_lossy().into_owned();
    name.split('.').next().map(str::to_owned)
}

fn unread(console: &Console, source: Source, why: NotRead) -> Failure {
    let (title, at, help) = match why {
        NotRead::Wrong(wrong) => (wrong.what, wrong.at, wrong.help),
        NotRead::Workload(wrong) => {
            let help = "docs/scenarios.md says what of rt-app can be read".to_owned();
            let title = wrong.to_string();
            return of_diagnostic(source, |text| {
                Diagnostic::error("E0517", visible(&title), at_range(text, wrong.at), "").help(help)
            });
        }
        NotRead::Refused(source, said) => {
            console.diagnostics(&source, &said);
            return Failure::Said;
        }
    };
    of_diagnostic(source, |text| error(title, at_range(text, at), help))
}

fn of_diagnostic(source: Source, diagnostic: impl FnOnce(&str) -> Diagnostic) -> Failure {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic(&source.text));
    Failure::Diagnostics(Box::new((source, diagnostics)))
}

fn error(title: impl AsRef<str>, at: At, help: impl AsRef<str>) -> Diagnostic {
    Diagnostic::error("E0534", visible(title.as_ref()), at, "").help(visible(help.as_ref()))
}

fn at_range(text: &str, range: Range<usize>) -> At {
    // Nothing in particular: it is about the file.
    if range.is_empty() && range.start == 0 {
        return At::default();
    }
    super::sim::at_range(text, range)
}

fn without_test(source: Source, found: &Found, none: NoTest) -> Failure {
    match none.task.and_then(|task| found.places.get(task)).cloned() {
        Some(place) => of_diagnostic(source, |text| error(none.what, at_range(text, place), none.help)),
        None => Failure::of_usage("--processors", error(none.what, At::default(), none.help)),
    }
}

/// The order of `--policy`, or that of the file.
fn order(arguments: &Admit, found: &Found, named: Option<&str>) -> Result<OrderName, Failure> {
    if let Some(order) = arguments.policy {
        return Ok(order);
    }
    if let Some(order) = found.order {
        return Ok(OrderName::of(order));
    }
    let stem = |path: &str| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".sched").to_owned();
    let known = named.and_then(|named| OrderName::of_policy(&stem(named)));
    known.ok_or_else(|| {
        let title = match named {
            Some(named) => format!("there is no test for the order of the policy `{}`", stem(named)),
            None => "the file does not say in which order its tasks run".to_owned(),
        };
        let help = "say it: `--policy rm`, `dm`, `priority`, `edf` or `llf`";
        Failure::of_usage("--policy", error(title, At::default(), help))
    })
}

fn for_poet(judged: &Judged<'_>) -> Result<String, Failure> {
    let not = |what: String, help: &str| Failure::of_usage("--poet", error(what, At::default(), help));
    if judged.processors.count() > 1 {
        return Err(not(
            "POET is for one processor".to_owned(),
            "give the tasks of each processor in a file of its own",
        ));
    }
    admission::to_poet(&judged.found.set, judged.order.order()).map_err(|why| not(why.what, why.help))
}

impl OrderName {
    fn order(self) -> Order {
        match self {
            OrderName::Rm => Order::RateMonotonic,
            OrderName::Dm => Order::DeadlineMonotonic,
            OrderName::Priority => Order::Priorities,
            OrderName::Edf => Order::EarliestDeadline,
            OrderName::Llf => Order::LeastLaxity,
        }
    }

    fn of(order: Order) -> Self {
        match order {
            Order::RateMonotonic => OrderName::Rm,
            Order::DeadlineMonotonic => OrderName::Dm,
            Order::Priorities => OrderName::Priority,
            Order::EarliestDeadline => OrderName::Edf,
            Order::LeastLaxity => OrderName::Llf,
        }
    }

    /// Of a policy of the library.
    fn of_policy(name: &str) -> Option<Self> {
        match name {
            "rm" => Some(OrderName::Rm),
            "dm" => Some(OrderName::Dm),
            "fixed_priority" => Some(OrderName::Priority),
            "edf" => Some(OrderName::Edf),
            "llf" => Some(OrderName::Llf),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            OrderName::Rm => "rm",
            OrderName::Dm => "dm",
            OrderName::Priority => "priority",
            OrderName::Edf => "edf",
            OrderName::Llf => "llf",
        }
    }
}

impl UnitName {
    fn unit(self) -> Unit {
        match self {
            UnitName::Ns => Unit::Nanoseconds,
            UnitName::Us => Unit::Microseconds,
            UnitName::Ms => Unit::Milliseconds,
            UnitName::S => Unit::Seconds,
        }
    }
}
