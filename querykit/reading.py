"""A question as items: names that stay whole, words with their roles, Latin atoms, marks and blanks.

Words of Han runs come from the general dictionary's best path; a listed phrase takes whole words of that path
only, so that 怎么办 does not reach into 办理 nor 上 into 上海.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import add
from typing import Literal

import regex

from querykit.lexicon import Lexicon, Role, is_shield
from querykit.segment import cut, is_word
from querykit.text import Question

Kind = Literal["word", "latin", "name", "space", "mark"]


class Item:
    """A piece of the question: where it is in the folded text, its roles as bits, and the rule that took it.

    *text* is in lower case; *words* says where the words inside end, when there are several. An item without a
    rule stands.
    """

    __slots__ = ("end", "is_gap", "kind", "roles", "rule", "start", "text", "words")

    def __init__(
        self, start: int, end: int, text: str, kind: Kind, roles: int = 0, words: tuple[int, ...] = ()
    ) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.kind = kind
        self.roles = roles
        self.rule = ""
        self.words = words
        self.is_gap = kind == "space" or kind == "mark"

    @property
    def is_content(self) -> bool:
        return not self.rule and not self.is_gap


def bits(*roles: Role) -> int:
    """A set of roles as bits."""
    return sum(role.bit for role in roles)


WHOLE = bits(Role.SHIELD, Role.MIXED, Role.TOOL, Role.COMPOUND, Role.KEEP)
CONTAINER = bits(Role.PLACE, Role.ITEM, Role.TAIL)

# Roles that go wherever the dictionary sees the word, in the order in which they name the rule.
ALWAYS_ROLES = (
    Role.SMALLTALK,
    Role.HOW,
    Role.WHICH,
    Role.YES_NO,
    Role.COURTESY,
    Role.PRONOUN,
    Role.AUXILIARY,
    Role.ADVERB,
    Role.CONJUNCTION,
    Role.PREPOSITION,
    Role.PARTICLE,
    Role.TIME,
    Role.LIGHT_VERB,
)
ALWAYS = bits(*ALWAYS_ROLES)

# Roles that say how a word is read, not that it goes.
GRAMMAR = bits(
    Role.GENITIVE,
    Role.ENCLITIC,
    Role.NEGATOR,
    Role.HAVING,
    Role.COUNTING,
    Role.CHOOSING,
    Role.ALSO,
    Role.ARTICLE,
    Role.PIECE,
    Role.HEAD,
    Role.ALTERNATIVE,
    Role.REMOVING,
    Role.OWN,
    Role.PREFIX,
    Role.BONDING,
    Role.NOUN_PREFIX,
    Role.COVERB,
    Role.KEYWORD,
)

_PLACE_OR_ITEM = bits(Role.PLACE, Role.ITEM)
_HOLDER = _PLACE_OR_ITEM | Role.SHELF.bit
_LOCATIVE = Role.LOCATIVE.bit
_VERB = Role.VERB.bit
_ENGLISH = Role.ENGLISH.bit
_YES_NO = Role.YES_NO.bit
_NEGATOR = Role.NEGATOR.bit
_BETWEEN = ALWAYS & ~Role.PREPOSITION.bit

# A title or a quotation stays whole whatever stands in it. Sixty characters at most and no sentence marks: a
# quoted paragraph is text like other text.
_QUOTED = regex.compile(
    r"""
    《[^《》\n]{1,60}》 | 〈[^〈〉\n]{1,60}〉 | 「[^「」。！!？?]{1,60}」 | 『[^『』。！!？?]{1,60}』
  | “[^“”。！!？?]{1,60}” | "[^"。！!？?]{1,60}"
    """,
    regex.VERBOSE,
)
_OPENING = frozenset('《〈「『“"')

_HAN = regex.compile(r"[\p{Han}〇々]++")

_PIECE = regex.compile(
    r"""
    # Han runs go to the dictionary. 〇 and 々 count: they stand inside words.
    (?P<han> [\p{Han}〇々]++ )

    # A Latin atom keeps the marks inside it: C++, C#, .NET, Node.js, A/B, GPT-4o, core/alloc.rs, v-if.
    # A plus joins a single character: N+1, Ctrl+C; but MySQL+Redis are two.
    # Possessive, since "v1.v1.v1. …" must not be tried twice.
  | (?P<latin> (?:(?<![\w.])\.(?=[A-Za-z]))? [A-Za-z0-9_]++
               (?: (?: [-./_:@&'’⁄]++ | \+(?=[A-Za-z0-9]\b) ) [A-Za-z0-9_]++ )*+
               (?: \+\+ | [#+%](?![A-Za-z0-9]) )?+ )

    # Kana, Hangul, Cyrillic, Greek … with the marks that belong to them.
  | (?P<other> (?: [\p{L}\p{N}--\p{Han}] [\p{M}ー]*+ )++ )

  | (?P<space> \s++ )

  | (?P<mark> . )
    """,
    regex.VERBOSE | regex.V1 | regex.DOTALL,
)


def read(question: Question, lexicon: Lexicon) -> list[Item]:
    """The items of *question*; together they cover its folded text once."""
    text = question.text
    low = text.lower()
    if len(low) != len(text):  # İ and the like grow in lower case
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    items: list[Item] = []
    at = 0
    if not _OPENING.isdisjoint(text):
        for quoted in _QUOTED.finditer(text):
            start, end = quoted.span()
            _read_plain(text, low, at, start, lexicon, items)
            items.append(Item(start, start + 1, low[start], "mark"))
            items.append(Item(start + 1, end - 1, low[start + 1 : end - 1], "name", Role.KEEP.bit))
            items.append(Item(end - 1, end, low[end - 1], "mark"))
            at = end
    _read_plain(text, low, at, len(text), lexicon, items)
    return _whole_characters(items, question) if question.offsets else items


def _whole_characters(items: list[Item], question: Question) -> list[Item]:
    """Items that come of one typed character (¼, ㍘, ﷽) are one: half a character can neither go nor stay."""
    whole: list[Item] = []
    for item in items:
        last = whole[-1] if whole else None
        if last and question.offsets[last.end - 1].start >= question.offsets[item.start].start:
            kind: Kind = "mark" if last.is_gap and item.is_gap else "name"
            whole[-1] = Item(
                last.start, item.end, last.text + item.text, kind, Role.KEEP.bit * (kind == "name")
            )
        else:
            whole.append(item)
    return whole


def _read_plain(text: str, low: str, start: int, stop: int, lexicon: Lexicon, items: list[Item]) -> None:
    names = list(_names(low, start, stop, lexicon))
    names = sorted([*names, *_a_not_a(low, start, stop, names, lexicon)])
    at = start
    for name_start, name_end in names:
        _read_pieces(text, low, at, name_start, lexicon, items)
        name = low[name_start:name_end]
        items.append(Item(name_start, name_end, name, "name", lexicon.bits.get(name, _YES_NO)))
        at = name_end
    _read_pieces(text, low, at, stop, lexicon, items)


_LONGEST_WORD = 8  # characters that the dictionary needs to see to tell the word at their head

# A verb or an adjective, a negation, and the same again: 疼不疼, 写没写过, 支不支持.
_A_NOT_A = regex.compile(r"(\p{Han})(\p{Han})\1")


def _a_not_a(
    low: str, start: int, stop: int, names: list[tuple[int, int]], lexicon: Lexicon
) -> Iterator[tuple[int, int]]:
    """Where the question asks by A-not-A; of 支不支持 only 支不, since 支持 is what it is about.

    What is listed (是不是, 时不时) is left to its list.
    """
    for match in _A_NOT_A.finditer(low, start, stop):
        at, end = match.span()
        known = lexicon.bits
        if not known.get(match[2], 0) & _NEGATOR or match[0] in known:
            continue
        rest = _HAN.match(low, end - 1, min(stop, end + _LONGEST_WORD))
        longer = cut(rest[0])[0] if rest else match[1]
        more = low[at : end - 1] + longer
        inside = (more != match[0] and is_word(more)) or (at > start and is_word(low[at - 1 : end]))
        if inside or any(a < end and at < b for a, b in names):
            continue
        yield at, end - 1 if len(longer) > 1 else end


def _names(low: str, start: int, stop: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Names that stay whole wherever they stand, longest first; never the inside of a Latin run."""
    shields, words, taken = lexicon.shields, lexicon.words, start
    for at, pair in enumerate(map(add, low[start:stop], low[start + 1 : stop]), start):
        if pair not in shields or at < taken or _inside_latin(low, at):
            continue
        for end in range(min(at + shields[pair], stop), at + 1, -1):
            word = low[at:end]
            if word in words and is_shield(word, words[word]) and not _inside_latin(low, end):
                yield at, end
                taken = end
                break


def _inside_latin(low: str, at: int) -> bool:
    if not 0 < at < len(low):
        return False
    before, after = low[at - 1], low[at]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _read_pieces(text: str, low: str, start: int, stop: int, lexicon: Lexicon, items: list[Item]) -> None:
    for match in _PIECE.finditer(text, start, stop):
        group, (a, b) = match.lastgroup, match.span()
        if group == "han":
            _read_han(low, a, b, lexicon, items)
        elif group == "latin" or group == "other":
            roles = lexicon.bits.get(low[a:b], 0)
            if roles & _ENGLISH and not (text[a:b].islower() or text[a:b].istitle()):
                roles &= ~_ENGLISH  # IT is no pronoun
            items.append(Item(a, b, low[a:b], "latin", roles))
        else:
            items.append(Item(a, b, low[a:b], "space" if group == "space" else "mark"))


def _read_han(low: str, start: int, stop: int, lexicon: Lexicon, items: list[Item]) -> None:
    """The words of a Han run; a listed phrase takes whole words only, the longest first."""
    words, framed_names = _words(low[start:stop], lexicon, alone=stop - start == len(low))
    known, prefixes = lexicon.bits, lexicon.prefixes
    at, index, count = start, 0, len(words)
    while index < count:
        text = words[index]
        taken, roles = 1, known.get(text, 0)
        longer, ahead = text, 1
        while longer in prefixes and index + ahead < count:
            longer += words[index + ahead]
            ahead += 1
            if longer in known:
                text, taken, roles = longer, ahead, known[longer]
        inside: tuple[int, ...] = ()
        if taken > 1:
            ends, end = [], at
            for word in words[index : index + taken]:
                end += len(word)
                ends.append(end)
            inside = tuple(ends[:-1])
        whole = roles & WHOLE or (not roles & ~GRAMMAR and at - start in framed_names)
        items.append(Item(at, at + len(text), text, "name" if whole else "word", roles, inside))
        at += len(text)
        index += taken


# A run longer than this is no question, and cutting it again at every frame would take quadratic time.
_LONGEST_FRAMED_RUN = 200
_LONGEST_CONTAINER = 6
_NO_NAMES: frozenset[int] = frozenset()


def _words(run: str, lexicon: Lexicon, *, alone: bool) -> tuple[list[str], frozenset[int] | set[int]]:
    """The words of a Han run, and where those begin that frames on both sides prove to be one word.

    A container frames what it holds: behind 知识库里讲 and in front of 的笔记 the topic begins and ends, even
    where the dictionary would rather read 讲义 or 目的. Each stretch between frames is cut by itself.
    """
    words = _cut(run, lexicon)
    if len(words) == 1:
        return words, _NO_NAMES
    frames: set[int] = set()
    if len(run) <= _LONGEST_FRAMED_RUN and _has_container(run, words, lexicon):
        frames = _frames(run, words, lexicon)
    if not frames:
        if len(words) < 5 and _is_name(run, lexicon, framed=alone):
            return [run], {0}
        return words, _NO_NAMES
    framed, names, at = [], set(), 0
    for frame in sorted(frames | {len(run)}):
        stretch = run[at:frame]
        if len(stretch) > 1 and _is_name(stretch, lexicon, framed=True):
            names.add(at)
            framed.append(stretch)
        elif stretch:
            framed += _cut(stretch, lexicon)
        at = frame
    return framed, names


def _cut(run: str, lexicon: Lexicon) -> list[str]:
    words = cut(run)
    if lexicon.splits.keys().isdisjoint(words):
        return words
    return [part for word in words for part in lexicon.splits.get(word, (word,))]


def _has_container(run: str, words: list[str], lexicon: Lexicon) -> bool:
    known = lexicon.bits
    return any(known.get(word, 0) & _HOLDER for word in words) or bool(_closing(run, lexicon))


def _is_name(stretch: str, lexicon: Lexicon, *, framed: bool) -> bool:
    """Is the stretch one word of the dictionary (他国, 和声), though its best path may cut it?

    Unframed, a run beside Latin must have some content in it, lest 这是 pass for a name.
    """
    if stretch in lexicon.bits or stretch in lexicon.splits or not is_word(stretch):
        return False
    return framed or not all(lexicon.bits.get(word, 0) & ALWAYS for word in _cut(stretch, lexicon))


def _closing(run: str, lexicon: Lexicon) -> set[int]:
    """Around each 的 that a container follows."""
    frames: set[int] = set()
    for genitive in lexicon.genitive:
        at = run.find(genitive)
        while at >= 0:
            for end in range(at + 2, min(at + 2 + _LONGEST_CONTAINER, len(run) + 1)):
                if lexicon.bits.get(run[at + 1 : end], 0) & _PLACE_OR_ITEM:
                    frames |= {at, at + 1}
                    break
            at = run.find(genitive, at + 1)
    return frames - {0}


def _frames(run: str, words: list[str], lexicon: Lexicon) -> set[int]:
    """Where a container's frame ends or begins inside *run*: behind its verb, around its 的."""
    frames = _closing(run, lexicon)
    known = lexicon.bits
    at, inside = 0, 0  # inside: 1 behind a container, 2 behind its locative
    for word in words:
        roles = known.get(word, 0)
        if inside == 2 and known.get(run[at], 0) & _VERB and at + 1 < len(run):
            stretch = run[at + 1 : min((f for f in frames if f > at), default=len(run))]
            first = stretch if is_word(stretch) else (_cut(stretch, lexicon) or [""])[0]
            rest = run[at + len(word) : at + 1 + len(first)]
            # 讲|义举 where 讲义|举 would leave a lone character; 讲解 is a verb itself unless that helps.
            if len(word) == 1 or (len(first) > 1 and (not roles & _VERB or len(rest) == 1)):
                frames |= {at, at + 1}
            inside = 0
        elif roles & _HOLDER:
            inside = 1
        elif inside and roles & _LOCATIVE:
            inside = 2
        elif not (inside and roles & _BETWEEN):
            inside = 0
        at += len(word)
    return frames - {0}
