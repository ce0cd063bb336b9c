"""Names for runs that people can say and type: `calm-otter-42`."""

from __future__ import annotations

import secrets

__all__ = ["new_name"]

FIRST = (
    "amber", "apt", "bold", "brave", "bright", "brisk", "calm", "clear", "clever", "cosy", "crisp", "daring", "deft",
    "eager", "early", "fair", "fast", "fine", "firm", "fond", "frank", "fresh", "gentle", "glad", "golden", "grand",
    "happy", "hardy", "honest", "jolly", "keen", "kind", "lively", "loyal", "lucky", "mellow", "merry", "mild", "neat",
    "noble", "patient", "plain", "polite", "proud", "quick", "quiet", "rapid", "ready", "rosy", "sharp", "shy",
    "silver", "smart", "snug", "solid", "steady", "sunny", "swift", "tidy", "true", "warm", "wise", "witty", "young",
)  # fmt: skip
SECOND = (
    "badger", "beaver", "bison", "canary", "cedar", "cobra", "comet", "condor", "coral", "crane", "dolphin", "eagle",
    "falcon", "fern", "finch", "fox", "gecko", "hare", "harbor", "hawk", "heron", "ibis", "iris", "jaguar", "kestrel",
    "koala", "lark", "lemur", "lily", "lion", "lynx", "maple", "marten", "meadow", "mole", "moose", "newt", "ocelot",
    "olive", "orchid", "osprey", "otter", "owl", "panda", "pebble", "pike", "plover", "puffin", "raven", "robin",
    "salmon", "seal", "sparrow", "squid", "stork", "swan", "tapir", "tiger", "trout", "tulip", "walrus", "willow",
    "wombat", "wren",
)  # fmt: skip


def new_name() -> str:
    """A name for a run, one of 400,000; whether another run has it is for the store to see."""
    return f"{secrets.choice(FIRST)}-{secrets.choice(SECOND)}-{secrets.randbelow(98) + 2}"
