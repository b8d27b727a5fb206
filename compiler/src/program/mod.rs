//! Descriptions of programs that know nothing of policies: which of their functions and variables tell a policy something
//! of its threads.
//!
//! [`read`] turns the text of a `NAME.program` file into a [`Program`]. Whether the program has what is named there only
//! a caller who has the program's file can judge.

mod reader;

pub use reader::read;

/// What a `.program` file says.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name after `program`.
    pub name: Text,
    /// `for "mariadbd"`: the file name of the program.
    pub file: Text,
    /// In source order.
    pub variables: Vec<Variable>,
}

/// A variable that policies can import, always of type `int`.
#[derive(Clone, Debug)]
pub struct Variable {
    /// By which policies import it.
    pub name: Text,
    /// Where it comes from.
    pub value: Value,
}

impl Variable {
    /// Whether each thread has one.
    pub fn is_of_threads(&self) -> bool {
        match self.value {
            Value::Global(_) => false,
            Value::Count(_) | Value::Member(_) => true,
        }
    }
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug)]
pub enum Value {
    /// `variable "connections"`: a global variable of the program.
    Global(Text),
    /// `entered "begin" - left "end"`: how often a thread has passed these.
    Count(Vec<Passage>),
    /// `member "THD" "query_id" of argument 1 of "do_command"`.
    Member(Member),
}

/// A passage that is counted.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Whether it counts for 1 or for -1.
    pub adds: bool,
    /// Whether it is the start of the function, or its return.
    pub enters: bool,
    /// The function.
    pub function: Text,
}

/// A member of what an argument points to, as it is when a function is called.
#[derive(Clone, Debug)]
pub struct Member {
    /// The structure or class.
    pub structure: Text,
    /// Its member.
    pub member: Text,
    /// From 1.
    pub argument: u8,
    /// The function.
    pub function: Text,
}

/// What is written somewhere.
pub type Text = crate::syntax::ast::Name;
