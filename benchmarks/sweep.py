"""The boundary sweep: does stripping leave every real word whole?

Every Han word of two or more characters and frequency >= 50 in jieba's dictionary (45,996 of them), alone and
inside 知识库里讲…的笔记. A word is damaged when the only chunk is not the word. Entries of our own lexicons
are left out, and counted.

    python -m benchmarks.sweep            # the counts, and every damaged word
    python -m benchmarks.sweep --every 20 # each twentieth word
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import regex

from querykit.lexicon import Lexicon, Role, load_lexicon
from querykit.strip import strip
from querykit.text import fold, normalize

FRAME = ("知识库里讲", "的笔记")


def dictionary_words(min_freq: int = 50) -> list[str]:
    """jieba's Han words of two or more characters and at least *min_freq*, in the file's order."""
    import importlib.util

    spec = importlib.util.find_spec("jieba")
    if spec is None or spec.origin is None:
        raise SystemExit("jieba is not installed: pip install jieba")
    lines = (Path(spec.origin).parent / "dict.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines)
    return [r[0] for r in rows if int(r[1]) >= min_freq and regex.fullmatch(r"\p{Han}{2,}", r[0])]


# Lists whose words stay whenever they stand alone or inside the frame: they are swept like any other word.
_HARMLESS = {
    *(Role.SOFT, Role.KEEP, Role.TOOL, Role.MIXED, Role.SHIELD, Role.COMPOUND),
    *(Role.HEAD, Role.OPENING, Role.DETERMINER),
}


def is_ours(word: str, lexicon: Lexicon) -> bool:
    """Is *word* an entry of a list whose words may go, or one that we take apart?"""
    roles = lexicon.roles(fold(word))
    return bool(roles - _HARMLESS) or word in lexicon.splits


def damaged(words: list[str], lexicon: Lexicon, *, framed: bool) -> Iterator[tuple[str, list[str]]]:
    """The words that do not come back as the only chunk, with the chunks that did."""
    before, after = FRAME if framed else ("", "")
    for word in words:
        chunks = [c.text for c in strip(normalize(before + word + after), lexicon).chunks]
        if chunks != [word]:
            yield word, chunks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    lexicon = load_lexicon()
    words = dictionary_words()
    swept = [w for w in words if not is_ours(w, lexicon)]
    print(f"{len(words)} words, {len(words) - len(swept)} are entries of ours, {len(swept)} swept")
    for framed in (False, True):
        bad = list(damaged(swept[:: options.every], lexicon, framed=framed))
        print(f"{'inside ' + '…'.join(FRAME) if framed else 'alone'}: {len(bad)} damaged")
        for word, chunks in bad:
            print(f"  {word} -> {' | '.join(chunks) or '(nothing)'}")


if __name__ == "__main__":
    main()
