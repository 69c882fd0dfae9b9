"""Cards: from a stored text to its parts, to a judgement whether it fits, to what may leave it.

Cards are parsed with words that are data (`load_card_labels`), screened without scores, and leave only as
`Material`. What a draft carries over from a card (取材不取形), `borrowed` says.
"""

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import regex

from querykit.beats import Node, Persona
from querykit.lexicon import LexiconError, Problem, lexicon_folder

_Words: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Card:
    """A card as it is stored: the first answer of a row, and nothing else of the row."""

    text: str


@dataclass(frozen=True, slots=True)
class CardWords:
    """The words that cards are read with, a table of lexicons/cards.toml each. Only *labels* is needed."""

    labels: _Words
    contrast: _Words = field(default_factory=dict)
    setup: _Words = field(default_factory=dict)
    values: _Words = field(default_factory=dict)
    masks: Mapping[str, str] = field(default_factory=dict)
    heads: _Words = field(default_factory=dict)
    gaps: _Words = field(default_factory=dict)
    breaks: _Words = field(default_factory=dict)


def build_card_labels(tables: Mapping[str, Any], file: str = "cards.toml") -> CardWords:
    """The words in *tables*, a parsed cards.toml; raises `LexiconError` with all that is wrong with them.

    >>> build_card_labels({"labels": {"camera": ["镜头"]}}).labels
    {'camera': ('镜头',)}
    """
    if problems := tuple(_check(tables, file)):
        raise LexiconError(problems)
    words: dict[str, Any] = {
        name: dict(table) if name == "masks" else _spellings(table)
        for name, table in tables.items()
        if name in CardWords.__dataclass_fields__
    }
    return CardWords(**words)


def _check(tables: Mapping[str, Any], file: str) -> Iterator[Problem]:
    known = CardWords.__dataclass_fields__
    if (tables.get("schema", 1), tables.get("role", "cards")) != (1, "cards"):
        yield Problem(file, "role", 'is not "cards" of schema 1; name a file of card words')
        return
    if "labels" not in tables:
        yield Problem(file, "labels", "is missing; write [labels] with field = [spelling, …]")
    for name, table in tables.items():
        if name in ("schema", "role", "about", "example"):
            continue
        if name not in known:
            yield Problem(file, name, f"is no table of card words; they are {', '.join(known)}")
        elif not isinstance(table, Mapping):
            yield Problem(file, name, f"is {table!r}; write a table")
        else:
            for key, words in table.items():
                if name == "masks" and not isinstance(words, str):
                    yield Problem(file, f"{name}.{key}", f"is {words!r}; write one word")
                elif name != "masks" and not _is_words(words):
                    yield Problem(file, f"{name}.{key}", f"is {words!r}; write a list of words, none empty")


def _is_words(words: object) -> bool:
    return isinstance(words, list | tuple) and all(isinstance(word, str) and word.strip() for word in words)


def _spellings(table: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(words) for key, words in table.items()}


def load_card_labels(path: Path | str | None = None) -> CardWords:
    """The words in the file *path*, or those shipped with querykit.

    >>> load_card_labels().labels["camera"][0]
    '镜头逻辑'
    """
    import tomllib

    file = Path(path) if path is not None else lexicon_folder() / "cards.toml"
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LexiconError([Problem(str(file), "file", f"cannot be read ({error.strerror})")]) from None
    except ValueError as error:
        raise LexiconError([Problem(str(file), "file", f"is no TOML in UTF-8: {error}")]) from None
    return build_card_labels(tables, str(file))


@lru_cache(maxsize=1)
def _load_shipped() -> CardWords:
    """The shipped words, read once, for callers that bring none of their own."""
    return load_card_labels()


class Setup(Enum):
    """How long the setup (铺垫) takes before it breaks: at most 3 s, 3 to 10 s, more than 10 s."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class Contrast:
    """The gap of a card: what was expected, what broke it, what came of it; *raw* is how it was written."""

    expected: str
    breaker: str
    result: str
    raw: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ParsedCard:
    """A card by its labels; None where a label is missing, an empty tuple where the card says there is none.

    *words* are what it was read with, so that a judgement of its structure needs no second argument. A parsed
    card still holds the original: it is read, `take` is called, and it is dropped.
    """

    text: str = field(repr=False)
    contrast: Contrast | None = None
    name: str | None = None
    meaning: str | None = None
    setup: Setup | None = None
    camera: str | None = None
    technique: str | None = None
    lines: tuple[str, ...] | None = None
    persons: tuple[str, ...] | None = None
    identities: tuple[str, ...] | None = None
    props: tuple[str, ...] | None = None
    extra: tuple[tuple[str, str], ...] = ()
    words: CardWords = field(default_factory=lambda: CardWords({}), repr=False, compare=False)


_OPEN, _CLOSE = "[【［〔「『(（〈<《", "]】］〕」』)）〉>》"

# The turn to the result. Before the dash below, since an arrow may begin with one.
_ARROW = r"[→⇒➔➜⟶]|[-－—–―─=＝]+[>＞]|[>＞]+"
# The turn to what breaks: any dash, and arrows again, for cards that write A→被X打破→B.
_TURN = regex.compile(rf"(?P<arrow>{_ARROW})|(?P<dash>[—―–─]+|[-－~～]+)")


def parse_contrast(text: str, words: _Words | None = None) -> Contrast | None:
    """The gap written in *text*, or None. The first line that has one counts.

    Brackets, the kind of dash and arrow, 被, width and spaces are free; what breaks it stands between the two
    turns. A hyphen inside a word (T-shirt) is no turn. *words* is the table [contrast] of cards.toml, the
    shipped one unless given.

        >>> parse_contrast("「[没人看好]—被三下抻面打破→[服气]」") == Contrast("没人看好", "三下抻面", "服气")
        True
        >>> parse_contrast("没人看好他 -- 三下抻面 -> 掌柜服气。镜头停在手上").result
        '掌柜服气'
        >>> parse_contrast("等了一天，站台上只剩一把伞") is None
        True
    """
    notation = _load_shipped().contrast if words is None else words
    lines = _unwrapped(text).splitlines()
    found = (_contrast_in(line, turns, notation) for line in lines for turns in _turns(line))
    return next((contrast for contrast in found if contrast), None)


# A gap written over several lines, each turn at the start of one or the end of one. A hyphen there is a list.
_WRAP = regex.compile(r"[ \t　]*+\n[ \t　]*+(?=[—―–─→⇒])|(?<=[—―–─→⇒>＞])[ \t　]*+\n[ \t　]*+")


def _unwrapped(text: str) -> str:
    return str(_WRAP.sub("", text))


_BRACKETED = regex.compile(r"[\[【［〔][^\[\]【】［］〔〕]*[\]】］〕]")


def _turns(line: str) -> Iterator[list[regex.Match[str]]]:
    """The turns outside brackets, where the gap's own are; then all, where the whole gap is in brackets."""
    every = list(_TURN.finditer(line))
    if len(every) < 2:
        return
    spans = [span.span() for span in _BRACKETED.finditer(line)]
    starts = [start for start, _ in spans]
    before = (bisect(starts, turn.start()) - 1 for turn in every)
    yield [turn for turn, i in zip(every, before, strict=True) if i < 0 or turn.start() >= spans[i][1]]
    yield every


def _contrast_in(line: str, turns: Sequence[regex.Match[str]], words: _Words) -> Contrast | None:
    by = tuple(words.get("by", ()))
    opening = next((t for t in turns if _opens_breaker(line, t, by)), None)
    arrows = [t for t in turns if opening and t.start() >= opening.end() and t["arrow"]]
    if not opening or not arrows:
        return None
    start = _piece_start(line, opening.start())
    end = _piece_end(line, arrows[0].end())
    expected = _unlabelled(_bare(line[start : opening.start()]), words.get("expected", ()))
    breaker = _breaker(_bare(line[opening.end() : arrows[0].start()]), by, tuple(words.get("broken", ())))
    result = _unlabelled(_bare(line[arrows[0].end() : end]), words.get("result", ()))
    if not (expected and breaker and result):
        return None
    return Contrast(expected, breaker, result, raw=line[start:end].strip())


_WINDOW = 200


def _opens_breaker(line: str, turn: regex.Match[str], by: tuple[str, ...]) -> bool:
    """Whether *turn* leads to what breaks: a bracket closes before it, 被 comes after it, it is no mere
    hyphen or it is set apart by blanks. The hyphens of T-shirt and 3-10秒 are none of these."""
    # A window, so that a line of a thousand dashes does not copy itself a thousand times.
    before = line[max(0, turn.start() - _WINDOW) : turn.start()]
    after = line[turn.end() : turn.end() + _WINDOW]
    if not before.strip():
        return False
    if before.rstrip().endswith(tuple(_CLOSE)) or after.lstrip().startswith(by):
        return True
    dash = turn["dash"] or ""
    spaced = before.endswith((" ", "　")) and after.startswith((" ", "　"))
    return spaced or len(dash) > 1 or (dash != "" and dash not in "-－~～")


def _piece_start(line: str, end: int) -> int:
    """Where the piece that ends at *end* begins: at its own bracket, else after the last stop."""
    before = line[:end].rstrip()
    if before.endswith(tuple(_CLOSE)):
        opened = before.rfind(_OPEN[_CLOSE.index(before[-1])])
        if opened >= 0:
            return opened
    stops = [before.rfind(stop) + 1 for stop in "。；;：:|｜「『"]
    return max(stops)


def _piece_end(line: str, start: int) -> int:
    """Where the piece that begins at *start* ends: at its own bracket, else before the next stop."""
    lead = start + len(line[start:]) - len(line[start:].lstrip())
    if lead < len(line) and line[lead] in _OPEN:
        closed = line.find(_CLOSE[_OPEN.index(line[lead])], lead)
        if closed >= 0:
            return closed + 1
    stops = [at for stop in "。；;|｜」』" if (at := line.find(stop, lead)) >= 0]
    return min(stops, default=len(line))


def _bare(piece: str) -> str:
    piece = piece.strip(" \t　*")
    if len(piece) > 1 and piece[0] in _OPEN and piece[-1] == _CLOSE[_OPEN.index(piece[0])]:
        return piece[1:-1].strip(" \t　*")
    # Half a pair is left where the whole gap stood in brackets.
    if piece and piece[0] in _OPEN and _CLOSE[_OPEN.index(piece[0])] not in piece:
        return piece[1:].strip(" \t　*")
    if piece and piece[-1] in _CLOSE and _OPEN[_CLOSE.index(piece[-1])] not in piece:
        return piece[:-1].strip(" \t　*")
    return piece


def _unlabelled(piece: str, labels: Sequence[str]) -> str:
    # Only before a colon: in [期待被夸] the word is part of what was expected.
    for label in sorted(labels, key=len, reverse=True):
        rest = piece.removeprefix(label).lstrip()
        if rest != piece and rest.startswith((":", "：")):
            return _bare(rest[1:])
    return piece


def _breaker(piece: str, by: tuple[str, ...], broken: tuple[str, ...]) -> str:
    for word in sorted(by, key=len, reverse=True):
        if piece.startswith(word):
            piece = piece[len(word) :]
            break
    for word in sorted(broken, key=len, reverse=True):
        if piece.rstrip().endswith(word):
            piece = piece.rstrip()[: -len(word)]
            break
    return _bare(piece)


def parse_card(text: str, labels: CardWords | Mapping[str, Sequence[str]]) -> ParsedCard:
    """The parts of a card whose lines are labelled, in any order; a card without labels yields its gap only.

    *labels* maps a field to the spellings that open its line; the other words are then the shipped ones.
    Fields it has beyond those of `ParsedCard` end in *extra*.

        >>> card = parse_card("[没人看好他]—被真功夫打破→[服气]\\n镜头：停在手上", {"camera": ["镜头"]})
        >>> card.camera, card.contrast.breaker, card.persons
        ('停在手上', '真功夫', None)
    """
    words = labels if isinstance(labels, CardWords) else replace(_load_shipped(), labels=_own(labels))
    spelled = {spelling: name for name, spellings in words.labels.items() for spelling in spellings}
    parts = dict(_labelled(text, spelled)) if spelled else {}
    persons, identities = _people(parts, words)
    return ParsedCard(
        text=text,
        contrast=parse_contrast(parts.get("meaning", "") + "\n" + text, words.contrast),
        name=parts.get("name") or _tag(text, words.labels.get("name", ())),
        meaning=parts.get("meaning"),
        setup=parse_setup(parts["setup"], words.setup) if "setup" in parts else None,
        camera=parts.get("camera"),
        technique=parts.get("technique"),
        lines=_spoken(parts["lines"], words) if "lines" in parts else None,
        persons=persons,
        identities=identities,
        props=_items(parts["props"], words) if "props" in parts else None,
        extra=tuple(part for part in parts.items() if part[0] not in ParsedCard.__dataclass_fields__),
        words=words,
    )


def _own(labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    wrong = [(key, words) for key, words in labels.items() if not _is_words(words)]
    if wrong:
        raise LexiconError([Problem("labels", key, f"is {w!r}; write a list of words") for key, w in wrong])
    return _spellings(labels)


@lru_cache(maxsize=16)
def _label_pattern(spellings: tuple[str, ...]) -> regex.Pattern[str]:
    label = _alternatives(spellings)
    return regex.compile(
        rf"""
        (?: ^ | (?<=[；;。|｜]) )             # a line, or a piece of one
        [ \t　>•·*#|｜-]*+ (?:\d{{1,2}}[.、)）][ \t]*+)?   # marks of a list, a heading or a table
        (?: \*\*[ ]*+ )?
        (?: [【\[［「][ ]*+ (?P<label>{label}) [ ]*+[】\]］」] (?:\*\*)? [ ]*+ [:：]?
          | (?P<label>{label}) [ ]*+ (?:\*\*)? [ ]*+ (?: [:：|｜] | (?=$) )
        )
        (?:\*\*)?
        """,
        regex.VERBOSE | regex.MULTILINE,
    )


def _labelled(text: str, spelled: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each field with its value, which runs to the next label; the same label twice, one longer value."""
    found = list(_label_pattern(tuple(spelled)).finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    values: dict[str, list[str]] = {}
    for match, end in zip(found, ends[: len(found)], strict=True):
        value = text[match.end() : end].strip(" \t　\r\n；;|｜*")
        if value:
            values.setdefault(spelled[match["label"]], []).append(value)
    return ((name, "\n".join(lines)) for name, lines in values.items())


def _tag(text: str, spellings: Sequence[str]) -> str | None:
    """The name in a tag that opens the card, 【卡 T-001】."""
    tag = rf"\s*+[【\[［]\s*+(?:{_alternatives(spellings)})\s*+[:：]?\s*+([^】\]］\n]{{1,40}})[】\]］]"
    found = regex.match(tag, text)
    return str(found[1]).strip() if found else None


def _items(value: str, words: CardWords) -> tuple[str, ...]:
    """The entries of a list, without remarks in brackets."""
    plain = regex.sub(r"[(（][^()（）]*[)）]", "", value)
    items = (item.strip(" \t　。.*-•·") for item in regex.split(r"[、，,；;/／|｜\n]+", plain))
    none = words.values.get("none", ())
    return tuple(dict.fromkeys(item for item in items if item and item not in none))


_Names: TypeAlias = tuple[str, ...] | None


def _people(parts: Mapping[str, str], words: CardWords) -> tuple[_Names, _Names]:
    """Persons and identities; 小李（学徒） names one of each."""
    remarks = regex.findall(r"[(（]([^()（）]*)[)）]", parts.get("persons", ""))
    named = _items(parts["identities"], words) if "identities" in parts else ()
    identities = tuple(dict.fromkeys(chain(named, *(_items(remark, words) for remark in remarks))))
    persons = _items(parts["persons"], words) if "persons" in parts else None
    return persons, identities if identities or "identities" in parts else None


def _spoken(value: str, words: CardWords) -> tuple[str, ...]:
    """The lines of a card: what stands in quotes, else each line of the text."""
    quoted = regex.findall(r"[“「『\"]([^“”「」『』\"\n]+)[”」』\"]", value)
    lines = (line.strip(" \t　*-•·") for line in quoted or regex.split(r"[\n；;／]+", value))
    return tuple(dict.fromkeys(line for line in lines if line and line not in words.values.get("none", ())))


# Where the classes end, in seconds (the source: 短≤3s, 中3-10s, 长>10s).
_SHORT_S, _MEDIUM_S = 3.0, 10.0
# How far 以上 and 不到 move a number: just across the end of a class, no further.
_NUDGE_S = 0.001


def parse_setup(text: str, words: _Words) -> Setup | None:
    """The class of a setup's length as cards write it: in seconds, else in a word; of a range, the upper end.

    >>> lengths = load_card_labels().setup
    >>> [parse_setup(t, lengths).name for t in ("铺垫约5秒", "短", "3s", "10秒以上", "三到五秒", "半分钟")]
    ['MEDIUM', 'SHORT', 'SHORT', 'LONG', 'MEDIUM', 'LONG']
    >>> parse_setup("用长镜头交代环境", words=lengths) is None
    True
    """
    folded = _fold(text[:_WINDOW])
    seconds = _seconds(folded, words)
    if seconds is not None:
        return Setup.SHORT if seconds <= _SHORT_S else Setup.MEDIUM if seconds <= _MEDIUM_S else Setup.LONG
    # A word stands alone, or last, or before a bracket or a stop: 长 in 长镜头 says nothing about the setup.
    spelled = {word: size for size in Setup for word in words.get(size.value, ())}
    if not spelled:
        return None
    found = regex.search(rf"({_any_of(spelled)})(?=\s*(?:$|[^\p{{Han}}\s]))", folded)
    return spelled[found[1]] if found else None


def _seconds(folded: str, words: _Words) -> float | None:
    more, less = words.get("more", ()), words.get("less", ())
    unit = _any_of((*words.get("minute", ()), *words.get("second", ())))
    others = "".join((*words.get("half", ()), *words.get("two", ())))
    number = rf"(?:[0-9]+(?:\.[0-9]+)?|[{_NUMERALS}{others}]+)"
    to = _any_of(words.get("range", ()))
    pattern = rf"""
        (?P<before>{_any_of((*more, *less))})? \s*+
        (?: {number} \s*+ (?:{unit})? \s*+ (?: [-~—–]+ | {to} ) \s*+ )?      # the lower end
        (?P<number>{number}) \s*+ (?P<between>{_any_of(more)})? \s*+ (?P<unit>{unit})
        (?P<after>{_any_of((*more, *less))})?
    """
    found = regex.search(pattern, folded, regex.VERBOSE)
    if not found:
        return None
    scale = 60.0 if found["unit"] in words.get("minute", ()) else 1.0
    hints = {found["before"], found["between"], found["after"]} - {None}
    nudge = _NUDGE_S if hints & set(more) else -_NUDGE_S if hints & set(less) else 0.0
    return _number(found["number"], words) * scale + nudge


# Characters that Unicode gives a value up to ten, 三 and ③ alike; the words for two and half are data.
_NUMERALS = "".join(rf"\p{{nv={value}}}" for value in range(11))


def _number(text: str, words: _Words) -> float:
    """二十 is 20, 十五 15, 两 2, 1.5 itself."""
    if regex.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        return float(text)
    total, digit = 0.0, 0.0
    special = {**dict.fromkeys(words.get("half", ()), 0.5), **dict.fromkeys(words.get("two", ()), 2.0)}
    for character in text:
        value = special.get(character) or float(unicodedata.numeric(character, 0.0))
        total, digit = (total + (digit or 1.0) * value, 0.0) if value == 10 else (total, value)
    return total + digit


def _any_of(words: Iterable[str]) -> str:
    """An alternation of *words* as they stand in folded text; one that never matches where there are none."""
    return _alternatives(_fold(word) for word in words)


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(regex.escape(word) for word in sorted(words, key=len, reverse=True)) or r"(?!)"


# --- which cards have the node's structure -----------------------------------------------------------------

Fits: TypeAlias = Callable[[ParsedCard, Node], bool]


def same_structure(card: ParsedCard, node: Node) -> bool:
    """Whether *card* has the gap that *node* has, and breaks it the same way.

    The default judgement, without a model. Gaps are sorted into kinds by their words ([gaps]), the ways of
    breaking too ([breaks]); card and node must agree in one of the two and contradict each other in none.
    Where words are unknown, a kind is unknown, which neither agrees nor contradicts.

    It errs on the side of dropping a card. On tests/cases/structure.jsonl, half of whose pairs fit: dev 30 of
    30, precision 15 of 15; second 30 of 30, precision 15 of 15; third 20 of 20, precision 10 of 10. The words
    were written with those three in sight (the third, when new, was 11 of 20). What to expect are the last two:
    fresh 15 of 20, precision 5 of 5; newest 17 of 24, precision 6 of 7; that is half of the cards that fit.
    Where that loses too much, add words to [gaps] and [breaks], or give `rescreen` a judgement of your own.
    """
    if card.contrast is None:
        return False
    gaps = _agreement(card.contrast.expected, node.event, card.words.gaps)
    breaks = _agreement(card.contrast.breaker, node.method, card.words.breaks)
    return True in (gaps, breaks) and False not in (gaps, breaks)


def _agreement(ours: str, theirs: str, words: _Words) -> bool | None:
    """Whether the texts share a kind; None where one of them names none."""
    a, b = kinds_in(ours, words), kinds_in(theirs, words)
    return bool(a & b) if a and b else None


def kinds_in(text: str, words: _Words) -> frozenset[str]:
    """The kinds in *words*, a table like [gaps], of which *text* has a word.

    >>> sorted(kinds_in("被当众考问的新手", load_card_labels().gaps))
    ['slighted']
    """
    folded = _fold(text)
    return frozenset(kind for kind, spelled in words.items() if any(word in folded for word in spelled))


def rescreen(
    cards: Iterable[ParsedCard], node: Node, fits: Fits = same_structure, keep: int = 2
) -> tuple[ParsedCard, ...]:
    """The first *keep* of *cards* that have the structure of *node*, as they came; the same card only once.

    Scores take no part: a card that suits every query a little (泛化磁铁卡) often comes first.

        >>> words = load_card_labels()
        >>> node = Node("被当众考问的新手", "厨房", "用一串手上功夫顶回去", "留人")
        >>> texts = "[大家等着他出丑]—被真功夫打破→[服气]", "[等了一天的人]—被一把旧伞打破→[他来过]"
        >>> [card.contrast.breaker for card in rescreen((parse_card(t, words) for t in texts), node)]
        ['真功夫']
    """
    once = {card.text: card for card in cards}.values()
    return tuple([card for card in once if fits(card, node)][:keep])


# --- what may leave a card, and what may not ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Material:
    """All that may be taken from a card (取材不取形): gap, class of technique, length of setup, camera."""

    gap: Contrast
    technique: str | None = None
    setup: Setup | None = None
    camera: str | None = None


def take(card: ParsedCard) -> Material | None:
    """The material in *card*, with its persons, identities, lines and props masked; None where it has no gap.

    >>> card = parse_card("人物：掌柜\\n[没人看好他]—被真功夫打破→[掌柜服气]", load_card_labels())
    >>> take(card).gap.result
    '某人服气'
    """
    if card.contrast is None:
        return None
    hide = _masker(card)
    gap = Contrast(hide(card.contrast.expected), hide(card.contrast.breaker), hide(card.contrast.result))
    technique = card.technique or "、".join(sorted(kinds_in(card.contrast.breaker, card.words.breaks)))
    return Material(gap, hide(technique) or None, card.setup, hide(card.camera) if card.camera else None)


def _masker(card: ParsedCard) -> Callable[[str], str]:
    masks = {
        form: card.words.masks.get(name, "…")
        for name in ("persons", "identities", "lines", "props")
        for form in _forms(getattr(card, name), card.words)
    }
    pattern = regex.compile(_any_of(masks)) if masks else None

    def hide(text: str) -> str:
        if pattern is None:
            return text
        # Matched on the folded text, which has the same length, and replaced in the written one.
        pieces, last = [], 0
        for found in pattern.finditer(_fold(text)):
            pieces += [text[last : found.start()], masks[found[0]]]
            last = found.end()
        return "".join([*pieces, text[last:]])

    return hide


def _forms(values: tuple[str, ...] | None, words: CardWords) -> tuple[str, ...]:
    """*values* and their heads, folded; no single characters: 她, 伞 and 老 open too many words."""
    forms = chain.from_iterable((value, _head(value, words.heads)) for value in values or ())
    return tuple(dict.fromkeys(folded for form in forms if len(folded := _fold(form)) > 1))


def _head(prop: str, heads: _Words) -> str:
    """*prop* without what qualifies it: 一把旧伞 is 旧伞, 她留下的那张旧车票 is 旧车票."""
    for word in heads.get("after", ()):
        prop = prop[prop.rfind(word) + len(word) :] if word in prop[:-1] else prop
    measured = rf"^(?:{_any_of(heads.get('numbers', ()))})(?:{_any_of(heads.get('measures', ()))})"
    return str(regex.sub(measured, "", prop))


class Carried(NamedTuple):
    """Something of a card in a draft: what it was on the card, and the draft's words with their span."""

    kind: Literal["person", "identity", "line", "prop", "wording"]
    text: str
    start: int
    end: int


# Letters in a row, marks aside. Of 20,000 pairs of sentences from different notes of the shared corpora 7 had
# five in common; of 3,000 pairs of passages of 300 characters 10 had eight.
_LINE_RUN, _WORDING_RUN = 5, 8


def borrowed(card: ParsedCard, draft: str, own: Persona | None = None) -> tuple[Carried, ...]:
    """What *draft* carries over from *card*: persons, identities, lines, props, and runs of its wording.

    What the account has itself (*own*) is nobody else's. The gap, the technique and the camera may be taken,
    so their words are no wording. Of a line, five characters in a row are enough, marks and spaces aside.

        >>> card = parse_card("人物：掌柜\\n原话：“头水是给杯子喝的”\\n道具：一条围裙", load_card_labels())
        >>> for carried in borrowed(card, "妈妈解下围裙，说头水，是给杯子喝的。"):
        ...     print(*carried)
        prop 围裙 4 6
        line 头水，是给杯子喝的 8 17
    """
    folded = _fold(draft)
    exempt = tuple(_fold(item) for item in own.items) if own else ()
    kinds: tuple[tuple[Literal["person", "identity", "prop"], tuple[str, ...] | None], ...] = (
        ("person", card.persons), ("identity", card.identities), ("prop", card.props),
    )  # fmt: skip
    named = {
        Carried(kind, draft[at : at + len(form)], at, at + len(form))
        for kind, values in kinds
        for form in _forms(values, card.words)
        if not any(form in item for item in exempt)
        for at in _every(form, folded)
    }
    spoken = chain.from_iterable(_line_in(line, folded) for line in card.lines or ())
    lines = {Carried("line", draft[a:b], a, b) for a, b in spoken}
    known = named | lines
    wording = {
        Carried("wording", draft[a:b], a, b)
        for a, b in _shared_runs(_untakeable(card), folded, _WORDING_RUN)
        if not any(c.start <= a and b <= c.end for c in known)
    }
    return tuple(sorted(_widest(known | wording), key=lambda c: (c.start, c.end, c.kind)))


def _widest(carried: set[Carried]) -> Iterator[Carried]:
    """Without those inside another of the same kind: 旧伞 inside 一把旧伞."""
    for c in carried:
        same = (o for o in carried if o.kind == c.kind and o != c)
        if not any(o.start <= c.start and c.end <= o.end for o in same):
            yield c


def _every(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _line_in(line: str, folded: str) -> Iterator[tuple[int, int]]:
    squeezed = _squeeze(_fold(line))[0]
    if len(squeezed) >= 4:
        yield from _shared_runs((line,), folded, min(_LINE_RUN, len(squeezed)))
    elif squeezed:
        # 走吧 is a line only where it is one: between marks, or alone.
        alone = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(squeezed)}(?![\p{{L}}\p{{N}}])"
        yield from (found.span() for found in regex.finditer(alone, folded))


def _shared_runs(sources: Iterable[str], folded: str, size: int) -> Iterator[tuple[int, int]]:
    """Spans of *folded* whose letters stand in a row in one of *sources*, at least *size* of them."""
    squeezed = (_squeeze(_fold(source))[0] for source in sources)
    grams = {s[i : i + size] for s in squeezed for i in range(len(s) - size + 1)}
    text, places = _squeeze(folded)
    first = 0
    while first + size <= len(text):
        end = first
        while text[end : end + size] in grams:
            end += 1
        if end > first:
            yield places[first], places[end + size - 2] + 1
        first = end + 1


def _squeeze(text: str) -> tuple[str, list[int]]:
    """The letters and digits of *text*, and where each stood."""
    places = [i for i, c in enumerate(text) if c.isalnum()]
    return "".join(text[i] for i in places), places


def _untakeable(card: ParsedCard) -> tuple[str, ...]:
    """The text of *card* without what may be taken."""
    text = _unwrapped(card.text)
    for taken in (card.contrast.raw if card.contrast else None, card.camera, card.technique):
        text = text.replace(taken, "\0") if taken else text
    return tuple(text.split("\0"))


def anchors_in(draft: str, persona: Persona) -> tuple[str, ...]:
    """The account's own things that *draft* names. Its track is none: 亲子 anchors nothing."""
    folded, track = _fold(draft), _fold(persona.track)
    owned = ((item, _fold(item).strip()) for item in persona.items)
    return tuple(item for item, own in owned if own and own != track and own in folded)


def anchored(draft: str, persona: Persona) -> bool:
    """Whether *draft* stands on something of the account's own.

    >>> anchored("妈妈拧开保温桶", Persona("亲子", ("保温桶",)))
    True
    >>> anchored("一个亲子故事", Persona("亲子", ("亲子",)))
    False
    """
    return bool(anchors_in(draft, persona))


def _fold(text: str) -> str:
    """*text* without width and case, character for character, so that spans stay those of *text*."""
    return "".join(c if "\u4e00" <= c <= "\u9fff" else _fold_one(c) for c in text)


@lru_cache(maxsize=4096)
def _fold_one(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).lower()
    return folded if len(folded) == 1 else character


# --- cards that come back for everything -------------------------------------------------------------------


class Magnet(NamedTuple):
    """A card that came back for most nodes (泛化磁铁卡), by `calling`, with how often of how many."""

    card: str
    nodes: int
    of: int


def calling(card: ParsedCard) -> str:
    """What to call *card* once it is dropped: the name it gives itself, else a digest and its masked gap.

    >>> calling(parse_card("【卡 T-001】面馆打烊后……", load_card_labels()))
    'T-001'
    """
    if card.name:
        return card.name
    digest = hashlib.sha256(card.text.encode("utf-8", "replace")).hexdigest()[:8]
    material = take(card)
    return f"{digest} {material.gap.expected}→{material.gap.result}" if material else digest


def magnets(returned: Sequence[Iterable[str]]) -> tuple[Magnet, ...]:
    """The cards that came back for more than half of the nodes, and for two at least; most often first.

    *returned* has the callings of the cards for each node that got an answer.

        >>> magnets([("T-001", "T-002"), ("T-001",), ("T-003", "T-001")])
        (Magnet(card='T-001', nodes=3, of=3),)
    """
    counts = Counter(chain.from_iterable(set(names) for names in returned))
    most = [Magnet(card, n, len(returned)) for card, n in counts.items() if n >= 2 and 2 * n > len(returned)]
    return tuple(sorted(most, key=lambda magnet: (-magnet.nodes, magnet.card)))
