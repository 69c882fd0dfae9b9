"""How long a warm `ask` takes, end to end, on an index in a file: the notes' own questions, and others.

    python -m benchmarks.ask NOTES QUESTIONS.jsonl [OTHER_QUESTIONS.jsonl]

NOTES is a folder of .md files or a .jsonl[.gz]; the other questions are of another corpus, so that most of their
words stand in no note and their spelling is looked up. Each question is asked once before it is timed once.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.recall6 import load_questions
from querykit.building import update_index
from querykit.engines.sqlite import SqliteEngine
from querykit.lexicon import load_lexicon
from querykit.run import Mode, answer, warm_up


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("name the notes and a file of questions: lines of JSON with a question")
    notes, *files = map(Path, sys.argv[1:])
    lexicon = load_lexicon()
    warm_up(lexicon)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "kb.db"
        update_index(notes, db)
        for path in files:
            engine = SqliteEngine(db)
            questions = [q["question"] for q in load_questions(path)]
            modes: tuple[Mode, ...] = ("auto", "sentence")
            for mode in modes:
                ask = partial(answer, engine=engine, lexicon=lexicon, mode=mode)
                report(engine, questions, f"{path.parent.name}, {mode}", ask)


def report(engine: SqliteEngine, questions: list[str], label: str, ask: Callable[[str], object]) -> None:
    first: list[float] = []
    again: list[float] = []
    for times in (first, again):
        for question in questions:
            start = time.perf_counter()
            ask(question)
            times.append((time.perf_counter() - start) * 1e3)
    print(
        f"{engine.n_docs} notes, {len(questions)} questions of {label}: median {np.median(again):.1f} ms, "
        f"95 % {np.percentile(again, 95):.1f} ms; asked for the first time {np.median(first):.1f} ms"
    )


if __name__ == "__main__":
    main()
