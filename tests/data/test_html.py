from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import EvalResult, Item, Mean, checks, not_scorable, run_evals_sync, scorer
from proctor.data.column import Column
from proctor.data.html import result_html
from proctor.data.judge import JudgeTotals
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import Summary
from proctor.data.tags import TagMeans
from proctor.data.threshold import Threshold

TAGS = ["div", "p", "br", "small", "strong", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"]
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</td></table><style>*{display:none}</style>",
    "&lt;b&gt; &amp; $x$",
    "a\x00b\x1b[31m\u202e\ud83d",
]


class Page(HTMLParser):
    """What a browser would make of it: its elements, and its tables as rows of texts."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.open, self.tables = [], set(), [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes |= set(attrs)
        if tag != "br":
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data


def told(table, *heads):
    """The first cell of each row of a table, and those under these heads."""
    return [[row[0], *(row[table[0].index(head, 1)] for head in heads)] for row in table[1:]]


def result(text, *, rows=1, tags=0):
    """A result in which *text* stands wherever a text of a user or a model can stand."""
    column = Column("scorer", None, text, text)
    mean = Mean(column=column, mean=0.0, n=rows, of=rows, threshold=Threshold(0.5), passed=False, decided_by="scores")
    outcome = Outcome(column, "scored", 0.0, reason=text)
    items = [
        ItemResult(
            item=Item(text, id=f"{text}{n}"),
            item_id=f"{text}{n}",
            index=n,
            replies=(Reply(output=text),),
            scorers=Outcomes([outcome]),
        )
        for n in range(rows)
    ]
    return EvalResult(
        eval_id="e",
        name=text,
        status="stopped",
        stopped_by=text,
        items=tuple(items),
        means=(mean,),
        tags=tuple(TagMeans(f"{text}{n}", 1, (mean,)) for n in range(tags)),
        sentence=text,
        verdict="scored",
        summary=Summary(items=rows, notes=(text,)),
    )


# ── what it says ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_says_what_the_printed_table_says():
    run = run_evals_sync(
        name="weather",
        data=[Item("?", output="It is sunny.", id="brooklyn"), Item("?", output="It rains.", id="paris", tags=["eu"])],
        scorers=[(checks.includes("sunny"), 0.8)],
    )
    html = run._repr_html_()
    assert html == result_html(run)
    assert "weather: <span" in html
    assert ">SCORED</span>" in html
    assert "mean 0.50 &lt; 0.8 over 2 of 2 items" in html
    whole, by_tag, _ = Page(html).tables
    assert told(whole, "mean", "scored", "needed") == [["scorer check-includes[sunny]", "0.50", "2 of 2", ">= 0.8"]]
    assert whole[1][-1] == "MISSED"
    assert told(by_tag, "", "mean", "scored") == [
        ["eu", "scorer check-includes[sunny]", "0.00", "1 of 1"],
        ["(no tag)", "scorer check-includes[sunny]", "1.00", "1 of 1"],
    ]
    assert Page(html).tables[-1][-1] == [
        "paris",
        "check-includes[sunny]",
        'scored 0.00, needed >= 0.8: "sunny" is not in the answer "It rains."',
        "It rains.",
    ]


def test_an_empty_result_is_shown():
    assert "NO VERDICT" in result_html(EvalResult(eval_id="e"))


def test_what_was_not_kept_is_said():
    options = {"data": [Item("?", output="It rains.")], "scorers": [(checks.includes("sunny"), 0.8)]}
    html = run_evals_sync(keep="none", **options)._repr_html_()
    assert "What failed: 1 of 1 row fell short or failed, but keep=&quot;none&quot; kept no row" in html

    @scorer
    def silent(run):
        return not_scorable()

    html = run_evals_sync(data=[Item("?", output="x")], gates=[silent], keep="failures")._repr_html_()
    assert "rows in which scorers only declined were not kept" in html


# ── what it must not do ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ATTACKS)
def test_no_text_becomes_markup(text):
    assert_harmless(result(text, tags=1))


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_no_text_at_all_becomes_markup(text):
    assert_harmless(result(text, tags=1))


def assert_harmless(found):
    html = result_html(found)
    page = Page(html)
    usual = Page(result_html(result("x", tags=1)))
    assert page.elements == usual.elements
    assert page.attributes == usual.attributes
    assert set(page.elements) <= set(TAGS)
    assert html.isprintable()
    html.encode()


def test_dollar_signs_are_left_alone_by_notebooks():
    assert result_html(result("$5 or $6")).startswith('<div class="tex2jax_ignore mathjax_ignore">')


@pytest.mark.slow
def test_ten_thousand_rows_are_shown_in_part():
    html = result_html(result("x" * 5000, rows=10_000, tags=1000))
    assert "What failed (50 of 10000 shown)" in html
    assert "By tag (30 of 1000 shown)" in html
    assert len(html) < 150_000


def test_what_judges_took_is_told():
    judge = JudgeTotals(executions=2, calls=2, unpriced=2, duration_ms=10)
    mean = Mean(column=Column("scorer", None, "kind", "kind"), mean=1.0, n=2, of=2, judge=judge)
    page = Page(result_html(EvalResult(eval_id="e", means=(mean,))))
    assert ["kind", "2 judged; 2 calls; tokens not reported; price not known; 5 ms each"] in page.tables[-1]
