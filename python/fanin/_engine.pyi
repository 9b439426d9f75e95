"""Types of the compiled engine binding."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

__all__ = [
    "RunOutput",
    "TableView",
    "check",
    "describe_parquet",
    "registry",
    "resolve",
    "resolved_table",
    "run",
    "schema",
    "unused",
    "version",
]

_Overrides = Sequence[tuple[str, str]]

def version() -> str: ...
def schema() -> str: ...
def registry() -> str: ...
def check(text: str, file: str, overrides: _Overrides) -> None: ...
def resolve(text: str, file: str, overrides: _Overrides) -> str: ...
def resolved_table(text: str, file: str, overrides: _Overrides) -> str: ...
def unused(text: str, file: str, overrides: _Overrides) -> list[str]: ...
def run(
    text: str,
    file: str,
    overrides: _Overrides,
    progress: Callable[[float], bool] | None = None,
) -> RunOutput: ...
def describe_parquet(path: str | Path) -> str: ...

@final
class RunOutput:
    @property
    def summary(self) -> str: ...
    @property
    def table_names(self) -> list[str]: ...
    def table(self, name: str) -> TableView: ...
    def write_parquet(self, name: str, path: str | Path) -> None: ...
    def capture(self) -> bytes | None: ...

@final
class TableView:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
