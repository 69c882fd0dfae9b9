"""How the house stands: imports go one way, the core does no I/O, every name on the menu says what it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import querykit
from querykit.lexicon import load_lexicon

PACKAGE = Path(querykit.__file__).parent
ORDER = [
    "text",
    "lexicon",
    "segment",
    "reading",
    "strip",
    "terms",
    "tiers",
    "suggest",
    "plan",
    "seats",
    "trace",
    "beats",
    "mirror_rules",
    "weighing",
    "mirror",
    "cards",
    "taking",
    "exchange",
]
SHELL = ["run", "material", "building", "render", "cli"]


def imports(module: str) -> set[str]:
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("module", ORDER)
def test_imports_go_one_way(module: str) -> None:
    ours = {name.removeprefix("querykit.") for name in imports(module) if name.startswith("querykit.")}
    assert ours <= set(ORDER[: ORDER.index(module)])


@pytest.mark.parametrize("module", ORDER)
def test_core_does_no_io(module: str) -> None:
    forbidden = {
        "os",
        "io",
        "time",
        "datetime",
        "socket",
        "sqlite3",
        "subprocess",
        "logging",
        "urllib",
        "http",
        "random",
    }
    allowed = {"segment": {"logging"}, "lexicon": {"os"}}.get(
        module, set()
    )  # it silences jieba's log; the one reader
    assert not {name.split(".")[0] for name in imports(module)} & forbidden - allowed


_NO_IO = """
import builtins, io, os, socket, sys
import querykit as qk
zh = qk.load_lexicon()
qk.warm_up(zh)
qk.rewrite("這個知識庫裡講 Suno 的笔记", zh)
def refuse(*a, **k): raise AssertionError("the core did I/O")
builtins.open = io.open = os.open = socket.socket = os.getenv = refuse
for ask in ("库里有没有讲 Suno 音乐生成的笔记?", "ｻｰﾊﾞｰ設定", "", "《怎么办》"):
    stripped, rated, plan = qk.rewrite(ask, zh)
    qk.trace(stripped, rated, plan); qk.allocate([]); qk.replay(stripped)
assert not {m for m in sys.modules if m.startswith(("numpy", "sklearn", "sqlite3", "querykit.engines.sqlite"))}
"""


def test_core_runs_without_files_or_network() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", _NO_IO], check=True)


def test_import_loads_no_dictionary_and_opens_no_data() -> None:
    loaded = "{'rjieba', 'jieba', 'opencc', 'numpy', 'regex', 'click'}"
    code = f"import sys, querykit; assert not {loaded} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_the_shipped_words_need_no_converter() -> None:
    """OpenCC takes 40 ms to load: a question in simplified script never waits for it, Cantonese or not."""
    code = "import sys, querykit; querykit.load_lexicon(); assert 'opencc' not in sys.modules"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_every_name_on_the_menu_has_a_docstring() -> None:
    assert querykit.__all__ == sorted(querykit.__all__)
    for name in querykit.__all__:
        assert getattr(querykit, name).__doc__, name
    with pytest.raises(AttributeError):
        querykit.no_such_name  # noqa: B018


def test_functions_are_not_hidden_by_their_modules() -> None:
    import querykit.plan
    import querykit.strip
    import querykit.terms

    assert callable(querykit.strip)
    assert callable(querykit.terms)


# The default that the value `Elements` is defined with, the ends of a range of characters, and one spelling
# that folding has to know because the converter does not.
_NO_WORDS = {"事件素材", "\u4e00", "\u9fff", "甚么", "什么"}


@pytest.mark.parametrize("module", [*ORDER, *SHELL])
def test_words_are_data(module: str) -> None:
    """No Chinese word in code; docstrings, comments and patterns of marks are prose."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            words = [c for c in node.value if "\u4e00" <= c <= "\u9fff"]
            known = any(text in node.value for text in ("预热", "(?P<han>")) or node.value in _NO_WORDS
            assert not words or known, node.value


def test_lexicon_is_a_value() -> None:
    assert load_lexicon() == load_lexicon()
