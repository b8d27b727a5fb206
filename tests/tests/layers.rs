//! The layers of the native runtime, as its files include each other: each can be read without those above it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use catapults_tests::repository::{none, text, tracked};

const RUNTIME: &str = "frameworks/native/";
/// Of files of one folder: more in one circle cannot be read one by one.
const MOST_IN_A_CIRCLE: usize = 4;

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_folders_include_each_other() {
    let mut folders = Graph::new();
    for (file, included) in includes() {
        let from = folder(&file);
        let others = included.iter().map(|other| folder(other)).filter(|other| *other != from);
        folders.entry(from.clone()).or_default().extend(others);
    }
    assert!(
        folders["dispatcher"].contains("core") && folders["threads"].contains("dispatcher"),
        "the graph is not the runtime's: {folders:?}"
    );
    none(&circles(&folders, 1), "a layer knows those below it: declare what it needs of others in it");
}

/// The interface that applications see chooses what its record of a thread has, and where that lies.
#[test]
fn the_interface_alone_knows_its_record_of_a_thread() {
    const RECORD: &str = "catapults_handle";
    let files = |may: bool| {
        let all =
            sources().into_iter().filter(move |file| ["threads", "io", "include"].contains(&&*folder(file)) == may);
        all.filter(|file| text(&format!("{RUNTIME}{file}")).contains(RECORD)).collect::<Vec<_>>()
    };
    assert!(files(true).contains(&"threads/handle.h".to_owned()), "no file declares the record");
    none(&files(false), "name what is needed of a thread in process/member.h, or ask by process/face.h");
}

#[test]
fn few_files_include_each_other() {
    none(&circles(&includes(), MOST_IN_A_CIRCLE), "split what they have in common off");
}

#[test]
fn no_two_files_have_one_name() {
    let mut named = BTreeMap::<String, Vec<String>>::new();
    for file in sources().into_iter().filter(|file| file.ends_with(".c")) {
        named.entry(Path::new(&file).file_name().unwrap().to_string_lossy().into_owned()).or_default().push(file);
    }
    let wrong: Vec<_> = named.values().filter(|files| files.len() > 1).map(|files| files.join(", ")).collect();
    none(&wrong, "name each file of C by what it alone does");
}

/// Relative to the runtime's folder, without tests, benchmarks and tools.
fn sources() -> Vec<String> {
    tracked(|path| path.starts_with(RUNTIME) && (path.ends_with(".c") || path.ends_with(".h")))
        .iter()
        .map(|path| path[RUNTIME.len()..].to_owned())
        .filter(|path| !path.starts_with("tests/"))
        .collect()
}

/// Which files of the runtime a file includes.
fn includes() -> Graph {
    let sources: BTreeSet<_> = sources().into_iter().collect();
    let found =
        |name: &str| [name.to_owned(), format!("include/{name}")].into_iter().find(|path| sources.contains(path));
    sources
        .iter()
        .map(|file| {
            let text = text(&format!("{RUNTIME}{file}"));
            let names = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
            (file.clone(), names.filter_map(found).collect())
        })
        .collect()
}

fn folder(file: &str) -> String {
    file.split('/').next().unwrap().to_owned()
}

/// Those of more than so many that reach each other.
fn circles(graph: &Graph, most: usize) -> Vec<String> {
    let reached: BTreeMap<_, _> = graph.keys().map(|from| (from, reached(graph, from))).collect();
    let circles: BTreeSet<BTreeSet<&String>> = graph
        .keys()
        .map(|one| {
            let back = |other: &&String| reached.get(*other).is_some_and(|reached| reached.contains(one));
            reached[one].iter().copied().filter(back).collect()
        })
        .collect();
    let too_large = circles.into_iter().filter(|circle| circle.len() > most);
    too_large.map(|circle| circle.into_iter().cloned().collect::<Vec<_>>().join(", ")).collect()
}

fn reached<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = graph[from].iter().collect();
    while let Some(one) = next.pop() {
        if reached.insert(one) {
            next.extend(graph.get(one).into_iter().flatten());
        }
    }
    reached
}
