"""How long a warm lint takes: ``python -m benchmarks.lint``. The aim is 200 µs a query."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from querykit.lexicon import load_lexicon
from querykit.mirror import Elements, lint, lint_text, load_mirror

AIM = 200.0  # µs
CASES = Path(__file__).parent.parent / "tests" / "cases" / "mirror.jsonl"


def microseconds(run: Callable[[], Any], rounds: int = 7) -> float:
    """The median of *rounds* warm runs."""
    run()
    times = []
    for _ in range(rounds):
        start = perf_counter()
        run()
        times.append((perf_counter() - start) * 1e6)
    return median(times)


def main() -> int:
    """Print the figures; 1 when the median is above the aim."""
    started = perf_counter()
    rules, zh = load_mirror(), load_lexicon()
    lint_text("预热", rules, zh)
    print(f"load {(perf_counter() - started) * 1e3:.0f} ms")
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    blank = {"contrast": "", "break_by": "", "anchor": "", "function": ""}
    free = [case["question"] for case in cases if "question" in case]
    given = [Elements(**(blank | case["elements"])) for case in cases if "elements" in case]
    figures = {
        "free text": sorted(microseconds(lambda q=q: lint_text(q, rules, zh)) for q in free),  # type: ignore[misc]
        "elements": sorted(microseconds(lambda e=e: lint(e, rules)) for e in given),  # type: ignore[misc]
    }
    for name, times in figures.items():
        slow = times[int(len(times) * 0.95)]
        spread = f"median {median(times):.0f} µs, 95 % {slow:.0f} µs, slowest {times[-1]:.0f} µs"
        print(f"{name}: {spread} ({len(times)} inputs)")
    return int(any(median(times) > AIM for times in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
