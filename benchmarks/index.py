"""Indexing a corpus, statistics and all, against jieba's cut of the same text, in one run.

    python -m benchmarks.index NOTES …      folders of .md files or .jsonl[.gz] files

Also printed: what indexing again costs when nothing changed, and the size of the file beside that of the text.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.recall6 import load_notes
from querykit.building import update_index


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.ERROR)
    jieba.lcut("预热")
    if len(sys.argv) < 2:
        sys.exit("name notes to index")
    for notes in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            db = Path(folder) / "kb.db"
            ours, again = (seconds(partial(update_index, notes, db)) for _ in range(2))
            size = db.stat().st_size
        texts = [d.text for d in load_notes(notes)]
        theirs = sum(seconds(partial(jieba.lcut, text)) for text in texts)
        length = sum(len(text.encode()) for text in texts)
        print(
            f"{notes}: {len(texts)} notes, {length / 1e6:.1f} MB: index {ours:.2f} s, jieba {theirs:.2f} s, "
            f"{ours / theirs:.2f} x; again {again:.2f} s; file {size / length:.1f} x the text"
        )


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
