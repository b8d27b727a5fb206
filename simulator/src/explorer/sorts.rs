//! Tells instants from durations. The language has one type for both, so the policy's computations decide: `now` and
//! what timers are set to are instants; constants other than 0 and differences of instants are durations; what is
//! copied or compared is of one sort. 0 can be either: an instant that is not known yet, or no time at all. If a time
//! is used as both, no sorts are given.

use std::ops::Range;

use catapults_compiler::policy::{
    BinaryOperator, Block, Expression, Handler, Local, LocalKind, Place, Policy, StatementKind, Type, UnaryOperator,
    Value,
};

/// The sort of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Not known yet, 0, or no time at all.
    Any,
    Instant,
    Duration,
}

/// A time is used as both.
pub(super) struct Both;

/// An expression of a statement, and the place to which it is assigned, if it is.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub place: Option<&'a Place>,
    pub expression: &'a Expression,
    locals: &'a [Local],
    /// The cell of its handler's first local.
    first_local: usize,
}

/// The sort of each cell. Cells, by number, are the variables, the attributes, the imports, the thread imports, and
/// then the locals of all handlers.
pub(super) struct Sorts<'a> {
    pub policy: &'a Policy,
    pub sites: Vec<Site<'a>>,
    cells: Vec<Sort>,
    /// All sorts are known. A time that has none is 0.
    settled: bool,
}

impl<'a> Sorts<'a> {
    /// Infers the sorts of a policy; `None` if a time is used as both.
    pub fn of(policy: &'a Policy) -> Option<Self> {
        let mut sorts = Sorts { policy, sites: Vec::new(), cells: Vec::new(), settled: false };
        let initial = policy.variables.iter().map(|variable| variable.initial);
        let initial = initial.chain(policy.attributes.iter().map(|attribute| attribute.initial));
        let initial = initial.chain(policy.imports.iter().chain(&policy.thread_imports).map(|import| import.default));
        sorts.cells = initial.map(sort_of).collect();
        for (index, _) in policy.attributes.iter().enumerate().filter(|(_, attribute)| attribute.timer.is_some()) {
            let cell = sorts.attribute(index);
            sorts.cells[cell] = Sort::Instant;
        }
        for handler in policy.events.iter().chain(&policy.queries) {
            let first_local = sorts.cells.len();
            sorts.cells.extend(handler.locals.iter().map(|_| Sort::Any));
            sorts.block(handler, first_local, &handler.body);
        }
        sorts.infer_all().ok()?;
        // Unknown times are durations: first those of imports, then those to which only 0 is assigned.
        let imports = sorts.import(0)..sorts.thread_import(policy.thread_imports.len());
        for unknown in [imports, 0..sorts.cells.len()] {
            sorts.cells[unknown].iter_mut().filter(|sort| **sort == Sort::Any).for_each(|sort| *sort = Sort::Duration);
            sorts.infer_all().ok()?;
        }
        sorts.settled = true;
        sorts.infer().ok()?;
        Some(sorts)
    }

    fn infer_all(&mut self) -> Result<(), Both> {
        loop {
            let before = self.cells.clone();
            self.infer()?;
            if self.cells == before {
                return Ok(());
            }
        }
    }

    fn block(&mut self, handler: &'a Handler, first_local: usize, block: &'a Block) {
        for statement in block {
            let assigned = match &statement.kind {
                StatementKind::Set { place, value } => Some((place, value)),
                StatementKind::Link { .. }
                | StatementKind::Transfer { .. }
                | StatementKind::Send { .. }
                | StatementKind::Destroy { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Follow { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Verbatim { .. }
                | StatementKind::Leave { .. }
                | StatementKind::Fail { .. } => None,
            };
            for expression in statement.expressions() {
                let place = assigned.filter(|(_, value)| std::ptr::eq(*value, expression)).map(|(place, _)| place);
                self.sites.push(Site { place, expression, locals: &handler.locals, first_local });
            }
            statement.blocks().for_each(|inner| self.block(handler, first_local, inner));
        }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn variable(&self, index: usize) -> usize {
        index
    }

    pub fn attribute(&self, index: usize) -> usize {
        self.policy.variables.len() + index
    }

    pub fn import(&self, index: usize) -> usize {
        self.attribute(self.policy.attributes.len()) + index
    }

    pub fn thread_import(&self, index: usize) -> usize {
        self.import(self.policy.imports.len()) + index
    }

    /// Whether a cell holds an instant.
    pub fn is_instant(&self, cell: usize) -> bool {
        self.cells[cell] == Sort::Instant
    }

    /// The cells that a place may be; none if it holds no time.
    pub fn cells(&self, site: &Site, place: &Place) -> Range<usize> {
        let policy = self.policy;
        let (cells, is_time) = match place {
            Place::Variable(variable) | Place::VariableElement { first: variable, .. } => {
                (place.variables(), policy.variables[variable.0].ty == Type::Time)
            }
            Place::Attribute(_, attribute) | Place::AttributeElement { first: attribute, .. } => {
                let Range { start, end } = place.attributes();
                (self.attribute(start)..self.attribute(end), policy.attributes[attribute.0].ty == Type::Time)
            }
            Place::Import(import) => {
                (self.import(import.0)..self.import(import.0) + 1, policy.imports[import.0].ty == Type::Time)
            }
            Place::ThreadImport(_, import) => {
                let cell = self.thread_import(import.0);
                (cell..cell + 1, policy.thread_imports[import.0].ty == Type::Time)
            }
            Place::Local(local) => {
                let cell = site.first_local + local.0;
                (cell..cell + 1, matches!(site.locals[local.0].kind, LocalKind::Value(Type::Time)))
            }
        };
        if is_time { cells } else { 0..0 }
    }

    fn infer(&mut self) -> Result<(), Both> {
        for index in 0..self.sites.len() {
            let site = self.sites[index];
            let sort = self.infer_within(&site, site.expression)?;
            if let Some(place) = site.place.filter(|place| !self.cells(&site, place).is_empty()) {
                self.learn(self.cells(&site, place), sort)?;
                self.alike(&site, site.expression, self.of_cells(self.cells(&site, place))?)?;
            }
        }
        Ok(())
    }

    /// Infers from the parts of an expression. Returns its own sort.
    fn infer_within(&mut self, site: &Site<'a>, expression: &'a Expression) -> Result<Sort, Both> {
        for part in expression.parts() {
            self.infer_within(site, part)?;
        }
        if let Expression::Binary(operator, left, right) = expression
            && (compares(*operator) || operator.is_called())
        {
            let (one, other) = (self.sort(site, left)?, self.sort(site, right)?);
            self.alike(site, left, other)?;
            self.alike(site, right, one)?;
        }
        if let Expression::Choose(_, one, other) = expression {
            let (of_one, of_other) = (self.sort(site, one)?, self.sort(site, other)?);
            self.alike(site, one, of_other)?;
            self.alike(site, other, of_one)?;
        }
        self.sort(site, expression)
    }

    /// If the expression reads a place, that is of this sort.
    fn alike(&mut self, site: &Site, expression: &Expression, sort: Sort) -> Result<(), Both> {
        let Expression::Read(place) = plain(expression) else { return Ok(()) };
        self.learn(self.cells(site, place), sort)
    }

    fn learn(&mut self, cells: Range<usize>, sort: Sort) -> Result<(), Both> {
        for cell in cells {
            self.cells[cell] = join(self.cells[cell], sort)?;
        }
        Ok(())
    }

    fn of_cells(&self, mut cells: Range<usize>) -> Result<Sort, Both> {
        cells.try_fold(Sort::Any, |sort, cell| join(sort, self.cells[cell]))
    }

    /// The sort of an expression. If it is no time, any.
    pub fn sort(&self, site: &Site, expression: &Expression) -> Result<Sort, Both> {
        Ok(match expression {
            Expression::Now => Sort::Instant,
            Expression::Literal(value) => sort_of(*value),
            Expression::Constant(constant) => sort_of(self.policy.constants[constant.0].value),
            // An element that is 0 is a duration, like the others.
            Expression::ConstantElement { first, .. } => match self.policy.constants[first.0].value {
                Value::Time(_) => Sort::Duration,
                Value::Int(_) | Value::Bool(_) | Value::Float(_) => Sort::Any,
            },
            Expression::Read(place) => self.of_cells(self.cells(site, place))?,
            Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Random(_)
            | Expression::NotZero(_) => Sort::Any,
            Expression::Verbatim { otherwise, .. } => {
                otherwise.as_deref().map_or(Ok(Sort::Any), |instead| self.sort(site, instead))?
            }
            Expression::Unary(UnaryOperator::Not, _) => Sort::Any,
            Expression::Unary(UnaryOperator::Negate, operand) => match self.sort(site, operand)? {
                Sort::Instant => return Err(Both),
                other @ (Sort::Any | Sort::Duration) => other,
            },
            Expression::Choose(_, one, other) => join(self.sort(site, one)?, self.sort(site, other)?)?,
            Expression::Binary(operator, left, right) => {
                self.binary(*operator, self.sort(site, left)?, self.sort(site, right)?)?
            }
        })
    }

    fn binary(&self, operator: BinaryOperator, one: Sort, other: Sort) -> Result<Sort, Both> {
        Ok(match operator {
            BinaryOperator::Add | BinaryOperator::Subtract => match (operator, one, other) {
                (BinaryOperator::Subtract, Sort::Instant, Sort::Instant) => Sort::Duration,
                (_, Sort::Instant, Sort::Duration) => Sort::Instant,
                (BinaryOperator::Add, Sort::Duration, Sort::Instant) => Sort::Instant,
                (_, Sort::Duration, Sort::Duration) => Sort::Duration,
                (_, Sort::Instant | Sort::Duration, Sort::Instant) => return Err(Both),
                (_, Sort::Any, Sort::Any) => Sort::Any,
                (BinaryOperator::Add, Sort::Instant, _) | (BinaryOperator::Add, _, Sort::Instant) => Sort::Instant,
                // Is 0 an instant or a duration here?
                (_, Sort::Any, Sort::Instant) | (_, Sort::Instant, Sort::Any) if self.settled => return Err(Both),
                (_, Sort::Any, Sort::Duration) | (_, Sort::Duration, Sort::Any) if self.settled => Sort::Duration,
                (_, Sort::Any, _) | (_, _, Sort::Any) => Sort::Any,
            },
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => match (one, other) {
                (Sort::Instant, _) | (_, Sort::Instant) => return Err(Both),
                (Sort::Any, Sort::Any) => Sort::Any,
                (Sort::Duration, Sort::Duration) if operator == BinaryOperator::Divide => Sort::Any,
                (Sort::Duration, _) | (_, Sort::Duration) => Sort::Duration,
            },
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual => {
                join(one, other)?;
                Sort::Any
            }
            BinaryOperator::Least | BinaryOperator::Greatest => join(one, other)?,
            // Only for ints.
            BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => Sort::Any,
            BinaryOperator::And | BinaryOperator::Or => Sort::Any,
        })
    }
}

/// The expression that stands for verbatim text.
pub(super) fn plain(expression: &Expression) -> &Expression {
    if let Expression::Verbatim { otherwise: Some(instead), .. } = expression { plain(instead) } else { expression }
}

pub(super) fn compares(operator: BinaryOperator) -> bool {
    operator.comparison().is_some()
}

fn sort_of(value: Value) -> Sort {
    match value {
        Value::Time(0) | Value::Int(_) | Value::Bool(_) | Value::Float(_) => Sort::Any,
        Value::Time(_) => Sort::Duration,
    }
}

fn join(one: Sort, other: Sort) -> Result<Sort, Both> {
    match (one, other) {
        (Sort::Any, sort) | (sort, Sort::Any) => Ok(sort),
        (Sort::Instant, Sort::Instant) | (Sort::Duration, Sort::Duration) => Ok(one),
        (Sort::Instant, Sort::Duration) | (Sort::Duration, Sort::Instant) => Err(Both),
    }
}
