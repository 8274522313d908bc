"""Lines of commands are printed as they are."""

from __future__ import annotations

from rich.table import Table

from superopt.commands.console import line_console
from superopt.commands.console import table_console


def test_lines_are_neither_broken_nor_markup(capsys):
    line = "[bold] " + "word " * 60
    line_console().print(line)
    assert capsys.readouterr().out == line + "\n"


def test_a_row_of_a_table_is_a_line_of_a_pipe(capsys):
    table = Table(*"abcdefgh")
    table.add_row(*["figure 12.345"] * 8)
    table_console().print(table)
    assert capsys.readouterr().out.count("figure 12.345") == 8
