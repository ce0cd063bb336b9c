"""`proctor score`: saved conversations and outputs from the command line."""

import json

import pytest

from tests.support import shared

FINE = {"id": "fine", "input": "Hi", "output": "Hello, thank you."}
RUDE = {"id": "rude", "input": "Hi", "output": "What?"}
SILENT = {"id": "silent", "input": "Hi", "output": None}


@pytest.fixture
def write(tmp_path):
    def write(*rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        return name

    return write


def test_gates_and_bounds_give_a_verdict(proctor, write):
    code, out, err = proctor(
        "score", write(FINE, RUDE), "--gate", "no_tool_errors()", "--check", 'includes("thank you") >= 0.5'
    )
    assert (code, err) == (0, "")
    assert out.startswith("rows.jsonl: PASSED\n1 gate and 1 threshold met\n")


@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        ([FINE], ["--gate", 'includes("thank")'], 0),
        ([FINE, RUDE], ["--check", 'includes("thank")'], 0),
        ([FINE, RUDE], ["--gate", 'includes("thank")'], 1),
        ([FINE, RUDE], ["--check", 'includes("thank") >= 0.6'], 3),
        ([FINE, SILENT], ["--gate", 'includes("thank")'], 4),
        ([SILENT], ["--check", 'includes("thank") >= 0.5'], 4),
        ([FINE, SILENT], ["--check", 'includes("thank")'], 4),
        ([FINE, RUDE, SILENT], ["--gate", 'includes("thank")'], 1),
        ([FINE, RUDE], ["--gate", 'includes("thank")', "--check", 'includes("thank") >= 0.6'], 1),
        ([FINE, RUDE], ["--gate", 'includes("thank")', "--fail-on", "scored,error"], 0),
        ([FINE, SILENT], ["--check", 'includes("thank")', "--fail-on", "failed"], 0),
        ([SILENT], ["--gate", 'includes("thank")', "--fail-on", "none"], 0),
    ],
)
def test_g01_each_way_to_fail_has_its_exit_code(proctor, write, rows, options, code):
    assert proctor("score", write(*rows), *options)[0] == code


@pytest.mark.parametrize(
    ("outputs", "code"),
    [
        (["thank you"] * 91 + ["what?"] * 9, 0),
        (["thank you"] * 90 + ["what?"] * 10, 0),
        (["thank you"] * 89 + ["what?"] * 11, 3),
        ([None] * 100, 4),
    ],
    ids=["91 of 100", "90 of 100", "89 of 100", "100 errors"],
)
def test_g02_a_rate_of_90_percent(proctor, write, outputs, code):
    rows = [{"output": output} for output in outputs]
    assert proctor("score", write(*rows), "--check", 'includes("thank") >= 0.9')[0] == code


def test_g03_the_table_is_printed_though_the_gate_fails(proctor, write):
    code, out, _ = proctor("score", write(RUDE), "--gate", 'includes("thank")')
    assert code == 1
    assert 'rude  gate check-includes[thank]: 0.00  "thank" is not in the answer "What?"' in out


def test_keys_of_other_names(proctor, write):
    path = write({"nr": "7", "question": "Hi", "answer": "Hello", "gold": "Hello"})
    options = ["--id", "nr", "--input", "question", "--output", "answer", "--truth", "gold"]
    code, out, err = proctor("score", path, *options, "--gate", 'includes("bye")', "--name", "greetings")
    assert (code, err) == (1, "")
    assert out.startswith("greetings: FAILED\ngate check-includes[bye] missed: item 7 ")


def test_a_json_file_and_messages(proctor, tmp_path):
    messages = [
        {"role": "user", "content": "Pay"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "pay", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Error: no money"},
    ]
    (tmp_path / "one.json").write_text(json.dumps([{"messages": messages, "reward": 0}]))
    code, out, _ = proctor("score", "one.json", "--gate", "no_tool_errors()", "--check", 'called_tool("pay") >= 1')
    assert code == 1
    assert "no money" in out


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"input": "Hi"}], "no output"),
        ([{"id": "a", "input": "Hi", "output": "x"}, {"id": "a", "input": "Hi", "output": "y"}], "taken"),
        ([{"inptu": "Hi", "output": "x"}], "Did you mean 'input'"),
        ([[1]], "line 1"),
        ([], "no items"),
    ],
)
def test_data_that_cannot_be_scored_is_a_usage_error(proctor, write, rows, said):
    code, out, err = proctor("score", write(*rows), "--gate", "no_tool_errors()")
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl", "--gate", "no_tool_errors()"], "there is no file 'nowhere.jsonl'"),
        (["rows.txt", "--gate", "no_tool_errors()"], "end in '.txt'; there are .csv, .json, .jsonl, .yaml, .yml"),
        ([".", "--gate", "no_tool_errors()"], "'.' is a folder"),
        (["folder.jsonl", "--gate", "no_tool_errors()"], "'folder.jsonl' is a folder"),
        (["rows.jsonl"], "called_tool(name, *, times=1, exactly=None"),
        (["rows.jsonl", "--gate", "no_tool_errors() >= 1"], "put this in --check"),
        (["rows.jsonl", "--check", "no_tool_eror()"], "Did you mean 'no_tool_errors'?"),
        (["rows.jsonl", "--gate", "no_tool_errors()", "--fail-on", "fail"], "Did you mean 'failed'?"),
        (["rows.jsonl", "--gate", "no_tool_errors()", "--output", "answer"], "no key 'answer'"),
        (["rows.jsonl", "--gates", "no_tool_errors()"], "--gate"),
        ([], "DATA"),
    ],
)
def test_a_command_that_cannot_be_used_says_why(proctor, write, tmp_path, arguments, said):
    write(FINE)
    write(FINE, name="rows.txt")
    (tmp_path / "folder.jsonl").mkdir()
    code, out, err = proctor("score", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.filterwarnings("default")
def test_the_same_check_twice_is_warned_of(proctor, write):
    code, out, err = proctor("score", write(FINE), "--check", 'includes("x")', "--check", 'includes("x")')
    assert code == 0
    assert "check-includes[x]#2" in out
    assert err.startswith("Warning: scorer check-includes[x] is given more than once")
    assert len(err.splitlines()) == 1


def test_real_conversations(proctor):
    code, out, err = proctor(
        "score",
        shared("data/tau_airline/dev.jsonl"),
        *("--gate", "no_tool_errors()"),
        *("--check", 'called_tool("get_user_details")'),
        *("--check", 'similarity("x") >= 0.5'),
    )
    assert (code, err) == (1, "")
    assert out.startswith("dev.jsonl: FAILED\n")
    assert "80 of 80" in out


def test_a_name_cannot_steer_the_terminal(proctor, write):
    out = proctor("score", write(FINE), "--gate", 'includes("x")', "--name", "a\x1b[31mb")[1]
    assert out.startswith("a\\x1b[31mb: FAILED\n")
