//! The figures of the documents are those that were measured.

use std::fmt::Write as _;

use crate::blocks::root;

#[test]
fn the_page_about_capacity_has_the_recorded_figures() {
    let results = std::fs::read_to_string(root().join("bench/RESULTS.md")).unwrap();
    let header = "| | ours | limit | ours / limit | target | |";
    let table = results.split(header).nth(1).expect("the table of the whole");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut shown = String::from("| what | Windlass | the machine's limit |\n|---|---|---|\n");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let what = cells[0].split("<br>").next().unwrap().split_once("** ").expect("a figure in bold").1;
        writeln!(shown, "| {what} | {} | {} |", cells[1], cells[2]).unwrap();
    }
    assert!(shown.lines().count() > 10, "{shown}");
    windlass_tests::pages::part("../operations/capacity.md", "figures", &shown);
}
