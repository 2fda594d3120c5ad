//! Cuts the text of an expression into tokens.
//!
//! Also finds the `}}` that ends a hole in a template: the same rules decide, so a `}}` inside a
//! string or one that closes nested maps does not end it.

use std::sync::Arc;

use super::ast::At;
use crate::codes::Code;
use crate::diagnostic::TextError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Not yet signed: `-9223372036854775808` is a minus and a number that fits only with it.
    Int(u64),
    Float(f64),
    Text(Arc<str>),
    /// A name or a word of the language.
    Name(&'a str),
    Mark(&'static str),
    End,
}

/// All tokens of a whole expression; the last is `End`.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token<'_>, At)>, TextError> {
    let mut lexer = Lexer { source, position: 0 };
    let mut tokens = Vec::new();
    loop {
        let (token, at) = lexer.next()?;
        let last = token == Token::End;
        tokens.push((token, at));
        if last {
            return Ok(tokens);
        }
    }
}

/// Where the `}}` stands that ends the hole whose expression begins at `start`; `None` if there is
/// none. Reads no further than `limit` bytes.
pub(crate) fn hole_end(text: &str, start: usize, limit: usize) -> Result<Option<usize>, TextError> {
    let mut lexer = Lexer { source: text, position: start };
    let mut braces = 0_usize;
    loop {
        lexer.skip_space();
        if braces == 0 && lexer.rest().starts_with("}}") {
            return Ok(Some(lexer.position));
        }
        if lexer.position - start > limit {
            return Err(too_long(start, lexer.position));
        }
        match lexer.next()?.0 {
            Token::Mark("{") => braces += 1,
            Token::Mark("}") => braces = braces.saturating_sub(1),
            Token::End => return Ok(None),
            _ => {}
        }
    }
}

/// The complaint about an expression beyond the limit of its length.
pub(super) fn too_long(start: usize, end: usize) -> TextError {
    let message = format!("an expression may have at most {} bytes", super::MAX_LENGTH);
    TextError::new(Code::ExpressionSyntax, start..end, message).help("do this work in a task")
}

/// Longest first, so that `//` is not read as two `/`.
const MARKS: [&str; 24] = [
    "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", "{", "}", ",", ":", ".", "|", "~", "+", "-", "*", "/",
    "%", "<", ">", "=",
];

struct Lexer<'a> {
    source: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn next(&mut self) -> Result<(Token<'a>, At), TextError> {
        self.skip_space();
        let start = self.position;
        let token = match self.rest().chars().next() {
            None => Token::End,
            Some('0'..='9') => self.number()?,
            Some(quote @ ('\'' | '"')) => self.text(quote)?,
            Some('a'..='z' | 'A'..='Z' | '_') => Token::Name(self.word()),
            Some(other) => self.mark(other)?,
        };
        Ok((token, At::new(start, self.position)))
    }

    /// Letters, digits and underscores from here on.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    fn mark(&mut self, found: char) -> Result<Token<'a>, TextError> {
        let rest = self.rest();
        let advice = match found {
            '&' => Some(("&&", "use `and`")),
            '|' if rest.starts_with("||") => Some(("||", "use `or`")),
            '!' if !rest.starts_with("!=") => Some(("!", "use `not`")),
            '*' if rest.starts_with("**") => Some(("**", "there is no power operator; multiply")),
            '?' => Some(("?", "write `a if condition else b`")),
            '$' => Some(("$", "names stand without `$`")),
            ';' => Some((";", "an expression is one value")),
            '`' => Some(("`", "text stands in 'single' or \"double\" quotes")),
            _ => None,
        };
        if let Some((mark, help)) = advice {
            let len = if rest.starts_with(mark) { mark.len() } else { found.len_utf8() };
            let at = self.position..self.position + len;
            let message = format!("`{}` is not part of the expression language", &rest[..len]);
            return Err(TextError::new(Code::ExpressionSyntax, at, message).help(help));
        }
        match MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            Some(mark) => {
                self.position += mark.len();
                Ok(Token::Mark(mark))
            }
            None => Err(TextError::new(
                Code::ExpressionSyntax,
                self.position..self.position + found.len_utf8(),
                format!("unexpected character `{}`", found.escape_debug()),
            )),
        }
    }

    fn number(&mut self) -> Result<Token<'a>, TextError> {
        let start = self.position;
        self.digits();
        let mut whole = true;
        if self.rest().strip_prefix('.').is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))
        {
            whole = false;
            self.position += 1;
            self.digits();
        }
        if let Some(exponent) = exponent_len(self.rest()) {
            whole = false;
            self.position += exponent;
        }
        let number = &self.source[start..self.position];
        if !self.word().is_empty() {
            return Err(self.error(start, "a number cannot go on with letters"));
        }
        if whole {
            return number.parse().map(Token::Int).map_err(|_| self.error(start, "the number is too large"));
        }
        match number.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Token::Float(float)),
            _ => Err(self.error(start, "the number is too large")),
        }
    }

    fn digits(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    }

    fn text(&mut self, quote: char) -> Result<Token<'a>, TextError> {
        let start = self.position;
        self.position += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(special) = rest.find([quote, '\\']) else {
                let help = format!("end it with {quote}");
                let at = start..self.source.len();
                return Err(TextError::new(Code::ExpressionSyntax, at, "text without an end").help(help));
            };
            text.push_str(&rest[..special]);
            self.position += special + 1;
            if rest[special..].starts_with(quote) {
                return Ok(Token::Text(text.into()));
            }
            text.push(self.escape()?);
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, TextError> {
        let backslash = self.position - 1;
        let letter = self.rest().chars().next();
        self.position += letter.map_or(0, char::len_utf8);
        let character = match letter {
            Some(same @ ('\\' | '\'' | '"' | '/')) => Some(same),
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('u') => {
                let hex = self.rest().get(..4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
                self.position += hex.map_or(0, str::len);
                hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
            }
            _ => None,
        };
        character.ok_or_else(|| {
            let help = "known are \\n \\t \\r \\\\ \\' \\\" \\/ and \\u with four hexadecimal digits";
            self.error(backslash, "unknown escape in text").help(help)
        })
    }

    fn error(&self, start: usize, message: &str) -> TextError {
        TextError::new(Code::ExpressionSyntax, start..self.position, message)
    }
}

/// The length of `e10`, `E-3`, `e+7` at the start of `text`, if there is one.
fn exponent_len(text: &str) -> Option<usize> {
    let after = text.strip_prefix(['e', 'E'])?;
    let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then(|| text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[Token<'_>]) {
        let found: Vec<_> = tokens(source).unwrap().into_iter().map(|(token, _)| token).collect();
        assert_eq!(found, expected, "{source}");
    }

    fn check_error(source: &str, message: &str, guilty: &str) {
        let error = tokens(source).unwrap_err();
        assert_eq!((error.message.as_str(), &source[error.at.clone()]), (message, guilty), "{source}");
    }

    #[test]
    fn text_is_cut_into_tokens() {
        use Token::{End, Float, Int, Mark, Name, Text};
        check("a.b//2", &[Name("a"), Mark("."), Name("b"), Mark("//"), Int(2), End]);
        check("1.5 2e3 1.x", &[Float(1.5), Float(2000.0), Int(1), Mark("."), Name("x"), End]);
        check(r#"'a\'\n' "é""#, &[Text("a'\n".into()), Text("é".into()), End]);
        check(r"'\u00e9\\'", &[Text("é\\".into()), End]);
        check(" \n", &[End]);
    }

    #[test]
    fn what_is_no_token_is_pointed_at() {
        check_error("a && b", "`&&` is not part of the expression language", "&&");
        check_error("a || b", "`||` is not part of the expression language", "||");
        check_error("!a", "`!` is not part of the expression language", "!");
        check_error("a § b", "unexpected character `§`", "§");
        check_error("1 + 'abc", "text without an end", "'abc");
        check_error(r"'a\qb'", "unknown escape in text", r"\q");
        check_error(r"'\ud800'", "unknown escape in text", r"\ud800");
        check_error(r"'\", "unknown escape in text", r"\");
        check_error("12abc", "a number cannot go on with letters", "12abc");
        check_error("99999999999999999999", "the number is too large", "99999999999999999999");
        check_error("1e999", "the number is too large", "1e999");
    }

    #[test]
    fn the_end_of_a_hole_is_found_by_the_rules_of_tokens() {
        let check = |text: &str, expected: Option<usize>| assert_eq!(hole_end(text, 0, 100), Ok(expected));
        check("a }}", Some(2));
        check("'}}' }}", Some(5));
        check("{'a': {'b': 1}}}}", Some(15));
        check("{'a': 1}", None);
        assert!(hole_end(&"a ".repeat(100), 0, 100).is_err());
    }
}
