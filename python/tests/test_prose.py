"""Pages that people read: their numbers are those of their outputs, which `make guide` may change, and they keep to the
section on words of STYLE.md where a program can see it."""

import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from test_guides import script

from fanin.cli import commands
from fanin.registry import registry

DOCS = Path(__file__).parents[2] / "docs"
LEDGER = DOCS.parent / "web/ledger.json.xz"
GENERATED = [*sorted(DOCS.glob("guides/*.md")), DOCS / "papers/linux.md"]
TUTORIALS = sorted(DOCS.glob("tutorials/*.md"))
README = DOCS.with_name("README.md")
VERDICTS = [DOCS / f"papers/{paper}.md" for paper in ("dtcwa", "pfdct", "rcc", "rcce", "sdtcp")]
READ = [
    *sorted(DOCS.rglob("*.md")),
    *[DOCS.with_name(f"{name}.md") for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "STYLE")],
]

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="an installed package has no pages")

KERNEL = "Linux's include/net/tcp.h, Documentation/networking/dctcp.rst and ip-sysctl.rst"
LINK = "the page that the link beside it leads to"
FULL = "a full packet"
SOURCED = {
    "choose-a-fix": {"1 and 10 Gbit/s": KERNEL, "1,500 B": FULL},
    "twelve-questions": {
        "200 ms": KERNEL,
        "4 ms with": KERNEL,
        "20 ms, and 220 ms": LINK,
        "RFC 8257, section 5": LINK,
        "96 and 255 long flows": LINK,
    },
}
"""Page -> words with numbers that no output has -> where these are from."""

UNITS = {
    "s": ("time", 1),
    "ms": ("time", 1e-3),
    "us": ("time", 1e-6),
    "Gbit/s": ("rate", 1e9),
    "Gbps": ("rate", 1e9),
    "Mbit/s": ("rate", 1e6),
    "MB": ("size", 1e6),
    "KB": ("size", 1e3),
    "MiB": ("size", 2**20),
    "KiB": ("size", 2**10),
    "%": ("share", 1),
    "times": ("ratio", 1),
}
NUMBER = re.compile(rf"(?<![\w-])(?<!\d\.)(\d(?:[\d,]*\d)?(?:\.\d+)?)(?: ?({'|'.join(UNITS)})(?!\w))?")
NO_PROSE = re.compile(r"^```.*?^```$|^ {4}.*?$|^#.*?$|^\d+\. |`[^`]*`|\]\([^)]*\)|\b\d+th\b", re.MULTILINE | re.DOTALL)

LONGEST = 25
"""Words of a sentence."""
MOST_NUMBERS = 2
"""Numbers of a sentence; more are a table."""
REPLACED = {"remedy": "fix", "remedies": "fixes", "mend": "fix", "mends": "fixes", "admit": "allow", "admits": "allows"}
"""Words that a page does not use -> what it says instead."""
PLACES = re.compile(
    r"\b(Linux|Rust|Python|Node|Figs?\.|Eqs?\.|RFC|Debian|Apache|HZ|OpenFlow)[ =-]\d[\d.]*|\bns-3\b|\b(19|20)\d\d\b"
    r"|\b\d+\(\d+\), \d+"
)
"""Numbers that are part of a name, or of where a paper appeared."""

Number = tuple[str, str | None]


def sentences(text: str) -> list[str]:
    """The sentences of a page, those of lists too, without code, tables, headings and where links lead."""
    text = re.sub(r"(?ms)^```.*?^```$|^<!--.*?-->$|^#.*?$|^\|.*?$|^!\[.*?\]\(.*?\)$|^ {4}.*?$", "\n", text)
    text = re.sub(r"(?m)^ *(?:[-*]|\d+\.) ", "\n\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", text))
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        plain = re.sub(r"[\[\]*]|\(CODE\)", "", " ".join(paragraph.split()))
        found += re.split(r"(?<=[.!?:])(?<!Fig\.)(?<!Figs\.)(?<!Eq\.)(?<!Eqs\.) (?=[\"A-Z\d])", plain)
    return [each for each in found if each.strip()]


def complaints(sentence: str) -> list[str]:
    """What is against the section on words of STYLE.md in a sentence."""
    words = re.findall(r"[\w'/.,%-]*\w[\w'/.,%-]*", sentence)
    counted = re.findall(r"(?<![\w.])\d[\d,.]*", PLACES.sub("", sentence))
    wrong = [f"{len(words)} words"] if len(words) > LONGEST else []
    wrong += [f"{len(counted)} numbers"] if len(counted) > MOST_NUMBERS else []
    known = {word.strip(".,").lower() for word in words}
    return wrong + [f"{word}: {better}" for word, better in REPLACED.items() if word in known]


def wrong_in(text: str) -> list[str]:
    """The sentences of a text that are against the section on words of STYLE.md, each with what is wrong."""
    return [f"{', '.join(said)}: {each}" for each in sentences(text) if (said := complaints(each))]


def explained() -> list[dict[str, Any]]:
    """The rows of all registries that have readings."""
    rows = [row for each in registry().values() if isinstance(each, list) for row in each]
    return [row for row in rows if row.get("readings")]


def wrong_readings(readings: list[dict[str, Any]]) -> list[str]:
    """The sentences of readings that are too long or have a replaced word, each with the id of its reading."""
    found = [(reading["id"], wrong) for reading in readings for wrong in wrong_in(reading["text"])]
    return [f"{name}: {wrong}" for name, wrong in found if not re.match(r"\d+ numbers: ", wrong)]


def helps(name: str) -> dict[str, str]:
    """What the help of a command says of it, and of each of its options and arguments."""
    command = commands.load(name)
    texts = {"": command.help} | {each.opts[0]: getattr(each, "help", "") for each in command.params}
    return {what: without_objects(text or "") for what, text in texts.items()}


def without_objects(text: str) -> str:
    """A text with ``CODE`` for each object of JSON, such as ``{key, cells: [{column}]}``."""
    shorter = re.sub(r"\{[^{}]*\}", "CODE", text)
    return text if shorter == text else without_objects(shorter)


def blocks(text: str) -> list[tuple[str, str]]:
    """The kind and the content of each block of a page that `make guide` reads or writes."""
    return script().BLOCK.findall(text)


def numbers(text: str, unit: str | None = None) -> list[Number]:
    """The numbers of a text, each with the unit behind it, or else the given one."""
    return [(digits, own or unit) for digits, own in NUMBER.findall(text)]


def printed(block: str) -> list[Number]:
    """The numbers of an output; a column of a table may have its unit in brackets in the head."""
    found = []
    heads: list[tuple[int, str | None]] = []
    for line in block.splitlines():
        cells = [(cell.start(), cell.group()) for cell in re.finditer(r"\S+(?: \S+)*", line)]
        if len(cells) < 2:
            heads = []
        elif not heads and "[" in line:
            heads = [(at, unit[1] if (unit := re.search(r"\[(.*)\]", cell)) else None) for at, cell in cells]
        for at, cell in cells:
            above = [unit for start, unit in heads if start <= at]
            found += numbers(cell, above[-1] if above else None)
    return found


def value(number: str) -> float:
    return float(number.replace(",", ""))


def agree(said: Number, shown: Number) -> bool:
    """Whether the first is the second or the second rounded, of the same unit if the first has one."""
    scale, other = 1.0, 1.0
    if said[1]:
        if UNITS[said[1]][0] != UNITS.get(shown[1] or "", ("", 1))[0]:
            return False
        scale, other = UNITS[said[1]][1], UNITS[shown[1]][1]
    half = 0.5 * 10.0 ** -len(said[0].partition(".")[2]) * scale
    return abs(value(said[0]) * scale - value(shown[0]) * other) <= half * (1 + 1e-9)


def prose(text: str) -> str:
    return re.sub(r"\s+", " ", NO_PROSE.sub(" ", text))


def sections(text: str) -> dict[str, str]:
    """The sections of a page by the anchor that leads to them."""
    found = re.split(r"(?m)^(?=## )", text)
    return {anchor(each.splitlines()[0].lstrip("# ")): each for each in found}


def anchor(heading: str) -> str:
    """What a link to a heading ends in."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def of_rankings(page: Path, text: str) -> list[Number]:
    """The numbers of the ranking and of those of its experiments to which a text has links."""
    links = re.findall(r"\]\((ranking\.md)(?:#([\w-]+))?\)", text)
    found = [each for link, _ in links for each in numbers((page.parent / link).read_text(encoding="utf-8"))]
    wanted = [place for _, place in links if place]
    if wanted:
        every = json.loads(lzma.decompress(LEDGER.read_bytes()))["ranking.json"]["experiments"]
        named = {anchor(each["title"]): each["regimes"] for each in every}
        found += [number for place in wanted for number in numbers(json.dumps(named[place], ensure_ascii=False))]
    return found


def strays(said: str, shown: list[Number], rankings: list[Number]) -> list[str]:
    """The numbers of a prose that are nowhere else, each with the words around it."""
    return [
        f"... {said[max(0, found.start() - 60) : found.end() + 30]} ..."
        for found in NUMBER.finditer(said)
        if not any(agree(found.groups(), each) for each in shown)
        and not any(agree((found[1], None), each) for each in rankings)
    ]


@pytest.mark.parametrize("page", GENERATED, ids=lambda path: path.stem)
def test_each_number_of_the_prose_is_printed_in_its_section(page):
    """Or in a scenario, or where its links lead; those of a section without outputs may be anywhere in the page."""
    text = page.read_text(encoding="utf-8")
    excepted = SOURCED.get(page.stem, {})
    assert [words for words in excepted if words not in prose(text)] == []
    scenarios = [block for kind, block in blocks(text) if kind == "toml"]
    found = sections(text)
    wrong = []
    for anchor, section in found.items():
        near = section if "```console" in section else text
        linked = [found[link] for link in re.findall(r"\]\(#([\w-]+)\)", section)]
        outputs = [block for part in (near, *linked) for _, block in blocks(part)]
        said = prose(section)
        for words in excepted:
            said = said.replace(words, " ")
        shown = [each for block in (*scenarios, *outputs) for each in printed(block)]
        wrong += [f"{anchor}: {each}" for each in strays(said, shown, of_rankings(page, section))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", VERDICTS, ids=lambda path: path.stem)
def test_what_a_verdict_says_on_linux_is_in_the_ranking_and_leads_to_what_to_deploy(page):
    (said,) = re.findall(r"(?ms)^\*\*What changes on Linux's TCP\*\*.*?(?=\n\n)", page.read_text(encoding="utf-8"))
    assert "](linux.md)" in said
    assert strays(prose(said), [], of_rankings(page, said)) == []


def test_a_number_agrees_with_what_is_printed_if_it_is_rounded_in_the_same_unit():
    table = "rto-min  query p99 [ms]  drops\n5ms      11.32 ± 0.077   1,205\n\n# In all, 84,696 Mbit/s"
    shown = printed(table)
    assert shown == [
        *[("5", "ms"), ("11.32", "ms"), ("0.077", "ms"), ("1,205", None), ("84,696", "Mbit/s")],
    ]
    right = [("11", "ms"), ("11.3", "ms"), ("0.011", "s"), ("1,205", None), ("85", "Gbit/s"), ("11.32", None)]
    wrong = [("12", "ms"), ("11.4", "ms"), ("11", "us"), ("1,205", "ms"), ("84", "Gbit/s"), ("5", "%"), ("1,200", None)]
    assert [each for each in (*right, *wrong) if any(agree(each, other) for other in shown)] == right


def test_each_number_of_the_readme_on_trust_and_papers_is_on_the_page_beside_it():
    text = README.read_text(encoding="utf-8")
    found = sections(text)
    said = re.findall(r"(?ms)^- .*?(?=\n- |\n\n)", found["how-far-to-trust-it"])
    said += re.findall(r"(?m)^\| \[.*$", found["the-papers"])
    assert len(said) == 10
    wrong = []
    for each in said:
        (link,) = re.findall(r"\]\(([^)#]+)\)", each)
        shown = numbers((README.parent / link).read_text(encoding="utf-8"))
        wrong += strays(prose(each), shown, [])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", READ, ids=lambda path: path.stem)
def test_sentences_are_short_and_have_few_numbers_and_plain_words(page):
    text = page.read_text(encoding="utf-8")
    assert sentences(text)
    assert not (wrong := wrong_in(text)), "\n".join(wrong)


@pytest.mark.parametrize("scheme", [*registry()["schemes"], *registry()["kernel_schemes"]], ids=lambda row: row["key"])
def test_manuals_have_short_sentences_and_plain_words(scheme):
    assert sentences(scheme["manual"])
    assert not (wrong := wrong_in(scheme["manual"])), "\n".join(wrong)


@pytest.mark.parametrize("row", explained(), ids=lambda row: row["key"])
def test_readings_have_short_sentences_and_plain_words(row):
    """Numbers are quoted here, and many."""
    assert not (wrong := wrong_readings(row["readings"])), "\n".join(wrong)


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_help_has_short_sentences_and_plain_words(name):
    found = helps(name)
    assert sentences(found[""])
    wrong = [f"{what}: {each}" for what, text in found.items() for each in wrong_in(text)]
    assert not wrong, "\n".join(wrong)


def test_parameters_and_environments_have_short_sentences_and_plain_words():
    """Numbers are examples of values here, and many."""
    rows = [row for plural in ("schemes", "topologies", "queues", "traffic", "faults") for row in registry()[plural]]
    lists = [*(row["params"] for row in rows), *registry()["sections"].values()]
    params = [param for each in lists for param in each]
    assert len(params) > 200
    texts = [*(param["doc"] for param in params), *(row["manual"] for row in registry()["environments"])]
    wrong = [each for text in texts for each in wrong_in(text) if not re.match(r"\d+ numbers: ", each)]
    assert not wrong, "\n".join(wrong)


def test_a_reading_that_is_against_the_words_is_named_by_its_id():
    long = " ".join(["word"] * (LONGEST + 1))
    texts = {"A1": "By Eq. 1 it is 2, 3 or 4. Short.", "A2": f"Short. W{long[1:]}.", "A3": "The paper admits it."}
    wrong = wrong_readings([{"id": name, "text": text} for name, text in texts.items()])
    assert wrong == [f"A2: 26 words: W{long[1:]}.", "A3: admits: allows: The paper admits it."]


def test_objects_of_json_are_no_words():
    assert without_objects("one of {a, b: [{c, d}]}, in {e}.") == "one of CODE, in CODE."


def test_a_sentence_is_judged_by_its_words_and_numbers():
    page = "# Head\n\nOne two. Three `a b c` four: [five](six.md).\n\n| a | table |\n\n"
    page += "- Item 1,024 of Fig. 9.\n- Next?\n\n    code\n"
    assert sentences(page) == ["One two.", "Three CODE four: five.", "Item 1,024 of Fig. 9.", "Next?"]
    assert complaints(" ".join(["word"] * LONGEST)) == []
    assert complaints(" ".join(["word"] * (LONGEST + 1))) == ["26 words"]
    assert complaints("In 2018, Linux 6.12 had 10 of 20 in ns-3.") == []
    assert complaints("It has 1, 2.5 and 3 %.") == ["3 numbers"]
    assert complaints("A remedy, which the text admits.") == ["remedy: fix", "admits: allows"]
