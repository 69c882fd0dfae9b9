"""Does the coverage tell a question that the notes answer from one that they cannot?

    python -m benchmarks.evidence CORPUS_DIR CORPUS_DIR …    folders with notes.jsonl.gz and questions.jsonl

Every corpus is asked its own questions, and those of all the others: few of them can it answer. Printed is how
often each kind is said to be weakly covered, by where that line is drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.recall6 import load_questions
from querykit.building import index_in_memory
from querykit.lexicon import load_lexicon
from querykit.run import answer

LINES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
MOST = 100  # questions of a corpus


def main() -> None:
    folders = [Path(name) for name in sys.argv[1:]]
    if len(folders) < 2:
        sys.exit("name two corpora or more: each is asked the questions of the others")
    lexicon = load_lexicon()
    asked = {f.name: [q["question"] for q in load_questions(f / "questions.jsonl")][:MOST] for f in folders}
    shares: dict[str, list[float]] = {"own": [], "other": []}
    for folder in folders:
        engine = index_in_memory(folder / "notes.jsonl.gz")
        for name, questions in asked.items():
            found = [answer(question, engine, lexicon) for question in questions]
            kind = "own" if name == folder.name else "other"
            shares[kind] += [a.coverage.share for a in found if a.plan.queries]
    print("| weak below | " + " | ".join(f"{line:.0%}" for line in LINES) + " |")
    print("|---|" + "---|" * len(LINES))
    for kind, label in (("own", "questions of its own"), ("other", "questions of another corpus")):
        rates = [sum(s < line for s in shares[kind]) / len(shares[kind]) for line in LINES]
        print(f"| {label} ({len(shares[kind])}) | " + " | ".join(f"{rate:.0%}" for rate in rates) + " |")


if __name__ == "__main__":
    main()
