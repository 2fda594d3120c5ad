//! Time zones by name, from the database inside the program.
//!
//! The machine's own zone files are never read: two masters with different ones would disagree about
//! when a schedule is due.

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::codes::Code;
use crate::diagnostic::{TextError, did_you_mean};

/// The zone of that name, in any mixture of cases; [`TimeZone::iana_name`] gives its proper spelling.
pub fn zone(name: &str) -> Result<TimeZone, TextError> {
    let database = TimeZoneDatabase::bundled();
    match database.get(name) {
        Ok(zone) if !zone.is_unknown() => Ok(zone),
        _ => {
            let message = format!("there is no time zone `{}`", name.escape_debug());
            Err(TextError::new(Code::UnknownTimezone, 0..name.len(), message).help(advice(&database, name)))
        }
    }
}

fn advice(database: &TimeZoneDatabase, name: &str) -> String {
    let known: Vec<String> = database.available().map(|known| known.as_str().to_owned()).collect();
    // `Oslo` or `new york` for the whole name.
    let city = name.trim().replace(' ', "_");
    let by_city = known
        .iter()
        .find(|known| known.rsplit_once('/').is_some_and(|(_, last)| last.eq_ignore_ascii_case(&city)));
    by_city
        .map(|known| format!("did you mean `{known}`?"))
        .or_else(|| did_you_mean(name, known.iter().map(String::as_str)))
        .unwrap_or_else(|| "write `UTC` or a name of the tz database, such as `Europe/Oslo`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(name: &str) -> String {
        let error = zone(name).expect_err(name);
        assert_eq!((error.code, error.at), (Code::UnknownTimezone, 0..name.len()));
        error.help.unwrap()
    }

    #[test]
    fn names_are_found_in_any_case_and_spelt_properly() {
        for (name, proper) in [
            ("Europe/Oslo", "Europe/Oslo"),
            ("europe/oslo", "Europe/Oslo"),
            ("utc", "UTC"),
            ("america/argentina/buenos_aires", "America/Argentina/Buenos_Aires"),
            ("Etc/GMT-2", "Etc/GMT-2"),
        ] {
            assert_eq!(zone(name).unwrap().iana_name(), Some(proper));
        }
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        assert_eq!(help("Europe/Olso"), "did you mean `Europe/Oslo`?");
        assert_eq!(help("oslo"), "did you mean `Europe/Oslo`?");
        assert_eq!(help("new york"), "did you mean `America/New_York`?");
        for nonsense in
            ["", "Etc/Unknown", "+02:00", "Middle-earth/Hobbiton", "\u{0}\u{1F600}", "../etc/passwd"]
        {
            assert!(help(nonsense).starts_with("write `UTC`") || help(nonsense).starts_with("did you"));
        }
    }
}
