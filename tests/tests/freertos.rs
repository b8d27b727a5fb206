//! What policies decide in a stock FreeRTOS kernel is what the interpreter decides: see `tests/src/recorded.rs`. The programs are
//! `frameworks/freertos/tests/random/workload.c`, in the kernel's own port to Linux.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use catapults_compiler::emit::emit;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::compiled::Written;
use catapults_tests::recorded::{Host, compare_all};
use catapults_tests::{differential, framework_at, root};

/// What each program takes; decisions are some two thirds of that.
const STEPS: &str = "600";

/// What all policies share.
struct FreeRtos {
    framework: Framework,
    kernel: PathBuf,
    folder: tempfile::TempDir,
    /// The files of the kernel that do not know the policy, compiled.
    objects: Vec<PathBuf>,
}

#[test]
fn freertos_decides_what_the_interpreter_decides() {
    compare_all(&FreeRtos::new());
}

impl FreeRtos {
    fn new() -> Self {
        let script = Command::new(root().join("scripts/freertos-kernel")).output().unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        let mut host = FreeRtos {
            framework: framework_at("frameworks/freertos/freertos.framework"),
            kernel: PathBuf::from(String::from_utf8(script.stdout).unwrap().trim()),
            folder: tempfile::tempdir().unwrap(),
            objects: Vec::new(),
        };
        let fifo = fs::read_to_string(root().join("policies/fifo.sched")).unwrap();
        let policy = differential::written(&Source::new("fifo.sched", fifo), &host.framework).unwrap();
        let source = host.emitted(&policy, "kernel");
        let port = "portable/ThirdParty/GCC/Posix";
        let files = ["queue.c", "list.c", "event_groups.c", "stream_buffer.c", "timers.c", "portable/MemMang/heap_4.c"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("{port}/port.c"), format!("{port}/utils/wait_for_event.c")]);
        let files: Vec<PathBuf> = files.map(|file| host.kernel.join(file)).collect();
        finish(host.compiler(&source).arg("-c").args(&files)).unwrap();
        let object = |file: &PathBuf| host.folder.path().join(file.with_extension("o").file_name().unwrap());
        host.objects = files.iter().map(object).collect();
        host
    }

    fn emitted(&self, policy: &Verified<Policy>, name: &str) -> PathBuf {
        let folder = self.folder.path().join("generated").join(name);
        Written::into(&folder, &emit(policy, &self.framework).unwrap()).unwrap().sources.remove(0)
    }

    /// The compiler, for the kernel with a policy.
    fn compiler(&self, policy: &Path) -> Command {
        let home = root().join("frameworks/freertos");
        let mut command = Command::new("cc");
        command.current_dir(self.folder.path());
        command.args(["-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fwrapv", "-pthread"]);
        command.args(["-DconfigUSE_TICK_HOOK=1", "-DconfigUSE_IDLE_HOOK=1", "-DconfigUSE_TIME_SLICING=1"]);
        command.arg(format!("-DCATAPULTS_COMPILED_IN=\"{}\"", policy.display()));
        for folder in [home.join("include"), home.join("tests/posix"), root().join("frameworks/shared/small")] {
            command.arg("-I").arg(folder);
        }
        for folder in ["include", "portable/ThirdParty/GCC/Posix", "portable/ThirdParty/GCC/Posix/utils"] {
            command.arg("-isystem").arg(self.kernel.join(folder));
        }
        command
    }
}

impl Host for FreeRtos {
    type Built = PathBuf;
    const FOLDERS: &'static [&'static str] = &["frameworks/freertos/tests/policies"];
    const WRITTEN: usize = 40;
    const RANDOM: u64 = 15;
    const PROGRAMS: u64 = 3;

    fn framework(&self) -> &Framework {
        &self.framework
    }

    fn build(&self, policy: &Verified<Policy>, name: &str) -> Result<PathBuf, String> {
        let (emitted, program) = (self.emitted(policy, name), self.folder.path().join(name));
        let home = root().join("frameworks/freertos/tests");
        let mut command = self.compiler(&emitted);
        command
            .arg("-Wl,--wrap=vPortCancelThread")
            .arg("-o")
            .arg(&program)
            .arg(home.join("random/workload.c"))
            .arg(home.join("posix/trace.c"));
        finish(command.arg(self.kernel.join("tasks.c")).args(&self.objects))?;
        Ok(program)
    }

    fn run(&self, _: &Verified<Policy>, program: &PathBuf, seed: u64) -> Result<String, String> {
        let mut command = Command::new("timeout");
        let result = command.args(["--signal=KILL", "60"]).arg(program).arg(seed.to_string()).arg(STEPS).output();
        let result = result.map_err(|error| error.to_string())?;
        if result.status.success() {
            return Ok(String::from_utf8_lossy(&result.stdout).into_owned());
        }
        Err(format!("{}\n{}", result.status, String::from_utf8_lossy(&result.stderr)))
    }
}

fn finish(command: &mut Command) -> Result<(), String> {
    let result = command.output().map_err(|error| error.to_string())?;
    let said = || format!("{command:?}\n{}", String::from_utf8_lossy(&result.stderr));
    if result.status.success() { Ok(()) } else { Err(said()) }
}
