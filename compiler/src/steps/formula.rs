//! Bounds as formulas: the greatest of a few polynomials in the numbers of threads and nodes, and their logarithms.

use std::collections::BTreeMap;
use std::fmt;

use crate::policy::{Entity, cost};
use crate::verify::{Most, Multiple};

/// How many threads and nodes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Those that live, with one that comes.
    pub threads: u64,
    /// For a policy with an instance for each.
    pub nodes: u64,
}

/// The greatest of these. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula(Vec<Polynomial>);

/// By the exponents of `n`, `log n`, `m` and `log m`: the coefficient, which is not 0.
type Polynomial = BTreeMap<Exponents, u128>;
type Exponents = [u8; 4];

const CONSTANT: Exponents = [0; 4];
const NAMES: [&str; 4] = ["n", "log n", "m", "log m"];

/// With more alternatives than this, those beyond become one that is no less than any of them.
const MOST_ALTERNATIVES: usize = 4;

impl Counts {
    /// Of threads, or of nodes.
    pub fn of(&self, entity: Entity) -> u64 {
        match entity {
            Entity::Thread => self.threads,
            Entity::Node => self.nodes,
        }
    }

    /// A number that is known to be at most this.
    pub fn most(&self, most: Most) -> u64 {
        let counted = most.counted.map(|Multiple { of, each, more }| {
            let multiple = i128::from(self.of(of)) * i128::from(each) + i128::from(more);
            u64::try_from(multiple.max(0)).unwrap_or(u64::MAX)
        });
        counted.into_iter().chain(most.number).min().unwrap_or(u64::MAX)
    }
}

impl Formula {
    /// A number of steps.
    pub fn number(number: u64) -> Formula {
        Formula(vec![constant(number)])
    }

    /// The cost of moving a thread in a sorted container with so many threads, of which `capacity` can live at most.
    pub(super) fn of_sorted(most: Most, capacity: Option<u64>) -> Formula {
        let own = Formula::number(1);
        match shorter(most, capacity) {
            Shorter::Number(number) => own.plus(&Formula::number(cost::LEVELS * cost::halvings(number))),
            Shorter::Counted(counted) => {
                let power = if counted.of == Entity::Thread { [0, 1, 0, 0] } else { [0, 0, 0, 1] };
                own.plus(&Formula(vec![BTreeMap::from([(power, u128::from(cost::LEVELS))])]))
            }
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Formula) -> Formula {
        let mut sums = Vec::new();
        for one in &self.0 {
            for more in &other.0 {
                let mut sum = one.clone();
                for (exponents, coefficient) in more {
                    add(&mut sum, *exponents, *coefficient);
                }
                sums.push(sum);
            }
        }
        Formula::greatest(sums)
    }

    /// The greater of the two.
    #[must_use]
    pub fn or(&self, other: &Formula) -> Formula {
        Formula::greatest(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// So many of these, and then `last`. At most `capacity` threads can live.
    #[must_use]
    pub fn turns(&self, most: Most, last: &Formula, capacity: Option<u64>) -> Formula {
        let (each, power, more) = match shorter(most, capacity) {
            Shorter::Number(number) => (0, CONSTANT, i128::from(number)),
            Shorter::Counted(Multiple { of, each, more }) => {
                (each, if of == Entity::Thread { [1, 0, 0, 0] } else { [0, 0, 1, 0] }, i128::from(more))
            }
        };
        let mut all = Vec::new();
        for turn in &self.0 {
            for last in &last.0 {
                let mut sum = last.clone();
                for (exponents, coefficient) in turn {
                    let raised = std::array::from_fn(|at| exponents[at].saturating_add(power[at]));
                    if each > 0 {
                        add(&mut sum, raised, coefficient.saturating_mul(u128::from(each)));
                    }
                    if more > 0 {
                        add(&mut sum, *exponents, coefficient.saturating_mul(more.unsigned_abs()));
                    }
                }
                // What is too much can be taken off, as far as no coefficient falls below 0.
                for (exponents, coefficient) in turn.iter().filter(|_| more < 0) {
                    let less = coefficient.saturating_mul(more.unsigned_abs());
                    let left = sum.get(exponents).copied().unwrap_or(0).saturating_sub(less);
                    sum.remove(exponents);
                    add(&mut sum, *exponents, left);
                }
                all.push(sum);
            }
        }
        Formula::greatest(all)
    }

    /// Its value.
    pub fn value(&self, counts: Counts) -> u128 {
        let values = [counts.threads, cost::halvings(counts.threads), counts.nodes, cost::halvings(counts.nodes)];
        let product = |exponents: &Exponents| {
            let powers =
                values.iter().zip(exponents).map(|(value, by)| u128::from(*value).saturating_pow(u32::from(*by)));
            powers.fold(1, u128::saturating_mul)
        };
        let sum = |polynomial: &Polynomial| {
            let terms =
                polynomial.iter().map(|(exponents, coefficient)| coefficient.saturating_mul(product(exponents)));
            terms.fold(0, u128::saturating_add)
        };
        self.0.iter().map(sum).max().unwrap_or(0)
    }

    /// Whether it depends on the number of threads, or of nodes.
    pub fn counts(&self, entity: Entity) -> bool {
        let of = match entity {
            Entity::Thread => 0..2,
            Entity::Node => 2..4,
        };
        self.0.iter().flat_map(BTreeMap::keys).any(|exponents| exponents[of.clone()].iter().any(|by| *by > 0))
    }

    fn greatest(mut all: Vec<Polynomial>) -> Formula {
        let mut kept: Vec<Polynomial> = Vec::new();
        // The greatest first, so that those below it go.
        all.sort_by(|one, other| other.iter().rev().cmp(one.iter().rev()));
        for one in all {
            if !kept.iter().any(|other| is_below(&one, other)) {
                kept.retain(|other| !is_below(other, &one));
                kept.push(one);
            }
        }
        if kept.len() > MOST_ALTERNATIVES {
            let rest = kept.split_off(MOST_ALTERNATIVES - 1);
            let mut hull = Polynomial::new();
            for (exponents, coefficient) in rest.into_iter().flatten() {
                let known = hull.entry(exponents).or_insert(0);
                *known = coefficient.max(*known);
            }
            kept.push(hull);
        }
        Formula(kept)
    }
}

/// Which of the two bounds of a number a formula has.
enum Shorter {
    Number(u64),
    Counted(Multiple),
}

/// The one that says more: a number, unless as many threads can live.
fn shorter(most: Most, capacity: Option<u64>) -> Shorter {
    match (most.number, most.counted) {
        (Some(number), Some(counted)) if capacity.is_some_and(|capacity| number >= capacity) => {
            Shorter::Counted(counted)
        }
        (Some(number), _) => Shorter::Number(number),
        (None, Some(counted)) => Shorter::Counted(counted),
        (None, None) => Shorter::Number(u64::MAX),
    }
}

fn constant(number: u64) -> Polynomial {
    let mut polynomial = Polynomial::new();
    add(&mut polynomial, CONSTANT, u128::from(number));
    polynomial
}

fn add(to: &mut Polynomial, exponents: Exponents, coefficient: u128) {
    if coefficient > 0 {
        let known = to.entry(exponents).or_insert(0);
        *known = known.saturating_add(coefficient);
    }
}

/// Whether no coefficient of the one exceeds that of the other.
fn is_below(one: &Polynomial, other: &Polynomial) -> bool {
    one.iter().all(|(exponents, coefficient)| other.get(exponents).is_some_and(|also| coefficient <= also))
}

/// `9 + 4n`, `max(12, 3 + 2n log n)`
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(text).collect();
        match texts.as_slice() {
            [only] => out.write_str(only),
            several => write!(out, "max({})", several.join(", ")),
        }
    }
}

fn text(polynomial: &Polynomial) -> String {
    let mut terms: Vec<(&Exponents, &u128)> = polynomial.iter().collect();
    terms.sort_by_key(|(exponents, _)| (exponents[0] + exponents[2], exponents[1] + exponents[3], **exponents));
    let texts: Vec<String> = terms.into_iter().map(|(exponents, coefficient)| term(exponents, *coefficient)).collect();
    if texts.is_empty() { "0".to_owned() } else { texts.join(" + ") }
}

fn term(exponents: &Exponents, coefficient: u128) -> String {
    let mut factors = Vec::new();
    for (name, by) in NAMES.iter().zip(exponents).filter(|(_, by)| **by > 0) {
        let name = if *by > 1 && name.contains(' ') { format!("({name})") } else { (*name).to_owned() };
        factors.push(if *by > 1 { format!("{name}^{by}") } else { name });
    }
    match (factors.is_empty(), coefficient) {
        (true, _) => coefficient.to_string(),
        (false, 1) => factors.join(" "),
        (false, _) => {
            let factors = factors.join(" ");
            let apart = if factors.starts_with("log") { " " } else { "" };
            format!("{coefficient}{apart}{factors}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(more: i64) -> Most {
        Most { number: None, counted: Some(Multiple { of: Entity::Thread, each: 1, more }) }
    }

    #[test]
    fn formulas_are_written_and_computed() {
        let log = Formula::of_sorted(counted(0), None);
        let turns = Formula::number(3).plus(&log).turns(counted(0), &Formula::number(9), None);
        let value = |formula: &Formula, threads| formula.value(Counts { threads, nodes: 1 });
        assert_eq!((turns.to_string(), value(&turns, 16)), ("9 + 4n + 2n log n".to_owned(), 9 + 64 + 128));
        let either = turns.or(&Formula::number(100));
        assert_eq!((either.to_string(), value(&either, 1)), ("max(9 + 4n + 2n log n, 100)".to_owned(), 100));
        assert_eq!(turns.or(&Formula::number(5)), turns);
    }

    #[test]
    fn a_turn_less_is_taken_off_as_far_as_it_goes() {
        let turn = Formula::number(4);
        assert_eq!(turn.turns(counted(-1), &Formula::number(9), None).to_string(), "5 + 4n");
        assert_eq!(turn.turns(counted(-1), &Formula::number(1), None).to_string(), "4n");
        assert_eq!(turn.turns(Most::number(2), &Formula::number(1), None).to_string(), "9");
    }

    #[test]
    fn many_alternatives_become_few_that_are_no_less() {
        let parts = (1..=9).map(|n| {
            let turns = Formula::number(n).turns(counted(0), &Formula::number(100 - 10 * n), None);
            (turns.clone(), turns)
        });
        let (each, all): (Vec<Formula>, Vec<Formula>) = parts.unzip();
        let all = all.into_iter().reduce(|one, other| one.or(&other)).unwrap();
        assert!(all.0.len() <= MOST_ALTERNATIVES);
        for threads in [1, 2, 5, 20, 1000] {
            let counts = Counts { threads, nodes: 1 };
            assert!(each.iter().all(|one| one.value(counts) <= all.value(counts)));
        }
    }
}
