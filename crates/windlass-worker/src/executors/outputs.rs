//! What a process puts out: the lines `key=value` of the file that `WINDLASS_OUTPUT` names.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use windlass_core::rows::Values;
use windlass_workflow::expr::Value;

/// The most that a process may put out: outputs are for values, not for data.
const SIZE_MAX: u64 = 256 << 10;

/// Outputs that cannot be taken. This never fails what has succeeded; it is said.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Too much.
    #[error("outputs were ignored: they have more than {} KiB", SIZE_MAX >> 10)]
    TooLarge,
    /// Not text.
    #[error("outputs were ignored: line {0} is not UTF-8 text, or has a NUL character")]
    NotText(usize),
    /// Not `key=value`.
    #[error("outputs were ignored: line {0} is not KEY=VALUE")]
    NotPair(usize),
    /// The file cannot be read.
    #[error("outputs were ignored: they cannot be read ({0})")]
    Io(io::Error),
}

/// Reads what was put out; nothing if there is no such file.
pub fn read(path: &Path) -> Result<Option<Values>, OutputError> {
    // A process could have put anything in its place: a link to somewhere else, a pipe that nobody writes to.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(OutputError::Io(error)),
    };
    if !file.metadata().map_err(OutputError::Io)?.is_file() {
        return Err(OutputError::Io(io::Error::other("not a file")));
    }
    let mut bytes = vec![];
    file.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(OutputError::Io)?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(OutputError::TooLarge);
    }
    let values = parse(&bytes)?;
    Ok((!values.is_empty()).then_some(values))
}

/// The last value of a key counts. A value may be empty, and may contain `=`.
fn parse(bytes: &[u8]) -> Result<Values, OutputError> {
    let mut values = Values::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let text = std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or(OutputError::NotText(number))?;
        let (key, value) = text.split_once('=').ok_or(OutputError::NotPair(number))?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if key.is_empty() || key.len() > 255 || !key.chars().all(is_name) {
            return Err(OutputError::NotPair(number));
        }
        values.insert(key.into(), meant(value));
    }
    Ok(values)
}

/// A value as whoever wrote it means it: a number or a truth value if nothing is lost by taking it for one (`007` and
/// `1.10` stay text), a list or a map if it is JSON, and text otherwise.
fn meant(text: &str) -> Value {
    let json = || serde_json::from_str::<serde_json::Value>(text).ok().map(|json| Value::from_json(&json));
    let same = |value: &Value| value.to_text().is_ok_and(|shown| shown == text);
    let read = match text.as_bytes().first() {
        Some(b'[' | b'{') => json(),
        Some(b'-' | b'0'..=b'9' | b't' | b'f') => json().filter(same),
        _ => None,
    };
    read.unwrap_or_else(|| Value::Text(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], wanted: Result<&[(&str, &str)], &str>) {
        let read = parse(text).map(|values| {
            values
                .into_iter()
                .map(|(key, value)| (key.to_string(), value.to_text().expect("short")))
                .collect::<Vec<_>>()
        });
        let wanted =
            wanted.map(|pairs| pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect());
        assert_eq!(read.map_err(|error| error.to_string()), wanted.map_err(str::to_owned), "{text:?}");
    }

    #[test]
    fn outputs_are_lines_of_key_and_value() {
        check(b"", Ok(&[]));
        check(
            b"rows=12\nname=a=b\r\n\nempty=\nrows=13",
            Ok(&[("empty", ""), ("name", "a=b"), ("rows", "13")]),
        );
        check("größe=1".as_bytes(), Err("outputs were ignored: line 1 is not KEY=VALUE"));
        check("gruß_an=☠".as_bytes(), Err("outputs were ignored: line 1 is not KEY=VALUE"));
        check("an=☠ 漢字".as_bytes(), Ok(&[("an", "☠ 漢字")]));
        check(b"a=1\nhello", Err("outputs were ignored: line 2 is not KEY=VALUE"));
        check(b"a=\xff", Err("outputs were ignored: line 1 is not UTF-8 text, or has a NUL character"));
        check(b"a=1\nb=\0", Err("outputs were ignored: line 2 is not UTF-8 text, or has a NUL character"));
    }

    #[test]
    fn values_have_the_type_that_they_look_like_if_nothing_is_lost() {
        for (text, wanted) in [
            ("0", Value::Int(0)),
            ("-12", Value::Int(-12)),
            ("2.5", Value::Float(2.5)),
            ("true", Value::Bool(true)),
            ("[1, 2]", Value::List([Value::Int(1), Value::Int(2)].into())),
        ] {
            assert_eq!(meant(text), wanted, "{text}");
        }
        for text in ["007", "1.10", "1e5", "12 apples", "null", "", "[1", "{not json}", "truer", "-", "9e999"]
        {
            assert_eq!(meant(text), Value::Text(text.into()), "{text}");
        }
    }

    #[test]
    fn too_much_or_what_is_no_file_is_refused_without_reading_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("output");
        assert!(matches!(read(&path), Ok(None)));
        std::fs::write(&path, vec![b'\n'; SIZE_MAX as usize]).expect("it is written");
        assert!(matches!(read(&path), Ok(None)));
        std::fs::write(&path, vec![b'\n'; SIZE_MAX as usize + 1]).expect("it is written");
        assert!(matches!(read(&path), Err(OutputError::TooLarge)));
        assert!(matches!(read(Path::new("/dev/zero")), Err(OutputError::Io(_))));
    }
}
