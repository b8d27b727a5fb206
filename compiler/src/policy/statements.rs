//! Handlers and their statements.

use super::{
    At, ContainerId, ContainerRef, Expression, Leave, LinkId, LocalId, Owner, Place, Reason, Referent, StatementId,
    Test, Thread, Type, Verbatim,
};

/// What a policy does when an event is raised or a query asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// The full name of the event or query in the framework description: `block.io.read`. A handler for a family or for
    /// several events is repeated for each of them, so that later stages never match names.
    pub name: String,
    /// The name that the source gives for this event: `block.*`, or the same as `name`.
    pub written: String,
    /// Parameters first (there are [`Handler::parameters`] of them), then the locals and cursors of the body.
    pub locals: Vec<Local>,
    /// How many of `locals` are parameters; each of these is a thread or a node.
    pub parameters: usize,
    /// With nodes: it runs in the instance of no node, and can use only `global` and the containers of nodes.
    pub global: bool,
    /// `None` for an event, the type of the value for a query.
    pub returns: Option<Type>,
    /// The statements.
    pub body: Block,
    /// Who wrote it.
    pub owner: Owner,
    /// The header of the handler.
    pub at: At,
}

/// A name within a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// As declared. Two locals of one handler can have the same name in different blocks.
    pub name: String,
    /// What it stands for.
    pub kind: LocalKind,
}

/// What a local name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// A parameter, or the thread that a `foreach` visits: it names a thread wherever that is, and holds nothing.
    Thread,
    /// As `Thread`, for a node.
    Node,
    /// A variable of the body; it is assigned before it is read (`check` inserts the initialiser, else 0 or `false`).
    Value(Type),
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// One step of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its number in the policy.
    pub id: StatementId,
    /// What it does.
    pub kind: StatementKind,
    /// Where it is written. `If` and loops: the part before the body; loops that test last: the part after it.
    pub at: At,
    /// For a statement inlined from a function: the call in the handler.
    pub called: Option<At>,
}

impl Statement {
    /// The blocks inside it, in the order of their statements' numbers.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match &self.kind {
            StatementKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } => (Some(body), None),
            StatementKind::Verbatim { otherwise, .. } => (otherwise.as_ref(), None),
            StatementKind::Loop { body, step, .. } => (Some(body), Some(step)),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The same, to change them.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (first, second) = match &mut self.kind {
            StatementKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } => (Some(body), None),
            StatementKind::Verbatim { otherwise, .. } => (otherwise.as_mut(), None),
            StatementKind::Loop { body, step, .. } => (Some(body), Some(step)),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// What it moves, and the destination if that is a container.
    pub fn moves(&self) -> Option<(&Source, Option<&ContainerRef>)> {
        match &self.kind {
            StatementKind::Transfer { source, destination } => Some((source, Some(destination))),
            StatementKind::Destroy { source } | StatementKind::Send { source, .. } => Some((source, None)),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => None,
        }
    }

    /// The place that it assigns itself, and the value.
    pub fn assigns(&self) -> Option<(&Place, &Expression)> {
        match &self.kind {
            StatementKind::Set { place, value } => Some((place, value)),
            StatementKind::Transfer { .. }
            | StatementKind::Link { .. }
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
        }
    }

    /// The condition on which the blocks inside it run.
    pub fn condition(&self) -> Option<&Expression> {
        match &self.kind {
            StatementKind::If { condition, .. } | StatementKind::Loop { condition, .. } => Some(condition),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => None,
        }
    }

    /// Whether the handler ends with it.
    pub fn ends(&self) -> bool {
        match &self.kind {
            StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => true,
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Verbatim { .. } => false,
        }
    }

    /// Whether it can leave the loop around it, or an iteration of that, early.
    pub fn leaves(&self, what: Leave) -> bool {
        if let StatementKind::Leave { what: own } = &self.kind {
            return *own == what;
        }
        !self.is_loop() && self.blocks().flatten().any(|inner| inner.leaves(what))
    }

    /// Whether it is a loop.
    pub fn is_loop(&self) -> bool {
        matches!(self.kind, StatementKind::Foreach { .. } | StatementKind::Follow { .. } | StatementKind::Loop { .. })
    }

    /// Blocks inside it of which one certainly runs. None, if it is possible that none runs.
    pub fn branches(&self) -> Vec<&Block> {
        match &self.kind {
            StatementKind::If { then, otherwise, .. } => vec![then, otherwise],
            StatementKind::Loop { test: Test::After, body, .. } => vec![body],
            StatementKind::Loop { test: Test::Before, .. }
            | StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => Vec::new(),
        }
    }

    /// The threads whose links it sets, follows or copies.
    pub fn links(&self) -> impl Iterator<Item = Thread> {
        let (thread, other) = match &self.kind {
            StatementKind::Link { thread, to, .. } => (Some(*thread), to.thread()),
            StatementKind::Follow { thread, .. } => (Some(*thread), None),
            StatementKind::Set { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => (None, None),
        };
        thread.into_iter().chain(other)
    }

    /// The expressions that it evaluates itself, indices included. Its condition or value comes last.
    pub fn expressions<'a>(&'a self) -> impl Iterator<Item = &'a Expression> {
        let of = |source: &'a Source| match source {
            Source::Container(container) => container.index(),
            Source::Thread(_) => None,
        };
        let (first, second) = match &self.kind {
            StatementKind::Set { place, value } => (place.index(), Some(value)),
            StatementKind::Transfer { source, destination } => (of(source), destination.index()),
            StatementKind::Destroy { source } | StatementKind::Send { source, .. } => (of(source), None),
            StatementKind::If { condition, .. } | StatementKind::Loop { condition, .. } => (None, Some(condition)),
            StatementKind::Foreach { container, .. } => (container.index(), None),
            StatementKind::Return { value } => (None, value.as_ref()),
            StatementKind::Link { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. }
            | StatementKind::Verbatim { .. } => (None, None),
        };
        let told: &[_] = if let StatementKind::Fail { reason } = &self.kind { &reason.values } else { &[] };
        first.into_iter().chain(second).chain(told.iter().map(|(value, _)| value))
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `place = value;`, also written `x++` or `x += 1`. Assigning to a sort key re-files a queued thread.
    Set {
        /// What is assigned.
        place: Place,
        /// Evaluated first; of the same type as the place.
        value: Expression,
    },
    /// `t.owner = u;`: from now on, the link of `t` names `u`.
    Link {
        /// The thread that has the link.
        thread: Thread,
        /// The link.
        link: LinkId,
        /// What it names from now on.
        to: Referent,
    },
    /// `source => destination;`
    Transfer {
        /// Where the thread comes from.
        source: Source,
        /// Where it goes. Never an array as a whole.
        destination: ContainerRef,
    },
    /// `t => n;`: the thread leaves for another node. It is in hand there until the host raises the event of an
    /// arriving thread, in the instance of that node.
    Send {
        /// Where the thread comes from.
        source: Source,
        /// Where it goes: a named node, or the one in a slot for nodes.
        node: Thread,
    },
    /// `destroy t;`: the thread leaves the policy for good.
    Destroy {
        /// What is destroyed.
        source: Source,
    },
    /// `dispatch current;`: the host is to run the thread in the threadref. The handler ends.
    Dispatch {
        /// A threadref of class RUNNING.
        slot: ContainerId,
    },
    /// `if (…) … else …`
    If {
        /// Of type `bool`.
        condition: Expression,
        /// Runs if it is true.
        then: Block,
        /// Runs if it is false; empty without `else`.
        otherwise: Block,
    },
    /// `foreach t in c`: visits the threads that were in `c` at its start, in the order of removal. The body moves or
    /// destroys only the thread visited.
    Foreach {
        /// The thread visited.
        cursor: LocalId,
        /// Where the threads are. An index is computed once, before the first visit.
        container: ContainerRef,
        /// Runs for each thread.
        body: Block,
    },
    /// `foreach u in t.owner { … }`: runs once, for the thread that the link names at the start, wherever that is.
    /// Does not run if the link names none.
    Follow {
        /// The thread that is named.
        cursor: LocalId,
        /// The thread that has the link.
        thread: Thread,
        /// The link.
        link: LinkId,
        /// Runs for that thread.
        body: Block,
    },
    /// `while (…) …`, `for (…; …; …) …`, `do … while (…);`: repeats while the condition holds. The first part of a
    /// `for` stands before the loop.
    Loop {
        /// Of type `bool`.
        condition: Expression,
        /// When it is tested.
        test: Test,
        /// Runs in each iteration.
        body: Block,
        /// Runs after the body in each iteration: the last part of a `for`, else empty.
        step: Block,
    },
    /// `return;` in an event, `return value;` in a query. The handler ends.
    Return {
        /// Present exactly in queries.
        value: Option<Expression>,
    },
    /// `break;`, `continue;`: leaves the innermost loop around it. There is one.
    Leave {
        /// Which of the two.
        what: Leave,
    },
    /// `fail "reason";`: the application's call fails for this reason. Nothing that the handler did is undone, so
    /// `verify` demands that it did nothing. The handler ends.
    Fail {
        /// Shown to the user of the application.
        reason: Reason,
    },
    /// `verbatim c { … } else { … }`: may change what it names, moves no thread, and does not end the handler.
    Verbatim {
        /// Copied into generated code.
        text: Verbatim,
        /// What the interpreter does instead. Without it, the policy cannot be interpreted.
        otherwise: Option<Block>,
    },
}

/// What leaves its container in a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The next thread to be removed from a container.
    Container(ContainerRef),
    /// A thread or node named by a parameter or cursor, wherever it is.
    Thread(LocalId),
}

impl Source {
    /// The container, if it is named.
    pub fn container(&self) -> Option<&ContainerRef> {
        match self {
            Source::Container(container) => Some(container),
            Source::Thread(_) => None,
        }
    }
}

/// Whether an expression within a block, at any depth, satisfies `such`.
pub(super) fn within_block(block: &Block, such: &impl Fn(&Expression) -> bool) -> bool {
    block.iter().any(|statement| {
        statement.expressions().any(|own| own.any(such)) || statement.blocks().any(|inner| within_block(inner, such))
    })
}
