"""What starting costs, in processes of their own, interleaved, medians, as ratios.

    python -m benchmarks.startup [--runs 15]

* `import querykit` against `import regex, dataclasses, enum`, both less a bare Python;
* the first rewrite in a fresh process (import included) against `import jieba` plus its first cut, with
  jieba's cache warm.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

QUESTION = "这个知识库里有哪些关于 Midjourney 的笔记"
SNIPPETS = {
    "bare": "",
    "regex": "import regex, dataclasses, enum",
    "import": "import querykit",
    "rewrite": f"import querykit as qk; qk.rewrite({QUESTION!r}, qk.load_lexicon())",
    "jieba": f"import logging, jieba; jieba.setLogLevel(logging.ERROR); list(jieba.cut({QUESTION!r}))",
}


def seconds(code: str) -> float:
    """How long a Python process that runs *code* takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for code in SNIPPETS.values():  # warm the file cache, and jieba's
        seconds(code)
    taken: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for _ in range(runs):
        for name, code in SNIPPETS.items():
            taken[name].append(seconds(code))
    t = {name: statistics.median(values) for name, values in taken.items()}
    print("  ".join(f"{name} {value * 1000:.0f} ms" for name, value in t.items()))
    imported = (t["import"] - t["bare"]) / (t["regex"] - t["bare"])
    print(f"import querykit / import regex, dataclasses, enum: {imported:.2f} x")
    print(f"first rewrite / import jieba and first cut: {t['rewrite'] / t['jieba']:.3f} x")


if __name__ == "__main__":
    main()
