"""Container and colloquial words out of a question, with the locatives and verbs stuck to them.

The story in four turns: `_read` cuts the question into items (names that stay whole, words of the
dictionary's best path with their roles, Latin atoms, marks); `_Clauses` looks ahead once, from the right;
`_Stripper` decides item by item, from the left, which go and by which rule; `_rest` joins what is left into
chunks, or climbs down the ladder when nothing is.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

from querykit.lexicon import Lexicon, Role
from querykit.reading import ALWAYS, ALWAYS_ROLES, CONTAINER, GRAMMAR, WHOLE, Item, bits, read
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


class Stripped(NamedTuple):
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
    items = read(question, lexicon)
    _Stripper(items).run()
    return _rest(question, items)


def unstripped(question: Question, lexicon: Lexicon) -> Stripped:
    """Return *question* with every word left in: what the last resort searches.

    >>> from querykit.text import normalize
    >>> [c.text for c in unstripped(normalize("库里有没有讲 Suno 的笔记"), zh).chunks]
    ['库里有没有讲', 'Suno', '的笔记']
    """
    return Stripped(question, _chunks(question, read(question, lexicon)), (), Basis.UNSTRIPPED)


# ---------------------------------------------------------------- deciding

_PLACE, _ITEM = Role.PLACE.bit, Role.ITEM.bit
_TAIL_ONLY = bits(Role.TAIL, Role.SOFT)
_DETERMINER, _LOCATIVE, _RELATION, _TIE = (
    Role.DETERMINER.bit,
    Role.LOCATIVE.bit,
    Role.RELATION.bit,
    Role.TIE.bit,
)
_VERB, _NOUN_VERB, _SUFFIX = Role.VERB.bit, Role.NOUN_VERB.bit, Role.SUFFIX.bit
_HOW, _WHICH, _SOFT, _BROWSE = Role.HOW.bit, Role.WHICH.bit, Role.SOFT.bit, Role.BROWSE.bit
_ENGLISH, _TRAILING, _PARTICLE = Role.ENGLISH.bit, Role.TRAILING.bit, Role.PARTICLE.bit
_LIGHT_VERB, _GENITIVE, _ENCLITIC = Role.LIGHT_VERB.bit, Role.GENITIVE.bit, Role.ENCLITIC.bit
_NEGATOR, _HAVING, _COUNTING = Role.NEGATOR.bit, Role.HAVING.bit, Role.COUNTING.bit
_PREPOSITION = Role.PREPOSITION.bit
_CONJUNCTION = Role.CONJUNCTION.bit
_CHOOSING, _ALSO, _ARTICLE = Role.CHOOSING.bit, Role.ALSO.bit, Role.ARTICLE.bit
_NAME = bits(Role.TOOL, Role.MIXED)
_ASKING = (ALWAYS & ~_HOW) | _TRAILING | _SOFT
_PLAIN = _SOFT | _BROWSE | GRAMMAR
_SILENT = WHOLE | GRAMMAR

_CLAUSE_MARKS = frozenset(",，。.!！?？;；:：…~\n")
_QUOTES = frozenset('《》〈〉「」『』“”"')
# Roles whose words go, or not, by what stands around them; all others go wherever they are.
_READ_IN_PLACE = (
    CONTAINER
    | bits(Role.VERB, Role.SUFFIX, Role.RELATION, Role.TIE, Role.LOCATIVE, Role.DETERMINER, Role.ENGLISH)
    | bits(Role.TRAILING, Role.PARTICLE, Role.PREPOSITION, Role.LIGHT_VERB)
)


@cache
def _rule_of(roles: int) -> str:
    """The name of the rule that takes a word of these *roles* wherever it stands, if any does."""
    return next((role.value for role in ALWAYS_ROLES if roles & role.bit), "")


# Where the clause begins: looked at like an item, it has no roles and no rule.
_EDGE = Item(0, 0, "", "mark")


class _Stripper:
    """Decides item by item, from the left; what it needs from the right it looks up once."""

    __slots__ = ("closed_by_container", "closes", "has_content", "items", "shell", "titled")

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.shell = 0  # 2 behind a container that went, 1 behind 有 or 有没有, 0 behind content
        self.titled = False  # a quoted title stands earlier in the clause
        self.has_content = False  # something in the clause has been kept
        self._look_ahead()

    def _look_ahead(self) -> None:
        """From the right: does the clause end after this item, but for asking words? Does a container close it?"""
        items = self.items
        self.closes = [True] * (len(items) + 1)
        self.closed_by_container = [False] * (len(items) + 1)
        closing, container = True, False
        for i in range(len(items) - 1, -1, -1):
            item = items[i]
            if item.is_gap and item.text in _CLAUSE_MARKS:
                closing, container = True, False
            self.closes[i] = closing
            self.closed_by_container[i] = container
            if item.is_gap:
                continue
            if closing and item.roles & CONTAINER and i and items[i - 1].roles & (_GENITIVE | _TIE):
                container = True
            joined = (
                item.roles & CONTAINER
                and i
                and (items[i - 1].roles & _CONJUNCTION or items[i - 1].text == "、")
            )
            if item.roles & _HOW or not (item.roles & _ASKING or joined):
                closing = False

    def run(self) -> None:
        for i, item in enumerate(self.items):
            roles = item.roles
            if item.is_gap:
                if item.text in _CLAUSE_MARKS:
                    self.shell, self.titled, self.has_content = 0, False, False
                continue
            if roles & ~_SILENT and not roles & WHOLE:
                item.rule = rule = self._rule(i, item)
            else:
                rule = ""
                self.titled |= item.kind == "name" and i > 0 and self.items[i - 1].text in "《〈"
            if not rule:
                self.shell, self.has_content = 0, True
            elif rule == "container" or (rule == "locative" and self.shell):
                self.shell = 2
            elif roles & _HAVING and not self.shell:
                self.shell = 1

    # -- neighbours, over blanks and quotes; the edge where the clause begins or ends

    def _left(self, i: int) -> Item:
        if i and not self.items[i - 1].is_gap:
            return self.items[i - 1]
        for j in range(i - 1, -1, -1):
            item = self.items[j]
            if not item.is_gap:
                return item
            if item.kind == "mark" and item.text not in _QUOTES:
                break
        return _EDGE

    def _right(self, i: int) -> Item:
        if i + 1 < len(self.items) and not self.items[i + 1].is_gap:
            return self.items[i + 1]
        for j in range(i + 1, len(self.items)):
            item = self.items[j]
            if not item.is_gap:
                return item
            if item.kind == "mark" and item.text not in _QUOTES:
                break
        return _EDGE

    def _next(self, i: int) -> Item:
        """The item right behind *i*, blank or not."""
        return self.items[i + 1] if i + 1 < len(self.items) else _EDGE

    # -- rules

    def _rule(self, i: int, item: Item) -> str:
        roles = item.roles
        if (
            i
            and not roles & _PARTICLE
            and self.items[i - 1].roles & _NEGATOR
            and self.items[i - 1].is_content
        ):
            return ""  # 不对, 没用: the negation stays with its verb
        if not roles & _READ_IN_PLACE:
            return _rule_of(roles)
        if roles & CONTAINER and self._is_container(i, item):
            return "container"
        if roles & _VERB and self._is_container_verb(i, item):
            return "verb"
        if roles & _SUFFIX and self._is_suffix(i):
            return "suffix"
        if roles & _RELATION or (roles & _TIE and self._ties(i)):
            return "relation"
        if roles & _LOCATIVE:
            left = self._left(i)
            if left is not _EDGE and (not left.rule or left.rule in ("container", "pronouns", "determiner")):
                return "locative"
        if roles & _DETERMINER and self._determines(i):
            return "determiner"
        if roles & _ENGLISH:
            return "english" if self._is_english(i, item) else ""
        if roles & _TRAILING and self.closes[i]:
            return "trailing"
        if roles & _PARTICLE and not (self._left(i) is not _EDGE if roles & _ENCLITIC else self.closes[i]):
            return ""  # 吗丁啉, 吧: an enclitic opens no clause, a mood particle stands at its end
        if roles & _PREPOSITION and not roles & (ALWAYS & ~_PREPOSITION) and self._right(i) is _EDGE:
            return ""  # 怎么按: a preposition has something behind it
        if roles & ALWAYS and not (roles & _LIGHT_VERB and self._is_compound(i, item)):
            return _rule_of(roles)
        return ""

    def _is_container(self, i: int, item: Item) -> bool:
        """A container goes only where it is one: one turn a place, the compounds first."""
        roles, left, right = item.roles, self._left(i), self._right(i)
        before = self.items[i - 1] if i else _EDGE
        closes = self.closes[i]
        if before.rule == "suffix":  # 心理学偏误类笔记
            return True
        if before.is_content and not before.roles & _DETERMINER:
            # 读书笔记, 公众号文章: part of a compound, unless the pieces are being counted (…笔记有几条).
            return bool(closes and right.roles & _COUNTING and roles & _ITEM)
        if not roles & ~_TAIL_ONLY:  # …的东西, 这些问题
            return bool(closes and left.roles & (_GENITIVE | _DETERMINER))
        if right.roles & _LOCATIVE and not left.is_content:  # 知识库里
            return True
        if left.rule == "relation" and left.roles & _TIE:  # 相关文档
            return True
        glued = self._is_plain(self._next(i))
        chosen = left.roles & _CHOOSING and (self.shell or not self.has_content)  # but 开户要什么材料
        if left.roles & (_DETERMINER | _HAVING) or (left.rule and chosen):
            # 这个知识库, 有没有笔记; but 有没有笔记软件
            lone = glued and len(item.text) == 1 and not left.roles & _DETERMINER  # 有没有站姿
            return not lone and bool(roles & _PLACE or not glued or self._does(i + 1))
        if left.roles & _GENITIVE and closes:  # …的笔记有哪些
            return True
        if left is not _EDGE and not left.rule:
            return False
        if left.rule == "conjunctions" and closes and self.shell:  # …的笔记和文章
            return True
        if (
            left is _EDGE
            or self.shell == 2
            or left.rule in ("courtesy", "relation", "time", "yes_no", "which")
        ):
            return self._opens(i, item, right, glued)
        return False

    def _opens(self, i: int, item: Item, right: Item, glued: bool) -> bool:
        """Is a container that opens the clause a frame (笔记的整理方法, 知识库有…), not the topic?"""
        if right.roles & _GENITIVE:
            return self._names_something(i)
        if right.roles & _HAVING:
            return bool(item.roles & _PLACE) or any(self._does(j) for j in range(i + 2, i + 4))
        if right.roles & _ALSO:
            return bool(item.roles & _PLACE) and self._asks_later(i)
        return self._does(i + 1) and not glued

    def _determines(self, i: int) -> bool:
        """本, 有, 几 …: they go only with the container they determine."""
        right = self._right(i).roles
        return bool(right & CONTAINER) and not right & WHOLE

    @staticmethod
    def _is_plain(item: Item) -> bool:
        """A word that is content by itself, so that a container glued to it is part of a compound."""
        return not item.is_gap and (not item.roles & ~_PLAIN or bool(item.roles & CONTAINER))

    def _does(self, i: int) -> bool:
        """Is item *i* what a container does: 讲 …, 总结了 …?"""
        if i >= len(self.items):
            return False
        roles = self.items[i].roles
        if roles & _NOUN_VERB:
            return bool(self._next(i).roles & _ENCLITIC)
        return bool(roles & _VERB)

    def _asks_later(self, i: int) -> bool:
        """…都记了些什么: a which-question without how."""
        asked = 0
        for item in self.items[i + 1 : i + 9]:
            asked |= item.roles
        return bool(asked & _WHICH) and not asked & _HOW

    def _names_something(self, i: int) -> bool:
        """Is there a noun behind 的, other than a container that closes the clause?"""
        for item in self.items[i + 1 : i + 6]:
            if item.kind == "mark":
                return False
            if not item.is_gap and not item.roles & (ALWAYS | CONTAINER):
                return True
        return False

    def _is_container_verb(self, i: int, item: Item) -> bool:
        """The verb stuck behind a container (讲, 写 …), or in front of a clause that a container closes."""
        left, right, after = self._left(i), self._right(i), self._next(i)
        if right is _EDGE and not self.shell:
            return False
        if item.roles & _NOUN_VERB and not self._does(i):
            # 库里介绍线程池的文章, but 库里整理方法的笔记
            behind = self.shell == 2 and left.rule in ("container", "locative", "auxiliaries")
            if not behind or right is _EDGE or right.roles & ~_SILENT:
                return False
        if self.shell == 2:
            return True
        single = self._is_lone(i + 1)  # 写歌, 讲课: verb and object in one word
        if self.shell == 1:
            return not single
        if left is not _EDGE and not left.rule:  # 《…》第三册讲火山吗
            return self.titled and len(item.text) == 1
        if after.roles & _GENITIVE:  # 上次记的…
            return True
        return left is _EDGE and self.closed_by_container[i] and not single  # 讲 Few 这款应用的笔记

    def _is_lone(self, i: int) -> bool:
        """Is item *i* a single character of content with no more of it behind?"""
        item = self.items[i] if i < len(self.items) else _EDGE
        return len(item.text) == 1 and self._is_plain(item) and not self._is_plain(self._next(i))

    def _is_suffix(self, i: int) -> bool:
        """类, 方面: glued to a topic, in front of 的 or of a container that closes the clause."""
        after = self._next(i)
        if not i or not self.items[i - 1].is_content:
            return False
        return bool(after.roles & _GENITIVE or (after.roles & CONTAINER and self.closes[i + 1]))

    def _ties(self, i: int) -> bool:
        """相关 and 有关 go in front of 的, a container, a soft word, at the end; 有关 opens a topic as well."""
        right = self._right(i)
        if right is _EDGE or right.roles & (_GENITIVE | CONTAINER | _SOFT):
            return True
        left = self._left(i)
        return left is _EDGE or (
            bool(left.rule) and bool(left.roles & (_HAVING | CONTAINER | _LOCATIVE | ALWAYS))
        )

    def _is_english(self, i: int, item: Item) -> bool:
        """An English function word goes in front of another Latin word; at, for 循环 and A股 stay."""
        left, right = self._left(i), self._right(i)
        before, behind = left.kind == "latin", right.kind == "latin"
        if len(item.text) == 1:
            return behind and (bool(item.roles & _ARTICLE) or before)
        return behind or (before and (left.rule == "english" or bool(item.roles & _ARTICLE)))

    def _is_compound(self, i: int, item: Item) -> bool:
        """去腥, 做歌: two single characters side by side are a word that the dictionary does not know."""
        after = self._next(i)
        return len(item.text) == 1 and len(after.text) == 1 and after.kind == "word" and not after.roles


# ---------------------------------------------------------------- the rest

# Emptied of these alone, a question has nothing in it to search for.
_EMPTY_TALK = frozenset(
    {
        "pronouns",
        "particles",
        "courtesy",
        "yes_no",
        "which",
        "how",
        "smalltalk",
        "trailing",
        "auxiliaries",
        "prepositions",
    }
)


def _rest(question: Question, items: list[Item]) -> Stripped:
    """The chunks of what still stands, or the next step of the ladder."""
    content = [item for item in items if not item.rule and not item.is_gap]
    basis = Basis.STRIPPED
    if not content:
        basis = _emptied(items)
    elif content[0].roles & _BROWSE and len(content) < len(items) and _only_browses(content, items):
        for item in content:
            item.rule = "browse"
        basis = Basis.BROWSE
    chunks = () if basis in (Basis.BROWSE, Basis.NOTHING) else _chunks(question, items)
    if basis is Basis.STRIPPED and all([chunk.is_name for chunk in chunks]):
        basis = Basis.TOOL_NAMES
    return Stripped(question, chunks, _removed(question, items), basis)


def _only_browses(content: list[Item], items: list[Item]) -> bool:
    return all(item.roles & _BROWSE for item in content) and any(item.rule for item in items)


def _emptied(items: list[Item]) -> Basis:
    """Down the ladder: what an emptied question stands on; UNSTRIPPED puts items back."""
    rules = {item.rule for item in items if item.rule}
    if not rules or "smalltalk" in rules:
        return Basis.NOTHING
    containers = [item for item in items if item.rule == "container" and item.roles & (_PLACE | _ITEM)]
    if "how" in rules and containers:
        for item in containers:  # 这个知识库怎么用: then it is the topic
            item.rule = ""
        return Basis.UNSTRIPPED
    asks = any(item.rule == "which" and item.roles & _HAVING for item in items)
    if containers or asks:
        return Basis.BROWSE
    if rules <= _EMPTY_TALK:
        return Basis.NOTHING
    for item in items:  # 关于我, if not you who: a title of function words comes back whole
        item.rule = ""
    return Basis.UNSTRIPPED


def _removed(question: Question, items: list[Item]) -> tuple[Removed, ...]:
    raw = question.raw
    if not question.offsets:
        return tuple([Removed(Span(i.start, i.end), raw[i.start : i.end], i.rule) for i in items if i.rule])
    spans = [(question.typed(i.start, i.end), i.rule) for i in items if i.rule]
    return tuple([Removed(span, raw[span.start : span.end], rule) for span, rule in spans])


def _chunks(question: Question, items: list[Item]) -> tuple[Chunk, ...]:
    chunks: list[Chunk] = []
    run: list[Item] = []
    for i, item in enumerate(items):
        if item.rule or item.is_gap:
            if run and not (item.kind == "space" and _spans_blank(run[-1], items, i)):
                chunks.append(_chunk(question, run))
                run = []
            continue
        if run and not _joins(run[-1], item):
            chunks.append(_chunk(question, run))
            run = []
        run.append(item)
    if run:
        chunks.append(_chunk(question, run))
    return tuple(chunks)


def _spans_blank(last: Item, items: list[Item], i: int) -> bool:
    """Latin words in a row are one name (Claude Code, niji 7, Seedance 2.5)."""
    after = items[i + 1] if i + 1 < len(items) else _EDGE
    return last.kind == "latin" and after.kind == "latin" and not after.rule


def _joins(left: Item, right: Item) -> bool:
    """Neighbours of one script are one chunk; a number or a lone letter joins the Han beside it."""
    before, behind = left.kind == "latin", right.kind == "latin"
    if before and behind:
        return True
    if left.end != right.start:
        return False
    if before or behind:
        word = left if before else right
        return word.text.isdigit() or (before and len(word.text) == 1)
    return True


def _chunk(question: Question, run: list[Item]) -> Chunk:
    start, end = run[0].start, run[-1].end
    span = Span(start, end) if not question.offsets else question.typed(start, end)
    words: list[Word] = []
    is_name = True
    for item in run:
        soft = item.roles & _SOFT != 0
        is_name = is_name and (item.kind == "latin" or item.roles & _NAME != 0)
        at = item.start
        if item.words and not soft:
            for stop in item.words:
                words.append(Word(at - start, stop - start))
                at = stop
        words.append(Word(at - start, item.end - start, soft))
    return Chunk(span, question.raw[span.start : span.end], question.text[start:end], is_name, tuple(words))
