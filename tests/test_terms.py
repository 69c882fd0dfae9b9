"""Chunks and the words inside them are both terms."""

from __future__ import annotations

from querykit.lexicon import Lexicon
from querykit.strip import strip
from querykit.terms import Level, chunk_terms, terms
from querykit.text import normalize


def found(ask: str, lexicon: Lexicon, level: Level) -> list[str]:
    return [t.text for t in terms(strip(normalize(ask), lexicon)) if t.level is level]


def test_single_characters_join(zh: Lexicon) -> None:
    assert found("剪视频踩不准节拍", zh, Level.WORD)[:2] == ["剪视频", "视频"]
    assert "卡点" in found("卡点剪辑的资料", zh, Level.WORD)


def test_pieces_know_their_word(zh: Lexicon) -> None:
    pieces = [t for t in terms(strip(normalize("区块链钱包"), zh)) if t.level is Level.PIECE]
    assert {t.word for t in pieces} == {"区块链"}


def test_version_stays_with_its_tool(zh: Lexicon) -> None:
    assert found("Seedance 2.5 怎么用", zh, Level.CHUNK) == ["Seedance 2.5"]
    assert found("Seedance 2.5 怎么用", zh, Level.WORD) == ["Seedance"]


def test_soft_words_are_marked(zh: Lexicon) -> None:
    soft = {t.text for t in terms(strip(normalize("Midjourney prompt 技巧"), zh)) if t.is_soft}
    assert soft == {"技巧"}


def test_terms_are_typed_text_and_folded_key(zh: Lexicon) -> None:
    term = terms(strip(normalize("這個知識庫裡講遞迴的筆記"), zh))[0]
    assert (term.text, term.key) == ("遞迴", "递回")


def test_another_segmenter(zh: Lexicon) -> None:
    stripped = strip(normalize("角色一致性"), zh)
    assert [t.text for t in terms(stripped, split=lambda s: [s[:2], s[2:]])][1:] == ["角色", "一致性"]


def test_chunk_terms_are_the_chunks(zh: Lexicon) -> None:
    stripped = strip(normalize("Suno 音乐生成的技巧"), zh)
    assert list(chunk_terms(stripped)) == [t for t in terms(stripped) if t.level is Level.CHUNK]
