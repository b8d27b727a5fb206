//! What is known of a program with a host in it.

use std::collections::BTreeMap;

use catapults_compiler::steps::Counts;
use catapults_compiler::verify::Most;

use crate::costs::Costs;
use crate::image::Image;
use crate::processors::Processor;

/// A program, its host, and what bounds its loops.
pub struct Host<'a> {
    /// The code.
    pub image: &'a Image,
    /// The processor for which it is.
    pub processor: &'a dyn Processor,
    /// What the host says of itself.
    pub costs: &'a Costs,
    /// By a place in a policy, as comments in generated code name it: the most turns of the loop there.
    pub turns: &'a dyn Fn(&str) -> Option<Most>,
    /// How many threads there are.
    pub counts: Counts,
    /// How many there can be at the most, if the host sees to it.
    pub capacity: Option<u64>,
}

/// By address, which of the host's lists a function is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Switches to another thread.
    Switch,
    /// Calls the application.
    Application,
    /// Returns to its caller, although it calls what switches.
    Stays,
    /// Is called when no thread runs any more.
    End,
}

impl Host<'_> {
    /// A function that the host names, and which must be in the program and is not: paths to it would be left out.
    pub fn absent(image: &Image, costs: &Costs) -> Option<String> {
        let entries = costs.entries.iter().map(|(name, _)| name);
        let mut all = costs.switches.iter().chain(&costs.starts).chain(entries);
        all.find(|name| image.symbol(&symbol(name)).is_none()).cloned()
    }

    /// The functions that the host names for what they do.
    pub fn kinds(&self) -> BTreeMap<u16, Kind> {
        let lists = [
            (&self.costs.switches, Kind::Switch),
            (&self.costs.application, Kind::Application),
            (&self.costs.stays, Kind::Stays),
            (&self.costs.ends, Kind::End),
        ];
        let named = lists.into_iter().flat_map(|(names, kind)| names.iter().map(move |name| (name, kind)));
        named.filter_map(|(name, kind)| Some((self.image.symbol(&symbol(name))?, kind))).collect()
    }
}

/// As the compiler of C calls a function.
pub fn symbol(name: &str) -> String {
    format!("_{name}")
}

/// As C calls the function of this symbol.
pub fn c_name(symbol: &str) -> &str {
    symbol.strip_prefix('_').unwrap_or(symbol)
}
