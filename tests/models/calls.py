"""What the tests of models ask."""

from proctor.data.message import File, Message, Text
from proctor.judging.model import ModelCall

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["pass", "fail"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def ask(text="Is it kind?", *files: File, system="Be exact.", **given) -> ModelCall:
    messages = (Message("system", (Text(system),)), Message("user", (Text(text), *files)))
    return ModelCall(messages=messages, **given)
