//! What a function is given.

use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::expr::problem::Problem;
use crate::expr::{Fuel, Items, Value};

/// The arguments of a call, and what else a function may use.
pub(in crate::expr) struct Context<'a> {
    pub(in crate::expr) arguments: &'a [Value],
    pub(in crate::expr) zone: &'a TimeZone,
    pub(in crate::expr) fuel: &'a mut Fuel,
}

impl<'a> Context<'a> {
    /// The argument at `index`; null if it was left out.
    pub(super) fn argument(&self, index: usize) -> &'a Value {
        self.arguments.get(index).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, index: usize) -> Result<&'a Arc<str>, Problem> {
        match self.argument(index) {
            Value::Text(text) => Ok(text),
            other => Err(Problem::expected(index, "text", other)),
        }
    }

    pub(super) fn int(&self, index: usize) -> Result<i64, Problem> {
        match self.argument(index) {
            Value::Int(int) => Ok(*int),
            other => Err(Problem::expected(index, "an integer", other)),
        }
    }

    pub(super) fn items(&self, index: usize) -> Result<Items<'a>, Problem> {
        let argument = self.argument(index);
        argument.items().ok_or_else(|| Problem::expected(index, "a list", argument))
    }

    /// Text argument whose whole length is going to be read, paid for.
    pub(super) fn read_text(&mut self, index: usize) -> Result<&'a Arc<str>, Problem> {
        let text = self.text(index)?;
        self.fuel.spend_bytes(text.len())?;
        Ok(text)
    }
}
