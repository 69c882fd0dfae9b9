"""The judged questions beside the checkout, where present: stripping, and public trouble reports."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from querykit.lexicon import Lexicon
from querykit.run import rewrite
from querykit.strip import strip
from querykit.text import normalize


@pytest.fixture(scope="module")
def scorer(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", shared / "eval" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_strip_cases(shared: Path, scorer: ModuleType, zh: Lexicon) -> None:
    for case in rows(shared / "cases" / "strip.jsonl"):
        got = [c.text for c in strip(normalize(case["q"]), zh).chunks]
        assert scorer.strip_score(case, got) == ([], []), case["q"]


def test_reports(shared: Path, scorer: ModuleType, zh: Lexicon) -> None:
    for case in rows(shared / "cases" / "reports.jsonl"):
        if case["kind"] != "rewrite":
            continue
        ask, lexicon = case["input"], zh
        if isinstance(ask, dict):
            config = ask.get("config", {})
            keep = [*config.get("keep", []), *config.get("dict", [])]
            lexicon, ask = zh.extend(add={"keep": keep}), ask["question"]
        queries = [q.text for q in rewrite(ask, lexicon)[2].queries]
        assert scorer.report_ok(case, queries) == [], (case["id"], ask, queries)
