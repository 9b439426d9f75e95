"""What the setting of a case rests on."""

from __future__ import annotations

from typing import Literal

Basis = Literal["printed", "environment", "reading", "sensitivity"]
"""The basis of a case's setting; a sensitivity contradicts the paper's text and never counts."""
