//! What a run is given becomes what it has: checked by type, defaults filled in.

use std::sync::Arc;

use windlass_workflow::definition::Param;
use windlass_workflow::expr::Value;

use super::open_run::OpenRun;
use super::payload;
use super::scope::RunScope;
use crate::rows::Values;

impl OpenRun {
    /// Fills in the parameters from what was given and from defaults, in the order of the file, so that a
    /// default may read the parameters above it. An error says which parameter and why, for people.
    pub fn bind(&mut self, given: &Values) -> Result<(), String> {
        if let Some(unknown) = given
            .keys()
            .find(|name| !self.definition.params.iter().any(|param| param.name.as_str() == &***name))
        {
            return Err(format!("the workflow has no parameter `{unknown}`"));
        }
        let definition = Arc::clone(&self.definition);
        let mut bound = Values::new();
        for param in &definition.params {
            let value = self
                .value_of(param, given)
                .map_err(|problem| format!("parameter `{}`: {problem}", param.name))?;
            bound.insert(param.name.as_str().into(), value);
            self.row.params = Arc::new(bound.clone());
        }
        Ok(())
    }

    fn value_of(&self, param: &Param, given: &Values) -> Result<Value, String> {
        let value = match (given.get(param.name.as_str()), &param.default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => {
                let named = [("".into(), default.clone())];
                let values = payload::values(&named, &RunScope { run: self, item: None })?;
                values.into_values().next().unwrap_or(Value::Null)
            }
            (None, None) => return Err("it has no default, and none was given".into()),
        };
        let value =
            param.kind.accept(value, self.definition.time_zone()).map_err(|error| error.to_string())?;
        if param.choices.is_empty() || param.choices.contains(&value) {
            Ok(value)
        } else {
            Err(format!("`{}` is not one of its choices", value.to_text().unwrap_or_default()))
        }
    }
}
