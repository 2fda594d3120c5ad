//! The global dispatch switch, as its row says it.

use std::sync::Arc;

use windlass_core::durable::{GlobalKey, GlobalKind, GlobalRow};
use windlass_core::time::Wall;

/// What the row says when nothing may start, in its short form.
pub const OFF: &str = "off";

/// The switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Whether anything may start at all.
    pub on: bool,
    /// Who switched it last, if that is known.
    pub by: Option<Arc<str>>,
    /// And when.
    pub at: Option<Wall>,
}

impl Default for Switch {
    fn default() -> Switch {
        Switch { on: true, by: None, at: None }
    }
}

impl Switch {
    /// Its row.
    pub fn key() -> GlobalKey {
        GlobalKey { kind: GlobalKind::Dispatch, name: "".into() }
    }

    /// What a row says. One that cannot be understood stops nothing.
    pub fn read(row: &GlobalRow) -> Switch {
        let Some(text) = row.value.as_deref() else { return Switch::default() };
        if text == OFF {
            return Switch { on: false, ..Switch::default() };
        }
        let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let field = |name: &str| json.get(name);
        Switch {
            on: field("on").and_then(serde_json::Value::as_bool).unwrap_or(true),
            by: field("by").and_then(serde_json::Value::as_str).map(Arc::from),
            at: field("at").and_then(serde_json::Value::as_i64).map(Wall),
        }
    }

    /// What its row shall say.
    pub fn text(&self) -> Arc<str> {
        let at = self.at.map(|at| at.0);
        serde_json::json!({"on": self.on, "by": self.by.as_deref(), "at": at}).to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::durable::Revision;

    use super::*;

    fn read(text: Option<&str>) -> Switch {
        Switch::read(&GlobalRow { key: Switch::key(), revision: Revision(1), value: text.map(Into::into) })
    }

    #[test]
    fn a_switch_survives_being_written() {
        let switch = Switch { on: false, by: Some("me".into()), at: Some(Wall(5)) };
        assert_eq!(read(Some(&switch.text())), switch);
        assert!(!read(Some(OFF)).on);
        for on in [None, Some("on"), Some("{}"), Some(r#"{"on": true}"#)] {
            assert!(read(on).on, "{on:?}");
        }
    }
}
