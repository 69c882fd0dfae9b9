"""What the READMEs show is what happens: their sessions, their Python, their links."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import regex
from click.testing import CliRunner

from querykit.cli import cli

ROOT = Path(__file__).parent.parent
READMES = ["README.md", "README.zh.md"]


def blocks(readme: str, language: str) -> list[str]:
    text = (ROOT / readme).read_text(encoding="utf-8")
    return regex.findall(rf"^```{language}\n(.*?)^```", text, regex.DOTALL | regex.MULTILINE)


def sessions(readme: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command with the lines shown below it; a comment behind a command and lines of dots say nothing."""
    for block in blocks(readme, "console"):
        for command in regex.split(r"^\$ ", block, flags=regex.MULTILINE)[1:]:
            first, *shown = command.splitlines()
            yield (
                shlex.split(first, comments=True),
                [x.strip() for x in shown if not x.strip().startswith("…")],
            )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("sample", "sample_cards", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    counts = ROOT.parent / "shared" / "corpora" / "spiderweb" / "counts.jsonl"
    if counts.is_file():
        (tmp_path / "counts.jsonl").symlink_to(counts)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("readme", READMES)
def test_sessions(readme: str, here: Path) -> None:
    (here / "mine.toml").write_text(blocks(readme, "toml")[0], encoding="utf-8")
    shown_any = 0
    for (program, *arguments), shown in sessions(readme):
        assert program == "querykit"
        if "counts.jsonl" in arguments and not (here / "counts.jsonl").exists():
            continue
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code in (0, 1), result.output
        printed = iter(squeezed(result.output).splitlines())
        for line in map(squeezed, shown):
            parts = [part for part in line.split("…") if part.strip()]
            assert any(all(part.strip() in got for part in parts) for got in printed), (arguments, line)
            shown_any += 1
    assert shown_any > 40


def squeezed(text: str) -> str:
    return regex.sub(r"[ \t]+", " ", text)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("readme", READMES)
def test_python(readme: str) -> None:
    for block in blocks(readme, "python"):
        exec(compile(block, readme, "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("readme", [*READMES, "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links(readme: str) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    for target in regex.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / readme).parent / target).exists(), target


@pytest.mark.parametrize("readme", READMES)
def test_the_two_commands(readme: str) -> None:
    first, second = (block.strip() for block in blocks(readme, "sh")[:2])
    assert first == 'pip install . && querykit ask "这个知识库里有哪些关于 Midjourney 的笔记" --notes sample'
    assert second == 'pip install -e ".[test]" && pytest -n auto'
