"""One warm rewrite against jieba's cut of the same question, both in one run, question by question.

python -m benchmarks.rewrite [QUESTIONS.jsonl …]      (default: tests/cases/sample_questions.jsonl)
"""

from __future__ import annotations

import json
import logging
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import querykit as qk

SAMPLE = Path(__file__).parent.parent / "tests" / "cases" / "sample_questions.jsonl"
REPEAT = 7


def fastest(run: Callable[[str], object], question: str) -> float:
    """The shortest of a few runs, in microseconds."""
    best = float("inf")
    for _ in range(REPEAT):
        start = time.perf_counter()
        run(question)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.ERROR)
    lexicon = qk.load_lexicon()
    qk.warm_up(lexicon)
    jieba.lcut("预热")
    ratios, ours, theirs, length = [], 0.0, 0.0, 0
    for path in map(Path, sys.argv[1:] or [SAMPLE]):
        for line in path.read_text(encoding="utf-8").splitlines():
            question = json.loads(line).get("question") or json.loads(line).get("q")
            a = fastest(lambda q: qk.rewrite(q, lexicon), question)
            b = fastest(lambda q: jieba.lcut(q), question)
            ratios.append(a / b)
            ours, theirs, length = ours + a, theirs + b, length + len(question)
    n = len(ratios)
    print(
        f"{n} questions of {length / n:.0f} characters: rewrite {ours / n:.0f} µs, jieba {theirs / n:.0f} µs"
    )
    print(f"ratio: all {ours / theirs:.2f} x, median {statistics.median(ratios):.2f} x")


if __name__ == "__main__":
    main()
