//! The functions and variables of an object, by the names that its authors gave them.

use cpp_demangle::DemangleOptions;
use object::{Object, ObjectSymbol, SymbolFlags, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The functions and variables of an object.
#[derive(Default)]
pub struct Symbols {
    /// By address; several names can have one.
    functions: BTreeMap<u64, Symbol>,
    variables: BTreeMap<u64, Symbol>,
}

/// Something that has a name.
struct Symbol {
    size: u64,
    names: Vec<String>,
}

impl Symbols {
    /// Adds those of a file: the object, or the file of its debug information.
    pub fn add(&mut self, file: &object::File<'_>) {
        const IFUNC: u8 = 10;
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let chooses = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == IFUNC);
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() || symbol.size() == 0 || name.is_empty() || chooses {
                continue;
            }
            let known = if symbol.kind() == SymbolKind::Text {
                &mut self.functions
            } else if symbol.kind() == SymbolKind::Data {
                &mut self.variables
            } else {
                continue;
            };
            let entry = known.entry(symbol.address()).or_insert(Symbol { size: symbol.size(), names: Vec::new() });
            if !entry.names.iter().any(|one| one == name) {
                entry.names.push(name.to_owned());
            }
        }
    }

    /// Where functions of this name are. Copies that the compiler has made of one, for callers of one kind, come last.
    pub fn functions(&self, name: &str) -> Vec<Range<u64>> {
        let mut found = find(&self.functions, name);
        found.sort_by_key(|place| self.is_copy(place));
        found
    }

    /// Whether it is such a copy, whose arguments may be others.
    pub fn is_copy(&self, function: &Range<u64>) -> bool {
        let names = self.functions.get(&function.start).map(|symbol| &symbol.names);
        names.is_some_and(|names| names.iter().all(|name| name.contains('.')))
    }

    /// Where variables of this name are.
    pub fn variables(&self, name: &str) -> Vec<Range<u64>> {
        find(&self.variables, name)
    }

    /// The function and those parts of it that the compiler has put elsewhere, because they seldom run.
    pub fn parts(&self, function: &Range<u64>) -> Vec<Range<u64>> {
        let names = self.functions.get(&function.start).map(|symbol| &symbol.names);
        let cold: HashSet<String> = names.into_iter().flatten().map(|name| format!("{name}.cold")).collect();
        let is_part = |symbol: &Symbol| symbol.names.iter().any(|name| cold.contains(name));
        let parts = self.functions.iter().filter(|(_, symbol)| is_part(symbol));
        std::iter::once(function.clone()).chain(parts.map(|(start, symbol)| *start..start + symbol.size)).collect()
    }

    /// Where functions start.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        let whole =
            self.functions.iter().filter(|(_, symbol)| !symbol.names.iter().any(|name| name.ends_with(".cold")));
        whole.map(|(start, _)| *start)
    }

    /// The names of all functions, for advice.
    pub fn names_of_functions(&self) -> BTreeSet<String> {
        names(&self.functions)
    }

    /// The names of all variables, for advice.
    pub fn names_of_variables(&self) -> BTreeSet<String> {
        names(&self.variables)
    }
}

fn find(symbols: &BTreeMap<u64, Symbol>, wanted: &str) -> Vec<Range<u64>> {
    let found = symbols.iter().filter(|(_, symbol)| symbol.names.iter().any(|name| is_called(name, wanted)));
    found.map(|(start, symbol)| *start..start + symbol.size).collect()
}

fn is_called(name: &str, wanted: &str) -> bool {
    // Only a name that contains the last part of what is wanted is worth the longer look.
    let last = wanted.split('(').next().unwrap_or(wanted).rsplit("::").next().unwrap_or(wanted);
    name == wanted
        || (name.contains(last)
            && whole(name).is_some_and(|name| name == wanted || forms(name).contains(&wanted.to_owned())))
}

/// The name without what the compiler has added to it for a copy; `None`: it is a part of a function only.
fn whole(name: &str) -> Option<&str> {
    let Some((start, rest)) = name.split_once('.').filter(|(start, _)| !start.is_empty()) else { return Some(name) };
    let copy = ["isra", "constprop", "lto_priv", "localalias"].iter().any(|what| rest.starts_with(what));
    if copy { Some(start) } else { None }
}

/// As C++ has it: without parameters, and with them.
fn forms(name: &str) -> Vec<String> {
    let Ok(symbol) = cpp_demangle::Symbol::new(name) else { return Vec::new() };
    let options = [DemangleOptions::new().no_params().no_return_type(), DemangleOptions::new().no_return_type()];
    options.iter().filter_map(|options| symbol.demangle_with_options(options).ok()).collect()
}

fn names(symbols: &BTreeMap<u64, Symbol>) -> BTreeSet<String> {
    let names = symbols.values().flat_map(|symbol| &symbol.names).filter_map(|name| whole(name));
    names.map(|name| forms(name).into_iter().next().unwrap_or_else(|| name.to_owned())).collect()
}
