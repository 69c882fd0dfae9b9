"""From five elements (镜像式五要素) to the query that an event base answers, or to findings that say why not.

The base holds questions as an editor would ask them, and only a query in the same form finds its card. `lint`
looks at elements, `lint_text` at a query somebody wrote; both report everything at once. `compose` writes the
query and `parse_mirror` reads it back. Words, frame and messages are data (``lexicons/mirror.toml`` and
``tracks.toml``); `load_mirror` is the one reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import regex

from querykit.beats import Node, Persona
from querykit.lexicon import (
    SHEETS,
    Lexicon,
    LexiconError,
    Problem,
    Role,
    lexicon_folder,
    load_lexicon,
)
from querykit.segment import cut
from querykit.text import Question, Span, fold, normalize

# --- values ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Elements:
    """The five elements: 落差对象, 打破方式, 具象锚点, 段落功能 and the kind of material (素材类型)."""

    contrast: str
    break_by: str
    anchor: str
    function: str
    material: str = "事件素材"


Rule = Literal[
    "missing-element",
    "abstract-mechanism",
    "track-led",
    "metadata-filter",
    "unknown-function",
    "track-common",
    "track-empty",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one element (of a free query: ``query``), with its typed characters and what to do.

    A finding that is not *fatal* is a warning: the query may be sent.
    """

    rule: Rule
    element: str
    span: Span
    text: str
    message: str
    fatal: bool = True


@dataclass(frozen=True, slots=True)
class MirrorQuery:
    """A query that may be sent, the cleaned elements it was made from, and the warnings."""

    text: str
    elements: Elements
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """No query, and every reason."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row of the beat table for which nothing is asked."""

    reason: Literal["own_scene"]


class Weigh(Enum):
    """What a listed word contributes to a query."""

    ASKING = "asking"  # asks for material
    ABSTRACT = "abstract"  # names a mechanism, an effect, a theme
    VAGUE = "vague"  # is in any event
    WEAK = "weak"  # half of something concrete


class Abstract(NamedTuple):
    """Why a group of abstract words finds nothing, and what to write instead."""

    why: str
    instead: str


class Track(NamedTuple):
    """A track word: its cards, None where nobody counted, and whether it is an everyday word besides."""

    cards: int | None
    everyday: bool


class Frame(NamedTuple):
    """The frame of a query and the words in it: what opens it, what stands before and behind the function."""

    template: str
    opening: str  # 找一条
    of: str  # 的
    type: str  # 型


@dataclass(frozen=True, slots=True)
class MirrorRules:
    """The words, the frame and the messages, folded and ready for matching; made by `build_mirror`."""

    material: str
    functions: tuple[str, ...]
    words: Mapping[str, Weigh]
    abstract: Mapping[str, Abstract]
    tracks: Mapping[str, Track]
    markers: Mapping[str, bool]  # whether it makes a track whatever follows
    numerals: frozenset[str]
    endings: tuple[str, ...]
    not_ended: frozenset[str]
    weight: Mapping[str, float]
    stock: int
    line: float
    messages: Mapping[str, str]
    names: Mapping[str, str]
    advice: Mapping[str, str]
    frame: Frame
    filters: regex.Pattern[str] = field(compare=False, repr=False)
    longest: Mapping[str, int] = field(compare=False, repr=False)  # of the listed phrases, by first character
    lexicon: Lexicon = field(compare=False, repr=False)

    def extend(self, functions: Sequence[str] = ()) -> MirrorRules:
        """New rules that know more *functions* (段落功能).

        >>> rules = load_mirror()
        >>> elements = Elements("等了一整天的人", "保安递来一把旧伞", "快递柜前", "收尾")
        >>> compose(elements, rules.extend(["收尾"])).text
        '找一条 等了一整天的人 保安递来一把旧伞 快递柜前 的 收尾型事件素材'
        """
        more = (fold(name).removesuffix(self.frame.type) for name in map(_clean, functions))
        return replace(self, functions=tuple(dict.fromkeys((*self.functions, *filter(None, more)))))


# --- the query ---------------------------------------------------------------------------------------------


def compose(elements: Elements, rules: MirrorRules) -> MirrorQuery | Rejected:
    """The mirror query for *elements*, or every reason why there is none.

        >>> rules = load_mirror()
        >>> elements = Elements("等了一整天的人", "对方把地址发错了还先发火", "小区快递柜前", "留人型")
        >>> compose(elements, rules).text
        '找一条 等了一整天的人 对方把地址发错了还先发火 小区快递柜前 的 留人型事件素材'

    The anchor is compulsory, and so is everything else:

        >>> elements = Elements("被质疑的人", "反击", " ", "钩子")
        >>> [(f.rule, f.element) for f in compose(elements, rules).findings]
        [('missing-element', 'anchor')]
    """
    findings = lint(elements, rules)
    if any(finding.fatal for finding in findings):
        return Rejected(findings)
    clean = _clean_elements(elements, rules)
    # One pass over the frame: what was typed is never read as a field.
    values = {name: getattr(clean, name).replace(" ", _INNER_BLANK) for name in _FIELDS}
    return MirrorQuery(_fill(rules.frame.template, values), clean, findings)


def parse_mirror(text: str, rules: MirrorRules) -> Elements | None:
    """The elements of *text* when it is a query in the frame; the reverse of `compose`.

    >>> rules = load_mirror()
    >>> elements = parse_mirror("找一条 被嘲笑的妈妈 掏出急救证 亲子餐厅 的 钩子型事件素材", rules)
    >>> elements == Elements("被嘲笑的妈妈", "掏出急救证", "亲子餐厅", "钩子")
    True
    >>> parse_mirror("被当场刁难的人，用一连串专业细节一步步把对方顶回去", rules) is None
    True
    """
    parts = _parse(text, rules)
    if parts is None:
        return None
    return Elements(*(text[start:end].replace(_INNER_BLANK, " ") or rules.material for start, end in parts))


def elements_of(node: Node, persona: Persona, rules: MirrorRules) -> Elements | Skipped:
    """The elements for a row of the beat table (布位表), or why nothing is asked for it.

    The scene goes with the event unless the event or the anchor names it; the anchor is the account's own: of
    its items the one that shares most with the row. An account without items has the row's scene for an anchor.

        >>> rules = load_mirror()
        >>> node = Node("被当众考问的新手妈妈", "月子中心", "用一串手上功夫顶回去", "留人")
        >>> elements_of(node, Persona("亲子", ("接送孩子", "保温桶")), rules).anchor
        '接送孩子'
        >>> elements_of(replace(node, own_scene=True), Persona("亲子"), rules)
        Skipped(reason='own_scene')
    """
    if node.own_scene:
        return Skipped("own_scene")
    items = [item for item in persona.items if _clean(item)]
    row = set(node.event + node.scene + node.method) - {rules.frame.of}
    anchor = max(items, key=lambda item: len(row & set(item))) if items else node.scene
    told = any(fold(node.scene) in fold(text) for text in (node.event, anchor))
    contrast = node.event if told else node.scene + node.event
    return Elements(contrast, node.method, anchor, node.function, rules.material)


_FIELDS = tuple(f.name for f in fields(Elements))

# Elements are set apart by blanks, so that a blank inside one (iPhone 15) becomes one that does not break.
_INNER_BLANK = "\N{NO-BREAK SPACE}"

# Nobody sees these; joiners stay, since emoji and other scripts are written with them.
_UNSEEN = regex.compile(r"[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]")
# A blank beside a Han character or a mark says nothing; a blank between Latin words does.
_BESIDE_HAN = regex.compile(r"(?<=[\p{Han}\p{P}]) | (?=[\p{Han}\p{P}])")
# Marks that open or close a sentence, and one pair of quotes or brackets around the whole.
_EDGES = " ,，.。;；、:：!！?？…~～—-"
_AROUND = regex.compile(
    r"""["“「『《〈【（(\[{]([^"“”「」『』《》〈〉【】（）()\[\]{}]*+)["”」』》〉】）)\]}]"""
)


def _clean(typed: str) -> str:
    """*typed* without blanks, outer marks and quotes that say nothing; its characters stay as typed."""
    text: str = _BESIDE_HAN.sub("", " ".join(_UNSEEN.sub("", typed).split())).strip(_EDGES)
    while match := _AROUND.fullmatch(text):
        text = match.group(1).strip(_EDGES)
    return text


# A longer name is no function; without an end to it, a run of 型 would take quadratic time.
_LONGEST_FUNCTION = 64
# As much as the dictionary needs to tell 标|的 from 标的.
_TAIL = 12


def _clean_elements(elements: Elements, rules: MirrorRules) -> Elements:
    anchor, of = _clean(elements.anchor), rules.frame.of
    while len(anchor) > 1 and anchor.endswith(of) and cut(normalize(anchor[-_TAIL:]).text)[-1] == of:
        anchor = _clean(anchor[: -len(of)])  # 厨房里的 的: the frame says it
    return Elements(
        _clean(elements.contrast),
        _clean(elements.break_by),
        anchor,
        _function(elements.function, rules)[0],
        _clean(elements.material) or rules.material,
    )


def _function(typed: str, rules: MirrorRules) -> tuple[str, bool]:
    """The function as typed without 型 and what follows, and whether it is a known one."""
    clean = _clean(typed)
    for at, char in enumerate(clean[:_LONGEST_FUNCTION]):
        if char == rules.frame.type and fold(clean[:at]) in rules.functions:
            return clean[:at], True
    bare = clean.removesuffix(rules.frame.type)
    return bare, fold(bare) in rules.functions


def _fill(template: str, values: Mapping[str, str]) -> str:
    filled: str = _FIELD.sub(lambda match: values.get(match.group(1), match.group()), template)
    return filled


_FIELD = regex.compile(r"\{(\w+)\}")


def _parse(text: str, rules: MirrorRules) -> tuple[Span, ...] | None:
    """Where the five elements stand in *text*; the material may be an empty span."""
    start = _after(text, rules.frame.opening)
    if start is None:
        return None
    pieces = [Span(*match.span()) for match in _PIECES.finditer(text, start)]
    if len(pieces) != 5 or fold(text[slice(*pieces[3])]) != rules.frame.of:
        return None
    tail = pieces[4]
    ends = [i for i in range(tail.start + 1, tail.end) if text[i] == rules.frame.type]
    near = [i for i in ends if i - tail.start < _LONGEST_FUNCTION]
    known = [i for i in near if fold(text[tail.start : i]) in rules.functions]
    if not ends:
        return None
    end = (known or ends)[0]
    return (*pieces[:3], Span(tail.start, end), Span(end + 1, tail.end))


# Blanks set the elements apart, except the one that `compose` writes inside an element.
_PIECES = regex.compile(rf"(?:[^\s]|{_INNER_BLANK})+")


def _after(text: str, opening: str) -> int | None:
    """Where *text* goes on behind *opening*, however that is typed."""
    question = normalize(text)
    at = len(question.text) - len(question.text.lstrip())
    if not question.text.startswith(opening, at):
        return None
    return question.typed(at, at + len(opening)).end


# --- linting -----------------------------------------------------------------------------------------------


def lint(elements: Elements, rules: MirrorRules) -> tuple[Finding, ...]:
    """Everything about *elements*, in their order; no fatal finding means that they make a query.

    >>> rules = load_mirror()
    >>> elements = Elements("亲子", "制造反差", "剧情片场", "勾子")
    >>> for finding in lint(elements, rules):
    ...     print(finding.rule, finding.element, finding.text, finding.fatal)
    track-led contrast 亲子 True
    abstract-mechanism break_by 制造反差 True
    track-common anchor 剧情 False
    unknown-function function 勾子 True
    """
    findings: list[Finding] = []
    for name in ("contrast", "break_by", "anchor"):
        typed = getattr(elements, name)
        if _clean(typed):
            findings += _lint_part(_Part(typed, name, normalize(typed), rules), rules.lexicon)
        else:
            findings.append(_missing(typed, name, rules))
    findings += _lint_function(elements.function, rules)
    if elements.material != rules.material:
        findings += _filters(_Part(elements.material, "material", normalize(elements.material), rules))
    return tuple(findings)


def lint_text(query: str, rules: MirrorRules, lexicon: Lexicon) -> tuple[Finding, ...]:
    """Everything about a *query* that somebody wrote freely; a query in the frame is read by its elements.

    What must stand for something concrete, a person in a situation and a way of breaking it, does:

        >>> rules = load_mirror()
        >>> lint_text("被当场刁难的人，用一连串专业细节一步步把对方顶回去", rules, zh)
        ()
        >>> [f.rule for f in lint_text("一句话让所有人都沉默了，因为谁都没法反驳", rules, zh)]
        ['abstract-mechanism']

    A track leads when it stands by itself, not as a part of a place or person:

        >>> [(f.rule, f.text) for f in lint_text("找一条亲子赛道的钩子型素材", rules, zh)]
        [('track-led', '亲子赛道')]
        >>> lint_text("亲子餐厅里被嘲笑的妈妈", rules, zh)
        ()

    A filter is a known key before a value; a time and a line of dialogue are none:

        >>> [f.text for f in lint_text("标签：留人 凌晨3:20还在改方案的护士", rules, zh)]
        ['标签：留人']
    """
    parts = _parse(query, rules)
    if parts is None:
        return tuple(_lint_whole(_Part(query, "query", normalize(query), rules), lexicon))
    findings: list[Finding] = []
    for name, (start, end) in zip(_FIELDS[:3], parts[:3], strict=True):
        typed = query[start:end]
        for finding in _lint_part(_Part(typed, name, normalize(typed), rules), lexicon):
            span = Span(finding.span.start + start, finding.span.end + start)
            findings.append(replace(finding, element="query", span=span))
    return tuple(findings)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is looked at: an element or a whole query, with its folded form."""

    typed: str
    name: str
    question: Question
    rules: MirrorRules

    def finding(
        self, rule: Rule, message: str, start: int, end: int, /, *, fatal: bool = True, **more: str
    ) -> Finding:
        """A finding about ``question.text[start:end]``, its message filled in with that text and *more*."""
        span = self.question.typed(start, end) if start < end else Span(0, len(self.typed))
        text = self.typed[span.start : span.end]
        values = {"text": text, "element": self.rules.names[self.name], **more}
        return Finding(rule, self.name, span, text, _fill(message, values), fatal)


def _missing(typed: str, name: str, rules: MirrorRules) -> Finding:
    known = "、".join(rules.functions)
    advice = _fill(rules.advice[name], {"known": known})
    values = {"element": rules.names[name], "advice": advice}
    return Finding(
        "missing-element", name, Span(0, len(typed)), typed, _fill(rules.messages["missing"], values)
    )


def _lint_function(typed: str, rules: MirrorRules) -> Iterator[Finding]:
    part = _Part(typed, "function", normalize(typed), rules)
    if not _clean(typed):
        yield _missing(typed, "function", rules)
        return
    filters = list(_filters(part))
    yield from filters
    name, known = _function(typed, rules)
    if known or filters:
        return
    text = part.question.text
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    near = "、".join(nearest_functions(name, rules))
    known_ones = "、".join(rules.functions)
    yield part.finding(
        "unknown-function", rules.messages["function"], start, end, near=near, known=known_ones
    )


def nearest_functions(name: str, rules: MirrorRules) -> tuple[str, ...]:
    """The known functions nearest to *name* in spelling; all of them when nothing is near.

    >>> rules = load_mirror()
    >>> nearest_functions("勾子", rules)
    ('钩子',)
    >>> nearest_functions("hook", rules) == rules.functions
    True
    """
    from rapidfuzz.fuzz import ratio

    scores = {known: ratio(fold(name), known) for known in rules.functions}
    best = max(scores.values(), default=0.0)
    return tuple(known for known, score in scores.items() if score == best)


def _lint_part(part: _Part, lexicon: Lexicon) -> Iterator[Finding]:
    """The rules for one element: it is part of a query, so that anything concrete will do."""
    filters = list(_filters(part))
    yield from filters
    words = _words_beside(part, lexicon)
    whole = _whole_track(words)
    led = whole or (_leading_track(words, part.rules) if part.name == "contrast" else None)
    if led:
        message = "track_whole" if whole and part.name != "contrast" else "track_led"
        yield part.finding("track-led", part.rules.messages[message], *led)
    yield from _stock(part, words, led)
    if not whole and _mass(words) < part.rules.weight["element"]:
        yield from _abstract(part, words, silent=bool(filters or led))


def _lint_whole(part: _Part, lexicon: Lexicon) -> Iterator[Finding]:
    """The rules for a query as a whole."""
    filters = list(_filters(part))
    yield from filters
    words = _words_beside(part, lexicon)
    led = _leading_track(words, part.rules)
    if led:
        yield part.finding("track-led", part.rules.messages["track_led"], *led)
    yield from _stock(part, words, led)
    if _mass(words) < part.rules.weight["text"]:
        yield from _abstract(part, words, silent=bool(filters or led))


def _abstract(part: _Part, words: Sequence[_Word], *, silent: bool) -> Iterator[Finding]:
    """One finding for each abstract word, or one for the whole when none names what is wrong with it.

    *silent* where another finding already says what is wrong: its words are not concrete either.
    """
    named = [word for word in words if word.weigh is Weigh.ABSTRACT]
    for word in named:
        group = part.rules.abstract.get(word.text) or next(iter(part.rules.abstract.values()))
        yield part.finding("abstract-mechanism", f"{group.why}；{group.instead}", word.start, word.end)
    if not named and not silent:
        text = part.question.text
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        yield part.finding("abstract-mechanism", part.rules.messages["nothing"], start, end)


def _filters(part: _Part) -> Iterator[Finding]:
    for start, end in _filter_spans(part):
        yield part.finding("metadata-filter", part.rules.messages["filter"], start, end)


def _filter_spans(part: _Part) -> Iterator[Span]:
    """Where the filters stand. A key behind a track (宠物赛道：…) is the track's own word, and no filter's."""
    text, tracks = _lower(part.question.text), part.rules.tracks
    for match in part.rules.filters.finditer(part.question.text):
        start = match.start()
        if not any(text[max(0, at) : start] in tracks for at in range(start - _LONGEST_TRACK, start - 1)):
            yield Span(*match.span())


# As far as is looked back for a track; 生活 vlog has seven characters.
_LONGEST_TRACK = 8


def _words_beside(part: _Part, lexicon: Lexicon) -> list[_Word]:
    """The words that no filter takes in."""
    taken = {i for span in _filter_spans(part) for i in range(*span)}
    words = _read(part, lexicon)
    return [word for word in words if taken.isdisjoint(range(word.start, word.end))] if taken else words


def _stock(part: _Part, words: Sequence[_Word], led: Span | None) -> Iterator[Finding]:
    """What the stock says about the tracks in *words*: a share is a hit rate, and it has the same line."""
    rules = part.rules
    for word in words:
        track = rules.tracks.get(word.text) if word.is_track else None
        if track is None or track.cards is None or (led and word.start < led.end):
            continue
        share = track.cards / rules.stock
        shown = {"share": f"{share:.1%}", "line": f"{rules.line:.0%}"}
        if share > rules.line:
            message = rules.messages["track_common"]
            yield part.finding("track-common", message, word.start, word.end, fatal=False, **shown)
        elif not track.cards:
            message = rules.messages["track_empty"]
            yield part.finding("track-empty", message, word.start, word.end, fatal=False)


# --- reading -----------------------------------------------------------------------------------------------


class _Word(NamedTuple):
    start: int
    end: int
    text: str  # folded, lower case
    weight: float
    weigh: Weigh | None = None  # the list it is on
    is_track: bool = False
    is_break: bool = False  # a blank or a mark
    is_marker: bool = False  # makes the track before it a track: 赛道, 类


_PIECE = regex.compile(
    r"""
    (?P<han> [\p{Han}〇]+ )  # to the dictionary
  | (?P<number> \d+ (?: [.:/]\d+ )* %? )  # 3:20 and 3.5% say how much, not what
  | (?P<latin> [\p{L}\p{M}\p{N}--\p{Han}]+ )
  | (?P<space> \s+ )
  | (?P<mark> . )
    """,
    regex.VERBOSE | regex.DOTALL | regex.V1,
)

# Function words, by the lists that section A strips.
_FUNCTION = frozenset(
    {
        Role.PRONOUN,
        Role.AUXILIARY,
        Role.ADVERB,
        Role.CONJUNCTION,
        Role.PREPOSITION,
        Role.PARTICLE,
        Role.TIME,
        Role.LIGHT_VERB,
        Role.HOW,
        Role.WHICH,
        Role.YES_NO,
        Role.COURTESY,
        Role.TRAILING,
        Role.ENGLISH,
        Role.LOCATIVE,
    }
)


def _read(part: _Part, lexicon: Lexicon) -> list[_Word]:
    """The words of a text with their weights.

    The dictionary cuts, and a listed phrase takes whole words, with two exceptions (`_takes`).
    """
    rules, text = part.rules, _lower(part.question.text)
    cuts, breaks = _cuts(text)
    words: list[_Word] = []
    at = 0
    while at < len(text):
        end = cuts[at]
        for match_end in _phrase_ends(text, at, rules):
            whole = match_end in cuts or match_end == len(text)
            if _takes(text[at:match_end], end - at, whole, rules, rest=text[match_end:end]):
                end = match_end
                break
        if end not in cuts and end < len(text):
            _cut_again(cuts, text, end)
        words.append(_weigh(text, at, end, breaks, rules, lexicon))
        at = end
    return _with_endings(words, rules)


def _takes(listed: str, length: int, whole: bool, rules: MirrorRules, rest: str) -> bool:
    """Does a listed phrase take its place from a dictionary word of *length*, of which it leaves *rest*?

    Inside a word only an abstract phrase ends that began in the word before (反|转让), and a track before its
    marker (搞笑|类; 历史系 is a place), or a counted one that the dictionary glues to what it is part of (剧情片|场).
    """
    if whole:
        return len(listed) >= length
    if (track := rules.tracks.get(listed)) is not None:
        return track.cards is not None or rules.markers.get(rest, False)
    return len(listed) >= length and rules.words.get(listed) is Weigh.ABSTRACT


def _lower(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _cuts(text: str) -> tuple[dict[int, int], set[int]]:
    """Where each word ends, by its start; and the starts of blanks and marks."""
    cuts: dict[int, int] = {}
    breaks: set[int] = set()
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if match.lastgroup == "han":
            for word in cut(match.group()):
                cuts[start] = start + len(word)
                start += len(word)
        else:
            cuts[start] = end
            if match.lastgroup in ("space", "mark"):
                breaks.add(start)
    return cuts, breaks


def _cut_again(cuts: dict[int, int], text: str, at: int) -> None:
    """A phrase ended inside a word: what is left of the word is cut by itself."""
    end = next(cuts[start] for start in range(at, -1, -1) if start in cuts)
    for word in cut(text[at:end]):
        cuts[at] = at + len(word)
        at += len(word)


def _phrase_ends(text: str, at: int, rules: MirrorRules) -> Iterator[int]:
    """Where listed phrases that start at *at* end, the longest first."""
    for end in range(min(at + rules.longest.get(text[at], 0), len(text)), at + 1, -1):
        if text[at:end] in rules.words or text[at:end] in rules.tracks:
            yield end


def _weigh(text: str, at: int, end: int, breaks: set[int], rules: MirrorRules, lexicon: Lexicon) -> _Word:
    word = text[at:end]
    if at in breaks:
        return _Word(at, end, word, 0.0, is_break=True)
    weigh = rules.words.get(word)
    track = rules.tracks.get(word)
    if track is not None:
        # An everyday word that is a track as well (生活, 情感) is one only beside a marker.
        is_track = not track.everyday or _has_marker(text, end, rules)
        if is_track:
            return _Word(at, end, word, 0.5, is_track=True)
    if word in rules.markers:
        return _Word(at, end, word, 0.0, weigh or Weigh.VAGUE, is_marker=True)
    if weigh is not None:
        return _Word(at, end, word, 0.5 if weigh is Weigh.WEAK else 0.0, weigh)
    if lexicon.roles(word) & _FUNCTION or word[0].isdigit():
        return _Word(at, end, word, 0.0, Weigh.VAGUE)
    if len(word) <= 2 and word[0] in rules.numerals:
        return _Word(at, end, word, 0.0, Weigh.VAGUE)
    # A single character carries little, even twice (慢慢); four are an idiom (深藏不露) more often than a thing.
    half = len(set(word)) == 1 or (len(word) == 4 and not word.isascii())
    return _Word(at, end, word, 0.5 if half else 1.0)


def _has_marker(text: str, at: int, rules: MirrorRules) -> bool:
    at += len(text[at:]) - len(text[at:].lstrip())
    return any(text.startswith(marker, at) for marker in rules.markers)


def _with_endings(words: list[_Word], rules: MirrorRules) -> list[_Word]:
    """Qualities as one abstract word each: 代入|感, 感染力."""
    out: list[_Word] = []
    for word in words:
        before = out[-1] if out else None
        if word.text in rules.endings and before and not before.is_break and before.text[-1] > "\u2fff":
            joined = before.text + word.text
            if joined not in rules.not_ended and before.weigh is not Weigh.ASKING and not before.is_track:
                out[-1] = _Word(before.start, word.end, joined, 0.0, Weigh.ABSTRACT)
                continue
        elif (
            word.weigh is None
            and not word.is_track
            and len(word.text) > 2
            and word.text.endswith(rules.endings)
            and word.text not in rules.not_ended
        ):
            word = word._replace(weight=0.0, weigh=Weigh.ABSTRACT)
        out.append(word)
    return out


def _mass(words: Sequence[_Word]) -> float:
    """How much of *words* is concrete; the same word twice counts once."""
    return sum({word.text: word.weight for word in words}.values())


def _leading_track(words: Sequence[_Word], rules: MirrorRules) -> Span | None:
    """The track that is the first content, if it stands as a track there."""
    for i, word in enumerate(words):
        if word.is_track:
            return _standing(words, i, rules)
        if word.weight:
            return None
    return None


def _standing(words: Sequence[_Word], i: int, rules: MirrorRules) -> Span | None:
    """Does the track at *i* stand by itself (亲子 反差, 亲子赛道, 剧情类)? A place or person takes it in."""
    end, after = words[i].end, list(words[i + 1 :])
    while after and after[0].is_track and not after[0].is_break:
        end = after.pop(0).end
    span = Span(words[i].start, end)
    if not after or after[0].is_break:
        return span
    if after[0].is_marker:
        marker = after.pop(0)
        span = Span(span.start, marker.end)
        if rules.markers[marker.text] or not after or after[0].is_break:
            return span
    if after[0].text == rules.frame.of:
        after = after[1:]
        return span if not after or after[0].is_break or not after[0].weight else None
    return span if after[0].weigh in (Weigh.ABSTRACT, Weigh.ASKING) else None


def _whole_track(words: Sequence[_Word]) -> Span | None:
    """From the first to the last track when there is nothing concrete besides tracks."""
    tracks = [word for word in words if word.is_track]
    if not tracks or any(word.weight and not word.is_track for word in words):
        return None
    return Span(tracks[0].start, tracks[-1].end)


# --- loading -----------------------------------------------------------------------------------------------


def load_mirror(folder: Path | None = None) -> MirrorRules:
    """The shipped rules; of the word lists in *folder*, where given, each takes the place of the shipped one.

    Raises `LexiconError` with every problem at once.
    """
    import tomllib

    own, problems = _own_sheets(folder) if folder else ({}, [])
    tables: dict[str, Any] = {}
    for sheet in _SHAPE:
        path = own.get(sheet) or lexicon_folder() / f"{sheet}.toml"
        try:
            tables[sheet] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            problems.append(Problem(path.name, "-", f"cannot be read ({error.strerror}); put the file there"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(path.name, "-", f"is not TOML in UTF-8: {error}"))
    if problems:
        raise LexiconError(problems)
    return build_mirror(tables, load_lexicon(folder if own.keys() & SHEETS.keys() else None))


def _own_sheets(folder: Path) -> tuple[dict[str, Path], list[Problem]]:
    """The word lists in *folder* by name; one that querykit has no use for is a slip of the pen."""
    known = sorted(path.stem for path in lexicon_folder().glob("*.toml"))
    own = {path.stem: path for path in folder.glob("*.toml")}
    problems = [
        Problem(path.name, "-", f"is no word list; known are {', '.join(known)}")
        for sheet, path in sorted(own.items())
        if sheet not in known
    ]
    if not own:
        problems.append(
            Problem(str(folder), "-", f"holds no word list; put {known[0]}.toml or another there")
        )
    return own, problems


def build_mirror(tables: Mapping[str, Mapping[str, Any]], lexicon: Lexicon) -> MirrorRules:
    """The rules from *tables*, the sheets ``mirror`` and ``tracks``, and a lexicon's function words."""
    if problems := check_mirror(tables):
        raise LexiconError(problems)
    mirror, tracks = tables["mirror"], tables["tracks"]
    words = {fold(word): Weigh.WEAK for word in mirror["weak"]["words"]}
    words |= {fold(word): Weigh.VAGUE for key in _VAGUE for word in mirror["vague"][key]}
    groups = {fold(w): Abstract(g["why"], g["instead"]) for g in mirror["abstract"] for w in g["words"]}
    words |= dict.fromkeys(groups, Weigh.ABSTRACT)
    words |= {fold(word): Weigh.ASKING for word in mirror["asking"]}
    counted = {fold(name): cards for name, cards in tracks["tracks"].items()}
    counted |= {fold(also): counted[fold(name)] for also, name in tracks["also"].items()}
    uncounted = [fold(name) for name in tracks["uncounted"]["words"]]
    everyday = (Weigh.ABSTRACT, Weigh.VAGUE)
    frame = _read_frame(mirror["frame"])
    return MirrorRules(
        material=mirror["material"],
        functions=tuple(fold(name).removesuffix(frame.type) for name in mirror["functions"]),
        words=words,
        abstract=groups,
        tracks={
            name: Track(counted.get(name), words.get(name) in everyday) for name in (*counted, *uncounted)
        },
        markers={fold(word): key == "words" for key in ("loose", "words") for word in tracks["markers"][key]},
        numerals=frozenset(mirror["vague"]["numerals"]),
        endings=tuple(mirror["vague"]["endings"]),
        not_ended=frozenset(map(fold, mirror["vague"]["not_ended"])),
        weight={key: float(value) for key, value in mirror["weight"].items()},
        stock=tracks["stock"]["cards"],
        line=tracks["stock"]["line"],
        messages=mirror["messages"],
        names=mirror["elements"],
        advice=mirror["advice"],
        frame=frame,
        filters=_filter_pattern(mirror["filters"]),
        longest=_longest((*words, *counted, *uncounted)),
        lexicon=lexicon,
    )


# What the sheets must hold: tables with their keys, and the type of what stands there.
_SHAPE: dict[str, dict[str, type | dict[str, type]]] = {
    "mirror": {
        "frame": str,
        "material": str,
        "functions": list,
        "asking": list,
        "filters": {"always": list, "keys": list},
        "weight": {"text": float, "element": float},
        "abstract": list,
        "vague": dict.fromkeys(
            ("persons", "reactions", "things", "manner", "numerals", "endings", "not_ended"), list
        ),
        "weak": {"words": list},
        "messages": dict.fromkeys(
            (
                "missing",
                "nothing",
                "track_led",
                "track_whole",
                "filter",
                "function",
                "track_common",
                "track_empty",
                "accepted",
            ),
            str,
        ),
        "elements": dict.fromkeys((*_FIELDS, "query"), str),
        "advice": dict.fromkeys(("contrast", "break_by", "anchor", "function"), str),
    },
    "tracks": {
        "stock": {"cards": int, "line": float},
        "tracks": dict,
        "also": dict,
        "uncounted": {"words": list},
        "markers": {"words": list, "loose": list},
    },
}
_VAGUE = ("persons", "reactions", "things", "manner")


def check_mirror(tables: Mapping[str, Mapping[str, Any]]) -> tuple[Problem, ...]:
    """Every problem of *tables*, each with file and key.

    >>> check_mirror({"mirror": {}, "tracks": {}})[0]
    Problem(file='mirror.toml', key='schema', message='is None: write schema = 1')
    """
    problems: list[Problem] = []
    for sheet, shape in _SHAPE.items():
        file, table = f"{sheet}.toml", tables.get(sheet, {})
        if table.get("schema") != 1:
            problems.append(Problem(file, "schema", f"is {table.get('schema')!r}: write schema = 1"))
        for key, kind in shape.items():
            if not isinstance(kind, dict):
                problems += _check_value(file, key, table.get(key), kind)
            elif not isinstance(table.get(key), Mapping):
                problems.append(Problem(file, key, "is missing: write the table"))
            else:
                for inner, inner_kind in kind.items():
                    problems += _check_value(file, f"{key}.{inner}", table[key].get(inner), inner_kind)
    return tuple(problems) or tuple(_check_words(tables["mirror"], tables["tracks"]))


def _check_value(file: str, key: str, value: Any, kind: type[Any]) -> list[Problem]:
    """What is wrong with one value of a sheet; of a list, with each of its words."""
    if not isinstance(value, kind) or isinstance(value, bool):
        return [Problem(file, key, f"is {value!r}: write a {kind.__name__}")]
    if key == "abstract":
        return [
            problem for number, group in enumerate(list(value), 1) for problem in _check_group(number, group)
        ]
    words = value if isinstance(value, list) else []
    return [
        Problem(file, key, f"{word!r} is no word: write text")
        for word in words
        if not (isinstance(word, str) and fold(word).strip())
    ]


def _check_group(number: int, group: Any) -> list[Problem]:
    """What is wrong with a table [[abstract]]."""
    if not isinstance(group, Mapping):
        return [Problem("mirror.toml", f"abstract {number}", "must be a table with why, instead and words")]
    wanted: dict[str, type] = {"why": str, "instead": str, "words": list}
    return [
        problem
        for key, kind in wanted.items()
        for problem in _check_value("mirror.toml", f"abstract {number}.{key}", group.get(key), kind)
    ]


def _check_words(mirror: Mapping[str, Any], tracks: Mapping[str, Any]) -> Iterator[Problem]:
    """Words that weigh two things at once, a frame without its fields, stocks that do not add up."""
    seen: dict[str, str] = {}
    groups = [(f"abstract {n}", group["words"]) for n, group in enumerate(mirror["abstract"], 1)]
    groups += [(f"vague.{key}", mirror["vague"][key]) for key in _VAGUE]
    for key, words in (*groups, ("weak.words", mirror["weak"]["words"])):
        for word in words:
            if (other := seen.setdefault(fold(word), key)) != key or words.count(word) > 1:
                yield Problem("mirror.toml", key, f"{word!r} stands in {other} too: keep one")
    if [match.group(1) for match in _FIELD.finditer(mirror["frame"])] != list(_FIELDS):
        yield Problem("mirror.toml", "frame", f"must hold {', '.join(_FIELDS)} once each, in this order")
    for name, cards in tracks["tracks"].items():
        if not isinstance(cards, int) or not 0 <= cards <= tracks["stock"]["cards"]:
            yield Problem("tracks.toml", f"tracks.{name}", f"is {cards!r}: write a count of cards")
    for also, name in tracks["also"].items():
        if name not in tracks["tracks"]:
            yield Problem("tracks.toml", f"also.{also}", f"{name!r} is no counted track: name one")


def _read_frame(template: str) -> Frame:
    opening, rest = template.split("{contrast}")
    before, after = rest.split("{function}")
    return Frame(
        template, opening.strip(), before.partition("{anchor}")[2].strip(), after.partition("{material}")[0]
    )


def _longest(phrases: Iterable[str]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for phrase in phrases:
        longest[phrase[0]] = max(len(phrase), longest.get(phrase[0], 0))
    return longest


# A value goes on to the next blank or mark; a quoted one to its quote.
_VALUE = r"""(?: ["'“‘「][^"'”’」]*+["'”’」]?+ | \[[^\]]*+\]?+ | [^\s,，;；。&|、}\])）】]++ )"""


def _filter_pattern(filters: Mapping[str, list[str]]) -> regex.Pattern[str]:
    always, keys = (
        "|".join(regex.escape(fold(key)) for key in sorted(words, key=len, reverse=True))
        for words in (filters["always"], filters["keys"])
    )
    return regex.compile(
        rf"""
        # Nobody's everyday word: with whatever path, operator and value follow.
        (?<![a-z0-9_]) (?:{always}) (?: [.\[] [\w."'\]]* )?+ (?: \s* [:=<>]+ \s* {_VALUE} )?+

        # A key in brackets, and its value.
      | [【\[<] \s* (?:{keys}) \s* [】\]>] \s* [:=]* \s* {_VALUE}

        # A key, perhaps with a path (metadata.track), quoted as in JSON, an operator and a value. A Latin
        # key is a word of its own.
      | ["'“‘]?+ (?<![a-z0-9_]) (?:{keys}) (?: [.\[] [\w."'\]]* )?+ ["'”’]?+
        \s* (?: [:=<>]+ | != | -> | → ) \s* {_VALUE}
        """,
        regex.VERBOSE | regex.IGNORECASE,
    )
