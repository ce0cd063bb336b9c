"""What is asked, in pydantic-ai's words: messages with their files, and how the schema of the answer is sent."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from proctor.data.message import File, Message
from proctor.data.value import MISSING, shown
from proctor.errors import ModelError, cut
from proctor.judging.model import ModelCall

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, UserContent
    from pydantic_ai.models import ModelRequestParameters

__all__ = ["messages_of", "parameters_of", "sendable"]


def messages_of(call: ModelCall) -> list[ModelMessage]:
    """The messages of a call. The system messages that come first are its instructions, at every provider."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelRequestPart,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    leading = next((n for n, message in enumerate(call.messages) if message.role != "system"), len(call.messages))
    instructions = sendable("\n\n".join(message.text for message in call.messages[:leading])) or None
    made: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    for message in call.messages[leading:]:
        if message.role == "assistant":
            made += [ModelRequest(parts=parts), ModelResponse(parts=[TextPart(sendable(message.text))])]
            parts = []
        elif message.role == "system":
            parts.append(SystemPromptPart(sendable(message.text)))
        else:
            parts.append(UserPromptPart(_content(message)))
    made.append(ModelRequest(parts=parts, instructions=instructions))
    return [message for message in made if message.parts or message is made[-1]]


def parameters_of(call: ModelCall) -> ModelRequestParameters:
    """How the schema is sent. A tool that must be called is one without a text beside it."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if call.schema is None or call.mode == "prompted":
        return ModelRequestParameters(output_mode="text")
    schema, about = dict(call.schema), call.schema.get("description")
    strict = True if _is_closed(schema) else None
    if call.mode == "native":
        output = OutputObjectDefinition(json_schema=schema, name=call.name, description=about, strict=strict)
        return ModelRequestParameters(output_mode="native", output_object=output)
    tool = ToolDefinition(
        name=call.name, parameters_json_schema=schema, description=about, strict=strict, kind="output"
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def sendable(text: str) -> str:
    r"""*text*; halves of a character that it holds, which no encoding has, as escapes such as `\udc00`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def _is_closed(schema: Any) -> bool:
    """Whether every object says which properties it has: strict modes take no others, and would empty them."""
    if isinstance(schema, list):
        return all(map(_is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" and (not schema.get("properties") or schema.get("additionalProperties")):
        return False
    return "patternProperties" not in schema and all(map(_is_closed, schema.values()))


def _content(message: Message) -> str | list[UserContent]:
    files = any(isinstance(part, File) for part in message.parts)
    if not files:
        return sendable(message.text)
    made: list[UserContent] = []
    for part in message.parts:
        if isinstance(part, File):
            made.append(_file(part))
        elif text := Message("user", (part,)).text:
            made.append(sendable(text))
    return made


def _file(file: File) -> UserContent:
    from pydantic_ai.messages import AudioUrl, BinaryContent, DocumentUrl, ImageUrl, VideoUrl

    data, media_type = file.data, _media_type(file)
    if isinstance(data, str) and data.startswith(("http://", "https://")):
        kinds: dict[str, Callable[..., UserContent]] = {"image": ImageUrl, "audio": AudioUrl, "video": VideoUrl}
        return kinds.get((media_type or "").partition("/")[0], DocumentUrl)(data, media_type=media_type)
    if isinstance(data, str) and data.startswith("data:"):
        return BinaryContent.from_data_uri(data)
    if media_type is None:
        raise _unusable(file, "has no media_type: give one, such as image/png")
    return BinaryContent(_bytes(file), media_type=media_type)


def _media_type(file: File) -> str | None:
    if file.media_type:
        return file.media_type
    name = file.name or (file.data.partition("?")[0] if isinstance(file.data, str) and "://" in file.data[:8] else "")
    return mimetypes.guess_type(name)[0]


def _bytes(file: File) -> bytes:
    from base64 import b64decode

    if isinstance(file.data, bytes | bytearray | memoryview):
        return bytes(file.data)
    if not isinstance(file.data, str):
        raise _unusable(file, f"is {'empty' if file.data is MISSING else shown(file.data)}, and no bytes or URL")
    try:
        return b64decode("".join(file.data.split()), validate=True)
    except ValueError:
        raise _unusable(file, f"is neither a URL nor base64: {cut(file.data, 40)!r}") from None


def _unusable(file: File, why: str) -> ModelError:
    return ModelError(f"the file {file.name or file.media_type or ''!r} {why}", kind="rejected")
