"""From five elements (镜像式五要素) to the query that an event base answers, or to findings that say why not.

The base holds questions as an editor would ask them, and only a query in the same form finds its card. `lint`
looks at elements, `lint_text` at a query somebody wrote; both report everything at once. `compose` writes the
query and `parse_mirror` reads it back. Words, frame and messages are data (``lexicons/mirror.toml`` and
``tracks.toml``); `load_mirror` is the one reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import regex

from querykit.beats import Node, Persona
from querykit.lexicon import Lexicon
from querykit.mirror_rules import ELEMENTS, Weigh, clean, fill
from querykit.mirror_rules import MirrorRules as MirrorRules
from querykit.mirror_rules import load_mirror as load_mirror
from querykit.segment import cut
from querykit.text import Question, Span, fold, normalize
from querykit.weighing import Word, leading_track, lower, mass, read, whole_track

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
    made = _clean_elements(elements, rules)
    # One pass over the frame: what was typed is never read as a field.
    values = {name: getattr(made, name).replace(" ", _INNER_BLANK) for name in ELEMENTS}
    return MirrorQuery(fill(rules.frame.template, values), made, findings)


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
    items = [item for item in persona.items if clean(item)]
    row = set(node.event + node.scene + node.method) - {rules.frame.of}
    anchor = max(items, key=lambda item: len(row & set(item))) if items else node.scene
    told = any(fold(node.scene) in fold(text) for text in (node.event, anchor))
    contrast = node.event if told else node.scene + node.event
    return Elements(contrast, node.method, anchor, node.function, rules.material)


# Elements are set apart by blanks, so that a blank inside one (iPhone 15) becomes one that does not break.
_INNER_BLANK = "\N{NO-BREAK SPACE}"

# A longer name is no function; without an end to it, a run of 型 would take quadratic time.
_LONGEST_FUNCTION = 64
# As much as the dictionary needs to tell 标|的 from 标的.
_TAIL = 12


def _clean_elements(elements: Elements, rules: MirrorRules) -> Elements:
    anchor, of = clean(elements.anchor), rules.frame.of
    while len(anchor) > 1 and anchor.endswith(of) and cut(normalize(anchor[-_TAIL:]).text)[-1] == of:
        anchor = clean(anchor[: -len(of)])  # 厨房里的 的: the frame says it
    return Elements(
        clean(elements.contrast),
        clean(elements.break_by),
        anchor,
        _function(elements.function, rules)[0],
        clean(elements.material) or rules.material,
    )


def _function(typed: str, rules: MirrorRules) -> tuple[str, bool]:
    """The function as typed without 型 and what follows, and whether it is a known one."""
    name = clean(typed)
    for at, char in enumerate(name[:_LONGEST_FUNCTION]):
        if char == rules.frame.type and fold(name[:at]) in rules.functions:
            return name[:at], True
    bare = name.removesuffix(rules.frame.type)
    return bare, fold(bare) in rules.functions


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
        if clean(typed):
            findings += _lint_part(_Part(typed, name, normalize(typed), rules), rules.lexicon)
        else:
            findings.append(_missing(typed, name, rules))
    findings += _lint_function(elements.function, rules)
    if elements.material != rules.material:
        part = _Part(elements.material, "material", normalize(elements.material), rules)
        findings += _filters(part, _filter_spans(part))
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
    for name, (start, end) in zip(ELEMENTS[:3], parts[:3], strict=True):
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
        return Finding(rule, self.name, span, text, fill(message, values), fatal)


def _missing(typed: str, name: str, rules: MirrorRules) -> Finding:
    known = "、".join(rules.functions)
    advice = fill(rules.advice[name], {"known": known})
    values = {"element": rules.names[name], "advice": advice}
    return Finding(
        "missing-element", name, Span(0, len(typed)), typed, fill(rules.messages["missing"], values)
    )


def _lint_function(typed: str, rules: MirrorRules) -> Iterator[Finding]:
    part = _Part(typed, "function", normalize(typed), rules)
    if not clean(typed):
        yield _missing(typed, "function", rules)
        return
    filters = list(_filter_spans(part))
    yield from _filters(part, filters)
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
    filters = list(_filter_spans(part))
    yield from _filters(part, filters)
    words = _words_beside(part, filters, lexicon)
    whole = whole_track(words)
    led = whole or (leading_track(words, part.rules) if part.name == "contrast" else None)
    if led:
        message = "track_whole" if whole and part.name != "contrast" else "track_led"
        yield part.finding("track-led", part.rules.messages[message], *led)
    yield from _stock(part, words, led)
    if not whole and mass(words) < part.rules.weight["element"]:
        yield from _abstract(part, words, silent=bool(filters or led))


def _lint_whole(part: _Part, lexicon: Lexicon) -> Iterator[Finding]:
    """The rules for a query as a whole."""
    filters = list(_filter_spans(part))
    yield from _filters(part, filters)
    words = _words_beside(part, filters, lexicon)
    led = leading_track(words, part.rules)
    if led:
        yield part.finding("track-led", part.rules.messages["track_led"], *led)
    yield from _stock(part, words, led)
    if mass(words) < part.rules.weight["text"]:
        yield from _abstract(part, words, silent=bool(filters or led))


def _abstract(part: _Part, words: Sequence[Word], *, silent: bool) -> Iterator[Finding]:
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


def _filters(part: _Part, spans: Iterable[Span]) -> Iterator[Finding]:
    for start, end in spans:
        yield part.finding("metadata-filter", part.rules.messages["filter"], start, end)


def _filter_spans(part: _Part) -> Iterator[Span]:
    """Where the filters stand. A key behind a track (宠物赛道：…) is the track's own word, and no filter's."""
    text, tracks = lower(part.question.text), part.rules.tracks
    for match in part.rules.filters.finditer(part.question.text):
        start = match.start()
        if not any(text[max(0, at) : start] in tracks for at in range(start - _LONGEST_TRACK, start - 1)):
            yield Span(*match.span())


# As far as is looked back for a track; 生活 vlog has seven characters.
_LONGEST_TRACK = 8


def _words_beside(part: _Part, filters: Iterable[Span], lexicon: Lexicon) -> list[Word]:
    """The words that no filter takes in."""
    taken = {i for span in filters for i in range(*span)}
    words = read(part.question.text, part.rules, lexicon)
    return [word for word in words if taken.isdisjoint(range(word.start, word.end))] if taken else words


def _stock(part: _Part, words: Sequence[Word], led: Span | None) -> Iterator[Finding]:
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
