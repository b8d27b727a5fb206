//! Embeds the pages of `docs/errors`, so that `catapults explain` needs no file. A page's existence is its registration.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let code = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let numbered = code.len() == 5 && code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
        if numbered && path.extension().is_some_and(|extension| extension == "md") {
            pages.push((code, path));
        }
    }
    pages.sort();
    let mut table = String::from("&[\n");
    for (code, path) in pages {
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(table, "    ({code:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let output = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&output).join("pages.rs"), table)
}
