//! Programs with a policy on the simulated Rabbit: what bounds in clocks are computed of, and what calls really take.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catapults_compiler::emit::{Part, emit};
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::steps::{Counts, Steps, TurnsByPlace};
use catapults_compiler::verify::Verified;
use catapults_wcet::bound::{Bound, bounds};
use catapults_wcet::costs::Costs;
use catapults_wcet::host::Host;
use catapults_wcet::image::Image;
use catapults_wcet::processors::Processor;
use catapults_wcet::refused::Refused;
use tempfile::TempDir;

use crate::root;

/// The functions that `frameworks/rabbit/tests/clocks.c` marks, by its numbers, from 1.
const MARKED: [&str; 10] = [
    "thread_init",
    "thread_create",
    "thread_run",
    "thread_yield",
    "thread_yield_to",
    "thread_wait",
    "thread_signal",
    "thread_suspend",
    "thread_resume",
    "thread_exit",
];

/// What is between two marks besides the call: `call`, and to mark its end.
const BESIDES: u64 = 12 + 2 + 10;

/// A policy in the library, and a program that calls it.
pub struct Built {
    /// It is in there.
    folder: TempDir,
    /// The library's code.
    pub image: Image,
    costs: Costs,
    turns: TurnsByPlace,
}

/// By function: the longest call, and how many calls there were.
pub type Observed = BTreeMap<String, (u64, u64)>;

/// What imported variables of threads are in a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How many threads live at the most.
    pub threads: u8,
    /// Which draws are made; not 0.
    pub seed: u16,
    /// About how many calls.
    pub actions: u16,
    /// 0: anything; 1: all alike; 2: one of two; 3: few.
    pub values: u8,
}

impl Built {
    /// Translates a policy, and builds both. The error: what the tools said.
    pub fn of(verified: &Verified<Policy>, framework: &Framework) -> Result<Built, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let files = emit(verified, framework).map_err(|refusal| refusal.to_string())?;
        let mut source = None;
        for file in files.iter().filter(|file| file.part != Part::Traced) {
            let path = folder.path().join(&file.name);
            fs::write(&path, &file.text).map_err(|error| error.to_string())?;
            if file.part == Part::Source {
                source = Some(path);
            }
        }
        let source = source.ok_or("there is no source")?;
        let image = folder.path().join("image");
        done(tool("image").arg(&source).arg(&image))?;
        done(
            tool("program")
                .args([&image.join("image.lib"), &folder.path().join("calls.ihx"), &rabbit().join("tests/clocks.c")])
                .args(["--disable-warning", "126"])
                .arg(format!("-DCATAPULTS_COMPILED_IN=\"{}\"", source.display())),
        )?;
        let read = |name: &str| fs::read_to_string(image.join(name)).map_err(|error| format!("{name}: {error}"));
        let mut listings = Vec::new();
        for entry in fs::read_dir(&image).map_err(|error| error.to_string())? {
            let name = entry.map_err(|error| error.to_string())?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".rst") {
                listings.push((name.clone(), read(&name)?));
            }
        }
        listings.sort();
        let costs = Costs::read(&read("costs")?).map_err(|(line, why)| format!("costs:{line}: {why}"))?;
        let image = Image::read(&read("image.ihx")?, &read("image.noi")?, &listings)
            .map_err(|unreadable| format!("{}: {}", unreadable.at, unreadable.why))?;
        Ok(Built { folder, image, costs, turns: Steps::of(verified, framework).turns() })
    }

    /// The bound of each function for so many threads, or why it has none.
    pub fn bounds(&self, processor: &dyn Processor, threads: u64) -> Vec<(String, Result<Bound, Refused>)> {
        bounds(&Host {
            image: &self.image,
            processor,
            costs: &self.costs,
            turns: &|place| self.turns.get(place).copied(),
            counts: counts(threads),
            capacity: None,
        })
    }

    /// Runs the program until it ends, or until a guard fails: whether one did. The error: it did not come to its end.
    pub fn observed(&self, run: Run) -> Result<(Observed, bool), String> {
        let dump = self.folder.path().join(format!("{}-{}-{}.vcd", run.threads, run.seed, run.values));
        let control = [&run.seed.to_le_bytes()[..], &run.actions.to_le_bytes(), &[run.threads, run.values]].concat();
        let control: Vec<String> = control.iter().map(|byte| format!("{byte:#04x}")).collect();
        let vcd = "set hw vcd[0]";
        let commands = format!(
            "set hw simif rom 0x7fff\nset mem rom 0x9f02 {}\n{vcd} add rom 0x9f00\n{vcd} timescale 1us\n{vcd} output \"{}\"\n{vcd} start\nrun\n{vcd} stop\nquit\n",
            control.join(" "),
            dump.display(),
        );
        let script = dump.with_extension("commands");
        fs::write(&script, commands).map_err(|error| error.to_string())?;
        let simulator = folder_of_sdcc()?.join("ucsim_rxk");
        let output = Command::new("timeout")
            .arg("120")
            .arg(simulator)
            .args(["-b", "-q", "-tR2K"])
            .arg(self.folder.path().join("calls.ihx"))
            .stdin(fs::File::open(&script).map_err(|error| error.to_string())?)
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !said.contains("Program stopped itself") {
            return Err(format!("{run:?} did not come to its end"));
        }
        let marks = fs::read_to_string(&dump).map_err(|error| error.to_string())?;
        let _ = fs::remove_file(&dump);
        // What the program prints comes between the simulator's own lines.
        Ok((calls(&marks), said.lines().any(|line| line.trim() == "F")))
    }
}

/// So many threads.
pub fn counts(threads: u64) -> Counts {
    Counts { threads, nodes: 1 }
}

/// `#123` is an instant, `b00000100 !` what the mark is from then on.
fn calls(marks: &str) -> Observed {
    let mut observed = Observed::new();
    let (mut now, mut begun): (u64, Option<(String, u64)>) = (0, None);
    for line in marks.lines() {
        if let Some(instant) = line.strip_prefix('#') {
            now = instant.parse().unwrap_or(now);
        } else if let Some(mark) = line.strip_prefix('b').and_then(|rest| rest.split(' ').next()) {
            match usize::from_str_radix(mark, 2) {
                Ok(0) => {
                    if let Some((name, since)) = begun.take() {
                        let clocks = now - since - BESIDES;
                        let known: &mut (u64, u64) = observed.entry(name).or_default();
                        *known = (known.0.max(clocks), known.1 + 1);
                    }
                }
                Ok(number) => begun = MARKED.get(number - 1).map(|name| ((*name).to_owned(), now)),
                Err(_) => {}
            }
        }
    }
    observed
}

fn rabbit() -> PathBuf {
    root().join("frameworks/rabbit")
}

fn tool(name: &str) -> Command {
    Command::new(rabbit().join("tools").join(name))
}

/// Where the programs of SDCC are. They are installed if they are not there.
pub fn folder_of_sdcc() -> Result<PathBuf, String> {
    let mut install = Command::new(root().join("scripts/rabbit-toolchain"));
    done(&mut install).map(|said| Path::new(said.trim()).to_owned())
}

/// What a program says, if it succeeds.
fn done(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stdout) + &said(&output.stderr)) }
}
