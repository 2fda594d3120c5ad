//! What attempts printed.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::words::words;

words! {
    /// Where a line comes from.
    pub enum Stream {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
        /// Nobody printed it: it stands for lines that were not kept, and its text says how many.
        Cut = "cut",
    }
}

words! {
    /// How bad a line is.
    pub enum LogLevel {
        /// Everything.
        Debug = "debug",
        /// What goes as it should.
        Info = "info",
        /// What somebody should look at.
        Warn = "warn",
        /// What went wrong.
        Error = "error",
    }
}

/// The longest text that is searched for.
pub const LONGEST_SEARCH: usize = 1000;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogLine {
    /// Counts the attempt's lines from 1, also those that were not kept.
    pub number: u64,
    /// When it was printed.
    pub time: Time,
    /// Where it was printed.
    pub stream: Stream,
    /// Without its end of line; what is not UTF-8 is replaced.
    pub text: String,
}

/// Some lines of a log: the answer of `GET …/attempts/{k}/log`. With `follow=true` the answer is a stream of
/// server-sent events `log`, each with one of these as data and `next_line` as id; the last has `complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogPage {
    /// The lines, in order.
    pub items: Vec<LogLine>,
    /// Pass it as `from_line` to get what follows.
    pub next_line: u64,
    /// Whether nothing will ever follow.
    pub complete: bool,
    /// Something to tell beside the lines: that the worker is away and since when, and that these are its last words.
    #[serde(default)]
    pub notice: Option<String>,
}

/// What `GET …/attempts/{k}/log` is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// The first line wanted, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1))]
    pub from_line: Option<u64>,
    /// Instead: begin so many lines before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<u64>,
    /// At most this many, up to 1000; 1000 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Go on with what is printed from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
    /// Only lines with this text, whatever its case and colours. A page may then have none, and still be followed by
    /// more: go on with `next_line` until `complete`. Not with `tail` or `follow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(min_length = 1, max_length = 1000))]
    pub contains: Option<String>,
    /// Only lines of this level and worse, in pages as with `contains`. A line has the level that it names near its
    /// beginning, as programs print it; if it names none, standard error counts as `warn` and standard output as `info`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub level: Option<LogLevel>,
}
