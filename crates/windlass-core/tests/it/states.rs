//! The tables and pictures of all moves are generated from the functions that make them.

use std::collections::BTreeSet;
use std::fmt::{Debug, Display, Write};

use windlass_core::worker::local;
use windlass_core::{attempt, job, run};
use windlass_tests::pages;

#[test]
fn the_page_of_states_is_what_the_functions_do() {
    let mut page = String::from(
        "# States\n\nEvery move of a run, a job and an attempt, and of an attempt inside its worker, generated from the functions that make them. A cell says where a move \
         leads; an empty one means that the move is refused and nothing changes. `recover`, `retry` and `force-success` \
         are the only ways out of an end.\n",
    );
    page += &section("Run", run::samples::STATES, run::samples::EVENTS, run::transition, |state| {
        Some(state.shown().to_string())
    });
    page += &section("Job", job::samples::STATES, job::samples::EVENTS, job::transition, |state| {
        Some(state.shown().to_string())
    });
    page += &section(
        "Attempt",
        attempt::samples::STATES,
        attempt::samples::EVENTS,
        attempt::transition,
        |state| Some(state.shown().map_or("returned".to_owned(), |shown| shown.to_string())),
    );
    page += &section(
        "Attempt inside its worker",
        local::samples::STATES,
        local::samples::EVENTS,
        local::transition,
        |state| Some(state.shown().to_owned()),
    );
    pages::whole("states.md", &page);
}

fn section<S: Copy + PartialEq + Debug, E: Copy, R: Display>(
    title: &str,
    states: &[(&str, S)],
    events: &[(&str, E)],
    transition: impl Fn(S, E) -> Result<S, R>,
    shown: impl Fn(S) -> Option<String>,
) -> String {
    let mut text = format!(
        "\n## {title}\n\n| | {} |\n|---{}|\n",
        names(events).join(" | "),
        "|---".repeat(events.len())
    );
    let mut arrows = BTreeSet::new();
    for (name, state) in states {
        write!(text, "| **{name}** |").unwrap();
        for (event_name, event) in events {
            let to = transition(*state, *event).ok().and_then(&shown);
            write!(text, " {} |", to.as_deref().unwrap_or("")).unwrap();
            let from = shown(*state).unwrap_or_default();
            if let Some(to) = to.filter(|to| *to != from) {
                arrows.insert((from, to, *event_name));
            }
        }
        text.push('\n');
    }
    text += "\n```mermaid\nstateDiagram-v2\n";
    for (from, to, event) in arrows {
        writeln!(text, "    {from} --> {to}: {}", event.replace(':', "")).unwrap();
    }
    text + "```\n"
}

fn names<T>(pairs: &[(&str, T)]) -> Vec<String> {
    pairs.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[test]
fn an_end_is_left_only_by_being_reopened_or_forced() {
    for (name, state) in run::samples::STATES.iter().filter(|(_, state)| state.shown().is_end()) {
        for (event, what) in run::samples::EVENTS {
            let left = run::transition(*state, *what).is_ok();
            assert!(!left || *what == run::Event::Reopened, "a run leaves {name} by {event}");
        }
    }
    for (name, state) in job::samples::STATES.iter().filter(|(_, state)| state.shown().is_end()) {
        for (event, what) in job::samples::EVENTS {
            let left = job::transition(*state, *what).is_ok();
            assert!(
                !left || matches!(what, job::Event::Reopened | job::Event::ForcedSuccess),
                "a job leaves {name} by {event}"
            );
        }
    }
    for (name, state) in attempt::samples::STATES {
        if let attempt::State::Ended(_) = state {
            for (event, what) in attempt::samples::EVENTS {
                assert!(attempt::transition(*state, *what).is_err(), "an attempt leaves {name} by {event}");
            }
        }
    }
    for (name, state) in local::samples::STATES {
        if let local::State::Finished(_) = state {
            for (event, what) in local::samples::EVENTS {
                assert!(local::transition(*state, *what).is_err(), "an attempt leaves {name} by {event}");
            }
        }
    }
}
