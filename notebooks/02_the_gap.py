# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# ruff: noqa: B018, E402

# %% [markdown]
# # 2 · The 40 % gap: is there a line, and does it matter?
#
# One reader looked at the sorted hit rates of one base of 442 notes. Below 38 % stood topics (工作流, Skill), above
# 43 % stood words that say nothing (用的, prompt), and nothing in between. So the line was drawn at 40 %: terms above
# it are common and go last.
#
# Three questions that an engineer with another base will ask:
#
# 1. Where would my own rates put the line?
# 2. How sure is that: would it be there if other notes had been written?
# 3. What does the line do to the sources that readers get?

# %%
# %matplotlib inline
from pathlib import Path

import numpy as np

import querykit
from benchmarks.line_sweep import LINES, PANELS, best_line, gains, rates_of, sweep
from benchmarks.recall import interval, load_corpus
from querykit.gap import METHODS, choose_line, find_gap
from querykit.plots import Point, draw_bands, draw_intervals, draw_rates, draw_sorted, new_axes, new_panels

ROOT = Path(querykit.__file__).parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
zh = querykit.load_lexicon()
LIMIT = 150  # questions per corpus: the bands are wide enough to say how much that is

places = {"sample": (ROOT / "sample", ROOT / "tests" / "cases" / "sample_questions.jsonl")}
for folder in sorted(SHARED.glob("*")):
    places[folder.name] = folder / "notes.jsonl.gz", folder / "questions.jsonl"
corpora = {name: load_corpus(*pair, name, LIMIT) for name, pair in places.items()}
rates = {name: rates_of(corpus, zh) for name, corpus in corpora.items()}
first = "spiderweb" if "spiderweb" in corpora else "sample"
{name: (corpus.engine.n_docs, len(corpus.questions)) for name, corpus in corpora.items()}

# %% [markdown]
# ## Where the rates would put it
#
# Rates here are of the terms that readers ask for, counted in the text of the notes. On the notes that the 40 % came
# from (spiderweb, drawn below where it is at hand) the gap is still there. The sample base has none: in 44 notes
# any distance can be chance.

# %%
seen = rates[first]
corpus = corpora[first]
found = {
    method: find_gap(seen.rates, method, n_docs=corpus.engine.n_docs, holders=seen.holders)
    for method in METHODS
}
figure, axes = new_axes(9, 10)
draw_rates(axes, seen.rates, 0.40, found["window"])
axes.set_title(f"{first}: {len(seen.rates)} terms", fontsize=10, loc="left")
figure

# %% [markdown]
# Three methods: the widest distance in a narrow **window** around 40 %; the upper cut of **3-means**; the **fixed**
# line, and what happens to lie around it. Each is told with its width against the distances beside it, how often
# chance alone would make it so wide, and how often it is still there when the notes are drawn again with
# replacement. *That there is no gap is an answer.*

# %%
for gap in found.values():
    print(gap, end="\n\n")

# %% [markdown]
# `choose_line` weighs all that and recommends a line in words. It applies nothing: a person keeps a line with
# `querykit index NOTES --db … --line …`.

# %%
print("\n".join(choose_line(list(found.values()), n_docs=corpus.engine.n_docs).reasons))

# %% [markdown]
# ## How sure is that?
#
# Each dot is the line that the window method draws, with 90 % of the lines from 200 resampled corpora. A cross says
# that it is no gap by its own evidence: too few terms above, or no wider than chance. Corpora in which no two
# neighbouring rates meet inside the window are not shown.
#
# A caution: a narrow window keeps the line in place partly because there is little room to move. A line put
# blindly into the window would lie in a wide gap most of the time. `benchmarks/gap.md` has both figures.

# %%
rows = {}
for name, r in rates.items():
    gap = find_gap(r.rates, n_docs=corpora[name].engine.n_docs, holders=r.holders)
    if gap.stability is not None:
        label = f"{name}: stays in {gap.stability.same:.0%}" + ("" if gap.is_gap else "  ×")
        rows[label] = Point(0, gap.line, min(gap.stability.low, gap.line), max(gap.stability.high, gap.line))
figure, axes = new_axes(8, 0.8 + 0.35 * len(rows))
draw_intervals(axes, rows, xlabel="the line of the window method, 90 % of resampled corpora", mark=0.40)
figure

# %% [markdown]
# ## Methods that one would try first, and why they are not in the library
#
# Straight from scikit-learn and scipy: two clusters, Otsu's threshold (the split that leaves the least variance
# within: a regression tree with one split), and the valley between the peaks of a density. All three look for *two
# kinds* of terms. There are not two: rates fall in one long curve, most of it near zero, so the first two cut
# where the curve bends, among the topics; and where the density has a valley is an accident of its few
# frequent terms.

# %%
from scipy.signal import argrelmin
from scipy.stats import gaussian_kde
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

values = np.array(sorted(seen.rates.values()))
column = values.reshape(-1, 1)
with threadpool_limits(1):
    two = KMeans(2, n_init=10, random_state=0).fit(column)
cuts = {"2-means": values[two.labels_ == np.argmax(two.cluster_centers_)].min()}
cuts["Otsu"] = DecisionTreeRegressor(max_depth=1).fit(column, values).tree_.threshold[0]
grid = np.linspace(0, 1, 501)
density = gaussian_kde(values)(grid)
valleys = grid[argrelmin(density)]

figure, panels = new_panels(2, 13, 4.5)
draw_sorted(panels[0], seen.rates, 0.40, list(found.values())[:1])
for (name, cut), style in zip(cuts.items(), ("--", ":"), strict=True):
    panels[0].axhline(cut, color="black", lw=1, ls=style, label=f"{name}: {cut:.1%}")
panels[0].legend(frameon=False, fontsize=8)
panels[1].plot(grid, density, color="#33688e")
for valley in valleys:
    panels[1].axvline(valley, color="black", lw=0.8, ls=":")
panels[1].axvline(0.40, color="#b5443c", lw=1.2)
panels[1].set_xlabel("hit rate")
panels[1].set_ylabel("density of terms")
panels[1].set_title(
    f"valleys at {', '.join(f'{v:.0%}' for v in valleys) or 'no place'}", fontsize=10, loc="left"
)
figure

# %% [markdown]
# The terms between Otsu's cut and the line of 40 %. On spiderweb they are what its notes are about; Otsu would call
# them common.

# %%
low, high = sorted((cuts["Otsu"], 0.40))
print([t for t, rate in sorted(seen.rates.items(), key=lambda item: -item[1]) if low < rate <= high])

# %% [markdown]
# ## What the line does to the sources
#
# Now what counts: recall@6 on judged questions, with the line moved from 0.05 to 1. Zero is doing nothing: one
# query per term in the order of the question on the left, the combined query without a line on the right.
#
# * **by rate** is what querykit does: common terms behind, and within a tier the rarer first;
# * **as asked** is the source's rule: common terms behind, the others in the order of the question;
# * **dropped**: common terms are not searched at all.
#
# Bands are 95 %, over the same questions, so a band that holds zero says: no difference that these questions show.


# %%
recall = {name: sweep(corpus, zh) for name, corpus in corpora.items()}

figure, panels = new_panels(2, 13, 4.5)
for axes, panel in zip(panels, PANELS, strict=True):
    curves = {
        treatment: [Point(line, *interval(row)) for line, row in zip(LINES, table, strict=True)]
        for treatment, table in gains(recall[first], panel).items()
    }
    axes.axhline(0, color="black", lw=0.8)
    draw_bands(axes, curves, xlabel="line", ylabel="recall@6 against doing nothing", mark=0.40)
    axes.set_title(f"{first}: {panel}", fontsize=10, loc="left")
figure

# %% [markdown]
# Demoting moves little, wherever the line lies. Dropping is another matter: a low line throws away what the question
# is about.
#
# The same at the default line, corpus by corpus. Most intervals hold zero. Where one does not, it is the order by
# rate that gains, or a common term that was dropped and freed a seat (tidb). Dropping from the combined query
# costs more than it gains. In a base as small as the sample a rate hangs on a note or two, and ordering by it gains
# nothing.

# %%
at = LINES.index(0.40)
figure, panels = new_panels(2, 13, 0.9 + 0.3 * 3 * len(recall))
for axes, panel in zip(panels, PANELS, strict=True):
    rows = {
        f"{name} · {treatment}": Point(0, *interval(table[at]))
        for name, values in recall.items()
        for treatment, table in gains(values, panel).items()
    }
    draw_intervals(axes, rows, xlabel="recall@6 at 0.40 against doing nothing, 95 %", mark=0)
    axes.set_title(panel, fontsize=10, loc="left")
figure

# %% [markdown]
# And against the best line in hindsight, which nobody has beforehand. The combined query and the order by rate lose
# next to nothing (but for two questions of tidb, in which a soft word was the telling one). Where the order of the
# question is kept, the best line differs from corpus to corpus.

# %%
for name, values in recall.items():
    told = []
    for treatment in ("combined", "by rate", "as asked"):
        means, best = values[treatment].mean(axis=1), best_line(values[treatment])
        told.append(f"{treatment}: {means[at]:.3f}, best {means[best]:.3f} at {LINES[best]:.2f}")
    print(f"{name:14}", " · ".join(told))

# %% [markdown]
# **To take along.** The gap is real in some bases and absent in others. Sorting terms by their rate does nearly all
# of the work; the line labels terms for people, and moves soft words and the weight of names. So it stays at 40 %
# until a person with judged questions has a reason to move it.
