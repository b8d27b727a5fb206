//! The pictures that `catapults sim --plot` draws: all threads are in them or counted, all texts have room, nothing vanishes, and the
//! key explains what is used, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{self, Scenario};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::picture::State;
use catapults_simulator::sim::{self, Deciding, Keep, Nowhere, Outcome, RunBy};
use catapults_tests::{native, root};
use roxmltree::{Document, Node};

/// Its package is fonts-liberation.
const FONT: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";

/// How wide a text is, in the font itself.
fn width(words: &str, height: f64) -> f64 {
    let file = fs::read(FONT).unwrap_or_else(|error| panic!("{FONT}: {error}; run: scripts/setup test"));
    let font = ttf_parser::Face::parse(&file, 0).unwrap();
    let advance = |character| font.glyph_hor_advance(font.glyph_index(character).unwrap()).unwrap();
    words.chars().map(|character| f64::from(advance(character))).sum::<f64>() * height / f64::from(font.units_per_em())
}

#[test]
fn one_thread() {
    let drawn = Drawn::new("fifo", "duration 100ms; thread only { repeat { run 5ms; block io.read 3ms; } }");
    assert_eq!(drawn.rows(), BTreeSet::from(["only".to_owned()]));
    assert_eq!(drawn.styles(), BTreeSet::from(["kind-0", "line-0", "waits"].map(str::to_owned)));
}

#[test]
fn three_threads_of_two_kinds() {
    let text = "duration 1s; thread computing * 2 { repeat { run 20ms; } }
        thread interactive { repeat { run 1ms; sleep exponential(10ms); } }";
    let drawn = Drawn::new("round_robin", text);
    let rows = ["computing.1", "computing.2", "interactive"].map(str::to_owned);
    assert_eq!(drawn.rows(), BTreeSet::from(rows));
}

#[test]
fn each_of_nine_kinds_has_rows_and_who_has_none_is_counted() {
    let drawn = Drawn::new("round_robin", &format!("duration 300ms; {}", nine_kinds()));
    let kinds: BTreeSet<String> = drawn.rows().iter().map(|row| row.split('.').next().unwrap().to_owned()).collect();
    assert_eq!(kinds.len(), 9, "{kinds:?}");
    let more = drawn.texts().into_iter().filter(|text| text.starts_with("and ")).collect::<Vec<_>>();
    assert_eq!(more, ["and 8 more"]);
}

#[test]
fn several_processors_have_rows_of_their_own() {
    for processors in [1, 2, 8, 12] {
        let drawn = Drawn::new("round_robin", &format!("duration 100ms; processors {processors}; {}", nine_kinds()));
        let rows = drawn.texts().iter().filter(|text| text.starts_with("processor ")).count();
        assert_eq!(rows, processors.min(8));
        assert_eq!(drawn.texts().contains(&"and 4 more".to_owned()), processors == 12);
    }
}

#[test]
fn more_kinds_than_can_be_told_from_each_other() {
    let mut text = "duration 200ms; ".to_owned();
    for kind in 0..50 {
        write!(text, "thread kind_{kind} {{ repeat {{ run {}ms; yield; }} }}", kind % 4 + 1).unwrap();
    }
    let drawn = Drawn::new("round_robin", &text);
    assert!(drawn.texts().contains(&"and 18 more of other kinds".to_owned()), "{:?}", drawn.texts());
    assert!(drawn.texts().contains(&"38 other kinds".to_owned()));
}

#[test]
fn long_names_are_told_from_each_other() {
    let long = "long_".repeat(12);
    let text = format!(
        "duration 60ms; thread {long}reader {{ repeat {{ run 2ms; block io.read 3ms; }} }}
         thread {long}writer * 2 {{ repeat {{ run 2ms; block io.read 5ms; }} }}
         thread reader_{long} {{ repeat {{ run 1ms; yield; }} }}"
    );
    let drawn = Drawn::new("fifo", &text);
    assert!(drawn.rows().iter().any(|row| row.ends_with("reader")), "{:?}", drawn.rows());
    assert!(drawn.rows().iter().any(|row| row.ends_with("writer.2")), "{:?}", drawn.rows());
}

#[test]
fn short_and_long_simulations() {
    let millisecond =
        "thread a { repeat { run 90us; block io.read 30us; } } thread b { repeat { run 40ns; sleep 10us; } }";
    Drawn::new("fifo", &format!("duration 1ms; {millisecond}"));
    Drawn::new("fifo", "thread a { run 1ns; }");
    let seconds = "thread a { repeat { run 90ms; block io.read exponential(300ms); } }
        thread b { repeat { run 1us; block io.read exponential(10ms); } }
        thread c * 3 { repeat { run 4ms; block io.read pareto(10ms, 1.2); } }";
    let drawn = Drawn::new("round_robin", &format!("duration 100s; {seconds}"));
    let cut = |text: &String| {
        text.starts_with("who ran when: until ") && text.ends_with(" of 100s; --from and --to show another part")
    };
    assert!(drawn.texts().iter().any(cut), "{:?}", drawn.texts());
    // How much of the whole that is, is marked where the whole is.
    assert!(drawn.styles().contains("part"));
}

#[test]
fn deadlines_are_marked_and_crossed_out_where_they_are_missed() {
    let text = "duration 300ms;
        thread video period 30ms with { period = 30ms; budget = 12ms; } { run 12ms; }
        thread audio period 15ms with { period = 15ms; budget = 4ms; } { run 4ms; }
        thread liar period 50ms with { period = 50ms; budget = 10ms; } { run exponential(20ms); }";
    let drawn = Drawn::new("edf", text);
    let misses: u64 = drawn.outcome.tallies.iter().map(|tally| tally.misses).sum();
    assert!(misses > 0, "nothing is missed");
    assert_eq!(drawn.outlines("missed").matches('M').count() as u64, misses);
    assert!(drawn.outlines("deadline").matches('M').count() as u64 > misses);
    let all_in_time = Drawn::new("edf", text.split("thread liar").next().unwrap());
    assert!(!all_in_time.styles().contains("missed"));
}

#[test]
fn who_lends_a_turn_is_framed_and_who_runs_on_it_is_underlined() {
    let text = "thread low with { priority = 1; } { lock held; run 12ms; unlock held; run 20ms; }
        thread high at 3ms with { priority = 9; } { run 1ms; lock held; run 4ms; unlock held; run 5ms; }
        thread middle at 5ms with { priority = 5; } { run 15ms; }";
    let drawn = Drawn::new("fixed_priority", text);
    let document = drawn.parsed();
    let lent: Vec<f64> = shapes(&document, "lent").map(|bar| number(bar, "width")).collect();
    assert_eq!(lent.len(), 1, "{lent:?}");
    // It runs on its own turn for 3 ms before, and for 20 ms after; on the lent one for 9 ms.
    let own = drawn.widths_in_row("low").iter().sum::<f64>() - lent[0];
    assert!((own / lent[0] - 23.0 / 9.0).abs() < 0.01, "{own} beside {lent:?}");
    assert_eq!(drawn.outlines("lends").matches('z').count(), 1);
}

#[test]
fn shares_are_of_the_processors_that_there_are() {
    let text = "duration 100ms; processors 1; at 20ms { processors 4; } at 60ms { processors 2; }
        thread computing * 6 { repeat { run 1ms; yield; } }";
    let drawn = Drawn::new("round_robin", text);
    let windows = drawn.outcome.shares.windows(drawn.outcome.end, 60);
    assert!((40..=60).contains(&windows.len()), "{}", windows.len());
    for window in &windows {
        assert!((window.shares.iter().sum::<f64>() - 100.0).abs() < 0.01, "{window:?}");
    }
    assert_eq!(drawn.texts().iter().filter(|text| text.starts_with("processor ")).count(), 4);
}

fn nine_kinds() -> String {
    let counts = [20, 2, 4, 3, 1, 2, 4, 2, 2];
    let kinds = counts.iter().enumerate().map(|(kind, count)| {
        let (run, wait) = (kind % 4 + 1, 5 * kind + 5);
        format!("thread kind_{kind} * {count} {{ repeat {{ run {run}ms; block io.read exponential({wait}ms); }} }} ")
    });
    kinds.collect()
}

/// A picture in which what holds of every one does.
struct Drawn {
    svg: String,
    scenario: Scenario,
    outcome: Outcome,
}

impl Drawn {
    fn new(policy: &str, text: &str) -> Drawn {
        let framework = native();
        let path = root().join(format!("policies/{policy}.sched"));
        let source = catapults_tests::named_policy(format!("{policy}.sched"), &path);
        let (verified, _) =
            compile(&source, &framework).unwrap_or_else(|errors| panic!("{}", errors.render(&source, false)));
        let scenario = checked(text, &verified);
        let draw = || {
            let deciding = Deciding::Policy(&verified);
            let outcome =
                sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere);
            let outcome = outcome.unwrap();
            (sim::picture(&scenario, &outcome, &format!("drawn under {policy}")).draw().svg, outcome)
        };
        let (svg, outcome) = draw();
        assert_eq!(svg, draw().0, "the same seed draws another picture");
        let drawn = Drawn { svg, scenario, outcome };
        drawn.all_threads_are_there_or_counted();
        drawn.texts_have_room();
        drawn.nothing_vanishes();
        drawn.the_key_has_all_and_no_more();
        drawn
    }

    fn parsed(&self) -> Document<'_> {
        Document::parse(&self.svg).unwrap_or_else(|error| panic!("{error}\n{}", self.svg))
    }

    fn texts(&self) -> Vec<String> {
        let document = self.parsed();
        texts(&document).map(|text| said(text).to_owned()).collect()
    }

    /// Names of rows of threads: they end where the bars begin.
    fn rows(&self) -> BTreeSet<String> {
        let document = self.parsed();
        let labels = texts(&document).filter(|text| text.attribute("text-anchor") == Some("end"));
        let labels = labels.map(|text| said(text).to_owned());
        labels
            .filter(|label| !["processor ", "and "].iter().any(|word| label.starts_with(word)) && !label.ends_with('%'))
            .collect()
    }

    /// Of the bars of a thread.
    fn widths_in_row(&self, name: &str) -> Vec<f64> {
        let document = self.parsed();
        let row = texts(&document).find(|text| said(*text) == name && text.attribute("text-anchor") == Some("end"));
        let middle = number(row.unwrap(), "y") - 4.0;
        let bars = classes(&document).filter(|(class, _)| class.starts_with("kind-")).map(|(_, shape)| shape);
        let bars = bars.filter(|shape| shape.has_tag_name("rect") && !in_key(*shape));
        let here = |bar: &Node| (number(*bar, "y") + number(*bar, "height") / 2.0 - middle).abs() < 0.1;
        bars.filter(here).map(|bar| number(bar, "width")).collect()
    }

    /// What is drawn in this style, without the key's sample.
    fn outlines(&self, class: &str) -> String {
        let document = self.parsed();
        shapes(&document, class).filter_map(|shape| shape.attribute("d")).collect()
    }

    /// Styles that are used in panels.
    fn styles(&self) -> BTreeSet<String> {
        let document = self.parsed();
        classes(&document).filter(|(_, shape)| !in_key(*shape)).map(|(class, _)| class.to_owned()).collect()
    }

    fn all_threads_are_there_or_counted(&self) {
        let more = self.texts().into_iter().filter_map(|text| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            if words[0] == "and" { words[1].parse::<u64>().ok() } else { None }
        });
        let processors = self.outcome.timeline.changes().0.filter_map(|change| match change.state {
            State::Running { processor, .. } => Some(processor as u64 + 1),
            State::Ready | State::Blocked | State::Ended => None,
        });
        let processors = processors.max().unwrap_or(1).max(u64::from(self.scenario.processors));
        let more = more.sum::<u64>() - processors.saturating_sub(8);
        let came: u64 = self.outcome.tallies.iter().map(|tally| tally.came).sum();
        assert_eq!(self.rows().len() as u64 + more, came, "{:?}", self.texts());
    }

    fn texts_have_room(&self) {
        let document = self.parsed();
        let size: Vec<f64> = document
            .root_element()
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|word| word.parse().unwrap())
            .collect();
        let key = document.descendants().find(|node| node.attribute("id") == Some("key")).unwrap();
        let top = key
            .descendants()
            .filter(|shape| shape.has_tag_name("text"))
            .map(|text| number(text, "y") - number(text, "font-size"));
        let top = top.fold(f64::MAX, f64::min);
        let mut lines: BTreeMap<String, Vec<(f64, f64, String)>> = BTreeMap::new();
        for text in texts(&document) {
            let (x, y, height) = (number(text, "x"), number(text, "y"), number(text, "font-size"));
            let words = said(text);
            let wide = width(words, height);
            let left = match text.attribute("text-anchor").unwrap() {
                "start" => x,
                "middle" => x - wide / 2.0,
                "end" => x - wide,
                other => panic!("{other}"),
            };
            assert!(
                left >= 0.0 && left + wide <= size[2],
                "`{words}` is from {left} to {} of {}",
                left + wide,
                size[2]
            );
            assert!(y - height >= 0.0 && y + height * 0.25 <= size[3], "`{words}` is at {y} of {}", size[3]);
            assert!(in_key(text) || y + height * 0.25 <= top, "`{words}` is in the key");
            lines.entry(format!("{y}")).or_default().push((left, left + wide, words.to_owned()));
        }
        for line in lines.values_mut() {
            line.sort_by(|one, other| one.0.total_cmp(&other.0));
            for pair in line.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{pair:?} are one upon the other");
            }
        }
        for bar in document.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("x").is_some()) {
            assert!(number(bar, "x") >= 0.0 && number(bar, "x") + number(bar, "width") <= size[2] + 0.01);
            assert!(in_key(bar) || number(bar, "y") + number(bar, "height") <= top);
        }
    }

    fn nothing_vanishes(&self) {
        let document = self.parsed();
        let mut bars = 0;
        for bar in document.descendants().filter(|node| node.has_tag_name("rect")) {
            assert!(number(bar, "width") >= 0.5 && number(bar, "height") >= 0.5, "{bar:?}");
            bars += 1;
        }
        assert!(bars > 2, "{}", self.svg);
    }

    fn the_key_has_all_and_no_more(&self) {
        let document = self.parsed();
        let key: BTreeSet<String> =
            classes(&document).filter(|(_, shape)| in_key(*shape)).map(|(class, _)| class.to_owned()).collect();
        assert_eq!(self.styles(), key);
        // In black and white: kinds differ in more than their colours.
        let hatches: Vec<Option<&str>> = document
            .descendants()
            .filter(|node| node.has_tag_name("pattern"))
            .map(|pattern| pattern.descendants().find_map(|node| node.attribute("d")))
            .collect();
        assert_eq!(hatches.iter().collect::<BTreeSet<_>>().len(), hatches.len(), "{hatches:?}");
        let lines = classes(&document).filter(|(class, shape)| class.starts_with("line-") && !in_key(*shape));
        let dashes = lines.map(|(_, shape)| shape.parent().unwrap().attribute("stroke-dasharray")).collect::<Vec<_>>();
        assert_eq!(dashes.iter().collect::<BTreeSet<_>>().len(), dashes.len(), "{dashes:?}");
    }
}

fn checked(text: &str, policy: &Verified<Policy>) -> Scenario {
    let source = Source::new("drawn.scenario", format!("scenario drawn {{ {text} }}"));
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let subject = Deciding::Policy(policy).subject();
    let scenario = drafts.first().and_then(|draft| scenario::check(draft, &subject, &native(), none, &mut diagnostics));
    scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

fn texts<'a, 'd>(document: &'d Document<'a>) -> impl Iterator<Item = Node<'d, 'a>> {
    document.descendants().filter(|node| node.has_tag_name("text"))
}

/// Shapes with a style, and its name.
fn classes<'a, 'd>(document: &'d Document<'a>) -> impl Iterator<Item = (&'d str, Node<'d, 'a>)> {
    document
        .descendants()
        .filter_map(|node| Some((node.parent()?.attribute("class")?, node)))
        .filter(|(_, node)| node.is_element())
}

/// Those of a style, in panels.
fn shapes<'a, 'd>(document: &'d Document<'a>, class: &str) -> impl Iterator<Item = Node<'d, 'a>> {
    classes(document).filter(move |(one, shape)| *one == class && !in_key(*shape)).map(|(_, shape)| shape)
}

fn in_key(node: Node<'_, '_>) -> bool {
    node.ancestors().any(|node| node.attribute("id") == Some("key"))
}

fn said<'a>(text: Node<'a, '_>) -> &'a str {
    text.text().unwrap_or_default().trim()
}

fn number(node: Node<'_, '_>, attribute: &str) -> f64 {
    node.attribute(attribute).unwrap().parse().unwrap()
}
