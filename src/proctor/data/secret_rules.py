"""What a secret looks like: the table of rules that `proctor.data.secrets` works by.

A rule finds a secret by the name it stands under, or by its own looks. Quantifiers are bounded and no two of them can
divide a text in many ways, so that a search takes time in proportion to the text, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from proctor.errors import UsageError

__all__ = ["DEFAULT_RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. *name*: what the replacement says was there: `[secret removed: api key]`.

    *keys*: names that secrets stand under: keys of mappings, headers, query parameters, `name=value` in texts. Written
    as lower-case words joined by `_`; `api_key` is also `apiKey` and `API-KEY`. A `*` before it stands for anything.
    *pattern*: a regular expression over texts; case counts. Its groups whose names begin with `secret` are replaced,
    else all that matched.
    *shape*: what all of a value must look like when only its key says that it is a secret.
    *hints*: lower-case texts, one of which is in every text that the rule finds something in; *begins*: what every
    match of *pattern* begins with, case counting, if it has 20 or more of the characters A-Z, a-z, 0-9, -, _, +, / in
    a row. They make a rule cheap: a *pattern* with neither has every text searched; *keys* alone need none.
    """

    name: str
    keys: tuple[str, ...] = ()
    pattern: str | None = None
    shape: str | None = None
    hints: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.keys and not self.pattern:
            raise UsageError(f"the rule {self.name!r} finds nothing: give keys= or pattern=")
        for key in self.keys:
            if not key.removeprefix("*").replace("_", "").isalnum() or key != key.lower():
                raise UsageError(f"the rule {self.name!r}: {key!r} is no key; write lower-case words joined by _")


# What keys begin with, and how they go on, as their issuers document them.
_ISSUED = (
    (("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"\w{12,300}"),  # Stripe
    (("whsec_",), r"[\w+/=]{16,100}"),
    (("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # Amazon
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"\w{16,300}"),
    (("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"), r"[\w-]{16,300}"),  # GitLab
    (("xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"), r"[\w-]{15,300}"),
    (("AIza",), r"[\w-]{30,60}"),  # Google
    (("GOCSPX-",), r"[\w-]{16,60}"),
    (("ya29.",), r"[\w-]{16,1000}"),
    (("hf_", "npm_", "gsk_", "r8_"), r"[A-Za-z0-9]{20,100}"),  # Hugging Face, npm, Groq, Replicate
    (("pypi-",), r"[\w-]{20,1000}"),
    (("xai-", "pplx-", "nvapi-", "tvly-", "pcsk_"), r"[\w-]{20,200}"),
    (("dop_v1_", "dapi"), r"[a-f0-9]{32,100}"),  # DigitalOcean, Databricks
)
_BEGINNINGS = tuple(begin for begins, _ in _ISSUED for begin in begins)
_ISSUED_LOOKS = "|".join(f"(?:{'|'.join(begins)}){rest}".replace(".)", r"\.)") for begins, rest in _ISSUED)

DEFAULT_RULES: tuple[Rule, ...] = (
    Rule(
        "private key",
        keys=("*private_key",),
        # All that follows when its end is cut off.
        pattern=r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r"(?:[^-]|-(?!----)){0,20000}(?:-----END[^-\n]{0,60}-----)?",
        hints=("key",),
    ),
    Rule(
        "authorization header",
        keys=("authorization", "proxy_authorization", "x_authorization", "authorization_header"),
        pattern=r"(?i:authorization)[\"'\\]{0,5}[ ]{0,2}[:=][ ]{0,2}[\"'\\]{0,5}"
        r"(?P<secret>(?i:(?:bearer|basic|token|apikey|api-key|key)[ ]{1,3}[^\s\"'\\,;<>]{1,4000}"
        r"|(?:digest|negotiate|ntlm|hawk|aws4-[\w-]{1,30})[ ][^\n\"']{1,4000}(?:\"[^\n\"']{0,400}){0,40}))"
        r"|(?<![A-Za-z0-9])[Bb](?i:earer)[ ]{1,3}"
        r"(?P<secret_2>(?=[\w.~+/=-]{0,200}[0-9])[\w.~+/=-]{8,8000}|[\w.~+/=-]{20,8000})",
        hints=("auth", "bearer"),
    ),
    Rule(
        "cookie",
        keys=("cookie", "set_cookie", "cookie_header", "session_cookie"),
        pattern=r"(?i:cookie)[\"'\\]{0,5}[ ]{0,2}:[ ]{0,2}[\"'\\]{0,5}"
        r"(?P<secret>[\w.!#$%&*^`|~+-]{1,200}=[^\n\"'\\]{0,8000})",
        hints=("cookie",),
    ),
    Rule("cookie", keys=("cookies",), shape=r"[^\s=]{1,200}=.*|\S+", hints=("cookie",)),
    Rule(
        "api key",
        keys=(
            "*api_key", "*access_key", "*access_key_id", "*secret_key", "*signing_key", "*encryption_key",
            "*subscription_key", "*account_key", "*master_key", "*auth_key", "*ssh_key",
        ),
        pattern=r"(?<![A-Za-z0-9])sk-(?!learn)(?:(?=[\w-]{0,60}[0-9A-Z])[\w-]{8,300}|[\w-]{20,300})"
        r"|[?&](?:key|sig|signature|X-Amz-Signature)=(?P<secret>[\w.~%+/-]{16,2000})",
        hints=("key", "sk-", "="),
    ),
    Rule(
        "api key",
        pattern=rf"(?<![A-Za-z0-9])(?:{_ISSUED_LOOKS})",
        begins=_BEGINNINGS,
    ),
    Rule(
        "token",
        keys=(
            "*access_token", "*refresh_token", "*id_token", "*auth_token", "*session_token", "*bearer_token",
            "*api_token", "*csrf_token", "*xsrf_token", "*oauth_token", "*bot_token", "*security_token",
            "*private_token", "*vault_token", "*github_token", "*gitlab_token", "*slack_token", "*hf_token",
            "*npm_token",
        ),
        hints=("token",),
    ),
    Rule(
        "token",
        pattern=r"(?<![A-Za-z0-9])eyJ[\w-]{13,4000}\.[\w-]{5,8000}(?:\.[\w-]{0,4000}){1,3}",
        begins=("eyJ",),
    ),
    # Words that also mean other things: only with a value that can hardly be anything else.
    Rule("token", keys=("token", "auth"), shape=r"(?=\S{0,200}[0-9])\S{16,}", hints=("token", "auth")),
    Rule(
        "password",
        keys=("*password", "*passwd", "*passphrase", "*passcode"),
        # Of an address, the name and the host stay.
        pattern=r"://[^\s/:@\"'<>\\]{0,200}:(?P<secret>[^\s/\"'<>\\]{1,500})@"
        r"|\bcurl\b[^\n]{0,200}?[ ](?:-u|--user)[ =][\"'\\]{0,5}[^\s:\"'\\]{1,100}:(?P<secret_2>[^\s\"'\\]{1,200})"
        r"|(?i:;[ ]?pwd=)(?P<secret_3>[^\s;\"'\\]{1,200})",
        hints=("pass", "@", "curl", "="),
    ),
    Rule("secret", keys=("*secret", "*secrets", "*secret_value"), hints=("secret",)),
)  # fmt: skip
"""The rules that are used when nobody says otherwise. Of several that find the same place, the first counts."""
