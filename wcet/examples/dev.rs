#![allow(clippy::unwrap_used, missing_docs)]
use catapults_compiler::steps::Counts;
use catapults_wcet::{bound, costs::Costs, host::Host, image::Image, processors};
use std::fs;
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let n: u64 = std::env::args().nth(2).map_or(16, |n| n.parse().unwrap());
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let mut listings = Vec::new();
    for e in fs::read_dir(&folder).unwrap() {
        let p = e.unwrap().path();
        if p.extension().is_some_and(|e| e == "rst") {
            listings.push((p.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&p).unwrap()));
        }
    }
    let image = Image::read(&read("image.ihx"), &read("image.noi"), &listings).unwrap();
    let costs = Costs::read(&read("costs")).unwrap();
    let framework = catapults_compiler::framework::read(&catapults_compiler::source::Source::new("f", fs::read_to_string("/work/wcet/frameworks/rabbit/rabbit.framework").unwrap())).unwrap();
    let path = std::env::var("POLICY").unwrap();
    let source = catapults_compiler::source::Source::new(path.as_str(), fs::read_to_string(&path).unwrap());
    let (verified, _) = catapults_compiler::compile(&source, &framework).unwrap();
    let known = catapults_compiler::steps::Steps::of(&verified, &framework).turns();
    println!("{known:?}");
    let turns = |p: &str| known.get(p).copied();
    let host = Host { image: &image, processor: processors::named(&costs.processor).unwrap(), costs: &costs, turns: &turns, counts: Counts { threads: n, nodes: 1 }, capacity: None };
    for (name, found) in bound::bounds(&host) {
        match found {
            Ok(b) => {
                println!("{name}: {} = {} {:?}", b.cost.formula, b.cost.clocks, b.into);
                if std::env::args().nth(3).as_deref() == Some(&name) {
                    for (at, v) in b.cost.path.visits() { println!("   {at:04x} {} x{} {} {:?}", image.function(at), v.times, v.clocks, image.source(at).map(|s| (s.line, &s.text))); }
                }
            }
            Err(e) => println!("{name}: {} at {:04x} {} {:?}", e.title(), e.at, e.function, e.source),
        }
    }
}
