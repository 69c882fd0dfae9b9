"""Container and colloquial words out of a question, with the locatives and verbs stuck to them.

The story in four turns: `_read` cuts the question into items (names that stay whole, words of the
dictionary's best path with their roles, Latin atoms, marks); `_Clauses` looks ahead once, from the right;
`_Stripper` decides item by item, from the left, which go and by which rule; `_rest` joins what is left into
chunks, or climbs down the ladder when nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import regex

from querykit.lexicon import Lexicon, Role
from querykit.segment import cut, is_word
from querykit.text import Question, Span


class Basis(Enum):
    """What the chunks of a stripped question rest on."""

    STRIPPED = "stripped"
    TOOL_NAMES = "tool_names"  # no Chinese chunk is left, only tool names
    UNSTRIPPED = "unstripped"  # nothing was left: the unstripped chunks stand
    BROWSE = "browse"  # asks for the base itself, its index or a tour
    NOTHING = "nothing"  # small talk, pronouns, marks: there is nothing to search for


class Word(NamedTuple):
    """A word inside a chunk: where it is in the chunk's folded text, and whether it carries only a little."""

    start: int
    end: int
    is_soft: bool = False


class Chunk(NamedTuple):
    """A run of content: its typed span and text, its folded form, and whether it is a name (Latin or listed)."""

    span: Span
    text: str
    folded: str
    is_name: bool = False
    words: tuple[Word, ...] = ()


class Removed(NamedTuple):
    """What went, and the rule that took it."""

    span: Span
    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Stripped:
    """What is left of a question, what went, and what the rest stands on.

    Chunks, removed spans and the marks and blanks between them cover the typed question once.
    """

    question: Question
    chunks: tuple[Chunk, ...]
    removed: tuple[Removed, ...]
    basis: Basis


def strip(question: Question, lexicon: Lexicon) -> Stripped:
    """Return what is left of *question* without container and colloquial words.

    A container takes its locative and verb along: leaving 里讲工作流 behind looks rarer than 工作流 and
    retrieves worse.

        >>> from querykit.text import normalize
        >>> [c.text for c in strip(normalize("知识库里讲工作流的笔记"), zh).chunks]
        ['工作流']

    Proper phrases next to a container are kept whole, and so is a container that is the topic:

        >>> [c.text for c in strip(normalize("笔记的整理方法"), zh).chunks]
        ['整理方法']
        >>> [c.text for c in strip(normalize("知识库怎么维护"), zh).chunks]
        ['知识库', '维护']

    A question with nothing to search for says so:

        >>> strip(normalize("你叫什么名字呀"), zh).basis
        <Basis.NOTHING: 'nothing'>
    """
    items = _read(question.text, lexicon)
    _Stripper(items).run()
    return _rest(question, items)


def unstripped(question: Question, lexicon: Lexicon) -> Stripped:
    """Return *question* with every word left in: what the last resort searches.

    >>> from querykit.text import normalize
    >>> [c.text for c in unstripped(normalize("库里有没有讲 Suno 的笔记"), zh).chunks]
    ['库里有没有讲', 'Suno', '的笔记']
    """
    return Stripped(question, tuple(_chunks(question, _read(question.text, lexicon))), (), Basis.UNSTRIPPED)


# ---------------------------------------------------------------- reading


class _Kind(Enum):
    WORD = 0  # of the dictionary's path, or a listed phrase
    LATIN = 1
    NAME = 2  # shielded: quoted titles, keep words, tool names
    SPACE = 3
    MARK = 4


@dataclass(slots=True)
class _Item:
    start: int
    end: int
    text: str  # lower case
    kind: _Kind
    roles: frozenset[Role] = frozenset()
    rule: str = ""  # the rule that took it; empty while it stands
    words: tuple[int, ...] = ()  # where the words inside end, when there are several

    @property
    def is_content(self) -> bool:
        return not self.rule and self.kind not in (_Kind.SPACE, _Kind.MARK)


_NO_ROLES: frozenset[Role] = frozenset()

_PIECE = regex.compile(
    r"""
    # A title or a quotation stays whole whatever stands in it. Sixty characters at most and no sentence
    # marks: a quoted paragraph is text like other text.
    (?P<quoted> 《[^《》\n]{1,60}》 | 〈[^〈〉\n]{1,60}〉 | 「[^「」。！!？?]{1,60}」 | 『[^『』。！!？?]{1,60}』
              | “[^“”。！!？?]{1,60}” | "[^"。！!？?]{1,60}" )

    # Han runs go to the dictionary. 〇 and 々 count: they stand inside words.
  | (?P<han> [\p{Han}〇々]+ )

    # A Latin atom keeps the marks inside it: C++, C#, .NET, Node.js, A/B, GPT-4o, core/alloc.rs, v-if.
    # Possessive, since "v1.v1.v1. …" must not be tried twice.
  | (?P<latin> (?:(?<![\w.])\.(?=[A-Za-z]))? [A-Za-z0-9_]++ (?: [-./_:@&'’⁄]++ [A-Za-z0-9_]++ )*+ (?: \+\+ | [#+%](?![A-Za-z0-9]) )?+ )

    # Kana, Hangul, Cyrillic, Greek … with the marks that belong to them.
  | (?P<other> (?: [\p{L}\p{N}--\p{Han}] [\p{M}ー]*+ )++ )

  | (?P<space> \s++ )

  | (?P<mark> . )
    """,
    regex.VERBOSE | regex.V1 | regex.DOTALL,
)

_KINDS = {"latin": _Kind.LATIN, "other": _Kind.LATIN, "space": _Kind.SPACE, "mark": _Kind.MARK}

# What a name that matches inside a run must be: a user's keep word or a word of two scripts anywhere, a
# tool name of three characters or more; shorter ones (可灵 in 可灵活) need the dictionary's word boundaries.
_ANYWHERE = frozenset({Role.SHIELD, Role.MIXED})
_WHOLE = frozenset({Role.SHIELD, Role.MIXED, Role.TOOL, Role.COMPOUND, Role.KEEP})
_LONG_NAMES = frozenset({Role.TOOL, Role.COMPOUND})


def _read(text: str, lexicon: Lexicon) -> list[_Item]:
    low = text.lower()
    if len(low) != len(text):  # İ and the like grow in lower case
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    items: list[_Item] = []
    at = 0
    for start, end, roles in _shields(low, lexicon):
        items += _pieces(text, low, at, start, lexicon)
        items.append(_Item(start, end, low[start:end], _Kind.NAME, roles))
        at = end
    items += _pieces(text, low, at, len(text), lexicon)
    return items


def _shields(low: str, lexicon: Lexicon) -> Iterator[tuple[int, int, frozenset[Role]]]:
    """Names that stay whole wherever they stand, longest first; never the inside of a Latin run."""
    at, trie = 0, lexicon.trie
    while at < len(low):
        best, best_roles = 0, _NO_ROLES
        if low[at] in trie and not (at and _inside_latin(low, at)):
            for end, roles in _matches(low, at, len(low), lexicon):
                if roles & _ANYWHERE or (roles & _LONG_NAMES and end - at > 2):
                    if end < len(low) and _inside_latin(low, end):
                        continue
                    best, best_roles = end, roles
        if best:
            yield at, best, best_roles
        at = best or at + 1


def _inside_latin(low: str, at: int) -> bool:
    before, after = low[at - 1], low[at]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _matches(low: str, start: int, stop: int, lexicon: Lexicon) -> Iterator[tuple[int, frozenset[Role]]]:
    node = lexicon.trie
    for at in range(start, stop):
        node = node.get(low[at])
        if node is None:
            return
        if "" in node:
            yield at + 1, node[""]


def _pieces(text: str, low: str, start: int, stop: int, lexicon: Lexicon) -> Iterator[_Item]:
    for match in _PIECE.finditer(text, start, stop):
        group, (a, b) = match.lastgroup, match.span()
        if group == "han":
            yield from _han(low, a, b, lexicon)
        elif group == "quoted":
            yield _Item(a, a + 1, low[a], _Kind.MARK)
            yield _Item(a + 1, b - 1, low[a + 1 : b - 1], _Kind.NAME, frozenset({Role.KEEP}))
            yield _Item(b - 1, b, low[b - 1], _Kind.MARK)
        else:
            kind = _KINDS[group or "mark"]
            roles = lexicon.words.get(low[a:b], _NO_ROLES) if kind is _Kind.LATIN else _NO_ROLES
            if Role.ENGLISH in roles and not (text[a:b].islower() or text[a:b].istitle()):
                roles = roles - {Role.ENGLISH}  # IT is no pronoun
            yield _Item(a, b, low[a:b], kind, roles)


def _han(low: str, start: int, stop: int, lexicon: Lexicon) -> Iterator[_Item]:
    """The words of a Han run; a listed phrase takes whole words only, the longest first."""
    ends, names = _word_ends(low, start, stop, lexicon)
    boundaries = set(ends)
    at, index = start, 0
    while at < stop:
        end, roles = ends[index], _NO_ROLES
        for match_end, match_roles in _matches(low, at, stop, lexicon):
            if match_end in boundaries:
                end, roles = match_end, match_roles
        inside = []
        while ends[index] < end:
            inside.append(ends[index])
            index += 1
        whole = bool(roles & _WHOLE) or (at in names and not roles)
        yield _Item(at, end, low[at:end], _Kind.NAME if whole else _Kind.WORD, roles, words=tuple(inside))
        at, index = end, index + 1


# A run longer than this is no question, and cutting it again at every frame would take quadratic time.
_LONGEST_FRAMED_RUN = 200


def _word_ends(low: str, start: int, stop: int, lexicon: Lexicon) -> tuple[list[int], set[int]]:
    """Where the words of a Han run end, and where those begin that frames on both sides prove to be one word.

    A container frames what it holds: behind 知识库里讲 and in front of 的笔记 the topic begins and ends, even
    where the dictionary would rather read 讲义 or 目的. Each stretch between frames is cut by itself.
    """
    run = low[start:stop]
    words = _cut(run, lexicon)
    if len(words) > 1 and len(run) <= _LONGEST_FRAMED_RUN:
        frames = _frames(run, words, lexicon)
    else:
        frames = set()
    ends, names, at = [], set(), 0
    for frame in sorted(frames | {len(run)}):
        stretch = run[at:frame]
        framed = bool(frames) or len(run) == len(low)
        if frame - at > 1 and _is_name(stretch, lexicon, framed=framed):
            names.add(start + at)
            ends.append(start + frame)
        else:
            end = start + at
            for word in _cut(stretch, lexicon) if frames else words:
                end += len(word)
                ends.append(end)
        at = frame
    return ends, names


def _cut(run: str, lexicon: Lexicon) -> list[str]:
    return [part for word in cut(run) for part in lexicon.splits.get(word, (word,))]


def _is_name(stretch: str, lexicon: Lexicon, *, framed: bool) -> bool:
    """Is the stretch one word of the dictionary (他国, 和声), though its best path may cut it?

    Unframed, a run beside Latin must have some content in it, lest 这是 pass for a name.
    """
    if stretch in lexicon.words or stretch in lexicon.splits or not is_word(stretch):
        return False
    return framed or not all(lexicon.roles(word) & _ALWAYS_SET for word in _cut(stretch, lexicon))


def _frames(run: str, words: list[str], lexicon: Lexicon) -> set[int]:
    """Where a container's frame ends or begins inside *run*: behind its verb, around its 的."""
    frames: set[int] = set()
    at = run.find("的")
    while at >= 0:
        if any(roles & {Role.PLACE, Role.ITEM} for _, roles in _matches(run, at + 1, len(run), lexicon)):
            frames |= {at, at + 1} - {0}
        at = run.find("的", at + 1)
    at, inside = 0, 0  # inside: 1 behind a container, 2 behind its locative
    for word in words:
        roles = lexicon.roles(word)
        if inside == 2 and lexicon.roles(run[at]) & {Role.VERB} and at + 1 < len(run):
            stretch = run[at + 1 : min((f for f in frames if f > at), default=len(run))]
            first = stretch if is_word(stretch) else (_cut(stretch, lexicon) or [""])[0]
            rest = run[at + len(word) : at + 1 + len(first)]
            # 讲|义举 where 讲义|举 would leave a lone character; 讲解 is a verb itself unless that helps.
            if len(word) == 1 or (len(first) > 1 and (Role.VERB not in roles or len(rest) == 1)):
                frames |= {at, at + 1}
            inside = 0
        elif roles & {Role.PLACE, Role.ITEM}:
            inside = 1
        elif inside and roles & {Role.LOCATIVE}:
            inside = 2
        elif not (inside and roles & (_ALWAYS_SET - {Role.PREPOSITION})):
            inside = 0
        at += len(word)
    return frames


# ---------------------------------------------------------------- deciding

_CONTAINER = frozenset({Role.PLACE, Role.ITEM, Role.TAIL})

# Roles that go wherever the dictionary sees the word, in the order in which they name the rule.
_ALWAYS = (
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
_ALWAYS_SET = frozenset(_ALWAYS)
_ASKING = _ALWAYS_SET - {Role.HOW} | {Role.TRAILING}

_CLAUSE_MARKS = frozenset(",，。.!！?？;；:：…~\n")
_QUOTES = frozenset("《》〈〉「」『』“”\"")
_ENCLITICS = frozenset("的地得了着过之")
_NEGATORS = frozenset("不没未别无")
_ARTICLES = frozenset({"a", "an", "the"})


class _Stripper:
    """Decides item by item, from the left; what it needs from the right it looks up once."""

    def __init__(self, items: list[_Item]) -> None:
        self.items = items
        self.shell = 0  # 2 behind a container that went, 1 behind 有 or 有没有, 0 behind content
        self.titled = False  # a quoted title stands earlier in the clause
        self._look_ahead()

    def _look_ahead(self) -> None:
        """From the right: does the clause end after this item, but for asking words? Does a container close it?"""
        count = len(self.items)
        self.closes = [True] * (count + 1)
        self.closed_by_container = [False] * (count + 1)
        closing = True
        container = False
        for i in range(count - 1, -1, -1):
            item = self.items[i]
            if item.kind is _Kind.MARK and item.text in _CLAUSE_MARKS:
                closing, container = True, False
            self.closes[i] = closing
            self.closed_by_container[i] = container
            if item.kind in (_Kind.SPACE, _Kind.MARK):
                continue
            if closing and item.roles & _CONTAINER and i and self.items[i - 1].text in ("的", "相关"):
                container = True
            if item.roles & {Role.HOW} or not item.roles & (_ASKING | {Role.SOFT}):
                closing = False

    def run(self) -> None:
        for i, item in enumerate(self.items):
            if item.kind is _Kind.SPACE:
                continue
            if item.kind is _Kind.MARK:
                if item.text in _CLAUSE_MARKS:
                    self.shell, self.titled = 0, False
                continue
            self.titled |= item.kind is _Kind.NAME and self._is_quoted(i)
            item.rule = self._rule(i, item)
            self._move_on(item)

    def _move_on(self, item: _Item) -> None:
        if item.rule in ("container", "locative") and (item.rule == "container" or self.shell):
            self.shell = 2
        elif item.rule and item.text.startswith("有"):
            self.shell = max(self.shell, 1)
        elif not item.rule:
            self.shell = 0

    # -- neighbours

    def _left(self, i: int) -> _Item | None:
        """The item before *i*, over blanks; None at the start of the clause."""
        i -= 1
        while i >= 0 and (self.items[i].kind is _Kind.SPACE or self.items[i].text in _QUOTES):
            i -= 1
        return self.items[i] if i >= 0 and self.items[i].kind is not _Kind.MARK else None

    def _right(self, i: int) -> _Item | None:
        i += 1
        while i < len(self.items) and (self.items[i].kind is _Kind.SPACE or self.items[i].text in _QUOTES):
            i += 1
        return self.items[i] if i < len(self.items) and self.items[i].kind is not _Kind.MARK else None

    def _is_quoted(self, i: int) -> bool:
        return i > 0 and self.items[i - 1].kind is _Kind.MARK and self.items[i - 1].text in "《〈"

    # -- rules

    def _rule(self, i: int, item: _Item) -> str:
        roles = item.roles
        if not roles or roles & _WHOLE:
            return ""
        if i and self.items[i - 1].text in _NEGATORS and self.items[i - 1].is_content and not roles & {Role.PARTICLE}:
            return ""  # 不对, 没用: the negation stays with its verb
        if roles & _CONTAINER and (rule := self._container(i, item)):
            return rule
        if roles & {Role.VERB, Role.NOUN_VERB} and (rule := self._verb(i, item)):
            return rule
        if Role.SUFFIX in roles and self._is_suffix(i):
            return "suffix"
        if Role.RELATION in roles and self._is_relation(i, item):
            return "relation"
        if Role.LOCATIVE in roles:
            left = self._left(i)
            if left is not None and (not left.rule or left.rule in ("container", "pronouns", "determiner")):
                return "locative"
        if Role.DETERMINER in roles and self._determines(i):
            return "determiner"
        if Role.ENGLISH in roles:
            return "english" if self._is_english(i, item) else ""
        if Role.TRAILING in roles and self.closes[i]:
            return "trailing"
        if Role.PARTICLE in roles and not (self._left(i) if item.text in _ENCLITICS else self.closes[i]):
            return ""  # 吗丁啉, 吧: an enclitic opens no clause, a mood particle stands at its end
        if roles & _ALWAYS_SET and not self._is_compound(i, item):
            return next(role.value for role in _ALWAYS if role in roles)
        return ""

    def _container(self, i: int, item: _Item) -> str:
        """A container goes only where it is one; see `docs` in the README for the table of places."""
        left, right = self._left(i), self._right(i)
        before = self.items[i - 1] if i else None
        glued_left = before is not None and before.is_content
        if before is not None and before.rule == "suffix":
            return "container"
        glued_right = i + 1 < len(self.items) and self._is_plain(self.items[i + 1])
        closes = self.closes[i]

        if glued_left and not self._is_determiner(i - 1):
            # 读书笔记, 公众号文章: part of a compound, unless the pieces are being counted (…笔记有几条),
            # or the compound is only 类笔记.
            counted = right is not None and right.text.startswith(("有几", "有多少", "几"))
            return "container" if closes and counted and self.items[i].roles & {Role.ITEM} else ""
        if item.roles <= {Role.TAIL, Role.SOFT}:
            marked = left is not None and (left.text == "的" or bool(left.roles & {Role.DETERMINER}))
            return "container" if marked and closes else ""
        if right is not None and right.roles & {Role.LOCATIVE} and not (left is not None and left.is_content):
            return "container"
        if left is not None and left.rule == "relation" and left.text != "关于":
            return "container"
        if self._is_determined(i):
            if Role.PLACE in item.roles or not glued_right or self._does(i + 1):
                return "container"
            return ""
        if left is not None and left.text == "的" and closes:
            return "container"
        if left is not None and not left.rule:
            return ""
        if left is not None and left.rule == "conjunctions" and closes and self.shell:
            return "container"
        opens = left is None or self.shell == 2 or left.rule in ("courtesy", "relation", "time", "yes_no", "which")
        if opens and right is not None:
            if right.text == "的" and self._names_something(i):
                return "container"
            if right.text.startswith(("有", "收录")) and (Role.PLACE in item.roles or self._does_soon(i)):
                return "container"
            if right.text in ("都", "也", "还") and Role.PLACE in item.roles and self._asks_later(i):
                return "container"
            if self._does(i + 1) and not glued_right:
                return "container"
        return ""

    def _is_determiner(self, i: int) -> bool:
        return bool(self.items[i].roles & {Role.DETERMINER})

    def _is_determined(self, i: int) -> bool:
        """Does a determiner stand before *i* (这个, 本, 有没有, 我们 的)?"""
        left = self._left(i)
        if left is None:
            return False
        asks = left.rule in ("which", "yes_no") and left.text.startswith(("有", "哪", "什么", "几", "多少"))
        return asks or bool(left.roles & {Role.DETERMINER})

    def _determines(self, i: int) -> bool:
        """本, 有, 几 …: they go only with the container they determine."""
        right = self._right(i)
        return right is not None and bool(right.roles & _CONTAINER) and not right.roles & _WHOLE

    @staticmethod
    def _is_plain(item: _Item) -> bool:
        """A word that is content by itself, so that a container glued to it is part of a compound."""
        if item.kind in (_Kind.SPACE, _Kind.MARK):
            return False
        return not item.roles or not item.roles - {Role.SOFT, Role.BROWSE} or bool(item.roles & _CONTAINER)

    def _does(self, i: int) -> bool:
        """Is item *i* what a container does: 讲 …, 总结了 …?"""
        if i >= len(self.items):
            return False
        item = self.items[i]
        if Role.NOUN_VERB in item.roles:
            return i + 1 < len(self.items) and self.items[i + 1].text in _ENCLITICS
        return Role.VERB in item.roles

    def _does_soon(self, i: int) -> bool:
        """有讲过, 有没有讲: the verb behind 有."""
        right = self._right(i)
        return right is not None and any(
            self._does(j) for j in range(i + 1, min(i + 4, len(self.items))) if self.items[j] is not right
        )

    def _asks_later(self, i: int) -> bool:
        """…都记了些什么: a which-question without how."""
        rest = self.items[i + 1 : i + 9]
        return any(x.roles & {Role.WHICH} for x in rest) and not any(x.roles & {Role.HOW} for x in rest)

    def _names_something(self, i: int) -> bool:
        """Is there a noun behind 的, other than a container that closes the clause?"""
        for j in range(i + 1, min(i + 6, len(self.items))):
            item = self.items[j]
            if item.kind is _Kind.MARK:
                return False
            if item.kind is not _Kind.SPACE and (
                not item.roles or (not item.roles & _ALWAYS_SET and not item.roles & _CONTAINER)
            ):
                return True
        return False

    def _verb(self, i: int, item: _Item) -> str:
        """The verb stuck behind a container (讲, 写 …), or in front of a clause that a container closes."""
        left, right = self._left(i), self._right(i)
        after = self.items[i + 1] if i + 1 < len(self.items) else None
        if right is None and not self.shell:
            return ""
        if Role.NOUN_VERB in item.roles and not self._does(i):
            # 库里介绍线程池的文章, but 库里整理方法的笔记
            behind = self.shell == 2 and left is not None and left.rule in ("container", "locative", "auxiliaries")
            if not (behind and right is not None and right.roles <= _WHOLE):
                return ""
        if self.shell == 2:
            return "verb"
        single = after is not None and len(after.text) == 1 and self._is_plain(after)
        if self.shell == 1 and not single:
            return "verb"
        opens = left is None or bool(left.rule)
        if opens and after is not None and after.text == "的":
            return "verb"
        if self.titled and left is not None and not left.rule and len(item.text) == 1:
            return "verb"
        if opens and self.closed_by_container[i] and not single and left is None:
            return "verb"
        return ""

    def _is_suffix(self, i: int) -> bool:
        """类, 方面: glued to a topic, in front of 的 or of a container that closes the clause."""
        if not i or not self.items[i - 1].is_content or i + 1 >= len(self.items):
            return False
        after = self.items[i + 1]
        return after.text == "的" or bool(after.roles & _CONTAINER and self.closes[i + 1])

    def _is_relation(self, i: int, item: _Item) -> bool:
        """关于 goes; 相关 and 有关 go in front of 的, a container, a soft word, or at the end."""
        if item.text not in ("相关", "有关"):
            return True
        right = self._right(i)
        if right is None or right.text == "的" or right.roles & (_CONTAINER | {Role.SOFT}):
            return True
        left = self._left(i)
        return item.text == "有关" and (left is None or bool(left.rule))

    def _is_english(self, i: int, item: _Item) -> bool:
        """An English function word goes in front of another Latin word; at, for 循环 and A股 stay."""
        left, right = self._left(i), self._right(i)
        latin_right = right is not None and right.kind is _Kind.LATIN
        if len(item.text) == 1:
            return latin_right and item.end - item.start == 1 and item.text != "i" or (
                item.text == "i" and latin_right and left is not None and left.kind is _Kind.LATIN
            )
        if latin_right:
            return True
        if left is None or left.kind is not _Kind.LATIN:
            return False
        return left.rule == "english" or item.text in _ARTICLES

    def _is_compound(self, i: int, item: _Item) -> bool:
        """去腥, 做歌: two single characters side by side are a word that the dictionary does not know."""
        if Role.LIGHT_VERB not in item.roles or len(item.text) > 1 or i + 1 >= len(self.items):
            return False
        after = self.items[i + 1]
        return len(after.text) == 1 and after.kind is _Kind.WORD and not after.roles


# ---------------------------------------------------------------- the rest

# Emptied of these alone, a question has nothing in it to search for.
_EMPTY_TALK = frozenset(
    {"pronouns", "particles", "courtesy", "yes_no", "which", "how", "smalltalk", "trailing", "auxiliaries", "prepositions"}
)


def _rest(question: Question, items: list[_Item]) -> Stripped:
    """The chunks of what still stands, or the next step of the ladder."""
    content = [item for item in items if item.is_content]
    if content and all(item.roles & {Role.BROWSE} for item in content) and any(item.rule for item in items):
        for item in content:
            item.rule = "browse"
        return Stripped(question, (), tuple(_removed(question, items)), Basis.BROWSE)
    if not content:
        basis = _emptied(question, items)
        chunks = tuple(_chunks(question, items)) if basis is Basis.UNSTRIPPED else ()
        return Stripped(question, chunks, tuple(_removed(question, items)), basis)
    chunks = tuple(_chunks(question, items))
    basis = Basis.TOOL_NAMES if all(chunk.is_name for chunk in chunks) else Basis.STRIPPED
    return Stripped(question, chunks, tuple(_removed(question, items)), basis)


def _emptied(question: Question, items: list[_Item]) -> Basis:
    """Down the ladder: what an emptied question stands on; UNSTRIPPED puts items back."""
    rules = {item.rule for item in items if item.rule}
    if not rules or "smalltalk" in rules:
        return Basis.NOTHING
    containers = [item for item in items if item.rule == "container" and item.roles & {Role.PLACE, Role.ITEM}]
    if "how" in rules and containers:
        for item in containers:  # 这个知识库怎么用: then it is the topic
            item.rule = ""
        return Basis.UNSTRIPPED
    asks = any(item.rule == "which" and item.text.startswith(("有", "都有")) for item in items)
    if containers or asks:
        return Basis.BROWSE
    if rules <= _EMPTY_TALK:
        return Basis.NOTHING
    for item in items:  # 关于我, if not you who: a title of function words comes back whole
        item.rule = ""
    return Basis.UNSTRIPPED


def _removed(question: Question, items: list[_Item]) -> Iterator[Removed]:
    for item in items:
        if item.rule:
            span = question.typed(item.start, item.end)
            yield Removed(span, question.raw[span.start : span.end], item.rule)


def _chunks(question: Question, items: list[_Item]) -> Iterator[Chunk]:
    run: list[_Item] = []
    for i, item in enumerate(items):
        if item.kind is _Kind.SPACE and run and _spans_blank(run[-1], items, i):
            continue
        if run and not (item.is_content and _joins(run[-1], item)):
            yield _chunk(question, run)
            run = []
        if item.is_content:
            run.append(item)
    if run:
        yield _chunk(question, run)


def _spans_blank(last: _Item, items: list[_Item], i: int) -> bool:
    """Latin words in a row are one name (Claude Code, niji 7, Seedance 2.5)."""
    after = items[i + 1] if i + 1 < len(items) else None
    return last.kind is _Kind.LATIN and after is not None and after.kind is _Kind.LATIN and after.is_content


def _joins(left: _Item, right: _Item) -> bool:
    """Neighbours of one script are one chunk; a number or a lone letter joins the Han beside it."""
    latin = (left.kind is _Kind.LATIN, right.kind is _Kind.LATIN)
    if all(latin):
        return True
    if left.end != right.start:
        return False
    if any(latin):
        word = left if latin[0] else right
        return word.text.isdigit() or (len(word.text) == 1 and latin[0])
    return True


def _chunk(question: Question, run: list[_Item]) -> Chunk:
    start, end = run[0].start, run[-1].end
    span = question.typed(start, end)
    words: list[Word] = []
    for item in run:
        soft = Role.SOFT in item.roles
        at = item.start
        for stop in (item.end,) if soft else (*item.words, item.end):
            words.append(Word(at - start, stop - start, soft))
            at = stop
    is_name = all(item.kind is _Kind.LATIN or item.roles & {Role.TOOL, Role.MIXED} for item in run)
    text = question.raw[span.start : span.end]
    return Chunk(span, text, question.text[start:end], is_name, tuple(words))
