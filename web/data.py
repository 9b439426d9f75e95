"""Unpacks the page's data: the view Papers, the ranking and the scenarios to play with, from `ledger.json.xz` to `public/data`.

It needs nothing but Python, so that the page can be built before the package is.
"""

import json
import lzma
import shutil
from pathlib import Path

HERE = Path(__file__).parent
LEDGER = HERE / "ledger.json.xz"
"""File of the page -> its content; `python/fanin/show/page_data.py` writes it."""


def main() -> None:
    """Writes the files anew."""
    folder = HERE / "public/data"
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in json.loads(lzma.decompress(LEDGER.read_bytes())).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
