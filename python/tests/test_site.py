"""What the site's hooks make of pages that are written for a code host too; `make docs` builds the site itself."""

import importlib.util
import re
from collections import Counter

import pytest
from markdown_it import MarkdownIt
from test_prose import DOCS, anchor

HOOKS = DOCS / "hooks.py"

pytestmark = pytest.mark.skipif(not HOOKS.is_file(), reason="an installed package has no pages")


@pytest.fixture(scope="module")
def hooks():
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("hooks", HOOKS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Text:\n- one\n  goes on\n- two\n", "Text:\n\n- one\n    goes on\n- two\n"),
        ("- one\n\n  | a | b |\n  |---|---|\n\nText\n", "- one\n\n    | a | b |\n    |---|---|\n\nText\n"),
        ("- one\n\n  more\n- two\n- three\n", "- one\n\n    more\n\n- two\n- three\n"),
        ("1. one\n   - inner\n2. two\n", "1. one\n    - inner\n2. two\n"),
        ("A name of\n2018. It says\n", "A name of\n2018. It says\n"),
        ("- one\n\n  ```sh\n  - no item\n  ```\n", "- one\n\n    ```sh\n    - no item\n    ```\n"),
        ("```\n- no item\n  of a list\n```\n", "```\n- no item\n  of a list\n```\n"),
        ("    - code\n", "    - code\n"),
    ],
)
def test_lists_are_indented_as_python_markdown_wants_them(hooks, written, shown):
    assert hooks.indented(written) == shown


def elements(page: str) -> Counter[str]:
    return Counter(re.findall(r"<(h\d|[ou]l|li|table|tr|pre|blockquote)\b", page))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_a_page_has_the_lists_tables_and_code_that_a_code_host_shows(hooks, page):
    text = page.read_text(encoding="utf-8")
    markdown = pytest.importorskip("markdown").Markdown(extensions=["tables", "pymdownx.superfences"])
    wanted = elements(MarkdownIt("commonmark").enable("table").render(text))
    assert elements(markdown.convert(hooks.indented(text))) == wanted


@pytest.mark.parametrize("heading", ["`fanin advise`", "What is Linux, and what is not", "A -- b: 95 %"])
def test_headings_have_the_anchors_of_a_code_host(hooks, heading):
    assert hooks.anchor(heading) == anchor(heading)


def test_links_are_led_to_where_things_are_in_the_site(hooks):
    config = pytest.importorskip("mkdocs.config").load_config(str(HOOKS.parents[1] / "mkdocs.yml"))
    # As while MkDocs calls a hook.
    config.plugins._current_plugin = "hooks"
    files = hooks.Files([])
    page = type("Page", (), {"file": hooks.File.generated(config, "reference/linux.md", content="")})
    text = "[a](../../README.md#b) [c](output.md) [d](../../linux/build.sh) [e](https://f.org) `[g](h)`\n"
    shown = hooks.on_page_markdown(text, page=page, config=config, files=files)
    assert shown == ("[a](../index.md#b) [c](output.md) [d](../files/linux/build.sh.txt) [e](https://f.org) `[g](h)`\n")
    assert [each.src_uri for each in files] == ["files/linux/build.sh.txt"]
