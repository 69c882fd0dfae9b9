"""Aliases that the notes themselves give away: proposals with their evidence, nothing applied.

Readers write Midjourney where the notes write MJ; such a pair cost the flagship question four of six sources.
Four signs that two names mean one thing, from the surest to the weakest:

brackets   全称（简称）: one is the initials or a shortening of the other, or its translation, or the notes
           say so (简称, 又名); in two notes or more, since anything stands in brackets once
initials   DM beside Data Migration, AQS beside AbstractQueuedSynchronizer, in the same notes
spelling   one name in two spellings: GPT Image, gpt-image
company    MJ beside Midjourney: a short form whose letters stand in a name in their order, and which keeps
           the same company: the words around both are alike
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple

import regex

from querykit.lexicon import Lexicon, LexiconError, Problem, Role, lexicon_folder
from querykit.segment import cut
from querykit.text import fold

# Anything stands in brackets once; a pair worth reading stands in this many notes.
MIN_NOTES = 2

# A remark in brackets stands beside few of the places where its words stand (工具（Suno）: 2 of 54 notes that
# name Suno); a name is introduced in a tenth of them or more (GC（垃圾回收）: 14 of 22).
MIN_SHARE = 0.1

# Initials and short forms are everywhere (CI, CN, IN); a name that fewer notes hold is noise of code samples.
MIN_NAME_NOTES = 3

# How alike the company of a short form and a name is (cosine of what stands beside them, 0 … 1). Over five
# corpora the true pairs MJ/Midjourney and JS/JavaScript have .23 and .19; of 800 pairs whose letters fit by
# accident and that share two notes or more, three (parts of a formal grammar) lie above .12.
MIN_COMPANY = 0.15

# A Han name in front of a bracket has no beginning of its own; longer stretches are clauses.
LONGEST_HAN_NAME = 10


class Note(NamedTuple):
    """A note as mining reads it: its path, its title, its text."""

    path: str
    title: str
    text: str


def fold_lines(text: str) -> str:
    """*text* folded line by line, the lines joined by blanks.

    One odd character makes `fold` go through a text character by character; here it costs a line, not a note.

    >>> fold_lines("ＡＩ 繪畫\\n第一步")
    'ai 绘画 第一步'
    """
    return " ".join(map(fold, text.splitlines()))


@dataclass(frozen=True, slots=True)
class MiningWords:
    """Words that say "also called" (*cues*) and bracketed remarks that are no names (*remarks*)."""

    cues: tuple[str, ...]
    remarks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two names that may mean one thing.

    *reason* is the sign ("brackets", "initials", "spelling", "company"), *notes* how many notes show it,
    *df* how many hold each name, *both* how many hold both, *example* a place to look. *known* says that the
    aliases in use have the pair already.
    """

    names: tuple[str, str]
    reason: str
    notes: int
    df: tuple[int, int]
    both: int
    example: str = ""
    known: bool = False

    def __str__(self) -> str:
        a, b = self.names
        held = f"{a} in {self.df[0]} notes, {b} in {self.df[1]}, both in {self.both}"
        shown = f"; {self.example}" if self.example else ""
        return f"{_SAYS[self.reason].format(self.notes)}; {held}{shown}"


_SAYS = {
    "brackets": "one in brackets behind the other in {} notes",
    "initials": "initials, side by side in {} notes",
    "spelling": "one name in two spellings, in {} notes together",
    "company": "the letters of one stand in the other, the same words beside both; together in {} notes",
}


def load_mining(folder: Path | None = None) -> MiningWords:
    """The words of ``mining.toml`` in *folder* (default: the shipped lists).

    Raises `LexiconError` with what is wrong.
    """
    import tomllib

    path = (folder or lexicon_folder()) / "mining.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        problem = Problem(path.name, "-", f"cannot be read ({error.strerror}); put the file there")
        raise LexiconError([problem]) from None
    except (ValueError, RecursionError) as error:
        raise LexiconError([Problem(path.name, "-", f"is not TOML in UTF-8: {error}")]) from None
    problems = [
        Problem(path.name, key, "must be a list of words")
        for key in ("cues", "remarks")
        if not isinstance(table.get(key), list) or not all(isinstance(w, str) and w for w in table[key])
    ]
    if problems:
        raise LexiconError(problems)
    cues = sorted(map(fold, table["cues"]), key=lambda cue: (-len(cue), cue))
    return MiningWords(tuple(cues), frozenset(map(fold, table["remarks"])))


def mine_aliases(
    notes: Sequence[tuple[str, str, str]], lexicon: Lexicon, words: MiningWords, *, known: bool = False
) -> tuple[Proposal, ...]:
    """Return pairs of names in *notes* (path, title, text) that may mean one thing, the surest first.

    Pairs that the lexicon's aliases have already are left out unless *known*.

    >>> notes = [("a.md", "缓存", "检索增强生成（RAG）要先切块"), ("c.md", "RAG 入门", "RAG（可选）"),
    ...          ("b.md", "切块", "检索增强生成（RAG）怎么切")]
    >>> [(p.names, p.reason, p.notes) for p in mine_aliases(notes, zh, load_mining())]
    [(('RAG', '检索增强生成'), 'brackets', 2)]
    """
    read = [Note(*note) for note in notes]
    names = _Names(read)
    found: dict[frozenset[str], Proposal] = {}
    for proposal in (
        *_brackets(read, names, lexicon, words),
        *_initials(names),
        *_spellings(names),
        *_company(names),
    ):
        found.setdefault(frozenset(map(fold, proposal.names)), proposal)
    groups = [frozenset(map(fold, group)) for group in lexicon.aliases]
    marked = [_mark(p, groups) for p in found.values()]
    kept = [p for p in _whole(marked) if known or not p.known]
    return tuple(sorted(kept, key=lambda p: (_SURE[p.reason], -p.notes, p.names)))


_SURE = {reason: place for place, reason in enumerate(_SAYS)}


def _whole(proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    """Without names that are the tail of another one for the same thing: 版本并发控制 beside 多版本并发控制."""
    partners: dict[str, set[str]] = {}
    for p in proposals:
        for name, other in (p.names, p.names[::-1]):
            partners.setdefault(fold(other), set()).add(fold(name))
    for p in proposals:
        ends = [(fold(name), partners[fold(other)]) for name, other in (p.names, p.names[::-1])]
        if not any(name != full and full.endswith(name) for name, fulls in ends for full in fulls):
            yield p


def _mark(proposal: Proposal, groups: Iterable[frozenset[str]]) -> Proposal:
    pair = frozenset(map(fold, proposal.names))
    return replace(proposal, known=any(pair <= group for group in groups))


# ---------------------------------------------------------------- the names of a corpus

_LATIN_NAME = regex.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:[ -][A-Za-z0-9]+)*")
_LATIN_WORD = regex.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}(?![A-Za-z0-9])")
_SHORT = regex.compile(r"[A-Z][A-Z0-9]{1,4}")
_HUMPS = regex.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+")
_BESIDE = 8  # characters on each side of a word that count as its company


@dataclass(slots=True)
class _Seen:
    """A Latin word or short form: where it stands, how it is written, and its company."""

    notes: set[int] = field(default_factory=set)
    written: Counter[str] = field(default_factory=Counter)
    company: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        return self.written.most_common(1)[0][0]


class _Names:
    """The Latin words of the notes, short forms in capitals apart, and runs of two to four words."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.n_docs = len(notes)
        self.notes = notes
        self.words: dict[str, _Seen] = {}
        self.runs: dict[str, _Seen] = {}
        for number, note in enumerate(notes):
            text = f"{note.title}\n{note.text}"
            for match in _LATIN_WORD.finditer(text):
                self._add_word(number, text, match.start(), match.end())
            for match in _LATIN_NAME.finditer(text):
                self._add_runs(number, match.group())
        self._folded: list[str] | None = None

    def _add_word(self, number: int, text: str, start: int, end: int) -> None:
        word = text[start:end]
        seen = self.words.setdefault(word if _SHORT.fullmatch(word) else word.lower(), _Seen())
        seen.notes.add(number)
        seen.written[word] += 1
        before, behind = text[max(start - _BESIDE, 0) : start][::-1], text[end : end + _BESIDE]
        for side, near in (("<", before.strip()), (">", behind.strip())):
            if near:
                seen.company[side + near[:2]] += 1
                seen.company[side + near[:1]] += 1

    def _add_runs(self, number: int, run: str) -> None:
        words = run.replace("-", " ").split(" ")
        for first in range(len(words) - 1):
            for last in range(first + 2, min(first + 4, len(words)) + 1):
                part = words[first:last]
                if all(w[:1].isupper() or w[:1].isdigit() for w in part) or last - first == 2:
                    name = " ".join(part)
                    seen = self.runs.setdefault(name.lower(), _Seen())
                    seen.notes.add(number)
                    seen.written[run if len(part) == len(words) else name] += 1

    def holders(self, name: str) -> set[int]:
        """The notes that hold *name*: a Latin name as whole words, any other as it stands."""
        if self._folded is None:
            self._folded = [fold_lines("\n".join(note)) for note in self.notes]
        key = fold(name)
        inside = {i for i, text in enumerate(self._folded) if key in text}
        if not key.isascii():
            return inside
        whole = regex.compile(rf"(?<![a-z0-9]){regex.escape(key)}(?![a-z0-9])")
        return {i for i in inside if whole.search(self._folded[i])}

    def propose(self, a: str, b: str, reason: str, notes: int, example: str = "") -> Proposal:
        """The shorter name first, as it is in the shipped aliases."""
        first, second = sorted((a, b), key=lambda name: (len(name), name))
        a_held, b_held = self.holders(first), self.holders(second)
        df = len(a_held), len(b_held)
        return Proposal((first, second), reason, notes, df, len(a_held & b_held), example)


# ---------------------------------------------------------------- brackets

_BRACKET = regex.compile(r"[（(]\s*(?P<right>[\p{Han}A-Za-z][^（()）\n，。；;,]{0,40})[)）]")
_MARKS = " *_`”』」】"
_LOOK_BACK = 40

_NAME = regex.compile(r"\p{Han}{2,10}|[A-Za-z][A-Za-z0-9+#]*(?:[ -][A-Za-z0-9+#]+){0,4}")
_TAIL = regex.compile(r"(?P<latin>[A-Za-z][A-Za-z0-9+#]*(?:[ -][A-Za-z0-9+#]+){0,4})\ ?$|(?P<han>\p{Han}+)$")

_NAMES = {Role.TOOL, Role.MIXED, Role.KEEP, Role.SHIELD}

# Where a clause ends and a name may begin.
_FUNCTION = frozenset(
    {Role.PRONOUN, Role.AUXILIARY, Role.ADVERB, Role.CONJUNCTION, Role.PREPOSITION, Role.PARTICLE}
    | {Role.TIME, Role.LIGHT_VERB, Role.SOFT, Role.DETERMINER, Role.HOW, Role.WHICH}
    | {Role.YES_NO, Role.COURTESY}
)


def _brackets(
    notes: Sequence[Note], names: _Names, lexicon: Lexicon, words: MiningWords
) -> Iterator[Proposal]:
    seen: dict[tuple[str, str], set[int]] = {}
    example: dict[tuple[str, str], str] = {}
    sides: dict[tuple[str, str], tuple[str, str]] = {}
    for number, note in enumerate(notes):
        text = f"{note.title}\n{note.text}"
        for match in _BRACKET.finditer(text):
            right, cued = _behind_cue(match["right"].strip(_MARKS), words.cues)
            if not _is_name(right, lexicon, words):
                continue
            before = text[max(match.start() - _LOOK_BACK, 0) : match.start()].rstrip(_MARKS)
            for left in _lefts(before, lexicon):
                if fold(left) != fold(right) and (cued or _are_one(left, right)):
                    pair = fold(left), fold(right)
                    seen.setdefault(pair, set()).add(number)
                    sides.setdefault(pair, (left, right))
                    example.setdefault(pair, f"{note.path}: {left}{' '.join(match.group().split())}")
    for pair in _longest(seen):
        proposal = names.propose(*sides[pair], "brackets", len(seen[pair]), example[pair])
        if proposal.notes >= MIN_SHARE * min(proposal.df):
            yield proposal


def _is_name(text: str, lexicon: Lexicon, words: MiningWords) -> bool:
    """Could *text* name a thing? Remarks, listed words of asking, and what ends in a function word do not."""
    if not _NAME.fullmatch(text) or fold(text) in words.remarks or lexicon.roles(fold(text)) - _NAMES:
        return False
    return text.isascii() or not lexicon.roles(cut(text)[-1]) & _FUNCTION


def _behind_cue(text: str, cues: Sequence[str]) -> tuple[str, bool]:
    low = fold(text)
    if len(low) == len(text):
        for cue in cues:
            if low.startswith(cue) and len(low) > len(cue):
                return text[len(cue) :].strip(" :：“”「」\"'"), True
    return text, False


def _lefts(text: str, lexicon: Lexicon) -> Iterator[str]:
    """Names that may end where *text* does: Latin words, or Han words back to the last function word."""
    tail = _TAIL.search(text)
    if tail is None:
        return
    if tail["latin"]:
        words = tail["latin"].split(" ")
        for first in range(len(words)):
            yield " ".join(words[first:])
        return
    cuts = cut(tail["han"])
    last = max((i for i, word in enumerate(cuts) if lexicon.roles(word) & _FUNCTION), default=-1)
    cuts = cuts[last + 1 :]
    for first in range(len(cuts)):
        name = "".join(cuts[first:])
        if 2 <= len(name) <= LONGEST_HAN_NAME and not lexicon.roles(name) - _NAMES:
            yield name


def _are_one(left: str, right: str) -> bool:
    """Do the forms of two names in brackets say that they mean one thing?"""
    if left.isascii() and right.isascii():
        return is_initialism(left, right) or is_initialism(right, left)
    if left.isascii() != right.isascii():
        latin, han = (left, right) if left.isascii() else (right, left)
        return len(latin) > 1 and not latin.islower() and len(han) > 1
    short, full = sorted((left, right), key=len)
    return 2 <= len(short) < len(full) and full[0] == short[0] and _in_order(short, full)


def _longest(seen: Mapping[tuple[str, str], set[int]]) -> Iterator[tuple[str, str]]:
    """Of the names that end alike in front of one bracket, the longest that most of these places show."""
    by_right: dict[str, list[str]] = {}
    for left, right in seen:
        by_right.setdefault(right, []).append(left)
    for right, lefts in by_right.items():
        taken: list[str] = []
        for left in sorted(lefts, key=lambda name: (-len(name), name)):
            notes = seen[left, right]
            ends = [name for name in lefts if left.endswith(name)]
            most = max(len(seen[name, right]) for name in ends)
            inside = any(name.endswith(left) for name in taken)
            if len(notes) >= MIN_NOTES and 2 * len(notes) > most and not inside:
                taken.append(left)
                yield left, right


# ---------------------------------------------------------------- initials, spellings, company


def is_initialism(short: str, full: str) -> bool:
    """Is *short* made of the first letters of the words, or of the humps, of *full*?

    >>> is_initialism("DM", "Data Migration"), is_initialism("AQS", "AbstractQueuedSynchronizer")
    (True, True)
    >>> is_initialism("MJ", "Midjourney")
    False
    """
    words = _words(full)
    return len(words) > 1 and _SHORT.fullmatch(short) is not None and _first_letters(words) == short


def _words(full: str) -> list[str]:
    found: list[str] = regex.split("[ -]", full) if regex.search("[ -]", full) else _HUMPS.findall(full)
    return found


def _first_letters(words: Iterable[str]) -> str:
    return "".join(word[:1] for word in words).upper()


def _in_order(short: str, full: str) -> bool:
    letters = iter(full)
    return all(letter in letters for letter in short)


def _initials(names: _Names) -> Iterator[Proposal]:
    shorts = _shorts(names, MIN_NAME_NOTES)
    for seen in [*names.runs.values(), *names.words.values()]:
        full = seen.name
        if len(seen.notes) < MIN_NAME_NOTES or len(full) < 6 or not full[0].isupper():
            continue
        # Two humps of one word (InnoDB) are too few to tell.
        words = _words(full)
        short = _first_letters(words)
        least = 2 if " " in full or "-" in full else 3
        if short in shorts and len(words) >= least and _is_written_out(words, short):
            both = seen.notes & shorts[short].notes
            # Half of the notes that write the name out also write it short: that is how names are introduced.
            often = 2 * len(both) >= len(seen.notes) and len(both) >= MIN_SHARE * len(shorts[short].notes)
            if len(both) >= MIN_NOTES and often:
                yield names.propose(short, full, "initials", len(both), names.notes[min(both)].path)


def _is_written_out(words: Sequence[str], short: str) -> bool:
    """Do *words* look like a name, and not like code in capitals (AS SELECT) or the short form itself?"""
    capitals = all(len(w) > 1 and w[0].isupper() for w in words) and short not in words
    return capitals and not all(w.isupper() for w in words)


def _spellings(names: _Names) -> Iterator[Proposal]:
    """A run of two words that also stands as one word: Comfy UI, ComfyUI."""
    for key, run in names.runs.items():
        joined = key.replace(" ", "")
        one = names.words.get(joined)
        if one is None or key.count(" ") != 1 or len(joined) < 5:
            continue
        is_name = all(word[:1].isupper() for word in regex.split("[ -]", run.name)) and _is_capital(one)
        if is_name and min(len(one.notes), len(run.notes)) >= MIN_NOTES:
            yield names.propose(one.name, run.name, "spelling", len(one.notes | run.notes))


def _company(names: _Names) -> Iterator[Proposal]:
    shorts = _shorts(names, MIN_NAME_NOTES + 2)
    fulls = {
        k: s
        for k, s in names.words.items()
        if len(k) >= 6 and k.islower() and len(s.notes) >= MIN_NAME_NOTES + 2 and _is_capital(s)
    }
    spread = Counter(beside for seen in [*shorts.values(), *fulls.values()] for beside in seen.company)
    total = len(shorts) + len(fulls)
    vectors = {k: _vector(s.company, spread, total) for k, s in [*shorts.items(), *fulls.items()]}
    for short, seen in shorts.items():
        best: tuple[float, str] = (MIN_COMPANY, "")
        for full, other in fulls.items():
            if _fits(short.lower(), full) and _above_chance(seen, other, names.n_docs):
                best = max(best, (_cosine(vectors[short], vectors[full]), full))
        if best[1]:
            other = fulls[best[1]]
            both = seen.notes & other.notes
            yield names.propose(short, other.name, "company", len(both), f"alike {best[0]:.2f}")


def _shorts(names: _Names, least: int) -> dict[str, _Seen]:
    return {k: s for k, s in names.words.items() if _SHORT.fullmatch(k) and len(s.notes) >= least}


def _fits(short: str, full: str) -> bool:
    return full[0] == short[0] and len(full) > 2 * len(short) and _in_order(short, full)


def _is_capital(seen: _Seen) -> bool:
    """Is the word nearly always written with a capital, as names are?"""
    capital = sum(n for word, n in seen.written.items() if word[0].isupper() and not word.isupper())
    return capital >= 0.8 * seen.written.total()


def _above_chance(a: _Seen, b: _Seen, n_docs: int) -> bool:
    """Do the two share two notes or more, and half as many again as independent words would?"""
    both = len(a.notes & b.notes)
    return both >= MIN_NOTES and both * n_docs >= 1.5 * len(a.notes) * len(b.notes)


def _vector(company: Counter[str], spread: Counter[str], total: int) -> dict[str, float]:
    return {beside: log(1 + n) * log(total / spread[beside]) for beside, n in company.items()}


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    length = sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return sum(v * b.get(k, 0.0) for k, v in a.items()) / length if length else 0.0


def proposals_toml(proposals: Iterable[Proposal]) -> str:
    """The proposals as a user's word file: each group with its evidence as a comment above it.

    >>> print(proposals_toml([Proposal(("RAG", "检索增强生成"), "brackets", 2, (5, 3), 2)]))
    # Proposals: nothing is in use until you keep them in a file of your own and name it with --words.
    [add]
    aliases = [
        # one in brackets behind the other in 2 notes; RAG in 5 notes, 检索增强生成 in 3, both in 2
        ["RAG", "检索增强生成"],
    ]
    """
    proposals = list(proposals)
    lines = [
        "# Proposals: nothing is in use until you keep them in a file of your own and name it with --words.",
        *([] if proposals else ["# These notes give none away."]),
        "[add]",
        "aliases = [",
    ]
    for p in proposals:
        said = " ".join(str(p).split())
        lines.append(f"    # {'known already; ' if p.known else ''}{said}")
        lines.append(f"    {'# ' if p.known else ''}[{', '.join(map(_quoted, p.names))}],")
    return "\n".join([*lines, "]"])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
