"""What is odd about a corpus and its engine: counts of the engine beside counts of the text.

A hit rate is what an engine counts, and engines count other things than the text: the header of the page
(furniture), pieces that were never written together (chance combinations), nothing at all where their
segmenter cuts otherwise (invisible terms). None of it shows in the rate; all of it shows beside the count of
the text. This module names such terms, index pages and aliases, and says what to do about each. It changes
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import regex
from numpy.typing import NDArray

from querykit.gap import Gap, Recommendation, choose_line, find_gap
from querykit.lexicon import Lexicon, QuerykitError
from querykit.mining import Proposal, fold_lines
from querykit.seats import is_index_page
from querykit.strip import strip
from querykit.text import fold, normalize
from querykit.tiers import CHANCE_RATIO, DEFAULT_LINE

# A term the engine finds on nearly every page, while the text of fewer holds it, stands in what all pages
# share. On the site of 436 notes AI, prompt, 笔记, 音乐, GitHub are on every page, in the text of 11 … 80 %.
FURNITURE_RATE = 0.98
FURNITURE_TEXT = 0.90

# A term is invisible when the engine finds fewer than half of the documents whose text holds it: 复盘 53 of
# 280, 剪辑 0 of 91. Differences of a few documents are other forms and old pages.
INVISIBLE_RATIO = 0.5
MIN_INVISIBLE = 5

# One or two hits without the phrase are an accident, not a pattern.
MIN_CHANCE = 3

# A line of text that this share of the notes and this many of them repeat is a template.
TEMPLATE_SHARE = 0.10
TEMPLATE_NOTES = 10
MOST_LINES = 10

# A page whose text is half link text, with a handful of links, lists other pages: tables of contents have .74
# to .88, the ∑ and § pages of a garden .5 to .9 (so have diaries that only link: a person decides). Pages
# that say by name that they are an index have .02 to .53, since many also explain: each finds what the other
# does not.
INDEX_LINK_SHARE = 0.5
INDEX_LINKS = 5


class DiagnoseError(QuerykitError):
    """Counts that cannot be read: the message names the row."""


class Counted(NamedTuple):
    """A term: the documents the engine finds, those whose text holds it, and what others count, by name."""

    term: str
    found: int
    holds: int
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one *engine* beside counts of the *text*, over *n_docs* documents."""

    n_docs: int
    engine: str
    text: str
    terms: tuple[Counted, ...]


class Item(NamedTuple):
    """A thing found, by name, and what speaks for it."""

    name: str
    evidence: str = ""


class Finding(NamedTuple):
    """Something about the corpus: the *rule* that found it, what it means, the items, and what to do."""

    rule: str
    says: str
    items: tuple[Item, ...] = ()
    advice: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items."""
        return tuple(item.name for item in self.items)


class Knows(NamedTuple):
    """What an index really knows: the *fields* it searches, the *kinds* of pages it tells, its *filters*."""

    fields: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    ranks_terms: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings about a corpus, in the order in which to read them."""

    n_docs: int
    engine: str
    findings: tuple[Finding, ...]

    def of(self, rule: str) -> Finding | None:
        """The finding of *rule*, or None when there is none."""
        return next((f for f in self.findings if f.rule == rule), None)


# Names under which counts of the text go in count files, and columns that are no counts.
TEXT_COLUMNS = ("text", "phrase_df", "substring")
_NO_COUNTS = ("term", "n_docs")

# More documents than this are a slip of the pen; beyond 2^63 they could not be resampled.
MOST_DOCS = 10**12


def read_counts(
    rows: Iterable[Mapping[str, Any]], *, engine: str | None = None, text: str | None = None
) -> Counts:
    """Counts from *rows* such as ``{"term": …, "n_docs": …, "pagefind": …, "substring": …}``.

    *text* names the column that counts the text (default: text, phrase_df or substring), *engine* the one to
    examine (default: the first other); further columns are witnesses. A null says "not counted"; a row with
    a null for engine or text is left out.

    >>> rows = [{"term": "复盘", "n_docs": 436, "pagefind": 53, "substring": 280}]
    >>> read_counts(rows).terms[0]
    Counted(term='复盘', found=53, holds=280, others=())

    Raises `DiagnoseError` that names the row.
    """
    rows = list(rows)
    if not rows:
        raise DiagnoseError("no counts: write a line of JSON per term, with term, n_docs and the counts")
    for number, row in enumerate(rows, 1):
        _check_row(number, row, rows[0].get("n_docs"))
    columns = list(dict.fromkeys(key for row in rows for key in row if key not in _NO_COUNTS))
    text = text or next((name for name in TEXT_COLUMNS if name in columns), "")
    engine = engine or next((name for name in columns if name != text), "")
    for option, of, name in (("--text", "the text", text), ("--engine", "an engine", engine)):
        if name not in columns:
            which = repr(name) if name else f"with counts of {of}"
            raise DiagnoseError(f"no column {which}; add it, or name one with {option}: {', '.join(columns)}")
    if text == engine:
        raise DiagnoseError(f"{text!r} beside itself shows nothing; name another one with --engine or --text")
    terms = [
        Counted(
            row["term"],
            row[engine],
            row[text],
            tuple((c, row[c]) for c in columns if c not in (engine, text) and row.get(c) is not None),
        )
        for row in rows
        if row.get(engine) is not None and row.get(text) is not None
    ]
    return Counts(rows[0]["n_docs"], engine, text, tuple(_distinct(terms)))


def _distinct(terms: Iterable[Counted]) -> Iterator[Counted]:
    """Each term once: prompt and Prompt are one term when all their counts are one."""
    first: dict[tuple[Any, ...], Counted] = {}
    for c in terms:
        first.setdefault((fold(c.term), *c[1:]), c)
    yield from first.values()


def _check_row(number: int, row: Mapping[str, Any], n_docs: Any) -> None:
    if not isinstance(row.get("term"), str) or not (_is_count(n := row.get("n_docs")) and 0 < n <= MOST_DOCS):
        raise DiagnoseError(f'row {number}: needs "term", a text, and "n_docs", the number of documents')
    if row["n_docs"] != n_docs:
        raise DiagnoseError(f"row {number}: n_docs is {row['n_docs']}, above {n_docs}: count one corpus")
    for key, value in row.items():
        if key not in _NO_COUNTS and value is not None and not (_is_count(value) and value <= n_docs):
            raise DiagnoseError(f"row {number}: {key} is {value!r}: a count from 0 to {n_docs}")


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def count_text(
    terms: Iterable[str], notes: Iterable[tuple[str, str, str]], df: Mapping[str, int], engine: str
) -> Counts:
    """Counts of the text of *notes* (path, title, text) beside those of an engine (*df*, by folded term).

    A term with Han characters counts as a substring, a Latin one as whole words.
    """
    texts = [fold_lines("\n".join(note)) for note in notes]
    keys = {term: fold(term) for term in terms}
    counted = [Counted(t, df[key], len(holders_of(key, texts))) for t, key in keys.items() if key in df]
    return Counts(len(texts), engine, "the text of the notes", tuple(counted))


def holders_of(key: str, texts: Sequence[str]) -> list[int]:
    """The numbers of the folded *texts* that hold *key*, Latin words not inside longer ones.

    >>> holders_of("ai", ["ai 绘画", "mail", "用ai画"])
    [0, 2]
    """
    inside = [i for i, text in enumerate(texts) if key in text]
    if not key.isascii():
        return inside
    whole = regex.compile(rf"(?<![a-z0-9]){regex.escape(key)}(?![a-z0-9])")
    return [i for i in inside if whole.search(texts[i])]


def diagnose(
    counts: Counts,
    lexicon: Lexicon,
    *,
    knows: Knows | None = None,
    notes: Sequence[tuple[str, str, str]] = (),
    questions: Sequence[str] = (),
    proposals: Sequence[Proposal] = (),
    line: float = DEFAULT_LINE,
    holders: Mapping[str, NDArray[np.integer]] | None = None,
) -> Diagnosis:
    """Return what is odd about a corpus, each finding with what to do; nothing is changed.

    With *holders* (term → numbers of the documents that hold it) the gap is sought among their rates, and
    tried on resampled documents.

    >>> rows = [("AI", 436, 347), ("音乐", 436, 54), ("音乐生成", 186, 0), ("复盘", 53, 280), ("sref", 5, 5)]
    >>> found = diagnose(Counts(436, "site", "text", tuple(Counted(*row) for row in rows)), zh)
    >>> [(f.rule, f.names) for f in found.findings if f.rule in ("furniture", "chance", "invisible")]
    [('furniture', ('AI', '音乐')), ('chance', ('音乐生成',)), ('invisible', ('复盘',))]
    """
    furniture = _furniture(counts)
    chance = _chance(counts, furniture.names)
    invisible = _invisible(counts)
    odd = {*furniture.names, *chance.names, *invisible.names}
    found = {c.term: c.found if holders is None else len(holders[c.term]) for c in counts.terms}
    rates = {term: n / counts.n_docs for term, n in found.items() if term not in odd and counts.n_docs}
    n_docs = counts.n_docs or None
    gaps = [
        find_gap(rates, method, n_docs=n_docs, line=line, holders=holders)
        for method in ("window", "three-means")
    ]
    findings = [
        _size(counts, knows),
        furniture,
        _templates(notes, counts),
        chance,
        invisible,
        _absent(counts),
        *_index_pages(notes, lexicon),
        _aliases(proposals),
        line_finding(gaps, counts.n_docs, rates, questions, lexicon, line, knows),
    ]
    return Diagnosis(counts.n_docs, counts.engine, tuple(f for f in findings if f.items or f.rule in _ALWAYS))


_ALWAYS = ("corpus", "line")


def _size(counts: Counts, knows: Knows | None) -> Finding:
    says = f"{counts.n_docs} documents; {len(counts.terms)} terms counted, "
    says += f"by {counts.engine} and in {counts.text}"
    if knows is None:
        advice = "ask the index which fields, kinds and filters it knows before guessing from outside"
        return Finding("corpus", says, advice=advice)
    items = (
        Item("fields", ", ".join(knows.fields)),
        Item("kinds", ", ".join(knows.kinds) or "none: every page is a note, only names tell index pages"),
        Item("filters", ", ".join(knows.filters) or "none: tag: and the like in a query filter nothing"),
    )
    return Finding("corpus", says, items)


def _furniture(counts: Counts) -> Finding:
    found = [
        c
        for c in counts.terms
        if c.found >= FURNITURE_RATE * counts.n_docs > 0 and c.holds < FURNITURE_TEXT * c.found
    ]
    return Finding(
        "furniture",
        "found on nearly every page though far fewer texts hold them: they stand in what all pages share",
        tuple(Item(c.term, _beside(c, counts)) for c in found),
        "leave header, footer and navigation out of the index; until then their rates say nothing",
    )


def _beside(c: Counted, counts: Counts) -> str:
    witnesses = "".join(f", {name} {n}" for name, n in c.others)
    return f"found {c.found}, text {c.holds}{witnesses}, of {counts.n_docs}"


def _chance(counts: Counts, furniture: Sequence[str]) -> Finding:
    found = [c for c in counts.terms if c.found >= MIN_CHANCE and c.holds < CHANCE_RATIO * c.found]
    items = []
    for c in sorted(found, key=lambda c: (-c.found, c.term)):
        pieces = [f for f in furniture if fold(f) in fold(c.term) and fold(f) != fold(c.term)]
        shared = f"; {', '.join(pieces)} is on every page, so the rest alone is counted" if pieces else ""
        items.append(Item(c.term, _beside(c, counts) + shared))
    return Finding(
        "chance",
        "found in pieces, hardly ever written so: a low rate here is a rare combination, not a telling term",
        tuple(items),
        "put them behind or take them apart (querykit does, given phrase counts); strip what made them",
    )


def _invisible(counts: Counts) -> Finding:
    """Latin terms only where the engine finds none: as substrings they stand in longer words (IP, script)."""
    found = [
        c
        for c in counts.terms
        if c.holds >= MIN_INVISIBLE and c.found < (1 if c.term.isascii() else INVISIBLE_RATIO * c.holds)
    ]
    return Finding(
        "invisible",
        "written in the notes, but the engine finds few of them or none: its segmenter cuts elsewhere",
        tuple(
            Item(c.term, _beside(c, counts)) for c in sorted(found, key=lambda c: (c.found - c.holds, c.term))
        ),
        "cut or shorten them before searching, or search an engine that finds any run of characters",
    )


def _absent(counts: Counts) -> Finding:
    found = [c.term for c in counts.terms if not c.found and not c.holds]
    return Finding(
        "absent",
        "in no document at all: words that readers use and the notes do not",
        tuple(Item(term) for term in found),
        "those that name a thing the notes have under another name are aliases to add",
    )


# ---------------------------------------------------------------- notes

_MARKUP = regex.compile(r"[\s#>*_`|:\-=+~\[\](){}<>!.,，。：；、]+")


def template_lines(notes: Iterable[tuple[str, str, str]]) -> tuple[tuple[str, int], ...]:
    """Lines that many notes repeat, the most frequent first, with the number of notes.

    >>> notes = [(f"{i}.md", "", f"## 相关链接\\n第{i}篇") for i in range(12)]
    >>> template_lines(notes)
    (('## 相关链接', 12),)
    """
    seen: Counter[str] = Counter()
    n_docs = 0
    for _, _, text in notes:
        n_docs += 1
        seen.update({line for raw in text.splitlines() if _says_something(line := raw.strip())})
    least = max(TEMPLATE_NOTES, TEMPLATE_SHARE * n_docs)
    return tuple(sorted(((line, n) for line, n in seen.items() if n >= least), key=_most_first))


def _says_something(line: str) -> bool:
    return not line.startswith("```") and len(_MARKUP.sub("", line)) > 1


def _most_first(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _templates(notes: Sequence[tuple[str, str, str]], counts: Counts) -> Finding:
    """Terms that stand in template lines more than in what is written between them."""
    lines = template_lines(notes)
    shared = {line for line, _ in lines}
    items = [Item(line, f"a line in {n} notes") for line, n in lines[:MOST_LINES]]
    joined = fold_lines("\n".join(shared))
    in_lines = [c for c in counts.terms if shared and fold(c.term) in joined]
    if in_lines:
        rest = [fold_lines("\n".join([path, title, *_without(text, shared)])) for path, title, text in notes]
        for c in in_lines:
            without = len(holders_of(fold(c.term), rest))
            if c.holds >= TEMPLATE_SHARE * counts.n_docs and 2 * without < c.holds:
                items.append(Item(c.term, f"in {c.holds} notes, outside of such lines in {without}"))
    return Finding(
        "template",
        "lines that many notes repeat; their words count in every one of these notes and tell none apart",
        tuple(items),
        "move what all notes share into the front matter, which is not indexed but for tags and aliases",
    )


def _without(text: str, shared: set[str]) -> Iterator[str]:
    return (raw for raw in text.splitlines() if raw.strip() not in shared)


_LINK = regex.compile(r"!?\[\[(?P<wiki>[^\]\n]+)\]\]|!?\[(?P<text>[^\]\n]*)\]\([^)\n]*\)|https?://[^\s)>]+")


def link_share(text: str) -> tuple[float, int]:
    """The share of *text* that is link text (0 … 1, blanks and markup aside), and the number of links.

    >>> link_share("# 目录\\n- [[蒸馒头]]\\n- [煮面](b.md)\\n")
    (0.7142857142857143, 2)
    """
    inside, count = 0, 0
    for match in _LINK.finditer(text):
        count += 1
        inside += len(_MARKUP.sub("", match["wiki"] or match["text"] or ""))
    bare = _LINK.sub("", text)
    outside = len(_MARKUP.sub("", bare))
    return (inside / (inside + outside) if inside + outside else 0.0), count


def _index_pages(notes: Sequence[tuple[str, str, str]], lexicon: Lexicon) -> Iterator[Finding]:
    named = [path for path, _, _ in notes if is_index_page(path, lexicon)]
    listing = []
    for path, _, text in notes:
        share, links = link_share(text)
        if share >= INDEX_LINK_SHARE and links >= INDEX_LINKS:
            listing.append((path, share, links))
    listing.sort(key=lambda row: (-row[2], row[0]))
    yield Finding(
        "index-pages",
        "pages whose names say that they are an index: they only fill the places that notes leave free",
        tuple(Item(path) for path in named),
        "a note among them needs another name, or a list of patterns of your own ([replace] index_pages)",
    )
    unnamed = [row for row in listing if row[0] not in set(named)]
    patterns = ", ".join(f'"{p}" ({n})' for p, n in name_patterns(path for path, _, _ in unnamed))
    hint = f"; names they share: {patterns}" if patterns else ""
    yield Finding(
        "lists-of-links",
        "pages that are mostly link text and have no index name: they compete with notes for places",
        tuple(Item(path, f"{share:.0%} link text, {links} links") for path, share, links in unnamed),
        f'if they are indexes, add their names: [add] index_pages = ["…"]{hint}',
    )


def name_patterns(paths: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """File-name patterns that two or more of *paths* share: equal names, a first mark (∑), a first word.

    >>> name_patterns(["README.md", "b/README.md", "∑ 写作.md", "∑ 阅读.md", "TOC.md", "TOC-api.md"])
    (('README', 2), ('TOC*', 2), ('∑*', 2))
    """
    found: Counter[str] = Counter()
    for path in paths:
        stem = path.rpartition("/")[2].rpartition(".")[0]
        first = regex.split(r"[-_ ]", stem)[0]
        found[stem] += 1
        if stem and not stem[0].isalnum() and stem[0] not in "_[(（《「":
            found[f"{stem[0]}*"] += 1
        elif len(first) > 1 and not first.isdigit():
            found[f"{first}*"] += 1
    kept = {p: n for p, n in found.items() if n > 1 and not (p.endswith("*") and found[p[:-1]] == n)}
    return tuple(sorted(kept.items(), key=_most_first))


def _aliases(proposals: Sequence[Proposal]) -> Finding:
    return Finding(
        "aliases",
        "names that may mean one thing; nothing is in use until you say so",
        tuple(Item(" = ".join(p.names), str(p)) for p in proposals),
        "read the evidence (querykit aliases --db …), keep what is right in a file, name it with --words",
    )


# ---------------------------------------------------------------- the line


def mixed_questions(
    questions: Iterable[str], rates: Mapping[str, float], line: float, lexicon: Lexicon
) -> tuple[int, int]:
    """How many *questions* have terms on both sides of *line*, and how many have two terms or more.

    Only in the first can a line change the order of the queries.

    >>> mixed_questions(["Suno 提示词", "Suno 怎么用"], {"suno": .1, "提示词": .6}, .4, zh)
    (1, 1)
    """
    mixed = several = 0
    by_key = {fold(term): rate for term, rate in rates.items()}
    for question in questions:
        chunks = strip(normalize(question), lexicon).chunks
        known = [rate for c in chunks if (rate := by_key.get(c.folded.lower()))]
        several += len(known) > 1
        mixed += any(rate > line for rate in known) and any(rate <= line for rate in known)
    return mixed, several


def line_finding(
    gaps: Sequence[Gap],
    n_docs: int,
    rates: Mapping[str, float],
    questions: Sequence[str],
    lexicon: Lexicon,
    line: float,
    knows: Knows | None,
) -> Finding:
    """Does a line help here: the gaps, the questions it could matter to, and what we recommend."""
    chosen: Recommendation = choose_line(gaps, n_docs=n_docs, ranks_terms=bool(knows and knows.ranks_terms))
    items = [Item("evidence", reason) for reason in chosen.reasons]
    above = sorted((t for t, rate in rates.items() if rate > line), key=lambda t: (-rates[t], t))
    shown = ", ".join(above[:12]) + (" …" if len(above) > 12 else "")
    said = f"{len(above)} of {len(rates)} terms: {shown}" if above else "no term"
    items.append(Item(f"above {line:.0%}", said))
    if questions:
        mixed, several = mixed_questions(questions, rates, line, lexicon)
        items.append(
            Item(
                "questions",
                f"{mixed} of {len(questions)} have terms on both sides of the line ({several} have several "
                "terms): only those can the line reorder",
            )
        )
    keep = f"keep it with: querykit index NOTES --db … --line {chosen.line:.2f}"
    to_do = keep if chosen.moves else "nothing to do: the default line stays"
    return Finding("line", f"recommended line: {chosen.line:.0%}", tuple(items), to_do)
