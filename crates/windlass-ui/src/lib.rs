//! The built web UI: inside the program, or from a folder while somebody works on it.
//!
//! `make ui` fills `ui/dist`; what is there when the program is compiled is carried. A program that was built
//! without it has none of these files, and says how to get them. What a browser may keep for ever is below
//! `assets/`, with a hash of its content in its name.

use std::borrow::Cow;
use std::path::PathBuf;

/// Every file of the build by its path in `ui/dist`, in the order of their paths.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The one page, of which each view of the UI is a part.
const PAGE: &str = "index.html";

/// Where the files are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// In the program.
    #[default]
    Program,
    /// In a folder, read at each call.
    Folder(PathBuf),
}

/// A file for a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its `Content-Type`.
    pub kind: &'static str,
    /// Its `Content-Encoding`, if it is compressed.
    pub encoding: Option<&'static str>,
    /// What is sent.
    pub body: Cow<'static, [u8]>,
}

impl Source {
    /// The page; `None` if the UI was not built.
    pub fn page(&self) -> Option<String> {
        let bytes = self.file(PAGE)?;
        String::from_utf8(bytes.into_owned()).ok()
    }

    /// A file below `assets/`, in the best encoding of those that `accept` (an `Accept-Encoding` header) names.
    pub fn asset(&self, name: &str, accept: &str) -> Option<Asset> {
        let kind = kind(name)?;
        let encodings =
            [("br", ".br"), ("gzip", ".gz")].into_iter().filter(|(word, _)| accepts(accept, word));
        let compressed = encodings.into_iter().find_map(|(word, ending)| {
            let body = self.file(&format!("assets/{name}{ending}"))?;
            Some(Asset { kind, encoding: Some(word), body })
        });
        compressed
            .or_else(|| Some(Asset { kind, encoding: None, body: self.file(&format!("assets/{name}"))? }))
    }

    fn file(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        match self {
            Source::Program => {
                let place = FILES.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
                Some(Cow::Borrowed(FILES[place].1))
            }
            Source::Folder(folder) => std::fs::read(folder.join(path)).ok().map(Cow::Owned),
        }
    }
}

/// What a file is, by its ending. `None` also for a name that could lead out of its folder.
fn kind(name: &str) -> Option<&'static str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if name.starts_with('.') || !name.chars().all(plain) {
        return None;
    }
    Some(match name.rsplit_once('.')?.1 {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "map" | "json" => "application/json",
        _ => return None,
    })
}

/// Whether an `Accept-Encoding` header allows an encoding.
fn accepts(header: &str, encoding: &str) -> bool {
    header.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case(encoding));
        let refused = words.any(|word| word.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32)));
        named && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("assets")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let source = Source::Folder(folder.path().to_owned());
        (folder, source)
    }

    #[test]
    fn the_best_encoding_that_is_there_and_accepted_is_sent() {
        let (_folder, ui) = folder(&[
            ("assets/a.js", "plain"),
            ("assets/a.js.br", "br"),
            ("assets/a.js.gz", "gz"),
            ("assets/b.css", "b"),
        ]);
        let sent = |name: &str, accept: &str| {
            let asset = ui.asset(name, accept).unwrap();
            (asset.encoding, String::from_utf8(asset.body.into_owned()).unwrap())
        };
        assert_eq!(sent("a.js", "gzip, deflate, br"), (Some("br"), "br".into()));
        assert_eq!(sent("a.js", "gzip;q=1.0, br;q=0"), (Some("gzip"), "gz".into()));
        assert_eq!(sent("a.js", ""), (None, "plain".into()));
        assert_eq!(sent("b.css", "br"), (None, "b".into()));
        assert_eq!(ui.asset("a.js", "").unwrap().kind, "text/javascript; charset=utf-8");
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let (_folder, ui) =
            folder(&[("index.html", "page"), ("secret.js", "no"), ("assets/.hidden.js", "no")]);
        assert_eq!(ui.page().as_deref(), Some("page"));
        for name in
            ["../secret.js", "..", "", ".hidden.js", "a/../../secret.js", "none.js", "../index.html", "a.exe"]
        {
            assert_eq!(ui.asset(name, "br"), None, "{name}");
        }
    }

    #[test]
    fn a_folder_without_a_build_has_no_page() {
        assert_eq!(folder(&[]).1.page(), None);
    }

    #[test]
    fn what_the_program_carries_is_a_whole_build_or_nothing() {
        let ui = Source::Program;
        let Some(page) = ui.page() else {
            assert!(FILES.is_empty(), "assets without a page");
            return;
        };
        let mut assets = 0;
        for name in page.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(ui.asset(name, "").is_some(), "{name} is not there");
            assert_eq!(ui.asset(name, "br").unwrap().encoding, Some("br"), "{name}");
            assets += 1;
        }
        assert!(assets >= 2, "the page needs a script and a style");
    }
}
