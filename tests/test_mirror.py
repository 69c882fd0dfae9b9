"""The labelled mirror inputs, the public reports, and what the words must look like."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from querykit.beats import Node, Persona
from querykit.cli_mirror import lint as lint_command
from querykit.cli_mirror import mirror as mirror_command
from querykit.lexicon import Lexicon, LexiconError, lexicon_folder
from querykit.mirror import (
    Elements,
    Finding,
    MirrorQuery,
    MirrorRules,
    Rejected,
    Skipped,
    compose,
    elements_of,
    lint,
    lint_text,
    load_mirror,
    parse_mirror,
)
from querykit.mirror_rules import build_mirror


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


CASES = rows(Path(__file__).parent / "cases" / "mirror.jsonl")
SHEETS = {
    name: tomllib.loads((lexicon_folder() / f"{name}.toml").read_text("utf-8"))
    for name in ("mirror", "tracks")
}
GOOD = Elements("被当场刁难的人", "用一连串专业细节把对方顶回去", "试妆镜前", "钩子")


@pytest.fixture(scope="module")
def rules() -> MirrorRules:
    return load_mirror()


def found(case: Mapping[str, Any], rules: MirrorRules, lexicon: Lexicon) -> tuple[Finding, ...]:
    if "question" in case:
        return lint_text(case["question"], rules, lexicon)
    blank = {"contrast": "", "break_by": "", "anchor": "", "function": ""}
    return lint(Elements(**(blank | case["elements"])), rules)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_labelled_rules_fire_and_no_others(case: dict[str, Any], rules: MirrorRules, zh: Lexicon) -> None:
    findings = found(case, rules, zh)
    assert sorted({f.rule for f in findings if f.fatal}) == case["rules"]
    assert sorted({f.rule for f in findings if not f.fatal}) == case["warnings"]


def test_every_rule_has_cases_that_fire_it_and_warn_of_it() -> None:
    assert len(CASES) >= 150
    fired = [rule for case in CASES for rule in case["rules"] + case["warnings"]]
    for rule in SHEETS_RULES:
        assert fired.count(rule) >= 2, rule


SHEETS_RULES = (
    "missing-element",
    "abstract-mechanism",
    "track-led",
    "metadata-filter",
    "unknown-function",
    "track-common",
    "track-empty",
)


@pytest.mark.parametrize("sheet", sorted(SHEETS))
def test_the_examples_of_a_sheet_hold(sheet: str, rules: MirrorRules, zh: Lexicon) -> None:
    for example in SHEETS[sheet]["example"]:
        assert sorted({f.rule for f in lint_text(example["ask"], rules, zh)}) == sorted(example["rules"])


def test_public_reports(shared: Path, rules: MirrorRules) -> None:
    reason = {"anchor": "missing-element", "track": "track-led"}
    seen = 0
    for report in rows(shared / "cases" / "reports.jsonl"):
        if report["kind"] != "mirror":
            continue
        seen += 1
        given, expect = report["input"], report["expect"]
        outcome = compose(Elements(given["gap"], given["break"], given["anchor"], given["function"]), rules)
        if expect.get("rejected"):
            assert isinstance(outcome, Rejected)
            assert reason[expect["reason"]] in {f.rule for f in outcome.findings}
        else:
            assert isinstance(outcome, MirrorQuery)
            assert "".join(outcome.text.split()) == "".join(expect["query"].split())
    assert seen


# --- compose and parse -------------------------------------------------------------------------------------


def test_typed_text_stays_in_the_query_however_it_is_matched(rules: MirrorRules) -> None:
    outcome = compose(Elements("被當場刁難的人", "亮出ｉＰａｄ裡的底稿", "試妝鏡前", "鉤子型"), rules)
    assert isinstance(outcome, MirrorQuery)
    assert outcome.text == "找一条 被當場刁難的人 亮出ｉＰａｄ裡的底稿 試妝鏡前 的 鉤子型事件素材"


@pytest.mark.parametrize(
    ("typed", "clean"),
    [
        ("  试妆镜前。", "试妆镜前"),
        ("「试妆镜前」", "试妆镜前"),
        ("试妆\n镜前", "试妆镜前"),
        ("试妆镜前的", "试妆镜前"),
        ("射击场的标的", "射击场的标的"),
        ("iPhone 15 柜台", "iPhone 15柜台"),
    ],
)
def test_blanks_and_marks_are_cleaned(typed: str, clean: str, rules: MirrorRules) -> None:
    outcome = compose(replace(GOOD, anchor=typed), rules)
    assert isinstance(outcome, MirrorQuery)
    assert outcome.elements.anchor == clean
    assert parse_mirror(outcome.text, rules) == outcome.elements


def test_what_looks_like_a_field_is_text(rules: MirrorRules) -> None:
    outcome = compose(replace(GOOD, anchor="写着{contrast}和%s的试妆镜前"), rules)
    assert isinstance(outcome, MirrorQuery)
    assert "{contrast}和%s" in outcome.text


def test_a_warning_does_not_reject(rules: MirrorRules) -> None:
    outcome = compose(replace(GOOD, anchor="剧情片场"), rules)
    assert isinstance(outcome, MirrorQuery)
    assert [(f.rule, f.fatal) for f in outcome.findings] == [("track-common", False)]
    assert "77.5%" in outcome.findings[0].message


def test_functions_are_extended_and_named_when_unknown(rules: MirrorRules) -> None:
    (finding,) = lint(replace(GOOD, function="收尾"), rules)
    assert "最接近的是" in finding.message
    assert all(name in finding.message for name in rules.functions)
    assert lint(replace(GOOD, function="收尾型"), rules.extend(["收尾型"])) == ()


# --- the beat table ----------------------------------------------------------------------------------------

NODE = Node("被当众考问的新手妈妈", "月子中心", "用一串手上功夫顶回去", "留人")


def test_a_row_becomes_elements_with_the_account_s_own_anchor(rules: MirrorRules) -> None:
    elements = elements_of(NODE, Persona("亲子", ("电动车后座", "妈妈的保温桶")), rules)
    assert elements == Elements(
        "月子中心被当众考问的新手妈妈", "用一串手上功夫顶回去", "妈妈的保温桶", "留人"
    )


def test_without_items_the_scene_is_the_anchor(rules: MirrorRules) -> None:
    assert elements_of(NODE, Persona("亲子"), rules) == Elements(
        "被当众考问的新手妈妈", "用一串手上功夫顶回去", "月子中心", "留人"
    )


def test_a_row_with_a_scene_of_its_own_is_skipped(rules: MirrorRules) -> None:
    assert elements_of(replace(NODE, own_scene=True), Persona("亲子"), rules) == Skipped("own_scene")


# --- the words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sheet", "change", "key"),
    [
        ("mirror", {"schema": 2}, "schema"),
        ("mirror", {"frame": "找一条 {anchor}"}, "frame"),
        ("mirror", {"functions": "钩子"}, "functions"),
        ("mirror", {"weak": {"words": ["厨具", "厨具"]}}, "weak.words"),
        ("mirror", {"weak": {"words": ["反差"]}}, "weak.words"),
        ("mirror", {"abstract": [{"why": "…", "words": []}]}, "abstract 1.instead"),
        ("mirror", {"abstract": ["反差"]}, "abstract 1"),
        ("mirror", {"messages": {}}, "messages.missing"),
        ("tracks", {"tracks": {"剧情": -1}, "also": {}}, "tracks.剧情"),
        ("tracks", {"also": {"影": "影视"}}, "also.影"),
        ("tracks", {"stock": 240}, "stock"),
    ],
)
def test_a_broken_sheet_names_file_and_key(sheet: str, change: dict[str, Any], key: str, zh: Lexicon) -> None:
    with pytest.raises(LexiconError) as error:
        build_mirror({**SHEETS, sheet: {**SHEETS[sheet], **change}}, zh)
    assert (f"{sheet}.toml", key) in {(p.file, p.key) for p in error.value.problems}


def test_lists_of_ones_own_take_the_place_of_the_shipped(tmp_path: Path) -> None:
    text = (lexicon_folder() / "mirror.toml").read_text("utf-8")
    (tmp_path / "mirror.toml").write_text(text.replace('functions = ["', 'functions = ["收尾", "'), "utf-8")
    assert load_mirror(tmp_path).functions[0] == "收尾"
    (tmp_path / "mirrors.toml").write_text("", "utf-8")
    (tmp_path / "tracks.toml").write_bytes(b"\xff")
    with pytest.raises(LexiconError, match=r"mirrors\.toml.*tracks\.toml"):
        load_mirror(tmp_path)
    with pytest.raises(LexiconError, match="holds no word list"):
        load_mirror(tmp_path / "nowhere")


# --- the commands ------------------------------------------------------------------------------------------


def call(command: Any, *args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(command, list(args), input=stdin)


def test_lint_exit_status_says_whether_it_may_be_sent() -> None:
    assert call(lint_command, "亲子餐厅里被嘲笑的妈妈").exit_code == 0
    refused = call(lint_command, "亲子 反差 素材")
    assert refused.exit_code == 1
    assert [line.split()[0] for line in refused.stdout.splitlines()] == ["track-led", "abstract-mechanism"]


def test_a_batch_answers_every_line_in_its_place() -> None:
    lines = [
        b'{"question": "\xe4\xba\xb2\xe5\xad\x90"}',
        b"no json",
        b'{"elements": {"contrast": "\\ud800", "anchor": null}}',
        b'{"elements": {"contrast": 3}}',
        b'{"elements": {"gap": "x"}}',
        b'{"text": 1}',
        b"\xff",
        b"[" * 100_000,
        json.dumps({"elements": {name: getattr(GOOD, name) for name in GOOD.__slots__}}).encode(),
    ]
    result = call(lint_command, "--jsonl", stdin=b"\n".join(lines))
    assert result.exit_code == 0
    answers = [json.loads(line) for line in result.stdout_bytes.decode("utf-8").splitlines()]
    assert ["error" in answer for answer in answers] == [
        False,
        True,
        False,
        True,
        True,
        True,
        True,
        True,
        False,
    ]
    assert answers[0]["findings"][0]["text"] == "亲子"
    assert answers[-1] == {
        "ok": True,
        "query": "找一条 被当场刁难的人 用一连串专业细节把对方顶回去 试妆镜前 的 钩子型事件素材",
        "findings": [],
    }


def test_mirror_takes_options_and_files(tmp_path: Path) -> None:
    path = tmp_path / "elements.toml"
    path.write_text(
        'contrast = "被当场刁难的人"\nbreak_by = "把账本一页页念出来"\nfunction = "留人"\n', "utf-8"
    )
    result = call(mirror_command, "--file", str(path), "--anchor", "试妆镜前")
    assert (result.exit_code, result.stdout) == (
        0,
        "找一条 被当场刁难的人 把账本一页页念出来 试妆镜前 的 留人型事件素材\n",
    )
    assert call(mirror_command, "--file", str(path)).exit_code == 1


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (lint_command, []),
        (lint_command, ["x", "--jsonl"]),
        (lint_command, ["x", "--lexicons", "/nowhere"]),
        (mirror_command, []),
        (mirror_command, ["--file", "/nowhere.toml"]),
        (mirror_command, ["--file", "elements.yaml"]),
    ],
)
def test_a_bad_call_is_one_line(command: Any, args: list[str]) -> None:
    result = call(command, *args)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


def test_nothing_typed_steers_the_terminal() -> None:
    result = call(lint_command, "标签：\x1b[31m红")
    assert "\x1b" not in result.stdout
