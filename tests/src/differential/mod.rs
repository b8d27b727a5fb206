//! Compiled policies, compared with the interpreter: for every framework, in scripts and in random orders of events.

pub mod python;
pub mod script;
mod shrink;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::emit;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{MOST_ELEMENTS, Policy};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use fastrand::Rng;

use crate::choices::Choices;
use crate::compiled::{Driver, Mode};
use crate::host::Host;
use crate::replay::{Replay, Step};
use crate::{brought, framework_at, policies, root};
use script::{Line, decided, difference, follow, lines, translated};
use shrink::shrink;

/// Steps that a random host takes, and the bytes that it chooses them by.
const STEPS: usize = 200;
const BYTES: usize = STEPS * 6;

/// A framework, and what runs its policies.
pub struct Target {
    /// As its description says.
    pub framework: &'static Framework,
    driver: Driver<'static>,
    /// By path: policies that many scripts name. Some take the verifier a second.
    judged: Mutex<BTreeMap<PathBuf, Judged>>,
    _folder: tempfile::TempDir,
}

/// A policy of a file, or why there is none. `None` if its dialect does not allow it.
type Judged = Option<Result<Arc<Verified<Policy>>, String>>;

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Policies.
    pub policies: usize,
    /// Those among them with an instance for each node.
    pub with_nodes: usize,
    /// Orders of events.
    pub orders: usize,
    /// Decisions, each of which could have differed.
    pub decisions: usize,
}

impl Compared {
    /// This and that.
    #[must_use]
    pub fn and(self, other: Compared) -> Compared {
        Compared {
            policies: self.policies + other.policies,
            with_nodes: self.with_nodes + other.with_nodes,
            orders: self.orders + other.orders,
            decisions: self.decisions + other.decisions,
        }
    }
}

/// Every framework that there is: each folder of `frameworks` with a description. Those whose policies are loaded come first.
///
/// # Panics
/// If a description has mistakes.
pub fn frameworks() -> Vec<&'static Framework> {
    let folders = fs::read_dir(root().join("frameworks")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().to_string_lossy().into_owned());
    let paths = names.map(|name| format!("frameworks/{name}/{name}.framework"));
    let described = paths.filter(|path| root().join(path).exists());
    let mut found: Vec<&'static Framework> = described.map(|path| &*Box::leak(Box::new(framework_at(&path)))).collect();
    found.sort_by(|a, b| (&a.language, a.int_bits, &a.name).cmp(&(&b.language, b.int_bits, &b.name)));
    found
}

/// Whether the simulator has what its threads do: they give processors up and wait. Tasks of a cluster do neither.
pub fn can_be_simulated(framework: &Framework) -> bool {
    framework.events.iter().any(|event| event.name == "switch_out")
}

/// What the compiler says of a policy. `None` if the dialect of the framework does not allow it, if its numbers are too large there, if
/// it has more containers than fit, or if no thread comes to one of them there.
pub fn allowed(source: &Source, framework: &Framework) -> Option<Result<(Verified<Policy>, Diagnostics), Diagnostics>> {
    // Where all fit that a policy can have, E0322 is a mistake of the policy.
    let few = emit::abilities(framework).is_ok_and(|abilities| abilities.most_containers < MOST_ELEMENTS);
    let beyond = |code: &str| {
        code == "E0108"
            || code == "E0311"
            || (code == "E0322" && few)
            || (code == "E0320" && !can_be_simulated(framework))
    };
    match compile(source, framework) {
        Err(diagnostics) if diagnostics.iter().any(|diagnostic| beyond(diagnostic.code)) => None,
        compiled @ (Ok(_) | Err(_)) => Some(compiled),
    }
}

/// A policy that people wrote, for a framework's own test. `None` if its dialect does not allow it, or for a loop that may not end: that
/// is compared by `tests/run`, in which the interpreter goes first and stops at it.
///
/// # Panics
/// If it is refused for anything else.
pub fn written(source: &Source, framework: &Framework) -> Option<Verified<Policy>> {
    let compiled = allowed(source, framework)?;
    ending(compiled.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(source, false))))
}

/// A random policy, for the same. `None` if it is refused, for whatever reason.
pub fn accepted(source: &Source, framework: &Framework) -> Option<Verified<Policy>> {
    ending(compile(source, framework).ok()?)
}

fn ending((policy, warnings): (Verified<Policy>, Diagnostics)) -> Option<Verified<Policy>> {
    (!warnings.iter().any(|warning| warning.code == "E0413")).then_some(policy)
}

/// Whether a framework is compared in a test of its own.
pub fn has_own_test(framework: &Framework) -> bool {
    root().join(format!("tests/tests/{}.rs", framework.name)).exists()
}

impl Target {
    /// A framework by what its policies are compared in: C that runs on the machine that builds. None for one that loads no policies and
    /// has no build `steps`, which must have a test of its own.
    ///
    /// # Panics
    /// If the driver does not compile, or there is neither.
    pub fn new(framework: &'static Framework) -> Option<Self> {
        let loaded = emit::abilities(framework).is_ok_and(|abilities| abilities.loaded);
        if !loaded && !framework.builds.iter().any(|build| build.name == "steps") {
            assert!(has_own_test(framework), "{} has neither a build `steps` nor a test of its own", framework.name);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let driver = Driver::build(framework, folder.path())
            .unwrap_or_else(|said| panic!("the driver does not compile:\n{said}"));
        Some(Target { framework, driver, judged: Mutex::default(), _folder: folder })
    }

    /// The same where its policies really run, if its description has a build `simulated`.
    pub fn simulated(framework: &'static Framework) -> Option<Self> {
        framework.builds.iter().find(|build| build.name == "simulated")?;
        let folder = tempfile::tempdir().unwrap();
        let driver = Driver::of_build(framework, folder.path(), "simulated");
        Some(Target { framework, driver, judged: Mutex::default(), _folder: folder })
    }

    /// The scripts that it can follow: whose policies its dialect allows, whose events it has, whose numbers fit.
    pub fn scripts(&self) -> Vec<PathBuf> {
        files("tests/run", "script").into_iter().filter(|path| self.can_follow(path)).collect()
    }

    fn can_follow(&self, path: &Path) -> bool {
        let text = fs::read_to_string(path).unwrap();
        let most = i64::MAX >> (64 - u32::from(self.framework.int_bits));
        if text.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).any(|number| number > most) {
            return false;
        }
        // What is no script, or whose policy is refused by mistake, fails where it is followed.
        let Ok(lines) = lines(&translated(self.framework, &text)) else { return true };
        let Some(policy) = policy_of(&lines) else { return true };
        if !self.allows(&policy) {
            return false;
        }
        let Ok(policy) = self.verified(&policy) else { return true };
        let framework = self.framework.as_met(policy.policy().timers(), policy.policy().has_nodes());
        let known = |step: &Step| match step {
            Step::Raise(name, _) => framework.events.iter().any(|event| event.name == *name),
            Step::Ask(name, _) => framework.queries.iter().any(|query| query.name == *name),
            Step::At(_)
            | Step::Expire
            | Step::Enter(_)
            | Step::SetProperty(..)
            | Step::SetImport(..)
            | Step::SetThreadImport(..)
            | Step::LetRead(..) => true,
            // Hosts draw themselves.
            Step::LetDraw(_) | Step::Show(_) | Step::Take(_) => false,
        };
        // A turn ends with this event.
        let turns = framework.events.iter().any(|event| event.name == "switch_out");
        let followed = |line: &Line| match line {
            Line::Step(step, _) => known(step),
            Line::Turns(..) => turns,
            Line::Policy(_) | Line::Comment(_) => true,
        };
        if !lines.iter().all(followed) {
            return false;
        }
        // What is no legal event there, such as the suspension of a thread that runs, shows as what is not proved.
        let unproved = |decision: &String| decision.contains(" -> unproved ");
        framework.name == "native" || !follow(&policy, &lines).decisions.iter().any(unproved)
    }

    /// The policies that its dialect allows.
    pub fn policies(&self) -> Vec<PathBuf> {
        let written = files("policies", "sched").into_iter().chain(files("tests/run", "sched"));
        written.filter(|path| self.allows(path)).collect()
    }

    /// Whatever else is wrong with a policy is a failure of the one that compares it.
    fn allows(&self, path: &Path) -> bool {
        self.judged(path).is_some()
    }

    /// Follows a script. `UPDATE=1` writes the interpreter's decisions into it.
    ///
    /// # Errors
    /// Where the interpreter, the file and the compiled policy differ.
    pub fn script(&self, path: &Path) -> Result<Compared, String> {
        let text = translated(self.framework, &fs::read_to_string(path).map_err(|error| error.to_string())?);
        let lines = lines(&text)?;
        let policy = self.verified(&policy_of(&lines).ok_or("no line says `policy PATH`")?)?;
        let followed = follow(&policy, &lines);
        let expectation = |line: &Line| match line {
            Line::Step(_, decision) | Line::Turns(_, decision) => decision.clone(),
            Line::Policy(_) | Line::Comment(_) => None,
        };
        let mut expected: Vec<String> = lines.iter().filter_map(expectation).collect();
        if std::env::var_os("UPDATE").is_some() && self.framework.name == "native" {
            fs::write(path, decided(&lines, &followed.interpreted)).map_err(|error| error.to_string())?;
            expected.clone_from(&followed.interpreted);
        }
        if let Some(difference) = difference(&expected, &followed.interpreted) {
            return Err(format!("the interpreter: {difference}"));
        }
        let object = self.driver.policy(&policy, &format!("script-{}", stem(path)), Mode::AsBuilt)?;
        let compiled = self.driver.replay(&object, &[followed.steps])?.remove(0);
        match difference(&followed.decisions, &compiled) {
            Some(difference) => Err(format!("the compiled policy: {difference}")),
            None => Ok(Compared {
                policies: 1,
                with_nodes: nodes_of(&policy),
                orders: 1,
                decisions: followed.decisions.len(),
            }),
        }
    }

    /// A policy that people wrote, in so many random orders of events.
    ///
    /// # Errors
    /// A difference, and where it was saved.
    pub fn orders(&self, path: &Path, seed: u64, orders: u64) -> Result<Compared, String> {
        let policy = self.verified(path)?;
        let object = self.driver.policy(&policy, &format!("random-{}", stem(path)), Mode::Sanitized)?;
        let mut rng = Rng::with_seed(seed);
        let orders: Vec<Vec<u8>> = (0..orders).map(|_| bytes(&mut rng, BYTES)).collect();
        match self.agree(&policy, &object, &orders)? {
            Agreement::Same(compared) => Ok(compared),
            Agreement::Differs { order, difference } => {
                let fails = &mut |order: &[u8]| self.differs(&policy, &object, order);
                let order = shrink(order, 400, fails);
                let (steps, decisions) = self.host(&policy, &order)?;
                Err(saved(&name(path), seed, &steps, &decisions, &difference)?)
            }
        }
    }

    /// Random orders of events for a policy that people wrote, for a comparison elsewhere: the lines that a program of a build `steps`
    /// reads (docs/frameworks.md), and those that it has to answer with.
    ///
    /// # Errors
    /// What is wrong with the policy.
    pub fn asked(&self, path: &Path, seed: u64, orders: u64) -> Result<(String, String), String> {
        let policy = self.verified(path)?;
        let (mut rng, mut asked, mut answers) = (Rng::with_seed(seed), String::new(), String::new());
        for _ in 0..orders {
            let (steps, decisions) = self.host(&policy, &bytes(&mut rng, BYTES))?;
            let mut replay = Replay::new(&policy);
            asked.push_str("restart\n");
            for step in &steps {
                let before = replay.decisions.len();
                replay.step(step);
                let decision =
                    replay.decisions.get(before).map_or("", |said| said.split_once(" -> ").map_or("", |said| said.1));
                asked.push_str(&format!("{step}\n"));
                answers.push_str(&format!("{decision}\n"));
            }
            if let Some(difference) = difference(&decisions, &replay.decisions) {
                return Err(format!("the interpreter by itself: {difference}"));
            }
        }
        Ok((asked, answers))
    }

    /// Random policies, until so many are accepted, each in so many random orders of events.
    ///
    /// # Errors
    /// A difference, and where it was saved.
    pub fn random_policies(&self, seed: u64, accepted: usize, orders: u64) -> Result<Compared, String> {
        let (mut rng, mut compared) = (Rng::with_seed(seed), Compared::default());
        while compared.policies < accepted {
            let choices = bytes(&mut rng, 400);
            let Some((_, policy)) = self.generated(&choices) else { continue };
            let object = self.driver.policy(&policy, &format!("seed-{seed}"), Mode::Sanitized)?;
            let orders: Vec<Vec<u8>> = (0..orders).map(|_| bytes(&mut rng, BYTES)).collect();
            match self.agree(&policy, &object, &orders)? {
                Agreement::Same(more) => compared = compared.and(more),
                Agreement::Differs { order, difference } => {
                    return Err(self.shrunk(seed, &choices, order, &object, &difference)?);
                }
            }
        }
        Ok(compared)
    }

    /// Makes both the policy and the order of events shorter, and saves them.
    fn shrunk(&self, seed: u64, policy: &[u8], order: Vec<u8>, object: &Path, said: &str) -> Result<String, String> {
        let Some((_, first)) = self.generated(policy) else { return Err(said.to_owned()) };
        let order = shrink(order, 400, &mut |order| self.differs(&first, object, order));
        let differs = |policy: &[u8], order: &[u8]| {
            let Some((_, policy)) = self.generated(policy) else { return false };
            match self.driver.policy(&policy, &format!("shrunk-{seed}"), Mode::Sanitized) {
                Ok(object) => self.differs(&policy, &object, order),
                Err(_) => false,
            }
        };
        let policy = shrink(policy.to_vec(), 120, &mut |policy| differs(policy, &order));
        let Some((text, verified)) = self.generated(&policy) else { return Err(said.to_owned()) };
        let object = self.driver.policy(&verified, &format!("shrunk-{seed}"), Mode::Sanitized)?;
        let order = shrink(order, 400, &mut |order| self.differs(&verified, &object, order));
        let (steps, decisions) = self.host(&verified, &order)?;
        let file = root().join(format!("tests/run/difference-{}-{seed}.sched", self.framework.name));
        fs::write(&file, text).map_err(|error| error.to_string())?;
        saved(&name(&file), seed, &steps, &decisions, said)
    }

    /// A random policy, if it is accepted.
    fn generated(&self, choices: &[u8]) -> Option<(String, Verified<Policy>)> {
        let text = policies::random_for(self.framework, choices);
        let (policy, _) = compile(&Source::new("random.sched", text.clone()), self.framework).ok()?;
        Some((text, policy))
    }

    fn verified(&self, path: &Path) -> Result<Arc<Verified<Policy>>, String> {
        self.judged(path).unwrap_or_else(|| Err(format!("{}: its dialect does not allow it", name(path))))
    }

    fn judged(&self, path: &Path) -> Judged {
        if let Some(known) = self.judged.lock().unwrap().get(path) {
            return known.clone();
        }
        let judged = self.judge(path).map(|judged| judged.map(Arc::new));
        self.judged.lock().unwrap().insert(path.to_owned(), judged.clone());
        judged
    }

    fn judge(&self, path: &Path) -> Option<Result<Verified<Policy>, String>> {
        let read = fs::read(path).map_err(|error| error.to_string()).and_then(|bytes| {
            Source::from_bytes(name(path), bytes).map_err(|refused| refused.diagnostics.render(&refused.source, false))
        });
        let source = match read {
            Ok(source) => brought(source, path.parent().unwrap()),
            Err(why) => return Some(Err(why)),
        };
        let compiled = allowed(&source, self.framework)?;
        Some(compiled.map(|(policy, _)| policy).map_err(|diagnostics| diagnostics.render(&source, false)))
    }

    /// The steps of a host that chooses by these bytes, and what the interpreter decides.
    fn host(&self, policy: &Verified<Policy>, order: &[u8]) -> Result<(Vec<Step>, Vec<String>), String> {
        let framework = self.framework.as_met(policy.policy().timers(), policy.policy().has_nodes());
        let mut choices = Choices::new(order);
        let mut host = Host::new(policy, &framework)?;
        for _ in 0..STEPS {
            if !host.out && choices.any_left() {
                host.anything(&mut choices)?;
            }
        }
        Ok((host.script, host.decisions))
    }

    fn agree(&self, policy: &Verified<Policy>, object: &Path, orders: &[Vec<u8>]) -> Result<Agreement, String> {
        let (mut scripts, mut expected) = (Vec::new(), Vec::new());
        for order in orders {
            let (script, decisions) = self.host(policy, order)?;
            scripts.push(script);
            expected.push(decisions);
        }
        let compiled = match self.driver.replay(object, &scripts) {
            Ok(compiled) => compiled,
            // What a sanitizer says is a difference, too: of which order it is found one by one.
            Err(said) if orders.len() == 1 => {
                return Ok(Agreement::Differs { order: orders[0].clone(), difference: said });
            }
            Err(said) => {
                for order in orders {
                    let one = self.agree(policy, object, std::slice::from_ref(order))?;
                    if let Agreement::Differs { .. } = one {
                        return Ok(one);
                    }
                }
                return Err(said);
            }
        };
        for ((order, expected), found) in orders.iter().zip(&expected).zip(&compiled) {
            if let Some(difference) = difference(expected, found) {
                return Ok(Agreement::Differs { order: order.clone(), difference });
            }
        }
        let decisions = expected.iter().map(Vec::len).sum();
        Ok(Agreement::Same(Compared { policies: 1, with_nodes: nodes_of(policy), orders: orders.len(), decisions }))
    }

    fn differs(&self, policy: &Verified<Policy>, object: &Path, order: &[u8]) -> bool {
        matches!(self.agree(policy, object, &[order.to_vec()]), Ok(Agreement::Differs { .. }))
    }
}

/// The policy that a script names.
fn policy_of(lines: &[Line]) -> Option<PathBuf> {
    lines.iter().find_map(|line| if let Line::Policy(path) = line { Some(root().join(path)) } else { None })
}

/// What became of a comparison.
enum Agreement {
    Same(Compared),
    Differs { order: Vec<u8>, difference: String },
}

/// Saves a script of which a policy decides something else; the message about it.
fn saved(policy: &str, seed: u64, steps: &[Step], decisions: &[String], said: &str) -> Result<String, String> {
    let mut lines = vec![Line::Policy(policy.to_owned())];
    lines.extend(steps.iter().map(|step| Line::Step(step.clone(), None)));
    let stem = policy.rsplit('/').next().unwrap_or_default().trim_end_matches(".sched");
    let file = root().join(format!("tests/run/difference-{}-{seed}.script", stem.trim_start_matches("difference-")));
    fs::write(&file, decided(&lines, decisions)).map_err(|error| error.to_string())?;
    Ok(format!("the compiled policy: {said}\nsaved, as short as it was found to show, as {}", file.display()))
}

/// Files of a folder by how their names end, in order.
///
/// # Panics
/// If there is none.
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} has no .{ending}");
    files
}

/// A path from the root of the repository.
pub fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

fn nodes_of(policy: &Verified<Policy>) -> usize {
    usize::from(policy.policy().has_nodes())
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rng.fill(&mut bytes);
    bytes
}

/// A number in the environment.
pub fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
