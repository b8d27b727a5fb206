//! Compiles the core of the native runtime, and its owner in virtual time, for `sim --compiled`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frameworks");
    let native = frameworks.join("native");
    let mut sources = c_files(&native.join("core"))?;
    sources.extend(c_files(Path::new("core"))?);
    for folder in [&native.join("core"), &native.join("include"), &frameworks.join("shared"), Path::new("core")] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    cc::Build::new()
        .std("gnu17")
        .opt_level(2)
        .flags(["-ffreestanding", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .includes([&native, &native.join("include"), &frameworks.join("shared")])
        .files(sources)
        .compile("catapults_core");
    Ok(())
}

fn c_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    Ok(paths)
}
