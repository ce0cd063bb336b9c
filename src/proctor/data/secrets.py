"""Secrets are replaced before anything is written or shown: headers, keys, cookies, tokens, passwords.

What a secret looks like is in `proctor.data.secret_rules`. Replaced is what `encode` gave, so that what is written is
read back as before; only the secrets say `[secret removed: api key]`. Replacing twice changes nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.data.secret_rules import DEFAULT_RULES, Rule
from proctor.data.secret_texts import MARK, Finder, SecretTexts
from proctor.errors import ProctorError

__all__ = [
    "DEFAULT_RULES",
    "Rule",
    "Secrets",
    "default_secrets",
    "redact",
    "redact_text",
    "redactor",
    "register_secret_rule",
    "safe_json",
    "suspicious",
]

_TAG = "$"
_UNTOUCHED = {"missing", "int", "float", "datetime", "date", "time", "timedelta", "decimal"}
_CODED = {"text", "bytes"}
_WHOLE = {*_CODED, "opaque"}
_OF_A_SCHEMA = ("type", "$ref", "anyOf", "oneOf", "allOf", "properties")


class Secrets:
    """Some rules, and what they find replaced. *hook*: is then given every text, for personal data; see `redactor`."""

    def __init__(self, rules: Sequence[Rule] = DEFAULT_RULES, *, hook: Callable[[str], str] | None = None) -> None:
        self.rules = tuple(rules)
        self._texts = SecretTexts(self.rules)
        self._hook = hook

    def suspicious(self, json_text: str) -> bool:
        """Whether the JSON of a value may hold something to be replaced: cheap, and never wrongly False."""
        return self._hook is not None or self._texts.suspicious(json_text)

    def text(self, text: str) -> str:
        """A text without its secrets; the same object when there are none."""
        made = self._texts.replaced(text)
        return made if self._hook is None else _hooked(self._hook, made)

    def value(self, encoded: Any) -> Any:
        """What `encode` gave, without its secrets; the same object when there are none."""
        kind = type(encoded)
        if kind is str:
            return self.text(encoded)
        if kind is list:
            return self._list(encoded)
        return self._mapping(encoded) if kind is dict else encoded

    def json(self, encoded: Any, **options: Any) -> str:
        """The JSON text of what `encode` gave, without secrets. *options*: of `json.dumps`."""
        import json

        text = json.dumps(encoded, **options)
        if not self.suspicious(text):
            return text
        made = self.value(encoded)
        return text if made is encoded else json.dumps(made, **options)

    # ── lists and mappings ─────────────────────────────────────────────────────────────────────────────────────────

    def _list(self, items: list[Any]) -> list[Any]:
        if items and all(type(item) is list and len(item) == 2 for item in items):
            made = [self._header(item) for item in items]
        else:
            made = [self.value(item) for item in items]
        return items if _same(made, items) else made

    def _header(self, pair: list[Any]) -> list[Any]:
        """One of a list of pairs, which may be headers: its first is a text like others."""
        finder = self._of(pair[0])
        made = [self.value(pair[0]), self.value(pair[1]) if finder is None else self._under(finder, pair[1])]
        return pair if _same(made, pair) else made

    def _pair(self, pair: list[Any]) -> list[Any]:
        made = list(self._entry(*pair))
        return pair if _same(made, pair) else made

    def _entry(self, key: Any, item: Any) -> tuple[Any, Any]:
        """A key and what stands under it."""
        finder = self._of(key)
        return self._key(key), self.value(item) if finder is None else self._under(finder, item)

    def _of(self, key: Any) -> Finder | None:
        name = _decoded(key) if type(key) is dict else key
        return self._texts.under(name) if type(name) is str else None

    def _key(self, key: Any) -> Any:
        return self._texts.replaced(key) if type(key) is str else self.value(key)

    def _mapping(self, written: dict[str, Any]) -> Any:
        tag = written.get(_TAG)
        if type(tag) is not str:
            return self._entries(written)
        if tag in _UNTOUCHED:
            return written
        if tag in _CODED:
            return self._coded(written)
        if tag == "map" and type(written.get("items")) is list:
            made = [self._pair(pair) for pair in written["items"]]
            return written if _same(made, written["items"]) else {**written, "items": made}
        return self._entries(written)

    def _entries(self, written: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        changed = False
        for key, item in written.items():
            new_key, new = (key, item) if key == _TAG else self._entry(key, item)
            changed = changed or new is not item or new_key is not key
            made[_free(new_key, made)] = new
        finder = self._of(written.get("name", written.get("key"))) if "value" in written else None
        if finder is not None:  # {"name": "Authorization", "value": ...}
            made["value"] = self._under(finder, written["value"])
            changed = changed or made["value"] is not written["value"]
        return made if changed else written

    def _coded(self, written: dict[str, Any]) -> Any:
        """Text or bytes in a form that JSON can hold."""
        text = _decoded(written)
        if text is None:
            return written
        made = self.text(text)
        if made == text:
            return written
        if written[_TAG] == "bytes":
            from base64 import b64encode

            return {_TAG: "bytes", "base64": b64encode(made.encode()).decode()}
        try:
            made.encode()
        except UnicodeEncodeError:
            return {_TAG: "text", "utf32": made.encode("utf-32-be", "surrogatepass").hex()}
        return made

    # ── under a key that says what it is ───────────────────────────────────────────────────────────────────────────

    def _under(self, finder: Finder, item: Any) -> Any:
        kind = type(item)
        if kind is str:
            if not item or not finder.fits(item):
                return self.text(item)
            return item if item.startswith(MARK) else finder.mark
        if kind is list:
            made = [self._under(finder, one) for one in item]
            return item if _same(made, item) else made
        if kind is not dict or item.get(_TAG) in _UNTOUCHED:
            return item
        if item.get(_TAG) in _WHOLE:
            return finder.mark if finder.fits(_decoded(item) or "") else self.value(item)
        if item.get(_TAG) == "map":
            pairs = {**item, "items": [[self._key(key), self._under(finder, one)] for key, one in item["items"]]}
            return item if pairs == item else pairs
        if _TAG in item or any(name in item for name in _OF_A_SCHEMA):  # one of ours, or what describes such a value
            return self.value(item)
        inside: dict[str, Any] = {}
        for key, one in item.items():
            inside[_free(self._key(key), inside)] = self._under(finder, one)
        return item if inside == item else inside


def _same(made: Sequence[Any], items: Sequence[Any]) -> bool:
    return all(new is item for new, item in zip(made, items, strict=True))


def _free(key: str, taken: dict[str, Any]) -> str:
    """A key that is not taken yet: two secrets that were keys become the same text."""
    at, free = 1, key
    while free in taken:
        at += 1
        free = f"{key} ({at})"
    return free


def _decoded(written: dict[str, Any]) -> str | None:
    """The text of what stands for text or bytes; None when there is none."""
    try:
        if written.get(_TAG) == "text":
            return bytes.fromhex(written["utf32"]).decode("utf-32-be", "surrogatepass")
        if written.get(_TAG) == "bytes":
            from base64 import b64decode

            return b64decode(written["base64"]).decode()
    except (LookupError, ValueError, TypeError):
        pass
    shown = written.get("shown") if written.get(_TAG) == "opaque" else None
    return shown if isinstance(shown, str) else None


def _hooked(hook: Callable[[str], str], text: str) -> str:
    why = None
    try:
        made = hook(text)
        if not isinstance(made, str):
            why = f"gave a {type(made).__name__}, not a text"
    except Exception as error:  # noqa: BLE001 - whatever a user's function raises; it may quote the text
        why = f"raised {type(error).__name__}"
    if why is not None:  # outside of the handler: the error must not travel along
        name = getattr(hook, "__qualname__", type(hook).__qualname__)
        message = f"the redact hook {name} {why}; nothing was written. What it was given is not shown here"
        raise ProctorError(message, code="REDACT_FAILED")
    return text if made == text else made


# ── those of the process ───────────────────────────────────────────────────────────────────────────────────────────


_own: list[Secrets] = []


def default_secrets() -> Secrets:
    """The rules of this process."""
    if not _own:
        _own.append(Secrets())
    return _own[0]


def register_secret_rule(rule: Rule) -> None:
    """Add a rule for all of this process, after those there are. Call it before a run begins."""
    _own[:] = [Secrets((*default_secrets().rules, rule))]


def redactor(hook: Callable[[str], str]) -> Secrets:
    """The rules of the process, and then *hook*: it is given every text (no keys of mappings) and gives what is kept.

    A hook that raises, or gives no text, is a `ProctorError` with the code `REDACT_FAILED`, which shows no text. Give
    the same for what it has given, or a resumed run takes its own rows for others.
    """
    return Secrets(default_secrets().rules, hook=hook)


def suspicious(json_text: str) -> bool:
    """Whether the JSON text of a value may hold a secret. False is certain."""
    return default_secrets().suspicious(json_text)


def redact(encoded: Any) -> Any:
    """What `encode` gave, without its secrets; the same object when there are none.

    >>> redact({"x-api-key": "abc", "note": "ask https://ann:pw@example.com"})["note"]
    'ask https://ann:[secret removed: password]@example.com'
    """
    return default_secrets().value(encoded)


def redact_text(text: str) -> str:
    """A text without its secrets; the same object when there are none.

    >>> redact_text("curl -H 'Authorization: Bearer abc'")
    "curl -H 'Authorization: [secret removed: authorization header]'"
    """
    return default_secrets().text(text)


def safe_json(encoded: Any, **options: Any) -> str:
    """The JSON text of what `encode` gave, without secrets. *options*: of `json.dumps`."""
    return default_secrets().json(encoded, **options)
