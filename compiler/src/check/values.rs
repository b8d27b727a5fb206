//! Values outside policies. Only constants can be named in them.

use std::collections::BTreeSet;

use crate::diagnostics::Diagnostics;
use crate::framework::Framework;
use crate::policy::{Constant, ConstantId, Policy};
use crate::syntax::ast;
use crate::vocabulary::{Type, Value};

use super::declarations;
use super::symbols::{Symbol, Symbols};

/// Constants, and what is computed from them.
pub(crate) struct Values<'a> {
    symbols: Symbols<'a>,
    /// Contains only the constants.
    policy: Policy,
}

impl<'a> Values<'a> {
    pub(crate) fn new(framework: &'a Framework) -> Self {
        const NOTHING: &ast::Lost =
            &ast::Lost { names: BTreeSet::new(), handlers: false, functions: false, families: false };
        Values { symbols: Symbols::new(framework, NOTHING), policy: super::nothing(framework) }
    }

    /// Declares a constant, which can use those before it.
    pub(crate) fn declare(&mut self, constant: &'a ast::Variable, diagnostics: &mut Diagnostics) {
        let value = constant.initial.as_ref().and_then(|value| self.value(value, constant.ty, diagnostics));
        let id = ConstantId(self.policy.constants.len());
        self.symbols.declare(&constant.name, Symbol::Constant(id), diagnostics);
        // If a constant has no value, nothing that uses it has one.
        if value.is_none() {
            self.symbols.lose([constant.name.text.as_str()]);
        }
        let (name, value) = (constant.name.text.clone(), value.unwrap_or(Value::zero(constant.ty)));
        self.policy.constants.push(Constant { name, element: None, value });
    }

    /// The value of an expression of this type. `None`: it has no value, which is reported.
    pub(crate) fn value(&self, expression: &ast::Expression, ty: Type, diagnostics: &mut Diagnostics) -> Option<Value> {
        declarations::value(expression, ty, self.policy.constants.len(), &self.symbols, &self.policy, diagnostics)
    }
}
