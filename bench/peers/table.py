"""Turns what was measured into Markdown.

    table.py windlass FILE             rows for the table, from the report of `windlass bench -o json`
    table.py table FILE                every system beside the others, from rows as JSON lines
    table.py targets FILE FILE         every target with ours, the limit and the peers: the report, then the rows
"""

import json
import sys


def rows_of(path):
    return [json.loads(line) for line in open(path) if line.strip()]


def finder(path):
    rows = json.load(open(path))["items"]

    def find(figure, words):
        return next((row for row in rows if row["figure"] == figure and words in row["what"]), None)

    return find


def windlass(path):
    find = finder(path)
    ours, limit = {"peer": "**Windlass**"}, {"peer": "the limit"}
    for key, figure, words in [
        ("noop", "noop", "no-op jobs"),
        ("process", "processes", "`true`"),
        ("p50", "latency", "p50"),
        ("p99", "latency", "p99"),
    ]:
        row = find(figure, words)
        if row:
            ours[key], limit[key] = row["ours"], row["limit"]
    started = find("start", "nothing → ready")
    if started:
        ours["start"] = started["ours"] / 1000
    ours["note"] = "SQLite, durable, results and logs kept; submit → first instruction of a process"
    limit["note"] = "bare SQLite in transactions of 1,000; `posix_spawn`; a durable insert, then a process"
    for row in (limit, ours):
        print(json.dumps(row))


def table(path):
    print("| system | no-op jobs/s | processes/s (`true`) | submit → start p50 / p99 | cold start | how |")
    print("|---|---|---|---|---|---|")
    for row in rows_of(path):
        if "left_out" in row:
            print(f"| {row['peer']} | – | – | – | – | left out: {row['left_out']} |")
            continue
        number = lambda key: f"{row[key]:,.0f}" if key in row else "–"
        delay = f"{row['p50']:.1f} / {row['p99']:.1f} ms" if "p50" in row else "–"
        start = f"{row['start']:.2f} s" if "start" in row else "–"
        print(f"| {row['peer']} | {number('noop')} | {number('process')} | {delay} | {start} | {row.get('note', '')} |")


def targets(report, rows):
    find = finder(report)
    peers = [row for row in rows_of(rows) if "left_out" not in row and row["peer"] not in ("**Windlass**", "the limit")]

    def of_peers(key, shown):
        return ", ".join(f"{row['peer'].split(' ')[0]} {shown(row[key])}" for row in peers if key in row) or "–"

    rate = lambda value: f"{value:,.0f}/s"
    ms = lambda value: f"{value:.2f} ms"
    size = lambda value: f"{value:.1f} MB"
    nothing = lambda value: "–"

    def line(what, must, goal, row, shown, others="–", ratio=False):
        ours = shown(row["ours"]) if row else "not measured"
        if row and ratio:
            ours += f" ({row['ratio'] * 100:.0f} %)"
        limit = shown(row["limit"]) if row else "–"
        print(f"| {what} | {must} | {goal} | {ours} | {limit} | {others} |")

    print("| | must | goal | ours | limit or bound | peers, same run |")
    print("|---|---|---|---|---|---|")
    line("durable no-op jobs, SQLite", "50,000/s", "200,000/s", find("noop", "no-op jobs"), rate, of_peers("noop", rate), True)
    line("durable no-op jobs, PostgreSQL", "20,000/s", "60,000/s", None, rate, of_peers("noop_postgres", rate))
    line("process tasks, with logs kept", "70 % of the limit", "85 %", find("processes", "`true`"), rate, of_peers("process", rate), True)
    line("submit → start, idle, durable, p50", "3 ms", "0.5 ms", find("latency", "p50"), ms, of_peers("p50", ms))
    line("… p99", "", "2 ms", find("latency", "p99"), ms, of_peers("p99", ms))
    line("chained no-op tasks, each", "2 ms", "0.5 ms", find("chain", "step"), ms)
    line("cold start to ready", "1 s", "0.1 s", find("start", "nothing → ready"), ms, of_peers("start", lambda s: f"{s:.2f} s"))
    line("idle, resident", "60 MB", "30 MB", find("start", "resident"), size)
    line("memory per queued job of a `foreach`", "200 B", "64 B", find("memory", "each of these jobs"), lambda b: f"{b:.1f} B")
    line("no-op jobs with many finished ones", "no growth", "none", find("growth", "after"), rate, "–", True)
    line("`kill -9` of the master → ready", "2 lease times", "under 5 s, 0 redone", find("start", "kill -9"), ms)
    line("10,000 connected workers, one master", "simulated", "real streams", None, nothing)


{"windlass": windlass, "table": table, "targets": targets}[sys.argv[1]](*sys.argv[2:])
