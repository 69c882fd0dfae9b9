"""Does the time of `strip` grow linearly with the length of the question?

python -m benchmarks.linear
"""

from __future__ import annotations

import time

from querykit.lexicon import Lexicon, load_lexicon
from querykit.run import warm_up
from querykit.strip import strip
from querykit.text import Question, normalize

PASTED = (
    "请问这个知识库里有没有讲怎么用 Midjourney 保持角色一致性的笔记，就是上次那篇关于 sref 叠加的，谢谢。"
)


def main() -> None:
    lexicon = load_lexicon()
    warm_up(lexicon)
    for length in (100, 1_000, 10_000, 100_000):
        question = normalize((PASTED * (length // len(PASTED) + 1))[:length])
        best = min(seconds(question, lexicon) for _ in range(5))
        print(f"{length:>7,} characters  {best * 1e3:8.2f} ms  {best / length * 1e6:.2f} µs a character")


def seconds(question: Question, lexicon: Lexicon) -> float:
    start = time.perf_counter()
    strip(question, lexicon)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
