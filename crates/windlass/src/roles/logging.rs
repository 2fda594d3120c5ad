//! What operators read: JSON lines, or text on a terminal.
//!
//! Every line has `time`, `level`, `role`, `node`, `message`, and the ids of what it is about.

use std::fmt;
use std::io::IsTerminal as _;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::exit::Failure;
use crate::settings::Settings;

/// Begins to write what happens to standard error.
pub fn start(settings: &Settings, role: &'static str, node: &str) -> Result<(), Failure> {
    let wrong = |name, why: &dyn fmt::Display| Failure::usage(settings.wrong(name, why));
    let level = settings.text("log_level").unwrap_or("info");
    let filter = EnvFilter::builder().parse(level).map_err(|error| wrong("log_level", &error))?;
    let json = match settings.text("log_format") {
        Some("json") => true,
        Some("text") => false,
        Some("auto") | None => !std::io::stderr().is_terminal(),
        Some(_) => return Err(wrong("log_format", &"write json, text or auto")),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json {
        builder.event_format(Lines { role, node: node.to_owned() }).init();
    } else {
        builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).init();
    }
    Ok(())
}

/// One JSON object for each event.
struct Lines {
    role: &'static str,
    node: String,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Map::new();
        line.insert("time".into(), format!("{:.3}", jiff::Timestamp::now()).into());
        line.insert("level".into(), event.metadata().level().as_str().to_lowercase().into());
        line.insert("role".into(), self.role.into());
        line.insert("node".into(), self.node.as_str().into());
        line.insert("message".into(), Value::Null);
        event.record(&mut Fields(&mut line));
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// The fields of an event, by their names.
struct Fields<'a>(&'a mut Map<String, Value>);

impl Fields<'_> {
    fn set(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}
