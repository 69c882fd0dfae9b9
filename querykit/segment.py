"""The one module that owns the segmenter.

Words of a Han run come from jieba's dictionary by the path of the highest probability, without its hidden
Markov model: with the model it glues what no reader would (库里有没有, 上犯, 讲遞). rjieba cuts the same
words twenty times as fast and loads in a tenth of the time; jieba itself takes over where rjieba has no
wheel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import NamedTuple


class Segmenter(NamedTuple):
    """What a dictionary does for us: cut a Han run into words, and know a word."""

    cut: Callable[[str], list[str]]
    is_word: Callable[[str], bool]
    tag: Callable[[str], str]


_loading = Lock()


def cut(text: str) -> list[str]:
    """The words of *text*, a run of Han characters; joined they are *text*.

    >>> cut("知识库里讲工作流的笔记")
    ['知识库', '里', '讲', '工作', '流', '的', '笔记']
    """
    return load_segmenter().cut(text)


def is_word(text: str) -> bool:
    """Is *text* a word of the dictionary?

    >>> is_word("他国"), is_word("他的国")
    (True, False)
    """
    return load_segmenter().is_word(text)


def tag(text: str) -> str:
    """The part of speech that the dictionary gives to the word *text*: n …, v …, vn …; empty for no word of it.

    >>> tag("模态"), tag("拍"), tag("模态框")
    ('n', 'v', '')
    """
    return load_segmenter().tag(text)


def load_segmenter() -> Segmenter:
    """The segmenter, loaded once per process (0.2 s); call it at start-up to spare the first question."""
    with _loading:
        return _load()


@cache
def _load() -> Segmenter:
    try:
        import rjieba
    except ImportError:
        return load_jieba()
    # The instance that rjieba makes when it is imported: one of our own would load the dictionary twice, 70 ms
    # and 26 MB. Words that other code adds to it move cuts inside Han runs, nothing else.
    return Segmenter(
        lambda text: list(rjieba.cut(text, False)),
        rjieba.has_word,
        lambda text: rjieba.tag(text, False)[0][1] if rjieba.has_word(text) else "",
    )


def load_jieba() -> Segmenter:
    """jieba's own segmenter with the same settings: the fallback, and the oracle of the tests."""
    import logging
    import warnings

    with warnings.catch_warnings():  # invalid escapes in jieba's source, said on every Python since 3.12
        warnings.simplefilter("ignore")
        import jieba
        import jieba.posseg
    jieba.setLogLevel(logging.ERROR)
    words = jieba.Tokenizer()
    tagger = jieba.posseg.POSTokenizer(words)
    return Segmenter(
        lambda text: list(words.cut(text, HMM=False)),
        lambda text: (words.check_initialized() or words.FREQ.get(text, 0)) > 0,
        lambda text: tagger.word_tag_tab.get(text, "") if words.FREQ.get(text) else "",
    )
