"""The Markdown library: a folder of event cards, the authoritative source, searched with our own engine.

It is what is asked where WeKnora is not there, and it is only ever read. A card is a section of a file, or a
whole file; what it is filtered by stands in its own labelled lines (极致标签, 赛道, 段落功能).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import regex

from querykit.cards import Card, CardWords, kinds_in, parse_card, parse_contrast
from querykit.engines.memory import Document, MemoryEngine
from querykit.engines.notes import SUFFIXES, NotesError, decode
from querykit.exchange import Cards, Outcome, SearchRequest, ZeroHit
from querykit.mirror import MirrorRules, parse_mirror
from querykit.plan import Part, Query, plan
from querykit.seats import Hit
from querykit.strip import strip
from querykit.terms import terms
from querykit.text import fold, normalize
from querykit.tiers import CorpusStats, tier


@dataclass(frozen=True, slots=True)
class LibraryCard:
    """A card of the library: its file, its heading, its text, and the labels it is filtered by, folded."""

    path: str
    title: str
    text: str
    labels: frozenset[str] = frozenset()


class MarkdownCards:
    """Cards in memory, behind the same `fetch` as WeKnora's.

    Of the cards that carry one of the request's labels those are returned that BM25 ranks first: by the words
    of the query, and by the kinds of gap and of breaking that its words belong to ([gaps] and [breaks] in
    cards.toml), each as one term. A request with labels gets cards of that label even where no word is
    shared, behind the others.

        >>> from querykit.cards import load_card_labels
        >>> from querykit.mirror import load_mirror
        >>> cards = [LibraryCard("a.md", "", "[等着看他出丑]—被真功夫打破→[服气]", frozenset({"反差"})),
        ...          LibraryCard("b.md", "", "[等了一天]—被一把旧伞打破→[他来过]", frozenset({"共情"}))]
        >>> library = MarkdownCards(cards, load_card_labels(), load_mirror())
        >>> library.fetch(SearchRequest("库", "被考问的新手，用手艺顶回去")).cards[0].text
        '[等着看他出丑]—被真功夫打破→[服气]'
        >>> library.fetch(SearchRequest("库", "被考问的新手，用手艺顶回去", labels=("共情",))).cards[0].text
        '[等了一天]—被一把旧伞打破→[他来过]'
        >>> MarkdownCards([], load_card_labels(), load_mirror()).fetch(SearchRequest("库", "被考问的新手"))
        ZeroHit(received=0)
    """

    def __init__(
        self,
        cards: Iterable[LibraryCard],
        words: CardWords,
        rules: MirrorRules,
        skipped: Iterable[tuple[str, str]] = (),
    ) -> None:
        # Nothing shows them: whoever browses the material first has left the order behind.
        self._cards = tuple(cards)
        self.skipped = tuple(skipped)
        self._words = words
        self._rules = rules
        # Numbers for paths: two cards of one file are two documents.
        documents = (Document(str(i), card.title, card.text) for i, card in enumerate(self._cards))
        self._engine = MemoryEngine(documents, name="markdown cards")

    def __len__(self) -> int:
        return len(self._cards)

    def fetch(self, request: SearchRequest) -> Outcome:
        """The cards for *request*, at most its match_count; nothing that fits is a zero hit."""
        wanted = frozenset(map(fold, request.labels))
        order = [int(hit.doc) for hit in self._search(request.query)]
        if wanted:
            order = [i for i in order if self._cards[i].labels & wanted]
            order += [i for i, card in enumerate(self._cards) if card.labels & wanted and i not in order]
        found = tuple(Card(self._cards[i].text) for i in order[: request.match_count])
        received = sum(len(card.text.encode()) for card in found)
        return Cards(found, received=received) if found else ZeroHit()

    def _search(self, query: str) -> tuple[Hit, ...]:
        if not self._cards:
            return ()
        elements = parse_mirror(query, self._rules)
        # The frame asks for material and says nothing about it.
        text = f"{elements.contrast}，{elements.break_by}，{elements.anchor}" if elements else query
        lexicon = self._rules.lexicon
        stripped = strip(normalize(text), lexicon)
        found = terms(stripped)
        keys = [term.key for term in found]
        engine = self._engine
        stats = CorpusStats(engine.n_docs, engine.df(keys), engine.phrase_df(keys), source=engine.name)
        combined = plan(stripped, tier(found, stats), lexicon).combined
        parts = (*(combined.parts if combined else ()), *self._kinds(text))
        return engine.search(Query(text, parts), engine.n_docs) if parts else ()

    def _kinds(self, text: str) -> Iterator[Part]:
        for words in (self._words.gaps, self._words.breaks):
            for kind in sorted(kinds_in(text, words)):
                yield Part(f"[{kind}]", tuple(map(fold, words[kind])))


def load_library(folder: Path | str, words: CardWords, rules: MirrorRules) -> MarkdownCards:
    """The cards of *folder*; files that cannot be read, or that hold no card, are passed over and named in
    `MarkdownCards.skipped`. Raises `NotesError` when there is no such folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise NotesError(f"{folder}: no such folder; name the one your Markdown cards are in")
    cards: list[LibraryCard] = []
    skipped: list[tuple[str, str]] = []
    for file in sorted(_files(folder, skipped)):
        path = _printable(file.relative_to(folder).as_posix())
        try:
            text = decode(file.read_bytes())[0].encode("utf-8", "replace").decode("utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            skipped.append((path, reason))
            continue
        found = cards_in(text, words, path)
        cards += found
        if not found:
            skipped.append((path, "holds no card: no line like [期待]—被…打破→[结果]"))
    return MarkdownCards(cards, words, rules, skipped)


def _files(folder: Path, skipped: list[tuple[str, str]]) -> Iterator[Path]:
    """Markdown files below *folder*, without hidden ones."""

    def unreadable(error: OSError) -> None:
        skipped.append((_printable(str(error.filename)), error.strerror or str(error)))

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root, n) for n in names if n.lower().endswith(SUFFIXES) and not n.startswith("."))


def _printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --- from a file to its cards ------------------------------------------------------------------------------


class _Section(NamedTuple):
    """A piece of a file: how deep its heading is (0: before the first), the heading, the text with it."""

    level: int
    title: str
    text: str


_FRONT = regex.compile(
    r"\A---[ \t]*\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*$\n?", regex.DOTALL | regex.MULTILINE
)
_HEADING = regex.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S.*?)[ \t#]*$", regex.MULTILINE)
# Deeper than any heading: a rule between cards, and a tag that opens one, 【卡 T-001】.
_RULE = regex.compile(r"(?<=\n[ \t]*\n)(?:-{3,}|\*{3,}|_{3,})[ \t]*$", regex.MULTILINE)
_DEEPEST = 7


def cards_in(text: str, words: CardWords, path: str = "") -> tuple[LibraryCard, ...]:
    """The cards of a file.

    Cards are the sections of that depth at which most sections hold a gap, the shallowest of those: a file
    with one gap is one card. Labels that stand before the cards, in the front matter or under a heading above
    them, hold for all below it.

        >>> from querykit.cards import load_card_labels
        >>> text = '''赛道：剧情
        ... # 反差打脸
        ... 极致标签：当众打脸
        ... ## 抻面
        ... [等着看他出丑]—被三下抻面打破→[服气]
        ... ### 镜头
        ... 停在手上
        ... ## 茶馆
        ... [嫌茶淡]—被一套手法打破→[起身]
        ... '''
        >>> for card in cards_in(text, load_card_labels()):
        ...     print(card.title, *sorted(card.labels))
        抻面 剧情 当众打脸
        茶馆 剧情 当众打脸
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    above = _labels_in(front["fields"], words) if front else frozenset[str]()
    body = text[front.end() :] if front else text
    starts = list(_starts(body, words))
    depths = [list(_cut(body, starts, depth)) for depth in range(_DEEPEST + 1)]
    sections = max(depths, key=lambda cut: sum(_holds_gap(section, words) for section in cut))
    return tuple(_cards(sections, above, words, path))


def _starts(body: str, words: CardWords) -> Iterator[tuple[int, int, str]]:
    """Where sections may begin, how deep, and what they are called. A heading that is a label (## 镜头) is a
    line of its card."""
    labels = {fold(spelling) for spellings in words.labels.values() for spelling in spellings}
    found = [
        (match.start(), len(match["marks"]), match["title"])
        for match in _HEADING.finditer(body)
        if fold(match["title"]).rstrip(":： ") not in labels
    ]
    names = "|".join(map(regex.escape, sorted(words.labels.get("name", ()), key=len, reverse=True)))
    if names:
        tag = rf"^[ \t>*-]*[【\[［](?:{names})[ \t]*[:：]?[ \t]*(?P<title>[^】\]］\n]{{1,40}})[】\]］]"
        found += [
            (m.start(), _DEEPEST, m["title"].strip()) for m in regex.finditer(tag, body, regex.MULTILINE)
        ]
    found += [(match.start(), _DEEPEST, "") for match in _RULE.finditer(body)]
    yield from sorted(found)


def _cut(body: str, starts: list[tuple[int, int, str]], depth: int) -> Iterator[_Section]:
    chosen = [(0, 0, ""), *(start for start in starts if start[1] <= depth)]
    ends = [at for at, _, _ in chosen[1:]] + [len(body)]
    for (at, level, title), end in zip(chosen, ends, strict=True):
        yield _Section(level, title, body[at:end].strip())


def _holds_gap(section: _Section, words: CardWords) -> bool:
    return parse_contrast(section.text, words.contrast) is not None


def _cards(
    sections: Iterable[_Section], above: frozenset[str], words: CardWords, path: str
) -> Iterator[LibraryCard]:
    # The labels that hold below each depth.
    holding: dict[int, frozenset[str]] = {-1: above}
    stem = Path(path).stem
    for section in sections:
        holding = {depth: labels for depth, labels in holding.items() if depth < section.level}
        labels = _labels_in(section.text, words)
        if _holds_gap(section, words):
            inherited = frozenset[str]().union(*holding.values())
            heading = _HEADING.search(section.text)
            title = section.title or (heading["title"] if heading else stem)
            yield LibraryCard(path, title, section.text, labels | inherited)
        else:
            holding[section.level] = labels


def _labels_in(text: str, words: CardWords) -> frozenset[str]:
    """The entries of the lines that are no part of a card itself: 极致标签, 赛道, 段落功能, tags."""
    found = (line for _, value in parse_card(text, words).extra for line in _listed(value))
    entries = (entry for line in found for entry in regex.split(r"[、，,；;/／|｜\[\]]+", line))
    bare = (fold(entry).strip(" \t　。.*-•·#\"'") for entry in entries)
    return frozenset(entry for entry in bare if entry)


def _listed(value: str) -> Iterator[str]:
    """The first line of *value*, and the items of a list below it; not the prose that follows."""
    first, *more = value.splitlines()
    yield first
    yield from takewhile(lambda line: line.lstrip().startswith(("-", "*", "•")), more)
