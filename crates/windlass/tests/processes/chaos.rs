//! `windlass chaos` over PostgreSQL, in small: each kind of fault, once.

use std::process::Command;

use crate::world::PROGRAM;

/// A round of chaos with three masters, and what it printed.
fn chaos(flags: &[&str]) -> String {
    let done = Command::new(PROGRAM)
        .args(["chaos", "--masters", "3", "--store", "postgres", "--runs", "20", "--seed", "3"])
        .args(flags)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    printed
}

/// A count that was printed.
fn count(printed: &str, what: &str) -> u64 {
    let line = printed.lines().find(|line| line.trim_start().starts_with(what));
    let line = line.unwrap_or_else(|| panic!("nothing is said of `{what}`: {printed}"));
    line.split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn nothing_is_lost_when_nodes_are_killed_and_frozen_whose_clocks_are_hours_apart() {
    let printed = chaos(&["--freeze", "--clocks", "1h"]);
    assert_eq!((count(&printed, "submitted"), count(&printed, "succeeded")), (20, 20), "{printed}");
    let disturbed = count(&printed, "masters killed") + count(&printed, "workers killed");
    assert!(disturbed + count(&printed, "frozen") > 0, "{printed}");
    assert!(count(&printed, "longest stall") < 6000, "{printed}");
}

#[test]
fn nothing_is_lost_when_replies_of_commits_are_lost_and_the_server_goes_away() {
    let printed = chaos(&["--swallow", "20", "--outage", "3s"]);
    assert_eq!((count(&printed, "submitted"), count(&printed, "succeeded")), (20, 20), "{printed}");
    assert_eq!(count(&printed, "times without PostgreSQL"), 2, "{printed}");
    assert!(count(&printed, "replies of COMMIT lost") > 0, "{printed}");
}

#[test]
fn a_server_that_is_not_ours_is_not_stopped() {
    let said = Command::new(PROGRAM).args(["chaos", "--outage", "3s"]).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&said.stderr).contains("hint: add --store postgres"), "{said:?}");
}
