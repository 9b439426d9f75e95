"""Texts of files with nothing that controls what shows them."""

from __future__ import annotations

_CONTROLS = {
    code: f"\\u{code:04x}"
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\t\n"
}
"""Characters that control a terminal or turn the direction of a text -> their escapes, which JSON has too."""


def harmless(text: str) -> str:
    """A text with nothing that controls a terminal."""
    return text.translate(_CONTROLS)
