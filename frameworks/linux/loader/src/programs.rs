//! The programs of an object: loaded, and run one at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;

use libbpf_rs::{ObjectBuilder, OpenObject, PrintLevel, ProgramInput, ProgramMut};

use crate::texts::Texts;

/// How the names of programs begin.
pub const PREFIX: &str = "catapults_do_";

/// What libbpf says meanwhile: the verifier's words, if a program is refused or its statistics are wanted.
static SAID: Mutex<String> = Mutex::new(String::new());

/// What a program is given, and gives back: `struct catapults_step` of bpf/steps.bpf.c.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    pub thread: u64,
    pub which: i64,
    pub value: i64,
    pub answer: i64,
    pub stop: u64,
    pub gone: u64,
    pub told: [i64; 4],
}

/// What a program returns if it could do what it should.
const DONE: u32 = 0;
/// A loop took too many turns.
const SPENT: u32 = 2;

/// A loaded policy.
pub struct Programs {
    programs: BTreeMap<String, ProgramMut<'static>>,
    pub texts: Texts,
}

impl Programs {
    /// Loads an object, and takes its memory.
    pub fn load(object: &str) -> Result<Self, String> {
        let mut open = open(object)?;
        let section = open.maps().find(|map| map.name() == ".rodata.texts");
        let texts = section.and_then(|map| map.initial_value().map(Texts::read));
        let texts = texts.ok_or_else(|| format!("{object} is no policy: it has no section `.rodata.texts`"))??;
        for mut program in open.progs_mut() {
            program.set_log_level(0);
        }
        let loaded = open.load().map_err(|error| refused(object, &error.to_string()))?;
        // As long as this process runs.
        let loaded = Box::leak(Box::new(loaded));
        let named = |program: ProgramMut<'static>| {
            let name = program.name().to_string_lossy().trim_start_matches(PREFIX).to_owned();
            (name, program)
        };
        let programs = Programs { programs: loaded.progs_mut().map(named).collect(), texts };
        programs.run("begin", Step::default())?;
        Ok(programs)
    }

    /// Whether there is a program of this name: a policy need not handle each event.
    pub fn has(&self, name: &str) -> bool {
        self.programs.contains_key(name)
    }

    /// Runs a program. What it says comes back.
    pub fn run(&self, name: &str, step: Step) -> Result<Step, String> {
        let program = self.programs.get(name).ok_or_else(|| format!("no such event: {name}"))?;
        let mut bytes = step.to_bytes();
        let input = ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() };
        let output = program.test_run(input).map_err(|error| format!("the kernel does not run `{name}`: {error}"))?;
        match output.return_value {
            DONE => Ok(Step::from_bytes(&bytes)),
            SPENT => Err(format!("`{name}` has used up what the kernel allows a loop: the policy is out")),
            _ => Err(format!("`{name}` found no memory, or the lock was not to be had")),
        }
    }
}

impl Step {
    const SIZE: usize = 80;

    fn to_bytes(self) -> [u8; Self::SIZE] {
        let words = [
            self.thread,
            self.which.cast_unsigned(),
            self.value.cast_unsigned(),
            self.answer.cast_unsigned(),
            self.stop,
            self.gone,
        ];
        let words = words.into_iter().chain(self.told.map(i64::cast_unsigned));
        let mut bytes = [0; Self::SIZE];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let mut words = bytes.chunks_exact(8).map(|chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        let mut word = || words.next().unwrap_or(0);
        Step {
            thread: word(),
            which: word().cast_signed(),
            value: word().cast_signed(),
            answer: word().cast_signed(),
            stop: word(),
            gone: word(),
            told: std::array::from_fn(|_| word().cast_signed()),
        }
    }
}

/// Opens an object, and keeps from now on what libbpf says.
pub fn open(object: &str) -> Result<OpenObject, String> {
    libbpf_rs::set_print(Some((PrintLevel::Debug, |level, line| {
        // Of what it merely does there is much.
        if level != PrintLevel::Debug || line.contains("PROG LOAD LOG") {
            SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push_str(&line);
        }
    })));
    ObjectBuilder::default().open_file(object).map_err(|error| format!("{object} cannot be read: {error}"))
}

/// What libbpf has said since it was last asked.
pub fn said() -> String {
    std::mem::take(&mut *SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// The message about an object that the kernel does not accept. A policy that the compiler accepts is to be accepted.
pub fn refused(object: &str, error: &str) -> String {
    format!("{}the kernel refuses {object}: {error}. This is a mistake of Catapults, not of the policy", said())
}
