# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# ruff: noqa: B018

# %% [markdown]
# # 1 · Hit rates: which words tell notes apart?
#
# A reader asks 库里有没有讲 Suno 音乐生成的笔记. querykit takes away what is about asking and about the base, and two
# terms are left: Suno and 音乐生成. Which of them should go first?
#
# The answer is counted, not guessed. The **hit rate** (命中率) of a term is the share of documents it finds. A term
# that stands in every note tells none apart, however long it is; a term that stands in a few is a good question.
#
# This notebook looks at hit rates: those of a small base, what they mean, and three ways in which they mislead.
# It runs on the sample base of this repository, and on the corpora beside it where they are present.

# %%
# %matplotlib inline
import json
from pathlib import Path

import querykit
from benchmarks.line_sweep import rates_of
from benchmarks.recall import load_corpus
from querykit.building import index_in_memory
from querykit.diagnose import diagnose, read_counts
from querykit.gap import find_gap, question_terms
from querykit.plots import draw_rates, draw_sorted, new_axes, new_panels
from querykit.run import rate_terms, rewrite
from querykit.text import fold
from querykit.tiers import CHANCE_RATIO

ROOT = Path(querykit.__file__).parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
zh = querykit.load_lexicon()
notes = index_in_memory(ROOT / "sample")
notes.n_docs

# %% [markdown]
# ## From a question to terms with rates
#
# `rewrite` shows what would be asked, strongest first. Nobody here wrote 音乐生成 as it stands, so it was taken apart;
# its words and Suno go in the order of their rates, the rarest first. In a base of 44 notes that order hangs on a
# note or two. In the 442 notes of the site where this began, 音乐生成 was counted at 43 % and Suno at 12 %.

# %%
stripped, rated, plan = rewrite("库里有没有讲 Suno 音乐生成的笔记", zh, notes)
print("asked:", stripped.question.raw)
print("gone: ", [(removed.text, removed.rule) for removed in stripped.removed])
for query in plan.queries:
    print(f"{query.text:8} {query.tier.value:9} {query.hit_rate:6.1%}")

# %% [markdown]
# ## All terms of a question log
#
# One question says little about a base. Here are the terms of fifty questions about the sample: orange ones stand in
# more than 40 % of the notes, and querykit calls them *common*. They go last. They are not dropped: the first note
# that prompt finds may well be the right one.

# %%
log = ROOT / "tests" / "cases" / "sample_questions.jsonl"
questions = [json.loads(line)["question"] for line in log.read_text(encoding="utf-8").splitlines()]
terms = question_terms(questions, zh)
stats = rate_terms(terms, notes)
rates = {term: rate for term in terms if (rate := stats.rate(fold(term)))}
figure, axes = new_axes(9, 9)
draw_rates(axes, rates, stats.line)
axes.set_title(
    f"{len(rates)} terms of {len(questions)} questions, {notes.n_docs} notes", fontsize=10, loc="left"
)
figure

# %% [markdown]
# ## First trap: a rare combination looks like a telling term
#
# An engine that finds 音乐生成 in notes that hold 音乐 here and 生成 there reports a low rate, and low looks good. The
# second count tells: in how many notes does the term stand *as it is*? A term with many hits and hardly any
# phrases is a chance combination (偶然组合), and goes behind. Below three good terms are two such combinations, then
# those of the picture above: some stand high in it although nobody wrote them.

# %%
shown = ["Suno", "工作流", "角色一致性", "音乐生成", "里讲工作流"]
found, written = stats.df, stats.phrase_df
shown += [t for t in rates if found[fold(t)] > 2 and written[fold(t)] < CHANCE_RATIO * found[fold(t)]]
counted = rate_terms(shown, notes)
for term in shown:
    print(f"{term}: found in {counted.df[fold(term)]}, written so in {counted.phrase_df[fold(term)]}")

# %% [markdown]
# ## Second and third trap: furniture, and words that the engine cannot see
#
# Rates are what an *engine* counts, and it may count something else than the notes. A site that indexes its page
# header finds AI, prompt, 笔记 and 音乐 on every page. And where its segmenter cuts otherwise, a word that many notes
# hold is not found at all. Beside the count of the text both show at once. `querykit doctor` prints this.

# %%
site = SHARED / "spiderweb" / "counts.jsonl"
if site.is_file():
    counts = read_counts(map(json.loads, site.read_text(encoding="utf-8").splitlines()))
else:  # the same in small, for a checkout without the corpora
    rows = [("AI", 436, 347), ("音乐", 436, 54), ("音乐生成", 186, 0), ("复盘", 53, 280), ("sref", 45, 45)]
    counts = read_counts({"term": t, "n_docs": 436, "site": n, "text": m} for t, n, m in rows)
for finding in diagnose(counts, zh).findings:
    if finding.rule in ("furniture", "chance", "invisible"):
        print(f"{finding.rule}: {finding.says}")
        for item in finding.items[:6]:
            print(f"    {item.name:8} {item.evidence}")

# %% [markdown]
# Each dot is a term. On the diagonal the engine finds what the text holds. Three kinds lie far from it: furniture at
# the top, chance combinations at the left edge, invisible terms at the bottom.

# %%
found = {f.rule: set(f.names) for f in diagnose(counts, zh).findings}
odd = set().union(*(found.get(rule, set()) for rule in ("furniture", "chance", "invisible")))
found[""] = {c.term for c in counts.terms} - odd
colours = {"": "#33688e", "furniture": "#b5443c", "chance": "#d97b29", "invisible": "#4f8f5b"}
labels = {  # where beside its dot each name has room
    "AI": (6, -4),
    "GitHub": (-8, -16),
    "音乐": (6, 4),
    "音乐生成": (8, -4),
    "复盘": (8, -4),
    "剪辑": (8, -4),
    "工作流": (8, -4),
    "的笔记": (8, -4),
}
figure, axes = new_axes(8, 6)
axes.plot([0, 1], [0, 1], color="#8a8f94", lw=0.8)
for rule, colour in colours.items():
    shown = [c for c in counts.terms if c.term in found.get(rule, set())]
    x = [c.holds / counts.n_docs for c in shown]
    y = [c.found / counts.n_docs for c in shown]
    axes.scatter(x, y, s=14, color=colour, label=rule or "as one would expect")
    for c, place in zip(shown, zip(x, y, strict=True), strict=True):
        if c.term in labels:
            axes.annotate(c.term, place, labels[c.term], textcoords="offset points")
axes.set_xlabel("share of notes whose text holds the term")
axes.set_ylabel("share of pages the engine finds")
axes.set_ylim(-0.04, 1.08)
axes.legend(frameon=False, fontsize=9, loc="center right")
figure

# %% [markdown]
# ## Bases differ
#
# The same curve for other bases: rates of the terms that their readers ask for, as they stand in the text, sorted. All
# fall steeply. Where one would draw a line between "common" and "specific" differs, and in some there is no place
# for one. That is the subject of the next notebook.

# %%
places = {"sample": (ROOT / "sample", log)}
for name in ("spiderweb", "javaguide", "howtocook"):
    if (SHARED / name).is_dir():
        places[name] = SHARED / name / "notes.jsonl.gz", SHARED / name / "questions.jsonl"
figure, panels = new_panels(len(places), 4.2 * len(places), 4)
for axes, (name, pair) in zip(panels, places.items(), strict=True):
    corpus = load_corpus(*pair, name)
    seen = rates_of(corpus, zh)
    gap = find_gap(seen.rates, n_docs=corpus.engine.n_docs, holders=seen.holders)
    draw_sorted(axes, seen.rates, 0.40, [gap])
    axes.set_title(f"{name}: {corpus.engine.n_docs} notes", fontsize=10, loc="left")
figure

# %% [markdown]
# **To take along.** Look at the rates of *your* terms in *your* base before you argue about a question:
# `querykit rates 工作流 Suno --db kb.db`, `querykit gap --db kb.db --questions log.txt`, `querykit doctor --db kb.db`.
