"""What every test and doctest may use: the shipped lexicon as `zh`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querykit.lexicon import Lexicon, load_lexicon

SHARED = Path(__file__).parent.parent / "shared"


@pytest.fixture(scope="session")
def zh() -> Lexicon:
    return load_lexicon()


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, Any], zh: Lexicon) -> None:
    doctest_namespace["zh"] = zh


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real notes and judged questions beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here")
    return SHARED
