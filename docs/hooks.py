"""What MkDocs does not do by itself for these pages, which are written for a reader on a code host too.

Pages of the repository outside docs/ become pages of the site; other files that are linked are copied into it, so that
it needs nothing beside it. A link to what is not there is a warning, which ``--strict`` makes an error. Lists are
indented as Python-Markdown wants them, and headings have the anchors that code hosts give them.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "STYLE.md": "project/style.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Pages of the repository -> where they are in the site."""

COPIES = "files"
"""The folder of the site with copies of linked files that are no pages."""

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r" *(```|~~~)")
ITEM = re.compile(r"( *)([-*+]|\d+[.)])( +)(?=\S)")

log = logging.getLogger("mkdocs.plugins.fanin")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives headings their anchors, and the section of decisions its pages."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    decisions = sorted(path.name for path in (ROOT / "docs/adr").glob("[0-9]*.md"))
    _replace(config.nav, "adr/README.md", ["adr/README.md", *(f"adr/{name}" for name in decisions)])
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages of the repository that are outside the folder."""
    for source, target in PAGES.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to where things are in the site, and indents lists."""
    here = page.file.src_uri
    source = next((path for path, target in PAGES.items() if target == here), f"docs/{here}")

    def lead(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        return posixpath.relpath(_place(target, here, config, files), posixpath.dirname(here)) + (link[2] or "")

    return indented(_outside_code(markdown, lambda text: LINK.sub(lead, text)))


def _place(target: str, here: str, config: MkDocsConfig, files: Files) -> str:
    """Where a path of the repository is in the site; a file that is not yet there is added."""
    if target in PAGES:
        return PAGES[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    copy = f"{COPIES}/{target}"
    if not (ROOT / target).exists():
        log.warning("%s: there is no %s", here, target)
    elif (ROOT / target).is_dir():
        log.warning("%s: %s is a folder, which a site does not show: name a file in it", here, target)
    elif files.get_file_from_path(f"{copy}.txt") is None:
        # A browser shows a text, whatever the file is called.
        files.append(File.generated(config, f"{copy}.txt", abs_src_path=str(ROOT / target)))
    return f"{copy}.txt"


def anchor(heading: str, separator: str = "-") -> str:
    """The anchor of a heading on a code host."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def indented(markdown: str) -> str:
    """The same lists with four blanks a level, and a blank line before each, which Python-Markdown needs."""
    shown: list[str] = []
    levels: list[int] = []
    fenced = loose = False
    for line in markdown.splitlines():
        inside = fenced
        if FENCE.match(line):
            fenced = not fenced
        indent = len(line) - len(line.lstrip())
        item = None if inside else ITEM.match(line)
        if item and item[2][0].isdigit() and item[2][:-1] != "1" and not levels and shown and shown[-1].strip():
            # A number that a line of a text happens to begin with.
            item = None
        # So it does before an item that follows a second paragraph of another.
        loose = loose or not line.strip() if levels else True
        if line.strip() and not inside:
            # A line without indentation that follows a text goes on with it.
            while levels and indent < levels[-1] and (item or not shown[-1].strip() or FENCE.match(line)):
                levels.pop()
        outer = levels[-1] if levels else 0
        if item and indent - outer < 4:
            if loose and shown and shown[-1].strip() and not ITEM.match(shown[-1]):
                shown.append("")
            shown.append("    " * len(levels) + f"{item[2]} {line[item.end() :]}")
            levels.append(item.end())
            loose = False
        else:
            shown.append("    " * len(levels) + line[min(indent, outer) :] if line.strip() else "")
    return "\n".join(shown) + "\n"


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    parts = re.split(r"(?m)(^ *```.*?^ *```$|`[^`\n]+`)", markdown, flags=re.DOTALL)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def _replace(nav: list[Any], page: str, pages: list[str]) -> None:
    for section in nav:
        for title, content in section.items() if isinstance(section, dict) else ():
            if content == page:
                section[title] = pages
            elif isinstance(content, list):
                _replace(content, page, pages)
