//! Codes and pages are compared both ways, and the lists of pages are made from the codes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use windlass_tests::pages;

use super::*;

/// The first lines of a page: what is known from the code.
fn head(code: &str) -> String {
    let mut head = format!("# `{code}`\n");
    for entry in entries().iter().filter(|entry| entry.code == code) {
        let mut facts = match entry.kind {
            "workflow file" => "Found in a workflow file".to_owned(),
            "server" => "Said by the server".to_owned(),
            "command line" => "Said by the program itself".to_owned(),
            "attempt" => "How an attempt ended".to_owned(),
            _ => "An answer of `windlass why`".to_owned(),
        };
        if let Some(status) = entry.status {
            write!(facts, " · HTTP status {status}").unwrap();
        }
        if let Some(exit) = entry.exit {
            write!(facts, " · exit code {}", exit as u8).unwrap();
        }
        write!(head, "\n*{facts}*\n\n{}\n", entry.meaning).unwrap();
    }
    head
}

fn names() -> BTreeSet<&'static str> {
    entries().iter().map(|entry| entry.code).collect()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let codes: BTreeSet<String> = names().iter().map(|code| (*code).to_owned()).collect();
    let mut there = pages::folder("../errors");
    there.remove("README");
    assert_eq!(codes, there, "left: codes, right: pages of docs/errors");
}

#[test]
fn the_first_lines_of_every_page_are_those_of_its_code() {
    for code in names() {
        let page = format!("../errors/{code}.md");
        let text = pages::text(&page);
        let rest = text.split_once("\n## ").map(|(_, rest)| format!("\n## {rest}"));
        let rest = rest.unwrap_or_else(|| panic!("{page} says nothing more than its code does"));
        pages::whole(&page, &format!("{}{rest}", head(code)));
    }
}

#[test]
fn every_page_shows_the_message_and_says_what_to_do() {
    for code in names() {
        let text = pages::text(&format!("../errors/{code}.md"));
        assert!(text.contains("\n## What to do\n"), "{code}: what to do?");
        let shown = text.split("\n```").skip(1).step_by(2).any(|block| block.contains(code));
        assert!(shown, "{code}: no example shows it");
    }
}

#[test]
fn the_list_of_all_codes_is_the_generated_one() {
    let mut page = String::from(
        "# Errors\n\nEvery error has a code, which stands in brackets behind the message: `error: … [run_not_found]`.\n\
         Scripts may match on it; it is never renamed. `windlass explain CODE` prints the page about it, also without a\n\
         server, and the server has the same pages at `/docs/errors/`. This list is made from the code.\n",
    );
    for (kind, title, says) in [
        ("workflow file", "In workflow files", "Shown as `FILE:LINE:COL: error[code]: message`."),
        ("server", "From the server", "Sent as `application/problem+json` with the code in `code`."),
        (
            "command line",
            "From the program itself",
            "Said by verbs without the server's help, and by servers at their start.",
        ),
        (
            "attempt",
            "Ends of attempts",
            "The state that `windlass runs show` and `windlass why` give an attempt.",
        ),
        ("why", "Reasons to wait", "Not errors: what `windlass why` says of a job that does not run."),
    ] {
        writeln!(page, "\n## {title}\n\n{says}\n\n| code | exit | HTTP | meaning |\n|---|---|---|---|")
            .unwrap();
        for entry in entries().iter().filter(|entry| entry.kind == kind) {
            let exit = entry.exit.map(|exit| (exit as u8).to_string()).unwrap_or_default();
            let status = entry.status.map(|status| status.to_string()).unwrap_or_default();
            let meaning = entry.meaning.replace('|', "\\|");
            writeln!(page, "| [`{0}`]({0}.md) | {exit} | {status} | {meaning} |", entry.code).unwrap();
        }
    }
    pages::whole("../errors/README.md", &page);
}

#[test]
fn a_code_means_one_thing() {
    // The language and the server say the same by it.
    let both = ["not_yet_supported"];
    let all: Vec<_> = entries().iter().map(|entry| entry.code).collect();
    for code in names() {
        let count = all.iter().filter(|known| **known == code).count();
        assert!(count == 1 || both.contains(&code), "{code} is there {count} times");
    }
}
