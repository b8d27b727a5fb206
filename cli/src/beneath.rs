//! Programs that were not written for a host: whether its `run other programs` can start one, and what it is told.

use crate::failure::Failure;
use crate::program;
use crate::sites;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use object::{Architecture, Object};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be run: what it is, and what can be done.
struct Refusal {
    what: &'static str,
    help: &'static str,
}

/// What is to be known of the program and its libraries.
struct Objects {
    program: PathBuf,
    bytes: Vec<u8>,
    libraries: Vec<PathBuf>,
}

/// The number of a descriptor, which stays open in the program: where its objects call the kernel.
pub fn sites_for(program: &OsStr) -> Result<String, Failure> {
    let name = program.display().to_string();
    let Some(objects) = objects(program) else { return Ok(String::new()) };
    if let Some(refusal) = refusal(&objects) {
        let title = format!("the program cannot be scheduled: {}", refusal.what);
        return Err(Failure::of(&name, Diagnostic::error("E0526", title, At::default(), "").help(refusal.help)));
    }
    descriptor(&table(&objects)).map_err(|error| {
        Failure::of_system("E0526", Path::new(program), "what the program is to be told cannot be kept", &error, &[])
    })
}

/// `None`: it cannot be read or is no program, which starting it will say.
fn objects(program: &OsStr) -> Option<Objects> {
    // Where it lies itself: from there the linker looks for libraries that are beside it.
    let program = program::find(program)?.canonicalize().ok()?;
    let bytes = fs::read(&program).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
    let libraries = program::libraries(&program, &bytes)?;
    Some(Objects { program, bytes, libraries })
}

// ---- What cannot be run ---------------------------------------------------------------------------------------------

fn refusal(objects: &Objects) -> Option<Refusal> {
    const ELSEWHERE: &str = "run it without `catapults run`, or write it to catapults.h (frameworks/native/README.md)";
    let refuse = |what| Some(Refusal { what, help: ELSEWHERE });
    let Ok(file) = object::File::parse(&*objects.bytes) else { return refuse("it is no ELF program") };
    if file.architecture() != Architecture::X86_64 || !file.is_64() || cfg!(not(target_arch = "x86_64")) {
        return refuse("it is not for x86-64 in 64 bits");
    }
    if file.section_by_name(".note.go.buildid").is_some() {
        return refuse("it was written in Go, which calls the kernel without libc");
    }
    let Some(linker) = program::dynamic_linker(&objects.bytes) else {
        let help = "link it with shared libraries: without -static";
        return Some(Refusal { what: "it is linked statically, and nothing can be loaded into it", help });
    };
    if Path::new(linker).file_name().is_none_or(|name| name != "ld-linux-x86-64.so.2") {
        return refuse("its C library is not glibc");
    }
    const SET_ID: u32 = 0o6000;
    if fs::metadata(&objects.program).is_ok_and(|metadata| metadata.mode() & SET_ID != 0) {
        let help = "run a copy without the set-user-id bit (chmod ug-s), as its owner";
        return Some(Refusal { what: "it is set-user-id, and nothing is loaded into such programs", help });
    }
    if has_sanitizer(objects, &file) {
        let help = "compile it without -fsanitize";
        return Some(Refusal { what: "it has a sanitizer, which keeps threads in its own way", help });
    }
    glibc(objects).or_else(machine)
}

fn has_sanitizer(objects: &Objects, file: &object::File<'_>) -> bool {
    let names = ["libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."];
    let of_a_sanitizer = |path: &PathBuf| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|file| names.iter().any(|name| file.starts_with(name)))
    };
    let starts = |name: &[u8]| {
        name.ends_with(b"_init") && [&b"__asan"[..], b"__tsan", b"__msan"].iter().any(|start| name.starts_with(start))
    };
    let own = file.dynamic_symbols().any(|symbol| object::ObjectSymbol::name_bytes(&symbol).is_ok_and(starts));
    own || objects.libraries.iter().any(of_a_sanitizer)
}

/// The versions of glibc are names in it.
fn glibc(objects: &Objects) -> Option<Refusal> {
    let bytes = objects.libraries.iter().find(|path| is_named(path, "libc.so.6")).and_then(|path| fs::read(path).ok());
    let has =
        |version: &[u8]| bytes.as_ref().is_some_and(|bytes| bytes.windows(version.len()).any(|part| part == version));
    (!has(b"GLIBC_2.36\0") || has(b"GLIBC_2.42\0")).then_some(Refusal {
        what: "its glibc is none of the versions 2.36 to 2.41",
        help: "run it on a system with such a glibc, for instance Debian 12 or 13",
    })
}

#[cfg(target_arch = "x86_64")]
fn machine() -> Option<Refusal> {
    const FSGSBASE: usize = 2; // in AT_HWCAP2
    let lacks = rustix::param::linux_hwcap().1 & FSGSBASE == 0 || !std::is_x86_feature_detected!("xsavec");
    lacks.then_some(Refusal {
        what: "this processor, or its kernel, has no FSGSBASE or no XSAVEC",
        help: "run it on a processor made since 2017, with Linux 5.9 or newer",
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn machine() -> Option<Refusal> {
    None // refused before
}

// ---- The table ------------------------------------------------------------------------------------------------------

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|file| file == name)
}

/// As frameworks/native/beneath/sites.h has it.
fn table(objects: &Objects) -> Vec<u8> {
    const MAGIC: u64 = 0x3153_4554_4953_5443;
    let linker = program::dynamic_linker(&objects.bytes).map(PathBuf::from);
    let (mut known, mut found) = (Vec::new(), Vec::new());
    let (mut objects_count, mut sites_count) = (0u32, 0u32);
    for path in objects.libraries.iter().chain(&linker).chain([&objects.program]) {
        let Ok(bytes) = fs::read(path) else { continue };
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        let Some(id) = sites::identity(&file) else { continue };
        let trusted = is_named(path, "libc.so.6") || linker.as_ref() == Some(path);
        let sites = sites::sites(&file, trusted);
        let (Ok(size), Ok(count)) = (u32::try_from(id.len()), u32::try_from(sites.len())) else { continue };
        let mut padded = id.to_vec();
        padded.resize(32, 0);
        known.extend(padded);
        known.extend([size, sites_count, count, u32::from(trusted)].into_iter().flat_map(u32::to_ne_bytes));
        for site in sites {
            found.extend(site.start.to_ne_bytes());
            found.extend([site.size, site.call, 0, 0]);
        }
        objects_count += 1;
        sites_count += count;
    }
    let head =
        MAGIC.to_ne_bytes().into_iter().chain([objects_count, sites_count].into_iter().flat_map(u32::to_ne_bytes));
    head.chain(known).chain(found).collect()
}

/// In memory, and open until the program has read it.
fn descriptor(table: &[u8]) -> io::Result<String> {
    let memory = rustix::fs::memfd_create("catapults-sites", rustix::fs::MemfdFlags::empty())?;
    let mut file = File::from(memory);
    file.write_all(table)?;
    Ok(file.into_raw_fd().to_string())
}
