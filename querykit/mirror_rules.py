"""The words, the frame and the messages of mirror queries: what they are, loading and checking them.

`load_mirror` is the one reader; the sheets are ``lexicons/mirror.toml`` and ``lexicons/tracks.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import regex

from querykit.lexicon import SHEETS, Lexicon, LexiconError, Problem, lexicon_folder, load_lexicon
from querykit.text import fold

# The five elements, in the order of the frame.
ELEMENTS = ("contrast", "break_by", "anchor", "function", "material")


class Weigh(Enum):
    """What a listed word contributes to a query."""

    ASKING = "asking"  # asks for material
    ABSTRACT = "abstract"  # names a mechanism, an effect, a theme
    VAGUE = "vague"  # is in any event
    WEAK = "weak"  # half of something concrete
    CONCRETE = "concrete"  # a thing that the dictionary cuts into pieces


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

        >>> from querykit.mirror import Elements, compose
        >>> rules = load_mirror()
        >>> elements = Elements("等了一整天的人", "保安递来一把旧伞", "快递柜前", "收尾")
        >>> compose(elements, rules.extend(["收尾"])).text
        '找一条 等了一整天的人 保安递来一把旧伞 快递柜前 的 收尾型事件素材'
        """
        more = (fold(name).removesuffix(self.frame.type) for name in map(clean, functions))
        return replace(self, functions=tuple(dict.fromkeys((*self.functions, *filter(None, more)))))


# Nobody sees these; joiners stay, since emoji and other scripts are written with them.
_UNSEEN = regex.compile(r"[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]")
# A blank beside a Han character or a mark says nothing; a blank between Latin words does.
_BESIDE_HAN = regex.compile(r"(?<=[\p{Han}\p{P}]) | (?=[\p{Han}\p{P}])")
# Marks that open or close a sentence, and one pair of quotes or brackets around the whole.
_EDGES = " ,，.。;；、:：!！?？…~～—-"
_AROUND = regex.compile(
    r"""["“「『《〈【（(\[{]([^"“”「」『』《》〈〉【】（）()\[\]{}]*+)["”」』》〉】）)\]}]"""
)


def clean(typed: str) -> str:
    """*typed* without blanks, outer marks and quotes that say nothing; its characters stay as typed."""
    text: str = " ".join(_UNSEEN.sub("", typed).split())
    text = (_BESIDE_HAN.sub("", text) if " " in text else text).strip(_EDGES)
    while match := _AROUND.fullmatch(text):
        text = match.group(1).strip(_EDGES)
    return text


def fill(template: str, values: Mapping[str, str]) -> str:
    """*template* with the *values* of its fields, in one pass; a field without a value stays as it is.

    >>> fill("缺{element}：{advice}", {"element": "具象锚点"})
    '缺具象锚点：{advice}'
    """
    filled: str = _FIELD.sub(lambda match: values.get(match.group(1), match.group()), template)
    return filled


_FIELD = regex.compile(r"\{(\w+)\}")


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
        except (ValueError, RecursionError) as error:
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
    words |= {fold(word): Weigh.CONCRETE for word in mirror["concrete"]["words"]}
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
        "concrete": {"words": list},
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
        "elements": dict.fromkeys((*ELEMENTS, "query"), str),
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
    groups += [(f"{key}.words", mirror[key]["words"]) for key in ("weak", "concrete")]
    for key, words in groups:
        for word in words:
            if (other := seen.setdefault(fold(word), key)) != key or words.count(word) > 1:
                yield Problem("mirror.toml", key, f"{word!r} stands in {other} too: keep one")
    if [match.group(1) for match in _FIELD.finditer(mirror["frame"])] != list(ELEMENTS):
        yield Problem("mirror.toml", "frame", f"must hold {', '.join(ELEMENTS)} once each, in this order")
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
