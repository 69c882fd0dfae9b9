"""The word lists as one value: loading them, checking them, adding to them.

Words are data, roles are code. A list is known by its key (``places``, ``items``, ``how`` …); the files
under ``lexicons/`` only group the lists by what they are for. `load_lexicon` is the one reader.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from querykit.text import fold

if TYPE_CHECKING:  # importing it costs as much as reading the lists
    from pathlib import Path


class Role(StrEnum):
    """What a listed word does in a question; the value is the key of its list, *bit* its place in a set of roles."""

    bit: int

    def __new__(cls, key: str) -> Role:
        role = str.__new__(cls, key)
        role._value_ = key
        role.bit = 1 << len(cls.__members__)
        return role

    PLACE = "places"  # the collection (容器词): 知识库
    ITEM = "items"  # a piece of it: 笔记
    TAIL = "tails"  # stands for a piece only at the end: …的东西
    DETERMINER = "determiners"
    LOCATIVE = "locatives"  # 方位词
    VERB = "verbs"
    NOUN_VERB = "noun_verbs"
    RELATION = "relations"
    TIE = "ties"
    SUFFIX = "suffixes"
    HOW = "how"
    WHICH = "which"
    YES_NO = "yes_no"
    COURTESY = "courtesy"
    TRAILING = "trailing"
    SMALLTALK = "smalltalk"
    LOOKING = "looking"  # 查找, 搜索: asks a box to look
    OPENING = "openings"  # 老师, 家人们: whom one speaks to
    PRONOUN = "pronouns"
    AUXILIARY = "auxiliaries"
    ADVERB = "adverbs"
    CONJUNCTION = "conjunctions"
    PREPOSITION = "prepositions"
    PARTICLE = "particles"
    TIME = "time"
    LIGHT_VERB = "light_verbs"
    ENGLISH = "english"
    SOFT = "soft"
    KEEP = "keep"  # a shipped name: whole, on word boundaries
    SHIELD = "shield"  # a user's keep word: whole, wherever it stands
    TOOL = "tools"
    COMPOUND = "compounds"  # a word of today that the dictionary would cut
    MIXED = "mixed"
    BROWSE = "browse"
    GENITIVE = "genitive"
    ENCLITIC = "enclitics"
    NEGATOR = "negators"
    HAVING = "having"
    COUNTING = "counting"
    CHOOSING = "choosing"
    ALSO = "also"
    ARTICLE = "articles"
    PIECE = "pieces"
    HEAD = "heads"
    ALTERNATIVE = "alternatives"
    REMOVING = "removing"
    OWN = "own"  # a container that a user added
    PREFIX = "prefixes"
    BONDING = "bonding"
    NOUN_PREFIX = "noun_prefixes"
    COVERB = "coverbs"
    SHELF = "shelves"
    KEYWORD = "keywords"


# Which lists each file must have. Aliases are groups of names, index_pages file-name patterns, splits words
# with a bar where they come apart; all other lists are plain words.
SHEETS: dict[str, tuple[str, ...]] = {
    "containers": ("places", "items", "tails", "shelves"),
    "attachments": (
        "determiners",
        "locatives",
        "verbs",
        "noun_verbs",
        "relations",
        "ties",
        "suffixes",
        "numerals",
        "measures",
        "splits",
    ),
    "colloquial": (
        "how",
        "which",
        "yes_no",
        "courtesy",
        "looking",
        "openings",
        "trailing",
        "smalltalk",
    ),
    "function": (
        "pronouns",
        "auxiliaries",
        "adverbs",
        "conjunctions",
        "prepositions",
        "particles",
        "time",
        "light_verbs",
        "english",
        "keywords",
    ),
    "grammar": (
        "genitive",
        "enclitics",
        "negators",
        "having",
        "counting",
        "choosing",
        "pieces",
        "heads",
        "also",
        "alternatives",
        "removing",
        "prefixes",
        "bonding",
        "noun_prefixes",
        "coverbs",
        "articles",
    ),
    "soft": ("soft",),
    "keep": ("keep",),
    "tools": ("tools", "compounds", "mixed"),
    "index_pages": ("index_pages", "browse", "browse_names"),
    "aliases": ("aliases",),
}

# The lists a user's own file may name, besides which it may say `shield` by its plain name, keep. Numerals and
# measures only make determiners: those can be named themselves.
USER_LISTS = frozenset(key for keys in SHEETS.values() for key in keys) - {"numerals", "measures"}

Tables = Mapping[str, Mapping[str, Any]]


class QuerykitError(Exception):
    """Broken data or misuse: the message says what to do."""


class Problem(NamedTuple):
    """One thing wrong with a word list: the file, the key in it, and what to do."""

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part != "-")


class LexiconError(QuerykitError):
    """Word lists that cannot be used; *problems* has all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, problems)))


class Lexicon(NamedTuple):
    """The word lists, folded and ready for matching.

    *words* has the roles of each word, *aliases* the groups of names that mean one thing, *index_pages*
    the file-name patterns of index pages, *browse_names* what their titles say, *splits* the parts of words that
    the dictionary glues. Two lexicons with the same words are equal; the rest is made from these for matching:
    the roles of a word as bits, what longer words begin with, and by its first two characters the length of the longest
    name that stays whole wherever it stands.
    """

    words: Mapping[str, frozenset[Role]]
    aliases: tuple[tuple[str, ...], ...] = ()
    index_pages: tuple[str, ...] = ()
    browse_names: tuple[str, ...] = ()
    splits: Mapping[str, tuple[str, ...]] = {}
    bits: Mapping[str, int] = {}
    prefixes: frozenset[str] = frozenset()
    shields: Mapping[str, int] = {}
    genitive: tuple[str, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"<Lexicon of {len(self.words)} words, {len(self.aliases)} alias groups>"

    def roles(self, word: str) -> frozenset[Role]:
        """The roles of *word*, empty when it is on no list.

        >>> sorted(role.value for role in zh.roles("笔记"))
        ['items']
        """
        return self.words.get(word, frozenset())

    def extend(
        self,
        *,
        add: Mapping[str, Iterable[Any]] | None = None,
        replace: Mapping[str, Iterable[Any]] | None = None,
        without: Mapping[str, Iterable[Any]] | None = None,
    ) -> Lexicon:
        """A new lexicon with lists added to, replaced, or words switched off.

        The keys are those of the shipped lists; ``keep`` words of a user win over everything.

        >>> mine = zh.extend(add={"items": ["菜谱"], "keep": ["四流"]}, without={"soft": ["推荐"]})
        >>> mine.roles("菜谱"), mine.roles("推荐")
        (frozenset({<Role.ITEM: 'items'>}), frozenset())
        """
        change = {"add": add or {}, "replace": replace or {}, "without": without or {}}
        problems = list(check_words(change))
        if problems:
            raise LexiconError(problems)
        lists = self._lists()
        for key, values in change["replace"].items():
            lists[_own(key)] = list(values)
            if key == "keep":  # replacing the keep words replaces the shipped ones too
                lists["keep"] = []
        for key, values in change["without"].items():
            gone = {_key(v) for v in values}
            listed = {_key(v) for name in {key, _own(key)} for v in lists.get(name, [])}
            problems += [
                Problem("words", f"without.{key}", f"{v!r} is not on that list: remove it here")
                for v in values
                if _key(v) not in listed
            ]
            for name in {key, _own(key), Role.OWN}:
                lists[name] = [v for v in lists.get(name, []) if _key(v) not in gone]
        for key, values in change["add"].items():
            lists.setdefault(_own(key), []).extend(values)
            if key in SHEETS["containers"]:  # 小黑屋|里, where the dictionary reads 小|黑|屋里
                lists.setdefault(Role.OWN, []).extend(v for v in values if len(v) >= _LONG[Role.OWN])
        if problems:
            raise LexiconError(problems)
        return _compile(lists)

    def _lists(self) -> dict[str, list[Any]]:
        lists: dict[str, list[Any]] = {"aliases": list(self.aliases), "index_pages": list(self.index_pages)}
        lists["browse_names"] = list(self.browse_names)
        lists["splits"] = ["|".join(parts) for parts in self.splits.values()]
        for word, roles in self.words.items():
            for role in roles:
                lists.setdefault(role.value, []).append(word)
        return lists


def lexicon_folder() -> Path:
    """Where the shipped word lists are: inside an installed package, beside it in a checkout."""
    from pathlib import Path

    return Path(_shipped())


def _shipped() -> str:
    """The same as text, for the first question of a process: importing pathlib takes 3 ms."""
    package = os.path.dirname(__file__)
    inside = os.path.join(package, "lexicons")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "lexicons")


def load_tables(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """The sheets of *folder* (default: the shipped ones) as they are written, by file name."""
    import tomllib

    tables: dict[str, dict[str, Any]] = {}
    problems = []
    for sheet in SHEETS:
        name = f"{sheet}.toml"
        try:
            with open(os.path.join(folder or _shipped(), name), encoding="utf-8-sig") as file:
                tables[sheet] = tomllib.loads(file.read())
        except OSError as error:
            problems.append(Problem(name, "-", f"cannot be read ({error.strerror}); put the file there"))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(name, "-", f"is not TOML in UTF-8: {error}"))
    if problems:
        raise LexiconError(problems)
    return tables


def load_lexicon(folder: Path | None = None, words: Path | None = None) -> Lexicon:
    """The lexicon of *folder* (default: the shipped one), with a user's own *words* file on top.

    Raises `LexiconError` with every problem of every file at once.
    """
    lexicon = build_lexicon(load_tables(folder))
    return lexicon if words is None else lexicon.extend(**load_words(words))


def load_words(path: Path) -> dict[str, dict[str, list[Any]]]:
    """A user's own word file: tables ``[add]``, ``[replace]`` and ``[without]``, each of lists by key."""
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LexiconError([Problem(str(path), "-", f"cannot be read ({error.strerror})")]) from None
    except (ValueError, RecursionError) as error:
        raise LexiconError([Problem(str(path), "-", f"is not TOML in UTF-8: {error}")]) from None
    if problems := check_words(table, str(path)):
        raise LexiconError(problems)
    return table


def build_lexicon(tables: Tables) -> Lexicon:
    """A lexicon from *tables*, the parsed sheets by file name; `LexiconError` lists all problems."""
    if problems := check_lexicon(tables):
        raise LexiconError(problems)
    return _compile({key: list(tables[sheet][key]) for sheet, keys in SHEETS.items() for key in keys})


def check_lexicon(tables: Tables) -> tuple[Problem, ...]:
    """Every problem of *tables*, each with file and key.

    >>> check_lexicon({"soft": {"schema": 1, "role": "soft", "about": "…", "soft": ["推荐", "推荐", ""]}})[-2:]
    ... # doctest: +NORMALIZE_WHITESPACE
    (Problem(file='soft.toml', key='soft', message="'推荐' stands twice: remove one"),
     Problem(file='soft.toml', key='soft', message="'' is blank: remove it"))
    """
    problems = [
        Problem(f"{sheet}.toml", "-", "is missing: restore it") for sheet in SHEETS if sheet not in tables
    ]
    for sheet, table in tables.items():
        file = f"{sheet}.toml"
        if sheet not in SHEETS:
            problems.append(Problem(file, "-", f"is no word list; known are {', '.join(SHEETS)}"))
            continue
        if table.get("schema") != 1:
            problems.append(Problem(file, "schema", f"is {table.get('schema')!r}: write schema = 1"))
        problems += [
            Problem(file, key, "says nothing: write a sentence")
            for key in ("role", "about")
            if not (isinstance(table.get(key), str) and table[key].strip())
        ]
        known = {"schema", "role", "about", "example", *SHEETS[sheet]}
        problems += [Problem(file, key, "is unknown: remove it") for key in table if key not in known]
        for key in SHEETS[sheet]:
            if key not in table:
                problems.append(Problem(file, key, "is missing: write the list, even an empty one"))
            else:
                problems += _check_list(file, key, table[key])
        for number, example in enumerate(table.get("example", ()), 1):
            if not isinstance(example, Mapping) or not {"ask", "terms", "why"} <= example.keys():
                problems.append(Problem(file, f"example {number}", "needs ask, terms and why"))
    return tuple(problems)


def check_words(table: Mapping[str, Any], file: str = "words") -> tuple[Problem, ...]:
    """Every problem of a user's own word file."""
    problems = []
    for part, lists in table.items():
        if part not in ("add", "replace", "without"):
            problems.append(Problem(file, part, "is unknown: tables are [add], [replace], [without]"))
        elif not isinstance(lists, Mapping):
            problems.append(Problem(file, part, "must be a table of lists"))
        else:
            for key, values in lists.items():
                if key not in USER_LISTS:
                    message = f"is no list; {_meant(key)}"
                    problems.append(Problem(file, f"{part}.{key}", message))
                else:
                    problems += _check_list(file, f"{part}.{key}", values)
    return tuple(problems)


def _meant(key: str) -> str:
    """What the writer of an unknown *key* may have meant."""
    from difflib import get_close_matches

    if str(key) in SHEETS:
        return f"its words are in the lists {', '.join(SHEETS[key])}"
    near = get_close_matches(str(key), USER_LISTS, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(USER_LISTS))}"


def _check_list(file: str, key: str, values: Any) -> list[Problem]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [Problem(file, key, f"is {values!r}: write a list")]
    problems, seen = [], set()
    pairs = key.rpartition(".")[2] == "aliases"
    for value in values:
        if pairs:
            ok = isinstance(value, list | tuple) and len(value) > 1 and all(isinstance(v, str) for v in value)
            if not ok:
                problems.append(Problem(file, key, f"{value!r}: write a group of two or more names"))
            continue
        if not isinstance(value, str):
            problems.append(Problem(file, key, f"{value!r} is no text: put it in quotes"))
        elif not value.strip():
            problems.append(Problem(file, key, f"{value!r} is blank: remove it"))
        elif value in seen:
            problems.append(Problem(file, key, f"{value!r} stands twice: remove one"))
        else:
            seen.add(value)
    return problems


def _own(key: str) -> str:
    """A user's keep words are shields: they need no word boundary."""
    return "shield" if key == "keep" else key


def _key(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else tuple(map(fold, value))


_NO_WORDS = ("aliases", "index_pages", "splits", "browse_names", "numerals", "measures")


def _compile(lists: Mapping[str, Iterable[Any]]) -> Lexicon:
    words: dict[str, set[Role]] = {}
    for key, values in lists.items():
        if key not in _NO_WORDS:
            role = Role(key)
            for value in values:
                words.setdefault(fold(value).strip(), set()).add(role)
    counted = [fold(n + m) for n in lists.get("numerals", ()) for m in lists.get("measures", ())]
    for piece in counted:
        words.setdefault(piece, set()).add(Role.DETERMINER)
    return Lexicon(
        {word: frozenset(roles) for word, roles in words.items()},
        tuple(tuple(group) for group in lists.get("aliases", ())),
        tuple(lists.get("index_pages", ())),
        tuple(lists.get("browse_names", ())),
        {fold(value).replace("|", ""): tuple(fold(value).split("|")) for value in lists.get("splits", ())},
        {word: sum(role.bit for role in roles) for word, roles in words.items()},
        frozenset(word[:i] for word in words for i in range(1, len(word))),
        _shields(words),
        tuple(word for word, roles in words.items() if Role.GENITIVE in roles and len(word) == 1),
        _synonyms(lists.get("aliases", ())),
    )


# Names that stay whole even where the dictionary sees no word boundary: a user's keep words, words of two
# scripts, and tool names, compounds and a user's own containers of three characters or more, places of four
# (帮助中|心里). Shorter ones need the boundaries (可灵 stands in 可灵活).
_ANYWHERE = frozenset({Role.SHIELD, Role.MIXED})
_LONG = {Role.TOOL: 3, Role.COMPOUND: 3, Role.KEEP: 4, Role.PLACE: 4, Role.OWN: 3}


def is_shield(word: str, roles: Collection[Role]) -> bool:
    """Does *word* stay whole wherever it stands?"""
    return any(role in _ANYWHERE or len(word) >= _LONG.get(role, len(word) + 1) for role in roles)


def _shields(words: Mapping[str, Collection[Role]]) -> dict[str, int]:
    """By their first two characters, the length of the longest such name; one of a single character cuts nothing."""
    longest: dict[str, int] = {}
    for word, roles in words.items():
        if len(word) > 1 and is_shield(word, roles):
            longest[word[:2]] = max(longest.get(word[:2], 0), len(word))
    return longest


def _synonyms(groups: Iterable[Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The other names of each name, folded."""
    others: dict[str, list[str]] = {}
    for group in groups:
        names = [fold(name) for name in group]
        for name in names:
            others.setdefault(name, []).extend(n for n in names if n != name)
    return {name: tuple(dict.fromkeys(names)) for name, names in others.items()}
