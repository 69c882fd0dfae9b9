"""Hypothesis profiles: the default run is bounded, `HYPOTHESIS_PROFILE=deep` goes on for minutes."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "default", max_examples=150, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
