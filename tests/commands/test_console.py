"""Lines of commands are printed as they are."""

from __future__ import annotations

from superopt.commands.console import line_console


def test_lines_are_neither_broken_nor_markup(capsys):
    line = "[bold] " + "word " * 60
    line_console().print(line)
    assert capsys.readouterr().out == line + "\n"
