//! Embeds the pages of `docs/errors` and the library in `policies`, so that `catapults explain` and `catapults new` need no
//! file. A page or a policy is registered by being there.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let is_numbered =
        |code: &str| code.len() == 5 && code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
    let mut pages = String::from("&[\n");
    for (code, path) in files("docs/errors", "md")? {
        if is_numbered(&code) {
            let _ = writeln!(pages, "    ({code:?}, {}),", embedded(&path));
        }
    }
    written("pages.rs", &pages)?;
    let mut policies = String::from("&[\n");
    for (name, path) in files("policies", "sched")? {
        let scenario = Some(path.with_extension("scenario")).filter(|path| path.is_file());
        let scenario = scenario.map_or("None".to_owned(), |path| format!("Some({})", embedded(&path)));
        let _ =
            writeln!(policies, "    Entry {{ name: {name:?}, policy: {}, scenario: {scenario} }},", embedded(&path));
    }
    written("policies.rs", &policies)
}

/// The files of a folder of the repository that have this ending, by their names, in order.
fn files(folder: &str, ending: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == ending) {
            files.push((name, path));
        }
    }
    files.sort();
    Ok(files)
}

/// The expression that is the file's text.
fn embedded(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    format!("include_str!({:?})", path.display().to_string())
}

fn written(name: &str, table: &str) -> io::Result<()> {
    let output = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&output).join(name), format!("{table}]\n"))
}
