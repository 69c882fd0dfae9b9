# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# ruff: noqa: B018

# %% [markdown]
# # 3 · The boundary sweep: which words does stripping still damage, and why?
#
# Stripping takes 知识库里讲 and 的笔记 away from 知识库里讲工作流的笔记. It works on short words: 里, 讲, 的, 有, 上.
# The same characters open and close thousands of real words: 里程碑, 讲座, 的确, 有限元, 上海. A rule that takes one
# of them away from a word leaves 程碑, and nobody who asked will know why nothing was found.
#
# So every everyday word is tried. The sweep puts each Han word of jieba's dictionary with a frequency of 50 or more
# alone, and into a question, and looks whether it comes back whole.

# %%
# %matplotlib inline
import time
from collections import Counter
from pathlib import Path

import querykit
from benchmarks.sweep import FRAME, damaged, dictionary_words, is_ours
from querykit.plots import BLUE, new_axes
from querykit.strip import strip
from querykit.text import normalize

ROOT = Path(querykit.__file__).parent.parent
zh = querykit.load_lexicon()
words = dictionary_words()
ours = [word for word in words if is_ours(word, zh)]
swept = [word for word in words if not is_ours(word, zh)]
print(f"{len(words):,} words, of which {len(ours)} are entries of our own lists; {len(swept):,} are swept")

# %% [markdown]
# ## The frame that is guarded
#
# These two counts are a ratchet in the tests: they may only go down.

# %%
start = time.perf_counter()
alone = list(damaged(swept, zh, framed=False))
framed = list(damaged(swept, zh, framed=True))
print(f"alone: {len(alone)} damaged {alone[:5]}")
print(f"inside {'…'.join(FRAME)}: {len(framed)} damaged {framed[:5]}")
print(f"{(time.perf_counter() - start) / 2 / len(swept) * 1e6:.0f} µs a word")

# %% [markdown]
# Words that are entries of ours are another matter: they are *meant* to go when they stand in their role. Alone,
# most stay, since nothing else would be left of the question. These go even alone: words of greeting, asking,
# pointing and counting, which name nothing:

# %%
gone = [word for word in ours if not strip(normalize(word), zh).chunks]
print(len(gone), "of", len(ours), "·", " ".join(gone[:60]))

# %% [markdown]
# ## Frames that nobody tuned
#
# A ratchet on one frame is soon passed by that frame. So here are other ways of asking, each around every fifth word.
# A word is damaged when it is not one of the chunks that come back: cut short, gone, or glued to what stood beside
# it.

# %%
FRAMES = {
    "有没有关于…的文章": ("有没有关于", "的文章"),
    "库里有…吗": ("库里有", "吗"),
    "…怎么用": ("", "怎么用"),
    "请问…是什么": ("请问", "是什么"),
    "笔记里写的…在哪": ("笔记里写的", "在哪"),
    "…的笔记有几条": ("", "的笔记有几条"),
    "我想找…相关的资料": ("我想找", "相关的资料"),
    "…和绘图的区别": ("", "和绘图的区别"),
}
sample = swept[::5]
lost: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
for name, (before, after) in FRAMES.items():
    lost[name] = []
    for word in sample:
        chunks = tuple(chunk.text for chunk in strip(normalize(before + word + after), zh).chunks)
        if word not in chunks:
            lost[name].append((word, chunks))

figure, axes = new_axes(8, 3.6)
shares = [len(bad) / len(sample) for bad in lost.values()]
axes.barh(range(len(lost)), shares, color=BLUE)
axes.set_yticks(range(len(lost)), list(lost))
axes.invert_yaxis()
axes.set_xlabel("share of words that do not come back whole")
axes.xaxis.set_major_formatter(lambda x, _place: f"{x:.1%}")
for place, bad in enumerate(lost.values()):
    axes.text(shares[place], place, f" {len(bad)} of {len(sample):,}", va="center", fontsize=8)
axes.set_xlim(0, max([*shares, 0.001]) * 1.25)
figure

# %% [markdown]
# ## Why
#
# Three kinds of damage. **Glued**: the chunk holds the word and something of the frame; the search finds less, but
# about the right thing. **Cut**: a part of the word is gone. **Gone**: nothing of it is left, so that the question
# is about nothing.

# %%
kinds: dict[str, Counter[str]] = {}
examples: dict[str, list[str]] = {}
for name, bad in lost.items():
    kinds[name] = Counter()
    for word, chunks in bad:
        if any(word in chunk for chunk in chunks):
            kind = "glued"
        elif any(set(chunk) & set(word) for chunk in chunks):
            kind = "cut"
        else:
            kind = "gone"
        kinds[name][kind] += 1
        before, after = FRAMES[name]
        examples.setdefault(kind, []).append(f"{before}[{word}]{after} → {' | '.join(chunks) or '(nothing)'}")
for kind in ("glued", "cut", "gone"):
    shown = examples.get(kind, [])
    print(f"{kind}: {len(shown)} of {len(sample) * len(FRAMES):,}")
    print("\n".join(f"    {example}" for example in shown[:: max(1, len(shown) // 12)]))

# %% [markdown]
# Much of it is real ambiguity at the seam: 有着, 问题, 找出, 线性相关 are words too, and where the frame ends in 有,
# 问 or 找, the path through the dictionary may take the character of the frame for the beginning of the word.
# Another part are rarer words that open or close with a character of grammar (过道, 利好, 中和). A few are grammar
# themselves (为着, 同于), and nobody misses them.
#
# Which rules took the parts that are gone? A rule that shows up often here is the one to look at first.

# %%
rules: Counter[str] = Counter()
for name, bad in lost.items():
    before, after = FRAMES[name]
    for word, chunks in bad:
        if not any(word in chunk for chunk in chunks):
            for removed in strip(normalize(before + word + after), zh).removed:
                if removed.span.start < len(before) + len(word) and removed.span.end > len(before):
                    rules[removed.rule] += 1
if rules:
    figure, axes = new_axes(8, 0.8 + 0.3 * len(rules))
    ordered = rules.most_common()
    axes.barh(range(len(ordered)), [n for _, n in ordered], color=BLUE)
    axes.set_yticks(range(len(ordered)), [rule for rule, _ in ordered])
    axes.invert_yaxis()
    axes.set_xlabel("times a rule took a part of a swept word")
figure

# %% [markdown]
# **To take along.** Before a one-character entry goes into a word list, run `python -m benchmarks.sweep`, and this
# notebook; after it, read the words that are new here. A word that must stay whole goes into `keep.toml`.
