import subprocess
import sys

import pytest

from proctor.errors import UnknownName, UsageError
from proctor.files.jsonl import read_rows
from proctor.plugins import find, import_object, known, recognised
from proctor.running.target import as_target


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package that declares a file reader and one of the names that are ours."""
    (tmp_path / "weather_reader.py").write_text("def read(path):\n    yield 'row 1', {'output': 'sunny'}\n")
    info = tmp_path / "weather_reader-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-reader\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[proctor.file]\n.weather = weather_reader:read\n.json = weather_reader:read\n.gone = weather_reader:gone\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("weather_reader", None)


def test_what_is_ours_is_found_by_name():
    assert find("file", ".jsonl") is read_rows


def test_other_names_are_those_that_installed_packages_declare(installed):
    assert list(find("file", ".weather")("x")) == [("row 1", {"output": "sunny"})]
    assert known("file") == [".csv", ".gone", ".json", ".jsonl", ".weather", ".yaml", ".yml"]


def test_an_installed_package_does_not_take_the_place_of_ours(installed):
    assert find("file", ".json").__module__ == "proctor.files.json"


@pytest.mark.parametrize(("kind", "name"), [("file", ".jsnl"), ("target", "calable")])
def test_a_name_that_nothing_has_is_guessed(kind, name):
    with pytest.raises(UnknownName, match=f"no {kind} '{name}'. Did you mean '") as caught:
        find(kind, name)
    assert list(caught.value.options) == known(kind)


def test_a_name_that_is_like_none_lists_what_there_is():
    with pytest.raises(UnknownName, match=r"no file '\.parquet'\. Known: \.csv, \.json, \.jsonl, \.yaml, \.yml"):
        find("file", ".parquet")


def test_a_kind_that_there_is_not_has_no_names():
    assert known("planet") == []
    with pytest.raises(UnknownName, match="no planet 'mars'"):
        find("planet", "mars")


def test_an_object_is_imported_by_its_path():
    assert import_object("json:dumps").__name__ == "dumps"
    assert import_object("json:JSONEncoder.encode").__qualname__ == "JSONEncoder.encode"


@pytest.mark.parametrize("path", ["json", "json.dumps", ":dumps", "json:", "", ":"])
def test_a_path_has_a_module_and_a_name(path):
    with pytest.raises(UsageError, match="is no import path; write package"):
        import_object(path)


def test_the_part_that_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"'no_such_module:x': cannot import no_such_module"):
        import_object("no_such_module:x")
    with pytest.raises(UnknownName, match=r"no name in json 'dumbs'\. Did you mean 'dumps'\?"):
        import_object("json:dumbs")


def test_a_module_that_breaks_is_reported_with_its_cause(tmp_path, monkeypatch):
    (tmp_path / "broken_target.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="cannot import broken_target: No module named 'no_such_dependency'"):
        import_object("broken_target:x")


def test_nothing_is_looked_up_at_import():
    code = "import sys, proctor, proctor.plugins; sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_object_is_recognised_by_the_package_of_its_class_or_of_a_base():
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    class Own(Agent):
        pass

    assert recognised("target", Agent(TestModel())) == "pydantic_ai"
    assert recognised("target", Own(TestModel())) == "pydantic_ai"
    assert recognised("target", object()) is None
    assert recognised("target", print) is None


def test_a_package_can_bring_targets_of_its_own(tmp_path, monkeypatch):
    """By an entry point of the group `proctor.targets` that has the name of the package."""
    (tmp_path / "myagents.py").write_text(
        "class Bot:\n    pass\n\n\nclass BotTarget:\n    remembers = durable = may_hang = False\n\n"
        "    def __init__(self, bot):\n        self.bot = bot\n"
    )
    info = tmp_path / "myagents-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: myagents\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[proctor.targets]\nmyagents = myagents:BotTarget\n")
    monkeypatch.syspath_prepend(tmp_path)
    bot = import_object("myagents:Bot")()
    assert recognised("target", bot) == "myagents"
    assert type(as_target(bot)).__name__ == "BotTarget"
