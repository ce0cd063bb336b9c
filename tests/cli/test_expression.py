"""Checks written on the command line: what is read, and that nothing else is."""

import time

import pytest

from proctor import Threshold, UsageError, checks
from proctor.cli.expression import known_checks, read_check, read_gate, signature_of


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("no_tool_errors()", "check-no-tool-errors"),
        (" no_tool_errors( ) ", "check-no-tool-errors"),
        ("no_tool_errors(text=false)", "check-no-tool-errors[text=false]"),
        ("no_tool_errors(text=False)", "check-no-tool-errors[text=false]"),
        ('called_tool("pay")', "check-called-tool[pay]"),
        ("called_tool('pay', times=2)", "check-called-tool[pay,times=2]"),
        ('called_tool(name="pay", times=+2)', "check-called-tool[pay,times=2]"),
        ('tool_order(["search", "book"])', "check-tool-order[search,book]"),
        ('similarity("x", threshold=null)', "check-similarity[x]"),
        ('similarity("x", threshold=None)', "check-similarity[x]"),
        ('includes("東京 🗼")', 'check-includes["東京 🗼"]'),
        (r'matches(r"\d+ days")', r"check-matches[\d+ days]"),
        ('includes("a" "b")', "check-includes[ab]"),
        ('includes(\n  "x",\n)', "check-includes[x]"),
    ],
)
def test_a_check_is_a_name_and_literals(text, key):
    entry = read_check(text)
    assert entry.threshold is None
    assert entry.scorer.id == key.partition("[")[0]
    assert entry.scorer.key.replace('"', "") == key.replace('"', "")
    assert read_gate(text).scorer.key == entry.scorer.key


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ('similarity("x") >= 0.5', Threshold(0.5)),
        ('0.5 <= similarity("x")', Threshold(0.5)),
        ('similarity("x")<=1', Threshold(max=1)),
        ('1 >= similarity("x")', Threshold(max=1)),
        ('0.2 <= similarity("x") <= 0.8', Threshold(0.2, 0.8)),
        ('0.8 >= similarity("x") >= .2', Threshold(0.2, 0.8)),
        ('similarity("x") >= 2/3', Threshold(2 / 3)),
        ('similarity("x") >= -0', Threshold(0)),
    ],
)
def test_a_check_may_carry_bounds(text, threshold):
    assert read_check(text).threshold == threshold


def test_what_is_read_is_what_python_builds():
    assert read_check('called_tool("pay", times=2)').scorer.key == checks.called_tool("pay", times=2).key


def test_mappings_can_be_written():
    text = 'called_tool("pay", args={"amount": 5, "to": {"iban": null, "tags": ["a"]}}, match="subset")'
    check = checks.called_tool("pay", args={"amount": 5, "to": {"iban": None, "tags": ["a"]}}, match="subset")
    assert read_check(text).scorer.key == check.key


def test_checks_can_be_written_inside_checks():
    made = checks.all_of(checks.includes("a"), checks.not_(checks.called_tool("pay")))
    assert read_gate('all_of(includes("a"), not_(called_tool("pay")))').scorer.key == made.key


def test_every_check_can_be_written():
    assert list(known_checks()) == checks.__all__
    assert signature_of("similarity") == "similarity(expected, *, ignore_case=True, threshold=None)"


@pytest.mark.parametrize(
    "text",
    [
        '__import__("os")',
        '__import__("os").system("true")',
        "(lambda: no_tool_errors())()",
        "(no_tool_errors)()()",
        "().__class__",
        "no_tool_errors.__globals__",
        "no_tool_errors().run",
        'checks.includes("x")',
        "[includes(x) for x in 'ab']",
        "{includes('x'): 1}",
        "(x := includes('x'))",
        "includes((x := 'y'))",
        "includes(open('/etc/hostname'))",
        "includes(includes('x'))",
        "includes(__name__)",
        "includes('x'.upper())",
        "includes('x' * 999)",
        "includes('x' + 'y')",
        "includes('xyz'[0])",
        "includes(f'{1}')",
        "includes(b'x')",
        "includes(1j)",
        "includes(...)",
        "includes(*['x'])",
        "includes(**{'expected': 'x'})",
        "tool_order(('a', 'b'))",
        "tool_order({'a'})",
        "tool_order([lambda: 1])",
        "called_tool('x', args={1: 2})",
        "called_tool('x', args={**{}})",
        "called_tool('x', args={'a': 1, 'a': 2})",
        "called_tool('x', args={'a': open('/etc/hostname')})",
        "called_tool('x', match=includes('y'))",
        "all_of('x')",
        "all_of()",
        "not_(includes)",
        "not_(includes('x') >= 0.5)",
        "includes('x') if 1 else includes('y')",
        "includes('x') and includes('y')",
        "not includes('x')",
        "includes('x') == 1",
        "includes('x') in [1]",
        "includes('x') >= includes('y')",
        "includes('x') >= 9**9",
        "includes('x') >= len('x')",
        "includes('x') >= 1/0",
        "includes('x') >= true",
        "called_tool('x', times=-True)",
        "called_tool('x', times=- -1)",
        "called_tool('x', times=2/1)",
        "includes('x') >= 1/2/3",
        "includes('x') >= " + "9" * 400,
        "0 <= 1 <= includes('x')",
        "0 <= includes('x') >= 1",
        "await includes('x')",
        "yield",
        "import os",
        "x = 1",
        "includes('x'); includes('y')",
        "eval",
        "#",
        "",
        "   ",
        "'",
        "\0",
        "includes('\udcff')",
    ],
)
def test_k09_nothing_else_is_read(text):
    with pytest.raises(UsageError):
        read_check(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "includes('" + "x" * 100_000 + "')",
        "(" * 9_000,
        "[" * 9_000,
        "-" * 9_000 + "1",
        "tool_order(" + "[" * 150 + "]" * 150 + ")",
        "includes('x') >= " + "1/" * 4_000 + "1",
        "includes('x') >= " + "1/" * 900 + "1",
        "includes('x') >= " + "- " * 900 + "1",
        "no_tool_errors" + "()" * 2_000,
        "no_tool_errors()" + ".a" * 2_000,
        "not " * 2_000 + "1",
        "called_tool('x', times=1" + "0" * 5_000 + ")",
    ],
)
def test_what_is_long_or_deep_is_refused_quickly(text):
    began = time.process_time()
    with pytest.raises(UsageError) as caught:
        read_check(text)
    assert time.process_time() - began < 2
    assert len(str(caught.value)) < 6_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'includs("x") >= 0.5',
            """\
            no check 'includs'. Did you mean 'includes'?
              includs("x") >= 0.5
              ^""",
        ),
        (
            "called_tool(get_order)",
            """\
            text goes in quotes: "get_order"
              called_tool(get_order)
                          ^""",
        ),
        (
            'did_not_call("日本", nam=2)',
            """\
            did_not_call has no 'nam'. Did you mean 'name'? It is written did_not_call(name)
              did_not_call("日本", nam=2)
                                   ^""",
        ),
        (
            'no_tool_errors("pay")',
            """\
            no_tool_errors: too many positional arguments; it is written no_tool_errors(*, text=True)
              no_tool_errors("pay")
              ^""",
        ),
        (
            "includes()",
            """\
            includes: missing a required argument: 'expected'; it is written includes(expected, *, ignore_case=True)
              includes()
              ^""",
        ),
        (
            'includes("x", ignore_case=true, ignore_case=false)',
            """\
            ignore_case is given twice
              includes("x", ignore_case=true, ignore_case=false)
                                              ^""",
        ),
        (
            'called_tool("pay", times=-1)',
            """\
            called_tool: times must be a whole number, 1 or more, not -1
              called_tool("pay", times=-1)
              ^""",
        ),
        (
            'similarity("x") > 0.5',
            """\
            a bound is written >= or <= (both ends included), as in 0.2 <= check <= 0.8
              similarity("x") > 0.5
              ^""",
        ),
        (
            'similarity("x") >= 3',
            """\
            threshold min 3 of check-similarity[x] is outside the scorer's range 0 to 1; for 3% write 0.03
              similarity("x") >= 3
                                 ^""",
        ),
        (
            "no_tool_errors",
            """\
            put parentheses after the name: no_tool_errors(*, text=True)
              no_tool_errors
              ^""",
        ),
        (
            'checks.includes("x")',
            """\
            a check is written without a dot: includes(...)
              checks.includes("x")
              ^""",
        ),
        (
            'includes("x") and excludes("y")',
            """\
            one check at a time: give the option again for the next one
              includes("x") and excludes("y")
                                ^""",
        ),
        (
            'includes("x"',
            """\
            this cannot be read: '(' was never closed
              includes("x"
                      ^""",
        ),
        (
            'includes(\n  "x", y=2)',
            """\
            includes has no 'y'. It is written includes(expected, *, ignore_case=True)
                "x", y=2)
                     ^""",
        ),
    ],
)
def test_a_mistake_is_shown_where_it_stands(text, message):
    with pytest.raises(UsageError) as caught:
        read_check(text)
    lines = [line.removeprefix(" " * 12) for line in message.splitlines()]
    assert str(caught.value).splitlines() == lines


@pytest.mark.parametrize("text", [r'matches("\d+")', r'matches("\bword\b")', r'matches("(a)\1")'])
def test_a_backslash_that_python_would_change_is_refused(text):
    """`matches("\\bword")` would look for a backspace."""
    with pytest.raises(UsageError, match=r'r"|put r before'):
        read_check(text)


def test_a_gate_carries_no_bound():
    with pytest.raises(UsageError, match="put this in --check"):
        read_gate("no_tool_errors() >= 1")


def test_the_caret_stays_on_the_screen():
    with pytest.raises(UsageError) as caught:
        read_check('includes("' + "w" * 300 + '", y=2)')
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 80
    assert shown[caret.index("^")] == "y"


def test_what_a_terminal_could_obey_is_shown_escaped():
    with pytest.raises(UsageError) as caught:
        read_check("includes('x', \x1b[31m)")
    assert "\x1b" not in str(caught.value).splitlines()[1]


def test_a_name_is_the_same_in_every_form_that_unicode_gives_it():
    """Python folds full-width letters; what they name is still a check."""
    assert read_check("\uff49ncludes('x')").scorer.key == "check-includes[x]"


@pytest.mark.parametrize("text", ["faithfulness() >= 0.9", "faithfulness", "panel()"])
def test_a_scorer_is_no_check_and_is_said_to_be_one(text):
    with pytest.raises(UsageError, match=r"scorers\.\w+ is a scorer: write it in an eval file, for `proctor run FILE`"):
        read_check(text)
