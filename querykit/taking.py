"""What may leave a card, and what may not (取材不取形).

A card leaves only as `Material`. What a draft carries over from a card, `borrowed` says; whether it stands on
something of the account's own, `anchored`; which cards come back for everything, `magnets`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import regex

from querykit.beats import Persona
from querykit.cards import (
    CardWords,
    Contrast,
    ParsedCard,
    Setup,
    Words,
    any_listed,
    any_of,
    fold_in_place,
    kinds_in,
    unwrapped,
)


@dataclass(frozen=True, slots=True)
class Material:
    """All that may be taken from a card (取材不取形): gap, class of technique, length of setup, camera."""

    gap: Contrast
    technique: str | None = None
    setup: Setup | None = None
    camera: str | None = None


def take(card: ParsedCard) -> Material | None:
    """The material in *card*, with its persons, identities, lines and props masked; None where it has no gap.

    >>> from querykit.cards import load_card_labels, parse_card
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
    pattern = regex.compile(any_of(masks)) if masks else None

    def hide(text: str) -> str:
        if pattern is None:
            return text
        # Matched on the folded text, which has the same length, and replaced in the written one.
        pieces, last = [], 0
        for found in pattern.finditer(fold_in_place(text)):
            pieces += [text[last : found.start()], masks[found[0]]]
            last = found.end()
        return "".join([*pieces, text[last:]])

    return hide


def _forms(values: tuple[str, ...] | None, words: CardWords) -> tuple[str, ...]:
    """*values* and their heads, folded; no single characters: 她, 伞 and 老 open too many words."""
    forms = chain.from_iterable((value, _head(value, words.heads)) for value in values or ())
    return tuple(dict.fromkeys(folded for form in forms if len(folded := fold_in_place(form)) > 1))


def _head(prop: str, heads: Words) -> str:
    """*prop* without what qualifies it: 一把旧伞 is 旧伞, 她留下的那张旧车票 is 旧车票."""
    for word in heads.get("after", ()):
        prop = prop[prop.rfind(word) + len(word) :] if word in prop[:-1] else prop
    measured = rf"^(?:{any_listed(heads.get('numbers', ()))})(?:{any_listed(heads.get('measures', ()))})"
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

        >>> from querykit.cards import load_card_labels, parse_card
        >>> card = parse_card("人物：掌柜\\n原话：“头水是给杯子喝的”\\n道具：一条围裙", load_card_labels())
        >>> for carried in borrowed(card, "妈妈解下围裙，说头水，是给杯子喝的。"):
        ...     print(*carried)
        prop 围裙 4 6
        line 头水，是给杯子喝的 8 17
    """
    folded = fold_in_place(draft)
    exempt = tuple(fold_in_place(item) for item in own.items) if own else ()
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
    squeezed = _squeeze(fold_in_place(line))[0]
    if len(squeezed) >= 4:
        yield from _shared_runs((line,), folded, min(_LINE_RUN, len(squeezed)))
    elif squeezed:
        # 走吧 is a line only where it is one: between marks, or alone.
        alone = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(squeezed)}(?![\p{{L}}\p{{N}}])"
        yield from (found.span() for found in regex.finditer(alone, folded))


def _shared_runs(sources: Iterable[str], folded: str, size: int) -> Iterator[tuple[int, int]]:
    """Spans of *folded* whose letters stand in a row in one of *sources*, at least *size* of them."""
    squeezed = (_squeeze(fold_in_place(source))[0] for source in sources)
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
    text = unwrapped(card.text)
    for taken in (card.contrast.raw if card.contrast else None, card.camera, card.technique):
        text = text.replace(taken, "\0") if taken else text
    return tuple(text.split("\0"))


def anchors_in(draft: str, persona: Persona) -> tuple[str, ...]:
    """The account's own things that *draft* names. Its track is none: 亲子 anchors nothing."""
    folded, track = fold_in_place(draft), fold_in_place(persona.track)
    owned = ((item, fold_in_place(item).strip()) for item in persona.items)
    return tuple(item for item, own in owned if own and own != track and own in folded)


def anchored(draft: str, persona: Persona) -> bool:
    """Whether *draft* stands on something of the account's own.

    >>> anchored("妈妈拧开保温桶", Persona("亲子", ("保温桶",)))
    True
    >>> anchored("一个亲子故事", Persona("亲子", ("亲子",)))
    False
    """
    return bool(anchors_in(draft, persona))


# --- cards that come back for everything -------------------------------------------------------------------


class Magnet(NamedTuple):
    """A card that came back for most nodes (泛化磁铁卡), by `calling`, with how often of how many."""

    card: str
    nodes: int
    of: int


def calling(card: ParsedCard) -> str:
    """What to call *card* once it is dropped: the name it gives itself, else a digest and its masked gap.

    >>> from querykit.cards import load_card_labels, parse_card
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
