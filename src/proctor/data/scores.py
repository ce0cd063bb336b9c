"""The means of a run, as a reader looks for them: by key, by id, by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.data.mean import Mean
from proctor.errors import UnknownName

__all__ = ["Scores"]


class Scores(Mapping[str, Mean]):
    """`scores[x]` finds a column by its key, or by an id that one key has, wherever it stands.

    A name that several columns answer to is an error that lists them: narrow it with `.agent`, `.workflow`,
    `.trajectory`, `.gates`, `.steps["id"]` or `.turn(i)`, or find it by its label (`turn 0 gate check-includes[x]`).
    Iterates over labels.
    """

    __slots__ = ("means",)

    def __init__(self, means: tuple[Mean, ...]) -> None:
        self.means = means

    def __getitem__(self, name: str) -> Mean:
        if not isinstance(name, str):
            raise UnknownName("score", str(name), [mean.column.label for mean in self.means])
        for match in (_by_key, _by_label, _by_id):
            found = [mean for mean in self.means if match(mean) == name]
            if len(found) == 1:
                return found[0]
            if found:
                labels = ", ".join(mean.column.label for mean in found)
                raise UnknownName("single column for", name, [], hint=f"Several answer to it: {labels}.")
        raise UnknownName("score", name, [mean.column.label for mean in self.means])

    def __contains__(self, name: object) -> bool:
        return any(name in (_by_label(mean), _by_key(mean), _by_id(mean)) for mean in self.means)

    def get(self, name: str, default: Any = None) -> Any:
        """The mean as `scores[name]` finds it; *default* when no column answers to the name."""
        return self[name] if name in self else default  # noqa: SIM401 - this is that `get`

    def __iter__(self) -> Iterator[str]:
        return iter([mean.column.label for mean in self.means])

    def __len__(self) -> int:
        return len(self.means)

    def __repr__(self) -> str:
        return f"Scores({', '.join(f'{mean.column.label}: {mean}' for mean in self.means)})"

    @property
    def agent(self) -> Scores:
        """The plain scorers of an agent."""
        return self._at("scorer")

    @property
    def workflow(self) -> Scores:
        """The plain scorers of a workflow."""
        return self._at("scorer")

    @property
    def trajectory(self) -> Scores:
        """The scorers of the path taken."""
        return self._at("trajectory")

    @property
    def gates(self) -> Scores:
        """The gates."""
        return self._at("gate")

    @property
    def steps(self) -> Mapping[str, Scores]:
        """The scorers of each workflow step, by the step's id."""
        places = [mean.column.position for mean in self.means if mean.column.position.startswith("step:")]
        return {place.removeprefix("step:"): self._at(place) for place in dict.fromkeys(places)}

    def turn(self, index: int) -> Scores:
        """The columns of one turn."""
        return Scores(tuple(mean for mean in self.means if mean.column.turn == index))

    def _at(self, position: str) -> Scores:
        return Scores(tuple(mean for mean in self.means if mean.column.position == position))


def _by_label(mean: Mean) -> str:
    return mean.column.label


def _by_key(mean: Mean) -> str:
    return mean.column.key


def _by_id(mean: Mean) -> str:
    return mean.column.scorer_id
