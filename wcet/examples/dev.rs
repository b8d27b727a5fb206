#![allow(clippy::unwrap_used, missing_docs)]
use catapults_compiler::policy::Entity;
use catapults_compiler::steps::Counts;
use catapults_compiler::verify::Most;
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
    let turns = |p: &str| p.ends_with(":50").then(|| Most::all(Entity::Thread));
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
