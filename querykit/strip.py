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
from querykit.segment import tag
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
_YES_NO = Role.YES_NO.bit
_HOW, _WHICH, _SOFT, _BROWSE = Role.HOW.bit, Role.WHICH.bit, Role.SOFT.bit, Role.BROWSE.bit
_ENGLISH, _TRAILING, _PARTICLE = Role.ENGLISH.bit, Role.TRAILING.bit, Role.PARTICLE.bit
_LIGHT_VERB, _GENITIVE, _ENCLITIC = Role.LIGHT_VERB.bit, Role.GENITIVE.bit, Role.ENCLITIC.bit
_NEGATOR, _HAVING, _COUNTING = Role.NEGATOR.bit, Role.HAVING.bit, Role.COUNTING.bit
_PREPOSITION = Role.PREPOSITION.bit
_CONJUNCTION = Role.CONJUNCTION.bit
_CHOOSING, _ALSO, _ARTICLE = Role.CHOOSING.bit, Role.ALSO.bit, Role.ARTICLE.bit
_LOOKING, _OPENING, _COURTESY, _PRONOUN = (
    Role.LOOKING.bit,
    Role.OPENING.bit,
    Role.COURTESY.bit,
    Role.PRONOUN.bit,
)
_PIECES, _HEAD, _ALTERNATIVE, _REMOVING = (
    Role.PIECE.bit,
    Role.HEAD.bit,
    Role.ALTERNATIVE.bit,
    Role.REMOVING.bit,
)
_NAME = bits(Role.TOOL, Role.MIXED)
_ASKING = (ALWAYS & ~_HOW) | _TRAILING | _SOFT
_PREFIX, _BONDING, _NOUN_PREFIX, _COVERB, _SHELF, _KEYWORD = (
    Role.PREFIX.bit,
    Role.BONDING.bit,
    Role.NOUN_PREFIX.bit,
    Role.COVERB.bit,
    Role.SHELF.bit,
    Role.KEYWORD.bit,
)
_PLAIN = _SOFT | _BROWSE | _SHELF | GRAMMAR
_SILENT = WHOLE | GRAMMAR

_CLAUSE_MARKS = frozenset(",，。.!！?？;；:：…~\n")
_QUOTES = frozenset("《》〈〉「」『』“”‘’【】〔〕()[]{}'" + '"')
# Roles whose words go, or not, by what stands around them; all others go wherever they are.
_READ_IN_PLACE = (
    CONTAINER
    | bits(Role.VERB, Role.SUFFIX, Role.RELATION, Role.TIE, Role.LOCATIVE, Role.DETERMINER, Role.ENGLISH)
    | bits(Role.TRAILING, Role.PARTICLE, Role.PREPOSITION, Role.LIGHT_VERB, Role.CONJUNCTION)
    | bits(
        Role.LOOKING,
        Role.OPENING,
        Role.SHELF,
        Role.PREFIX,
        Role.BONDING,
        Role.NOUN_PREFIX,
        Role.COVERB,
        Role.NEGATOR,
    )
)


@cache
def _rule_of(roles: int) -> str:
    """The name of the rule that takes a word of these *roles* wherever it stands, if any does."""
    return next((role.value for role in ALWAYS_ROLES if roles & role.bit), "")


# Where the clause begins: looked at like an item, it has no roles and no rule.
_EDGE = Item(0, 0, "", "mark")


class _Stripper:
    """Decides item by item, from the left; what it needs from the right it looks up once."""

    __slots__ = (
        "asked",
        "chooses",
        "closed_by_container",
        "closes",
        "framed",
        "has_content",
        "items",
        "shell",
        "titled",
    )

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.shell = 0  # 2 behind a container that went, 1 behind 有 or 有没有, 0 behind content
        self.titled = False  # a quoted title stands earlier in the clause
        self.has_content = False  # something in the clause has been kept
        self.asked = 0  # the question words earlier in the clause
        self.framed = False  # the clause has named the base, or asked whether it has something
        self.chooses = False  # the question offers a choice: … 还是 …
        self._look_ahead()

    def _look_ahead(self) -> None:
        """From the right: does the clause end after this item, but for asking words? Does a container close it?"""
        items = self.items
        self.closes = [True] * (len(items) + 1)
        self.closed_by_container = [False] * (len(items) + 1)
        closing, container, bare = True, False, True
        for i in range(len(items) - 1, -1, -1):
            item = items[i]
            if item.is_gap and item.text in _CLAUSE_MARKS:
                closing, container, bare = True, False, True
            self.closes[i] = closing
            self.closed_by_container[i] = container
            if item.is_gap:
                continue
            if closing and item.roles & CONTAINER and self._pieces_of(i):
                container = True
            bare = bare and closing and not item.roles & _SOFT
            if bare and item.roles & _GENITIVE:  # 讲红酒的有没有
                container = True
            joined = (
                item.roles & CONTAINER
                and i
                and (items[i - 1].roles & _CONJUNCTION or items[i - 1].text == "、")
            )
            if item.roles & _ALTERNATIVE:
                closing = True
                self.chooses = True
            elif item.roles & _HOW or not (item.roles & _ASKING or joined):
                closing = False

    def _pieces_of(self, i: int) -> bool:
        """Does 的 or 相关, with or without 那几篇, stand in front of container *i*?"""
        before = self.items[i - 1] if i else _EDGE
        if i > 1 and before.roles & _DETERMINER:
            before = self.items[i - 2]
        return bool(before.roles & (_GENITIVE | _TIE))

    def run(self) -> None:
        for i, item in enumerate(self.items):
            roles = item.roles
            if item.is_gap:
                if item.text in _CLAUSE_MARKS:
                    self.shell, self.titled, self.has_content = 0, False, False
                    self.asked, self.framed = 0, False
                continue
            if roles & ~_SILENT and not roles & WHOLE:
                item.rule = rule = self._rule(i, item)
            else:
                rule = ""
                self.titled |= item.kind == "name" and i > 0 and self.items[i - 1].text in "《〈"
            if not rule:
                self.shell = 0
                self.has_content |= not roles & _SOFT
                continue
            self.asked |= roles & (_WHICH | _HOW)
            self.framed |= rule == "container" or roles & _HAVING != 0
            if rule == "container" or (rule == "locative" and self.shell):
                self.shell = 2
            elif roles & (_HAVING | _PIECES) and not self.shell:
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
        if roles & _SHELF and self._is_shelf(i):
            return "container"
        if roles & _VERB and self._is_container_verb(i, item):
            return "verb"
        if roles & _LOOKING and self._looks(i, item):
            return "courtesy"
        if roles & _OPENING and self._opens_talk(i):
            return "courtesy"
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
        if roles & _TRAILING and self.closes[i] and self._trails(i, item):
            return "trailing"
        if roles & _PARTICLE and not self._leans(i, item):
            return ""
        if roles & _PREPOSITION and not roles & (ALWAYS & ~_PREPOSITION) and self._right(i) is _EDGE:
            return ""  # 怎么按: a preposition has something behind it
        if roles & _CONJUNCTION and self._begins_a_name(i, item):
            return ""
        if roles & _NEGATOR and self._negates(i, item):
            return ""
        if roles & (_LIGHT_VERB | _BONDING) and self._is_compound(i, item):
            return ""
        if roles & (_PREFIX | _NOUN_PREFIX | _COVERB) and self._begins_a_word(i, item):
            return ""
        return _rule_of(roles)

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
        if left.is_content and left.kind == "latin" and closes and roles & _ITEM:  # 有没有 Redis 笔记
            return self.framed or bool(right.roles & _HAVING)
        if not roles & ~_TAIL_ONLY:  # …的东西, 这些问题
            return bool(closes and left.roles & (_GENITIVE | _DETERMINER))
        if right.roles & _LOCATIVE and (not left.is_content or (roles & _PLACE and left.kind == "latin")):
            return True  # 知识库里, Obsidian 库里
        if left.rule == "relation" and left.roles & _TIE:  # 相关文档
            return True
        glued = self._is_plain(self._next(i))
        chosen = left.roles & _CHOOSING and (self.shell or not self.has_content)  # but 开户要什么材料
        if left.roles & (_DETERMINER | _HAVING) or (left.rule and chosen):
            # 这个知识库, 有没有笔记; but 有没有笔记软件
            return bool((roles & _PLACE and left.roles & _DETERMINER) or not glued or self._does(i + 1))
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

    def _is_shelf(self, i: int) -> bool:
        """备忘录里有没有 …, 这份手册提到 …: asked what it holds; but 备忘录里的照片怎么导出."""
        right = self._right(i)
        if self.has_content:
            return False
        if right.roles & _PIECES or (self._left(i).roles & _DETERMINER and right.roles & (_HAVING | _VERB)):
            return True
        if not right.roles & _LOCATIVE:
            return False
        behind = [item for item in self.items[i + 1 : i + 8] if item.kind != "space"][1:]
        first = behind[0].roles if behind else 0
        if first & _HAVING and not first & _WHICH:  # 收藏夹里有重复的怎么清理
            return not any(item.roles & _HOW for item in behind)
        if first & _WHICH and not first & _HAVING:  # 产品文档里哪儿写了 …
            return len(behind) > 1 and bool(behind[1].roles & _VERB)
        return bool(first & (_HAVING | _RELATION | _VERB | _LOOKING))

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
        """本, 一篇 …: they go only with the container they determine, or in front of what it does (一篇讲 …)."""
        right = self._right(i).roles
        left = self._left(i)
        if self.closes[i] and left.roles & _GENITIVE:  # …的那一页
            return True
        if self.closed_by_container[i] and left.rule == "courtesy" and left.roles & _LOOKING:
            return True  # 看过一篇 … 的文章
        if right & WHOLE:
            return False
        return bool(right & CONTAINER) or bool(right & _VERB and self.closed_by_container[i])

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
        if self.items[i - 1].rule == "verb" and len(item.text) == 1 and i:  # 讲|写锁
            return False
        closed = self.closed_by_container[i]
        if item.roles & _NOUN_VERB and not self._does(i):
            if right is _EDGE:  # 对存款保险有什么介绍
                return bool(left.roles & _HAVING and left.roles & _WHICH)
            # 库里介绍线程池的文章, 介绍油画技法的文章; but 库里整理方法的笔记, 总结模板
            behind = self.shell == 2 and left.rule in (
                "container",
                "locative",
                "auxiliaries",
                "which",
                "yes_no",
            )
            if not (behind or closed) or right.roles & (~_SILENT | _HEAD) or self._is_lone(i + 1):
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
        if single or not closed:
            return False
        if left.roles & _GENITIVE or left.rule == "determiner":  # 最近更新的讲基金的笔记, 语雀上那篇讲缓存的
            return True
        # 讲 Few 这款应用的笔记, 所有讲黑胶的笔记; but 怎么写论文, 会写代码的模型
        return not self.has_content and left.rule not in _VERB_COMPANY

    def _looks(self, i: int, item: Item) -> bool:
        """查找, 搜索 …: asked of a box, nothing kept before it in the clause, the base or its pieces at hand."""
        left, right = self._left(i), self._right(i)
        if self.has_content or right is _EDGE:
            return False
        if item.roles & _VERB:  # 可以讲讲贝叶斯公式吗
            return left.rule in ("auxiliaries", "yes_no", "courtesy") and not self._is_lone(i + 1)
        if right.roles & (_RELATION | _DETERMINER) or (
            right.roles & _PLACE and self._right_of(i + 1).roles & _LOCATIVE
        ):
            return True
        found = len(item.text) > 1 and not item.roles & _NOUN_VERB
        if self.shell == 2 and (found or not self.asked):  # 在知识库里搜索 X; but 哪个网站可以查学历
            return not self._is_lone(i + 1)
        if found and left.rule == "auxiliaries" and self.asked & _WHICH:  # 哪里能看到 X
            return True
        if not self.closed_by_container[i]:
            return False
        if left is _EDGE:  # 查找 X 的文档; but 搜索优化的文章, 找工作的文章
            return found
        return left.rule in ("auxiliaries", "adverbs", "courtesy", "pronouns", "which", "locative")

    def _right_of(self, i: int) -> Item:
        return self._right(i) if i < len(self.items) else _EDGE

    def _opens_talk(self, i: int) -> bool:
        """老师, 家人们 …: in front of a mark or of a greeting, before anything else is said."""
        if self.has_content:
            return False
        for item in self.items[i + 1 :]:
            if item.kind == "space":
                continue
            return item.is_gap or bool(item.roles & (_COURTESY | _OPENING))
        return False

    def _trails(self, i: int, item: Item) -> bool:
        """What trails goes at the end; 不 and 没有 as its very last words, 好 only behind a question or a choice."""
        if item.roles & _NEGATOR:
            return self._right(i) is _EDGE and self.has_content
        return not item.roles & _SOFT or self.asked != 0 or self.chooses

    def _leans(self, i: int, item: Item) -> bool:
        """吗丁啉, 吧: an enclitic opens no clause, a mood particle stands at its end, or behind the asking."""
        left = self._left(i)
        if item.roles & _ENCLITIC:
            # LoRA 过拟合, 有没有过曝的照片: there is no verb that it could lean on
            before = self.items[i - 1] if i else _EDGE
            alone = before.is_gap or before.rule in _NO_VERB or bool(before.roles & _HAVING and before.rule)
            after = self._next(i)
            if alone and not item.roles & _GENITIVE and after.kind == "word" and not after.roles & ~GRAMMAR:
                return False
            return left is not _EDGE
        return self.closes[i] or (left.rule in ("yes_no", "how", "which") and not left.roles & _HAVING)

    def _begins_a_name(self, i: int, item: Item) -> bool:
        """和牛, 与门和或门: a conjunction with nothing before it to join; but 和 X 有关的, 和 X 相比."""
        left, after = self._left(i), self._next(i)
        if item.roles & _PREPOSITION or after.kind != "word" or len(after.text) > 1 or len(item.text) > 1:
            return False
        if left is not _EDGE and not left.roles & _CONJUNCTION:
            return False
        for later in self.items[i + 1 : i + 9]:
            if later.kind == "mark":
                break
            if later.roles & (_TIE | _SOFT | _PREPOSITION | _YES_NO):
                return False
        return True

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
            bool(left.rule) and bool(left.roles & (_HAVING | CONTAINER | _LOCATIVE | ALWAYS | _LOOKING))
        )

    def _is_english(self, i: int, item: Item) -> bool:
        """An English function word goes in front of another Latin word; at, for 循环 and A股 stay."""
        left, right = self._left(i), self._right(i)
        if i and self.items[i - 1].text == "-":  # --no
            return False
        if item.roles & _KEYWORD and not (left.is_content and left.kind != "latin"):  # 地图生成 of Terra
            around = self.items[max(i - 8, 0) : i + 9]
            if not any(other.roles & _ENGLISH and not other.roles & _KEYWORD for other in around):
                return False
        before, behind = left.kind == "latin", right.kind == "latin"
        if len(item.text) == 1:
            return behind and (bool(item.roles & _ARTICLE) or before)
        return behind or (before and (left.rule == "english" or bool(item.roles & _ARTICLE)))

    def _negates(self, i: int, item: Item) -> bool:
        """电脑不过|热, 药不管|用: said of what is before it; 不是独生子女: at the head of a clause."""
        after = self._next(i)
        if item.roles & _CONJUNCTION:
            return self._left(i).is_content and after.kind == "word" and len(after.text) == 1
        return self._left(i) is _EDGE and not after.is_gap and self._is_plain(after)

    def _begins_a_word(self, i: int, item: Item) -> bool:
        """自|签名证书, 多|模态, 跟|拍: a word that the dictionary does not know begins like a function word."""
        after = self._next(i)
        if after.kind != "word" or after.roles & ~GRAMMAR:
            return False
        if item.roles & _COVERB:
            return len(after.text) == 1 and tag(after.text).startswith("v")
        return bool(item.roles & _PREFIX) or tag(after.text).startswith(("n", "vn", "l"))

    def _is_compound(self, i: int, item: Item) -> bool:
        """去腥, 做歌: two single characters side by side are a word that the dictionary does not know.

        And 去水印: at the head of a clause 去 takes something away, or goes somewhere.
        """
        after = self._next(i)
        if len(item.text) > 1 or after.kind != "word" or after.roles & ~GRAMMAR:
            return False
        return len(after.text) == 1 or bool(item.roles & _REMOVING and self._left(i) is _EDGE)


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

# Behind these an enclitic has nothing to lean on.
_NO_VERB = frozenset({"how", "relation", "locative", "determiner", "conjunctions"})

# In front of a verb these say that it is somebody's doing, not the container's (怎么写论文, 会写代码的模型).
_VERB_COMPANY = frozenset({"how", "auxiliaries", "prepositions", "light_verbs", "conjunctions"})


def _rest(question: Question, items: list[Item]) -> Stripped:
    """The chunks of what still stands, or the next step of the ladder."""
    content = [item for item in items if not item.rule and not item.is_gap]
    basis = Basis.STRIPPED
    if not content:
        basis = _emptied(items)
    elif (
        content[0].roles & (_BROWSE | CONTAINER)
        and len(content) < len(items)
        and _only_browses(content, items)
    ):
        for item in content:
            item.rule = "browse"
        basis = Basis.BROWSE
    chunks = () if basis in (Basis.BROWSE, Basis.NOTHING) else _chunks(question, items)
    if basis is Basis.STRIPPED and all([chunk.is_name for chunk in chunks]):
        basis = Basis.TOOL_NAMES
    return Stripped(question, chunks, _removed(question, items), basis)


def _only_browses(content: list[Item], items: list[Item]) -> bool:
    """知识库目录在哪, 文章有哪些: nothing but words for the base, and it is asked what there is."""
    kinds = asked = 0
    for item in content:
        if not item.roles & (_BROWSE | _PLACE | _ITEM | _DETERMINER):
            return False
        kinds |= item.roles
    for item in items:
        if item.rule:
            asked |= item.roles
    if asked & _HOW:
        return False
    return bool((asked and kinds & _BROWSE) or (asked & _HAVING and asked & _WHICH))


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
    last = next(item for item in reversed(items) if not item.is_gap)
    if rules <= _EMPTY_TALK or (last.roles & (_PARTICLE & ~_ENCLITIC) and not last.roles & _ENCLITIC):
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
    """Latin words in a row are one name (Claude Code, niji 7), and so is a letter before a word (C 语言)."""
    after = items[i + 1] if i + 1 < len(items) else _EDGE
    if last.kind != "latin" or after.rule or after.is_gap:
        return False
    return after.kind == "latin" or (
        last.text.isalpha() and last.end - last.start == 1 == after.start - last.end
    )


def _joins(left: Item, right: Item) -> bool:
    """Neighbours of one script are one chunk; a number or a lone letter joins the Han beside it."""
    before, behind = left.kind == "latin", right.kind == "latin"
    if before and behind:
        return True
    if left.end != right.start:
        return before and len(left.text) == 1
    if before or behind:
        word = left if before else right
        return word.text.isdigit() or (before and _is_letter(word.text))
    return True


def _is_letter(text: str) -> bool:
    """C, p, B+: a letter that names a kind of what follows."""
    return len(text) == 1 or (len(text) == 2 and text[1] == "+")


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
