"""What a weight or a constant of BM25 does to recall: settings side by side.

    python -m benchmarks.weights CORPUS_DIR … -- K1=1.75,B=.5 SOFT_WEIGHT=.5 NAME_WEIGHT=1.5 …

Corpora are folders with notes.jsonl.gz and questions.jsonl, of which the first 600 questions are asked. A setting is
one or more constants of `querykit.plan` or `querykit.engines.memory`; printed is recall@6 as shipped, and the
change with each setting.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from benchmarks.recall6 import load_questions, score
from querykit.building import index_in_memory
from querykit.lexicon import load_lexicon
from querykit.run import answer

# The names of functions hide those of their modules on the package, so modules are asked for by name.
MODULES = [importlib.import_module(f"querykit.{name}") for name in ("plan", "engines.memory")]


@contextmanager
def with_setting(setting: str) -> Iterator[None]:
    before: list[tuple[ModuleType, str, float]] = []
    for part in filter(None, setting.split(",")):
        name, _, value = part.partition("=")
        module = next((m for m in MODULES if isinstance(vars(m).get(name), float)), None)
        if module is None:
            sys.exit(f"{name} is no constant of the plan or of the engine in memory")
        before.append((module, name, vars(module)[name]))
        setattr(module, name, float(value))
    try:
        yield
    finally:
        for module, name, was in before:
            setattr(module, name, was)


def main() -> None:
    if "--" not in sys.argv:
        sys.exit("name corpora, then --, then settings such as K1=1.75,B=.5")
    at = sys.argv.index("--")
    folders, settings = [*map(Path, sys.argv[1:at])], ["", *sys.argv[at + 1 :]]
    lexicon = load_lexicon()
    print("| setting | " + " | ".join(f.name for f in folders) + " |")
    print("|---|" + "---|" * len(folders))
    questions = {f: load_questions(f / "questions.jsonl")[:600] for f in folders}
    shipped: list[float] = []
    for setting in settings:
        row = []
        for folder in folders:
            with with_setting(setting):
                engine = index_in_memory(folder / "notes.jsonl.gz")
                found = score(
                    questions[folder], lambda q, e=engine: [s.doc for s in answer(q, e, lexicon).seats]
                )
            row.append(found.recall)
        shown = (
            [f"{r:.3f}" for r in row]
            if not shipped
            else [f"{r - s:+.3f}" for r, s in zip(row, shipped, strict=True)]
        )
        shipped = shipped or row
        print(f"| {setting or 'as shipped'} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
