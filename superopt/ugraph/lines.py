"""Lines and tokens of the text of graphs, with the errors that say where reading stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from superopt.errors import ParseError

_TOKEN = re.compile(r"-?\d+(?:/\d+)?|-?inf\b|[^\W\d][\w.]*|[^\s\w]")
NUMBER = re.compile(r"-?\d+(?:/\d+)?")
NAME = re.compile(r"[^\W\d][\w.]*")


@dataclass
class Line:
    """One line: its number, its depth (two spaces each) and a cursor over its tokens."""

    number: int
    depth: int
    tokens: list[str]
    at: int = 0

    def peek(self, ahead: int = 0) -> str:
        """The token ``ahead`` of the cursor, without taking it; empty past the end."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self) -> str:
        """The next token."""
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *tokens: str) -> bool:
        """Whether these tokens come next; then they are taken."""
        if self.tokens[self.at : self.at + len(tokens)] != list(tokens):
            return False
        self.at += len(tokens)
        return True

    def expect(self, *tokens: str) -> None:
        """Takes these tokens, or fails."""
        for token in tokens:
            if not self.accept(token):
                self.fail(f"expected {token!r}, found {self.peek() or 'the end of the line'!r}")

    def name(self) -> str:
        """Takes a name, or fails."""
        if not NAME.fullmatch(self.peek()):
            self.fail(f"expected a name, found {self.peek() or 'the end of the line'!r}")
        return self.take()

    def integer(self) -> int:
        """Takes an integer, or fails."""
        token = self.take()
        if not re.fullmatch(r"-?\d+", token):
            self.fail(f"expected an integer, found {token or 'the end of the line'!r}")
        return int(token)

    def end(self) -> None:
        """Fails if anything is left."""
        if self.peek():
            self.fail(f"nothing may follow here, found {self.peek()!r}")

    def fail(self, message: str) -> NoReturn:
        """Raises a ``ParseError`` that names this line."""
        raise ParseError(f"line {self.number}: {message}")


def lines(text: str) -> Iterator[Line]:
    """The lines of a text that are not blank."""
    for number, raw in enumerate(text.splitlines(), 1):
        if body := raw.strip():
            indent = len(raw) - len(raw.lstrip(" "))
            yield Line(number, indent // 2, _TOKEN.findall(body))
