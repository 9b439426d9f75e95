"""Texts in Markdown as trees that a page draws: none of them ever is HTML."""

from __future__ import annotations

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_TAGS = {
    "heading": "h4",
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "em": "em",
    "strong": "strong",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "hr": "hr",
    "hardbreak": "br",
}
_LEAVES = {"code_inline": "code", "fence": "pre", "code_block": "pre"}
_ELSEWHERE = ("https://", "http://")


def tree(text: str) -> list[Any]:
    """The text's nodes: a string, or tag and children, and for a link its address.

    HTML in the text is text, no image is loaded, as it might be anywhere, and a link that leads to no web page is none.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return _children(SyntaxTreeNode(reader.parse(text)))


def _children(node: SyntaxTreeNode) -> list[Any]:
    joined: list[Any] = []
    for each in _nodes(node):
        if isinstance(each, str) and joined and isinstance(joined[-1], str):
            joined[-1] += each
        elif each != "":
            joined.append(each)
    return joined


def _nodes(node: SyntaxTreeNode) -> list[Any]:
    found: list[Any] = []
    for child in node.children:
        if child.type == "inline" or child.hidden or (child.type == "link" and not _leads_out(child)):
            found += _children(child)
        elif child.type == "link":
            found.append(["a", _children(child), _address(child)])
        elif child.type in _TAGS:
            found.append([_TAGS[child.type], _children(child)])
        elif child.type in _LEAVES:
            found.append([_LEAVES[child.type], [child.content]])
        else:
            found.append("\n" if child.type == "softbreak" else child.content)
    return found


def _leads_out(link: SyntaxTreeNode) -> bool:
    return _address(link).startswith(_ELSEWHERE)


def _address(link: SyntaxTreeNode) -> str:
    return str(link.attrs.get("href", ""))
