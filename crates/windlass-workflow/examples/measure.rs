//! Measures what the language costs: `make bench`, or
//! `cargo run --release -p windlass-workflow --example measure`.
//!
//! Each figure stands beside a limit measured in the same run, because absolute times differ from
//! machine to machine and hour to hour.
#![allow(clippy::disallowed_methods, reason = "this is the program that looks at the clock")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use windlass_workflow::expr::{Expression, Fuel, Value, Values};
use windlass_workflow::layout::layout;
use windlass_workflow::version::ContentHash;
use windlass_workflow::{cron, file, from_text, tree};

fn main() {
    // Alone in its process, so that the memory is that of the bomb.
    if std::env::args().nth(1).as_deref() == Some("bomb") {
        return bomb();
    }
    println!("| what | median | beside |");
    println!("|---|---|---|");
    for tasks in [1_000, 10_000, 50_000] {
        files(tasks);
    }
    expressions();
    crons();
}

/// A layered workflow: each task waits for two of the layer before.
fn workflow(tasks: usize) -> String {
    const WIDTH: usize = 100;
    let mut text = String::from("name: large\nparams: {day: {type: date, default: 2026-03-01}}\ntasks:\n");
    for task in 0..tasks {
        let _ = write!(
            text,
            "  t{task}:\n    run: |\n      ./step.sh --number {task} --day ${{{{ params.day }}}}\n      echo done\n    retries: {{max: 2}}\n"
        );
        if task >= WIDTH {
            let (one, two) = (task - WIDTH, (task / WIDTH - 1) * WIDTH + (task * 7 + 13) % WIDTH);
            let _ = writeln!(text, "    depends_on: [t{one}, t{two}]");
        }
    }
    text
}

fn files(tasks: usize) {
    let text = workflow(tasks);
    let bytes = text.as_bytes();
    // The limit: the YAML parser alone, which has to look at every character.
    let events = median(5, || granit_parser::Parser::new_from_str(&text).filter(Result::is_ok).count());
    let megabytes = bytes.len() as f64 / 1e6;
    let row = |what: &str, took: Duration| {
        println!(
            "| {tasks} tasks ({megabytes:.1} MB): {what} | {} | {:.2} × YAML events |",
            show(took),
            ratio(took, events)
        );
    };
    row("YAML events alone (limit)", events);
    row("text → tree", median(5, || tree::from_text(bytes).expect("right")));
    row("text → checked definition", median(5, || from_text(bytes).expect("right")));
    let definition = from_text(bytes).expect("right").definition;
    let edges: Vec<(u32, u32)> = definition.graph.edges().map(|(from, to)| (from.0, to.0)).collect();
    row("layout", median(5, || layout(tasks, &edges)));
    row("content hash", median(5, || ContentHash::of(&definition)));
    row("definition → YAML", median(5, || file::to_yaml(&definition)));
}

/// Sixty lines, each an alias list of the one before: 9^59 values if anybody wrote them out.
fn bomb() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for line in 1..60 {
        let aliases = vec![format!("*a{}", line - 1); 9].join(", ");
        let _ = writeln!(text, "a{line}: &a{line} [{aliases}]");
    }
    let start = Instant::now();
    let refused = from_text(text.as_bytes()).expect_err("a bomb");
    let took = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    println!(
        "| billion laughs, 60 lines: refused ({}) | {} | {} MB peak of the whole process |",
        refused[0].code,
        show(took),
        peak_kib / 1024
    );
    assert!(
        took < Duration::from_millis(100) && peak_kib < 50 * 1024,
        "a bomb costs at most 100 ms and 50 MB"
    );
}

fn expressions() {
    let scope = Values::new(TimeZone::UTC)
        .with("item", Value::Int(7))
        .with("params", Value::from_json(&serde_json::json!({"day": "2026-03-01", "limit": 10})));
    const TIMES: u32 = 100_000;
    for text in [
        "item",
        "params.limit * 2 + 1",
        "date(params.day) + days(1)",
        "item in range(1000000) and params.limit > 3",
    ] {
        let expression = Expression::parse(text).expect("right");
        let took = median(5, || {
            for _ in 0..TIMES {
                black_box(expression.evaluate(&scope, &mut Fuel::default()).expect("a value"));
            }
        });
        println!("| expression `{text}` | {} ns | |", took.as_nanos() / u128::from(TIMES));
    }
}

fn crons() {
    let oslo = cron::zone("Europe/Oslo").expect("a zone");
    for text in ["0 3 * * 1-5", "*/5 * * * *", "0 9 LW * *"] {
        let rule = cron::Rule::parse(text).expect("right");
        let start = jiff::Timestamp::from_second(1_780_000_000).expect("in range");
        let took = median(5, || rule.upcoming(&oslo, start, start).take(10_000).count());
        println!("| cron `{text}`, next firing | {} ns | |", took.as_nanos() / 10_000);
    }
}

fn median<T>(times: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    took[times / 2]
}

fn ratio(took: Duration, limit: Duration) -> f64 {
    took.as_secs_f64() / limit.as_secs_f64()
}

fn show(took: Duration) -> String {
    if took.as_millis() >= 10 {
        format!("{} ms", took.as_millis())
    } else {
        format!("{} µs", took.as_micros())
    }
}
