//! Bugs in the text of a source file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use super::{Error, Mutant, Site};

/// A bug that does not fit the code any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mutant `{mutant}` does not fit {file}: {why}")]
pub struct Stale {
    /// Which.
    pub mutant: String,
    /// The file.
    pub file: String,
    /// Why.
    pub why: String,
}

/// Everything that does not fit the sources in a folder of crates.
pub fn check(crates: &Path, mutants: &[Mutant]) -> Result<Vec<Stale>, Error> {
    let mut stale = Vec::new();
    for (file, sites) in by_file(mutants) {
        let path = crates.join(file);
        let text = std::fs::read_to_string(&path).map_err(|cause| Error::File { path, cause })?;
        stale.extend(places(&text, &sites).err());
    }
    Ok(stale)
}

/// The sites in each file, with the numbers of their bugs, from 1.
pub(super) fn by_file(mutants: &[Mutant]) -> BTreeMap<&str, Vec<(usize, &Mutant, &Site)>> {
    let mut files: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (place, mutant) in mutants.iter().enumerate() {
        for site in &mutant.sites {
            files.entry(&site.file).or_default().push((place + 1, mutant, site));
        }
    }
    files
}

/// The text of a file with the bugs in it.
pub(super) fn plant(text: &str, sites: &[(usize, &Mutant, &Site)]) -> Result<String, Stale> {
    let mut planted = String::new();
    let mut done = 0;
    for ((from, to), at_place) in places(text, sites)? {
        planted.push_str(&text[done..from]);
        planted.push_str(&both(&text[from..to], &at_place));
        done = to;
    }
    planted.push_str(&text[done..]);
    Ok(planted)
}

type Places<'a> = BTreeMap<(usize, usize), Vec<(usize, &'a str)>>;

/// The places of a text at which bugs are planted, in order, with the numbers of the bugs and what they have there.
fn places<'a>(text: &str, sites: &[(usize, &'a Mutant, &'a Site)]) -> Result<Places<'a>, Stale> {
    let mut places: Places<'_> = BTreeMap::new();
    for (number, mutant, site) in sites {
        let stale =
            |why: &str| Stale { mutant: mutant.name.clone(), file: site.file.clone(), why: why.to_owned() };
        let Range { start, end } = find(text, site).map_err(stale)?;
        let overlaps =
            |(from, to): &&(usize, usize)| start < *to && *from < end && (*from, *to) != (start, end);
        if places.keys().any(|place| overlaps(&place)) {
            return Err(stale("it overlaps with another one; give both the same text"));
        }
        places.entry((start, end)).or_default().push((*number, &site.to));
    }
    Ok(places)
}

fn find(text: &str, site: &Site) -> Result<Range<usize>, &'static str> {
    let once = |text: &str, part: &str| match text.match_indices(part).count() {
        1 => text.find(part).ok_or("its text is not there"),
        0 => Err("its text is not there"),
        _ => Err("its text is there more than once"),
    };
    let start = match &site.after {
        None => once(text, &site.from)?,
        Some(after) => {
            let behind =
                once(text, after).map_err(|_| "what it comes after is not there once")? + after.len();
            behind + text[behind..].find(&site.from).ok_or("its text is not there")?
        }
    };
    Ok(start..start + site.from.len())
}

/// What stands at a place and what the bugs have there, chosen when it runs.
fn both(right: &str, wrong: &[(usize, &str)]) -> String {
    let mut text = String::new();
    for (number, wrong) in wrong {
        let _ = write!(text, "if ::windlass_model::mutant::is({number}) {{ {wrong} }} else ");
    }
    let _ = write!(text, "{{ {right} }}");
    let is_statement = right.trim_end().ends_with([';', '}']);
    if is_statement { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn a() -> bool { x == y }\nfn b() { go(); stop(); }\nfn c() -> bool { x == y }\n";

    fn mutant(after: Option<&str>, from: &str, to: &str) -> Mutant {
        let site =
            Site { file: "a.rs".into(), after: after.map(Into::into), from: from.into(), to: to.into() };
        Mutant { name: from.into(), breaks: "it".into(), one_defence: None, sites: vec![site] }
    }

    fn planted(mutants: &[Mutant]) -> Result<String, String> {
        let files = by_file(mutants);
        plant(TEXT, &files["a.rs"]).map_err(|stale| stale.why)
    }

    #[test]
    fn a_bug_stands_beside_the_code_that_it_replaces() {
        let mutants = [mutant(None, "stop();", ""), mutant(Some("fn c()"), "x == y", "true")];
        assert_eq!(
            planted(&mutants).expect("it fits"),
            "fn a() -> bool { x == y }\nfn b() { go(); if ::windlass_model::mutant::is(1) {  } else { stop(); } \
             }\nfn c() -> bool { (if ::windlass_model::mutant::is(2) { true } else { x == y }) }\n"
        );
    }

    #[test]
    fn several_bugs_share_a_place() {
        let mutants = [mutant(None, "stop();", ""), mutant(None, "stop();", "go();")];
        let text = planted(&mutants).expect("it fits");
        assert!(
            text.contains("is(1) {  } else if ::windlass_model::mutant::is(2) { go(); } else { stop(); }")
        );
    }

    #[test]
    fn a_bug_that_does_not_fit_is_an_error() {
        assert!(
            planted(&[mutant(None, "x == y", "true")])
                .expect_err("it does not fit")
                .contains("more than once")
        );
        assert!(planted(&[mutant(None, "halt();", "")]).expect_err("it does not fit").contains("not there"));
        let overlapping = [mutant(None, "go(); stop();", ""), mutant(None, "stop();", "")];
        assert!(planted(&overlapping).expect_err("it does not fit").contains("overlaps"));
    }
}
