"""What a change is seen from further out."""

from __future__ import annotations

import ast

from superopt.mutate.enclosing import enclosing
from superopt.mutate.source import replaced
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject


def test_an_expression_around_a_change_has_the_change_in_it():
    one = subject("softmax", 1)
    seen = 0
    for mutant in source_mutants(one.text, one.function, one.index)[::7]:
        lengths = [len(mutant.before)]
        for outer in enclosing(one, mutant):
            seen += 1
            assert outer.text == mutant.text
            # The same text, up to parentheses and layout, is had by a change of the outer one.
            changed = replaced(one.text.text, outer.site, f"({outer.after})")
            assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(mutant.text))
            assert mutant.before in outer.before
            lengths.append(len(outer.before))
        assert lengths == sorted(lengths)
    assert seen > 50
