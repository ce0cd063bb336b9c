"""What counts as a secret, what does not, and that nothing else of a value changes."""

import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data import secrets
from proctor.data.codec import decode, encode
from proctor.data.opaque import Opaque
from proctor.data.outcome import Failure
from proctor.data.secret_rules import DEFAULT_RULES, Rule
from proctor.data.secrets import Secrets, redact, redact_text, redactor, register_secret_rule, safe_json, suspicious
from proctor.errors import ProctorError, UsageError
from tests.data.strategies import plain_data

SECRET = "Zq7mK2vX9pLw4RtB"  # stands for what must not be seen

HIDDEN = {
    "a header": (f"Authorization: Bearer {SECRET}", "authorization header"),
    "a header of a word": ("authorization: bearer x", "authorization header"),
    "a basic header": ("Authorization: Basic dXNlcjpwYXNz", "authorization header"),
    "a signed header": (
        f"Authorization: AWS4-HMAC-SHA256 Credential={SECRET}/x, Signature={SECRET}",
        "authorization header",
    ),
    "a digest": (f'Authorization: Digest username="ann", response="{SECRET}"', "authorization header"),
    "a header in a call of curl": (f"curl -H 'X-Api-Key: {SECRET}' https://example.com", "api key"),
    "who calls curl": (f"curl -s -u ann:{SECRET} https://example.com", "password"),
    "a repr": (f"{{'Authorization': 'Bearer {SECRET}', 'Accept': '*/*'}}", "authorization header"),
    "a repr of bytes": (f"[(b'authorization', b'Bearer {SECRET}')]", "authorization header"),
    "a repr of pairs": (f"Headers([('accept', '*/*'), ('x-api-key', '{SECRET}')])", "api key"),
    "pairs in JSON": (json.dumps([["a", "b"], ["X-Access-Token", SECRET]]), "token"),
    "JSON": (f'{{"api_key": "{SECRET}"}}', "api key"),
    "JSON in JSON": (json.dumps(json.dumps({"client_secret": f'a"{SECRET}'})), "secret"),
    "JSON that is cut off": (f'{{"password": "{SECRET} and', "password"),
    "a query": (f"https://example.com/v1?api_key={SECRET}&page=2", "api key"),
    "a short name in a query": (f"https://example.com/v1?page=2&key={SECRET}", "api key"),
    "an address": (f"postgresql://ann:{SECRET}@db.example.com/shop", "password"),
    "an address with an @ in the password": (f"redis://:p@{SECRET}@localhost:6379", "password"),
    "a setting": (f"OPENAI_API_KEY={SECRET}", "api key"),
    "a setting with spaces": (f"db_password = {SECRET}", "password"),
    "a line of YAML": (f"client-secret: {SECRET}", "secret"),
    "an argument": (f'connect(host="x", password="{SECRET}")', "password"),
    "a data source": (f"Driver=x;Uid=ann;Pwd={SECRET};", "password"),
    "a header of letters": ("X-Api-Key: swordfish", "api key"),
    "an option": (f"deploy --api-key {SECRET} now", "api key"),
    "XML": (f"<dbPassword>{SECRET}</dbPassword>", "password"),
    "a setting of letters": ("client_secret: abcdefghijklmnopqrstuvwxyz", "secret"),
    "cookies": (f"Cookie: a=1; session={SECRET}", "cookie"),
    "a cookie that is set": (f"Set-Cookie: session={SECRET}; Path=/", "cookie"),
    "a key of OpenAI's": (f"Incorrect API key provided: sk-proj-{SECRET}.", "api key"),
    "a key of Anthropic's": (f"sk-ant-api03-{SECRET}", "api key"),
    "a key of Amazon's": ("AKIAIOSFODNN7EXAMPLE is unknown", "api key"),
    "a key of GitHub's": (f"ghp_{SECRET}{SECRET}", "api key"),
    "a long key of GitHub's": (f"github_pat_{SECRET}_{SECRET}", "api key"),
    "a key of GitLab's": (f"glpat-{SECRET}abcd", "api key"),
    "a key of Slack's": (f"xoxb-123456789012-{SECRET}", "api key"),
    "a key of Google's": (f"AIza{SECRET}{SECRET}abc", "api key"),
    "a key of Hugging Face's": (f"hf_{SECRET}{SECRET}", "api key"),
    "a key of Stripe's": (f"sk_live_{SECRET}", "api key"),
    "a JWT": (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{SECRET}", "token"),
    "a token": (f"'x-auth-token': '{SECRET}'", "token"),
    "a private key": (f"-----BEGIN RSA PRIVATE KEY-----\nMII{SECRET}\n-----END RSA PRIVATE KEY-----\n", "private key"),
    "a private key that is cut off": (f"-----BEGIN PRIVATE KEY-----\\nMII{SECRET}", "private key"),
}

SHOWN = [
    "",
    "Please reset your password: click the link below.",
    "Your password must have 8-12 characters.",
    "Password: 8 to 12 characters",
    "A token is a unit of text; this prompt has 1234 tokens, max_tokens=512, total_tokens: 99.",
    "usage.input_tokens=12",
    "the secret_santa of Bob12 is Ann",
    "The secret: practise every day.",
    "I am the bearer of good news.",
    "Bearer responsibilities are listed below.",
    "I love cookies. Cookie: the best is oatmeal",
    "Authorization: required for all endpoints",
    "We need your authorization to refund order 1234567890.",
    "ask-me-anything-about-the-risk-assessment, task-0123456789abcdef",
    "def log_in(api_key: str, password: Optional[str] = None)",
    "pip install sk-learn-contrib-extras",
    'client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])',
    "connect(password=None, token=get_token())",
    "if password == expected: return True",
    "Write to ann@example.com or visit https://example.com:8080/a@b?page=2&sort=key",
    "https://ann@example.com/",
    "call_MY94XAcnfHzfAZcVHqt5FRRQ and 123e4567-e89b-12d3-a456-426614174000",
    '{"type": "object", "required": ["password", "email"]}',
    "The key to success: patience99.",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
]


@pytest.mark.parametrize("case", HIDDEN)
def test_a_text_loses_its_secret(case):
    text, name = HIDDEN[case]
    made = redact_text(text)
    assert f"[secret removed: {name}]" in made
    assert SECRET not in made
    assert redact_text(made) is made


@pytest.mark.parametrize("case", HIDDEN)
@pytest.mark.parametrize("before", ["", "\n", "é", "({'x': "])
def test_it_is_suspicious_in_json_wherever_it_stands(case, before):
    text = before + HIDDEN[case][0]
    assert suspicious(text)
    assert suspicious(json.dumps({"reason": text}))
    assert suspicious(json.dumps({"reason": text}, ensure_ascii=False))


@pytest.mark.parametrize("text", SHOWN)
def test_an_ordinary_text_stays(text):
    assert redact_text(text) is text


def test_the_rest_of_a_text_stays():
    text = f"GET https://ann:{SECRET}@example.com/x?api_key={SECRET}&page=2 failed"
    kept = "GET https://ann:[secret removed: password]@example.com/x?api_key=[secret removed: api key]&page=2 failed"
    assert redact_text(text) == kept


@pytest.mark.parametrize(
    "key",
    [
        *("authorization", "Authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "x-api-key", "api_key"),
        *(
            "apikey",
            "api-key",
            "apiKey",
            "X-API-KEY",
            "OPENAI_API_KEY",
            "access_token",
            "refreshToken",
            "client_secret",
        ),
        *("password", "passwd", "dbPassword", "secret", "private_key", "aws_secret_access_key", "accessKeyId"),
        *("GITHUB_TOKEN", "X-Amz-Security-Token", "PRIVATE-TOKEN", "x-csrf-token"),
    ],
)
@pytest.mark.parametrize(
    "value", ["xyz", ["xyz", "abc"], {"inner": "xyz"}, {1: "xyz"}, b"xyz", "\ud800xyz", Opaque("a.B", "xyz")], ids=repr
)
def test_what_stands_under_a_key_is_replaced(key, value):
    made = redact(encode({"headers": {key: value}, "note": "n"}))
    assert "xyz" not in json.dumps(made)
    assert "[secret removed: " in json.dumps(made)
    assert decode(made)["note"] == "n"
    assert suspicious(json.dumps(encode({key: value})))
    assert redact(made) is made


@pytest.mark.parametrize(
    "value",
    [
        {"token": 12, "tokens": "many", "input_tokens": 12, "max_tokens": "12"},
        {"secret_santa": "Bob", "keyboard": "x", "key": "check-includes[x]", "token": "dog"},
        {"password": None, "api_key": True, "secret": 7, "access_token": 1.5, "cookie": []},
        {
            "properties": {"password": {"type": "string", "description": "the new one"}},
            "required": ["password", "email"],
        },
        {"next_page_token": "abc", "author": "Ann", "session_id": "s-1", "password": ""},
        [["a", "b"], ["c", "d"]],
        {"when": "2026-01-01", "a": [1, 2.5, None, {"b": []}]},
    ],
)
def test_a_value_without_secrets_is_the_same_object(value):
    made = encode(value)
    assert redact(made) is made


def test_headers_may_be_pairs_or_records():
    pairs = [["Accept", "text"], ["X-Api-Key", "abc"]]
    assert redact(pairs) == [["Accept", "text"], ["X-Api-Key", "[secret removed: api key]"]]
    records = [{"name": "Authorization", "value": "abc"}, {"key": "page", "value": "2"}]
    assert redact(records) == [{"name": "Authorization", "value": "[secret removed: authorization header]"}, records[1]]
    assert redact(encode({"headers": {b"authorization": b"abc"}})) != encode({"headers": {b"authorization": b"abc"}})


def test_it_is_found_in_every_form_that_the_codec_writes():
    text = f"Authorization: Bearer {SECRET}"
    values = [text, text + "\ud800", text.encode(), Opaque("a.B", text), {1: text}, {text: 1}, {(1, text): 2}, (text,)]
    values.append(Failure(type="ValueError", message=text, traceback=text))
    for value in values:
        written = encode({"x": value})
        assert suspicious(json.dumps(written))
        assert SECRET not in repr(decode(redact(written)))
        assert type(decode(redact(written))["x"]) is type(decode(written)["x"])


def test_two_secrets_that_are_keys_stay_two():
    made = redact({f"sk-ant-{SECRET}1": 1, f"sk-ant-{SECRET}2": 2})
    assert made == {"[secret removed: api key]": 1, "[secret removed: api key] (2)": 2}


@pytest.mark.slow
@given(plain_data)
def test_what_is_redacted_can_be_read_and_is_final(value):
    made = redact(encode(value))
    assert encode(decode(made)) == made
    assert redact(made) == made


@pytest.mark.slow
@given(plain_data)
def test_what_is_not_suspicious_holds_nothing(value):
    written = encode(value)
    if not suspicious(json.dumps(written)):
        assert redact(written) is written


@given(st.text(st.sampled_from("abk-_:=@/ \"'\\\n.9"), max_size=60), st.sampled_from(sorted(HIDDEN)))
def test_no_surroundings_keep_a_secret(text, case):
    quoted = HIDDEN[case][0]
    around = f"{text} {quoted}\n{text}"
    assert "secret removed" in redact_text(around)


def test_ordinary_words_in_any_order_stay():
    """Sentences of words that rules know too."""
    words = "the a token tokens secret password cookie key author bearer pass api access of is for order".split()  # noqa: SIM905 - a sentence
    chance = random.Random(7)
    for _ in range(500):
        text = " ".join(chance.choices(words, k=20))
        assert redact_text(text) is text


@pytest.mark.parametrize(
    "piece",
    ["a", "://", "://a:", "sk-", "eyJ", "password", 'password="', "curl -u ", "Bearer ", "-----BEGIN PRIVATE KEY-----"],
)
def test_a_long_text_takes_time_in_proportion(piece):
    """It ends: nothing here goes over a text again and again."""
    text = piece * (500_000 // len(piece))
    assert isinstance(redact_text(text), str)


# ── rules and hooks of one's own ───────────────────────────────────────────────────────────────────────────────────


def test_a_rule_can_be_added():
    own = Secrets((*DEFAULT_RULES, Rule("tenant", keys=("*tenant_id",)), Rule("card", pattern=r"\b\d{4}-\d{4}\b")))
    assert own.value({"myTenantId": "t-1", "n": "1234-5678"}) == {
        "myTenantId": "[secret removed: tenant]",
        "n": "[secret removed: card]",
    }
    assert own.text("tenant-id=abc") == "tenant-id=[secret removed: tenant]"
    assert own.json({"tenant_id": "abc"}) == '{"tenant_id": "[secret removed: tenant]"}'
    assert redact_text("1234-5678") == "1234-5678"


def test_a_rule_without_hints_finds_all_the_same():
    both = Secrets((Rule("seat", keys=("seat_number",), pattern=r"\bseat \d+"),))
    assert both.text("in seat 17") == "in [secret removed: seat]"
    begins = Secrets((Rule("ticket", keys=("ticket_id",), pattern=r"tkt\.\w{20}", begins=("tkt.",)),))
    assert begins.text("tkt.abcdefghij0123456789") == "[secret removed: ticket]"
    assert begins.json({"ticketId": 1, "x": "tkt.abcdefghij0123456789"}) == (
        '{"ticketId": 1, "x": "[secret removed: ticket]"}'
    )
    assert not begins.suspicious('{"x": "ticket"}'.replace("ticket", "t"))


def test_a_rule_for_the_whole_process(monkeypatch):
    monkeypatch.setattr(secrets, "_own", [])
    register_secret_rule(Rule("badge", keys=("key",), pattern=r"badge (?P<secret>\d+)", hints=("badge", "key")))
    assert redact_text("my badge 17") == "my badge [secret removed: badge]"
    assert suspicious('{"key":"x"}')
    assert safe_json({"key": "x"}) == '{"key": "[secret removed: badge]"}'
    assert redactor(str.upper).text("my badge 17") == "MY BADGE [SECRET REMOVED: BADGE]"


@pytest.mark.parametrize("given", [{}, {"keys": ("API_KEY",)}, {"keys": ("api key",)}])
def test_a_rule_that_can_find_nothing_is_refused(given):
    with pytest.raises(UsageError, match="the rule 'x'"):
        Rule("x", **given)


def test_a_hook_is_given_every_text_and_no_key():
    own = redactor(lambda text: text.replace("Ann", "[name]"))
    assert own.value([["Ann", "b"], ["password", "Ann"]]) == [
        ["[name]", "b"],
        ["password", "[secret removed: password]"],
    ]
    written = encode({"Ann": ["Ann", 1, b"Ann", "\ud800Ann"], "api_key": "Ann"})
    made = decode(own.value(written))
    assert made == {"Ann": ["[name]", 1, b"[name]", "\ud800[name]"], "api_key": "[secret removed: api key]"}
    assert own.suspicious("1")


def _raises(text):
    raise ValueError(text)


def _gives_none(text):
    return None


@pytest.mark.parametrize("hook", [_raises, _gives_none])
def test_a_hook_that_fails_is_named_and_its_text_is_not_shown(hook):
    with pytest.raises(ProctorError, match=hook.__name__) as raised:
        redactor(hook).value({"x": "Ann lives here"})
    assert raised.value.code == "REDACT_FAILED"
    assert "Ann" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_any_key_of_letters_is_found_by_its_beginning():
    chance = random.Random(3)
    for begin in ("sk-ant-api03-", "ghp_", "AKIA", "xoxb-", "AIza", "hf_", "glpat-"):
        letters = string.ascii_uppercase if begin == "AKIA" else string.ascii_letters + string.digits
        key = begin + "".join(chance.choices(letters, k=16 if begin == "AKIA" else 36))
        assert redact_text(f"key {key}!") == "key [secret removed: api key]!"
