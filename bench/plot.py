"""Draws what was measured, from the files in bench/data to bench/plots.

    plot.py [FOLDER WITH peers.jsonl, windlass.json AND growth.json]

peers.jsonl has a row for each system and windlass.json the report of the same run, both from `bench/peers/run`;
growth.json is the report of `windlass bench --only growth,reading --finished N -o json`, one for each N, as a list.
"""

import json
import os
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "data")
PLOTS = os.path.join(HERE, "plots")
OURS, OTHERS, LIMIT = "#1c6e8c", "#b8b8b8", "#e0a458"

# The same picture from the same figures, to the byte.
matplotlib.rcParams.update({"svg.hashsalt": "windlass", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False})


def save(figure, name):
    figure.tight_layout()
    figure.savefig(os.path.join(PLOTS, name), metadata={"Date": None, "Creator": None})
    plt.close(figure)


def peers():
    rows = [json.loads(line) for line in open(os.path.join(DATA, "peers.jsonl")) if line.strip()]
    rows = [row for row in rows if "left_out" not in row]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    for axis, (key, title) in zip(axes, [("noop", "no-op jobs a second (logarithmic)"), ("process", "processes (`true`) a second")]):
        shown = sorted((row for row in rows if key in row), key=lambda row: row[key])
        names = [row["peer"].strip("*") for row in shown]
        colours = [OURS if name == "Windlass" else LIMIT if name == "the limit" else OTHERS for name in names]
        bars = axis.barh(names, [row[key] for row in shown], color=colours)
        axis.bar_label(bars, [f"{row[key]:,.0f}" for row in shown], padding=3)
        axis.set(title=title, xscale="log" if key == "noop" else "linear", xmargin=0.2)
        axis.tick_params(left=False)
    save(figure, "peers.svg")


def shares():
    items = json.load(open(os.path.join(DATA, "windlass.json")))["items"]
    # Rates are better the nearer they come to their limit; what takes time is longer than its limit.
    rows = [row for row in items if row["limit_is"] != "bound" and row["unit"] in ("/s", "ms") and row["figure"] != "growth"]
    share = [row["ratio"] if row["unit"] == "/s" else 1 / row["ratio"] for row in rows]
    figure, axis = plt.subplots(figsize=(10, 0.45 * len(rows) + 1))
    bars = axis.barh([f"{row['figure']}: {row['what']}" for row in rows], share, color=OURS)
    axis.bar_label(bars, [f"{value:.0%}" for value in share], padding=3)
    axis.axvline(1, color=LIMIT)
    axis.set(title="how near each figure is to its limit in the same run", xlim=(0, max(1.1, *share)))
    axis.xaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axis.invert_yaxis()
    save(figure, "limits.svg")


def growth():
    reports = json.load(open(os.path.join(DATA, "growth.json")))
    finished = lambda row: int(re.search(r"(\d+) finished", row["what"])[1])
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    rates = [(finished(row), row["ours"], row["limit"]) for report in reports for row in report["items"] if row["figure"] == "growth"]
    rates.sort()
    axes[0].plot([at for at, _, _ in rates], [ours for _, ours, _ in rates], "o-", color=OURS, label="with finished jobs")
    axes[0].plot([at for at, _, _ in rates], [empty for _, _, empty in rates], "o--", color=LIMIT, label="empty store, same run")
    axes[0].set(title="no-op jobs a second", ylim=(0, None), xlabel="finished jobs in the store")
    axes[0].legend()
    looks = {}
    for report in reports:
        for row in report["items"]:
            if row["figure"] == "reading":
                looks.setdefault(row["what"].split(", p99")[0], []).append((finished(row), row["ours"]))
    for what, points in looks.items():
        points.sort()
        axes[1].plot([at for at, _ in points], [ours for _, ours in points], "o-", label=what, markersize=3)
    axes[1].set(title="looking at runs, p99 in ms", ylim=(0, None), xlabel="finished jobs in the store")
    axes[1].legend(fontsize=6)
    for axis in axes:
        axis.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda at, _: f"{at / 1e6:g} M"))
    save(figure, "growth.svg")


os.makedirs(PLOTS, exist_ok=True)
peers()
shares()
growth()
