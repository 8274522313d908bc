"""Lines of text with indentation."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager

INDENT = "    "
WIDTH = 100  # of a printed file, in columns


class Writer:
    """Collects lines; ``depth`` is the indentation of the next one, in levels."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def line(self, text: str = "") -> None:
        """A statement, wrapped if it is long; or text that has line breaks already."""
        broken = text if "\n" in text else wrap(text, self.depth)
        for part in broken.split("\n"):
            self.lines.append(INDENT * self.depth + part if part else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """``head`` and, one level deeper, what is written inside the ``with``."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def text(self) -> str:
        """All lines so far, each with its line break."""
        return "\n".join(self.lines) + "\n"


def wrap(text: str, depth: int = 0) -> str:
    """One statement, broken into lines of at most ``WIDTH`` columns where that is possible.

    It is broken inside its last pair of brackets, one argument a line, and sums between terms;
    a statement without such brackets gets parentheses.
    """
    if len(INDENT * depth + text) <= WIDTH or text.endswith("("):  # the rest follows
        return text
    end = next((i for i in range(len(text) - 1, -1, -1) if text[i] == ")"), -1)
    start = _opening(text, end)
    if (
        end < len(text) - 2
        or start <= 0
        or not (text[start - 1].isalnum() or text[start - 1] == "_")
    ):
        target, found, value = text.partition(" = ")
        if text.startswith("return "):
            items = _filled(split(text.removeprefix("return "), ", "), WIDTH - len(INDENT) * 2)
            return "\n".join(["return (", *(INDENT + line for line in items), ")"])
        if not found and not text.endswith(","):  # nothing that could be broken
            return text
        if not found:  # a list of arguments
            return "\n".join(
                _filled(split(text.removesuffix(","), ", "), WIDTH - len(INDENT * depth))
            )
        return "\n".join([f"{target} = (", *_terms(value, depth + 1, WIDTH, ""), ")"])
    lines = [text[: start + 1]]
    for argument in split(text[start + 1 : end], ", "):
        lines += _terms(argument, depth + 1, WIDTH, ",")
    return "\n".join([*lines, text[end:]])


def _opening(text: str, end: int) -> int:
    """Where the bracket that closes at ``end`` opens, or -1."""
    level = 0
    for at in range(end, -1, -1):
        level += (text[at] in ")]") - (text[at] in "([")
        if level == 0:
            return at
    return -1


def split(text: str, by: str) -> list[str]:
    """``text`` cut at every ``by`` that is in no brackets."""
    found, level, start = [], 0, 0
    for at, char in enumerate(text):
        level += (char in "([") - (char in ")]")
        if level == 0 and at >= start and text.startswith(by, at):
            found.append(text[start:at])
            start = at + len(by)
    return [*found, text[start:]]


def _terms(text: str, depth: int, width: int, end: str) -> list[str]:
    """``text + end`` as lines one level deeper, filled term by term if it is a long sum."""
    lines: list[str] = []
    for count, term in enumerate(split(text, " + ")):
        piece = f"+ {term}" if count else term
        fits = lines and len(INDENT * depth + lines[-1] + " " + piece) < width
        if fits:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    lines[-1] += end
    return [INDENT + line for line in lines]


def tuple_text(items: Iterable[str]) -> str:
    """A tuple display; one item keeps its comma."""
    found = list(items)
    return f"({found[0]},)" if len(found) == 1 else f"({', '.join(found)})"


def fill(head: str, arguments: list[str], tail: str) -> str:
    """``head(arguments)tail`` with as many arguments on a line as fit."""
    flat = f"{head}({', '.join(arguments)}){tail}"
    if len(flat) <= WIDTH:
        return flat
    lines = _filled(arguments, WIDTH - len(INDENT))
    return "\n".join([f"{head}(", *(INDENT + line for line in lines), f"){tail}"])


def _filled(items: list[str], width: int) -> list[str]:
    """``items``, each with a comma, on as few lines as possible."""
    lines: list[str] = []
    for item in items:
        if lines and len(f"{lines[-1]} {item},") <= width:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    return lines
