"""The shapes of secrets that gitring knows: keys and tokens with a form of their own, nothing that is merely random.

The patterns are RE2's: no look-around, and linear time whatever the text. Each one takes only as much of a token as
makes it certain, so that a longer form of the same token is found too.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of secret: what it is called in a refusal ("a private key"), and its shape."""

    what: str
    pattern: str


PRIVATE_KEY = "a private key"
JWT = "a signed JSON web token"

# Between the header of a key and its material: line ends (also written as \n in a string), quotes, marks of
# comments and diffs, and the headers that PEM and PGP allow there.
_BEFORE_MATERIAL = r"(?:[\s\"'`,+|#>*/\\]|\\+[nr]|[A-Z][A-Za-z-]+: [^\n\\]*)*"
# Sixteen characters are enough when they start as keys do; an identifier in code can be that long as well.
_MATERIAL = r"(?:(?:MI[A-Z]|MC4|MH[cQ]|b3Blbn)[A-Za-z0-9+/=]{12}|[A-Za-z0-9+/=]{32})"

KINDS = (
    Kind(
        PRIVATE_KEY,
        rf"-----BEGIN (?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_BEFORE_MATERIAL}{_MATERIAL}",
    ),
    Kind(PRIVATE_KEY, r"PuTTY-User-Key-File-[0-9]: "),
    Kind("an age secret key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Kind("a gitring token", r"\bgitring_(?:person|agent|git|mcp|signin)_[A-Za-z0-9_-]{40}"),
    Kind("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36}"),
    Kind("a GitHub token", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{50}"),
    Kind("a GitLab token", r"\bgl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat|wt)-[A-Za-z0-9_-]{20}"),
    Kind("a Slack token", r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20}"),
    Kind("a Slack token", r"\bxapp-[0-9]-[A-Z0-9]{5,20}-[0-9]{5,20}-[a-z0-9]{30}"),
    Kind(
        "a Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,20}/[A-Z0-9]{8,20}/[A-Za-z0-9]{16}",
    ),
    Kind("a Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{24}"),
    Kind("a webhook signing secret", r"\bwhsec_[A-Za-z0-9+/]{32}"),
    Kind("an AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Kind(
        "an AWS secret key",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\s{0,5}(?:=>|[:=])\s{0,5}[\"']?[A-Za-z0-9/+]{40}",
    ),
    Kind("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{86}=="),
    Kind("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    Kind("a Google client secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}"),
    Kind("an OpenAI key", r"\bsk-[A-Za-z0-9_-]{10,160}T3BlbkFJ[A-Za-z0-9_-]{20}"),
    Kind("an OpenAI key", r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}"),
    Kind("an OpenAI key", r"\bsk-[A-Za-z0-9]{48}\b"),
    Kind("an API key", r"\bsk-[a-f0-9]{32}\b"),
    Kind("an Anthropic key", r"\bsk-ant-[a-z]{2,10}[0-9]{0,2}-[A-Za-z0-9_-]{40}"),
    Kind("an OpenRouter key", r"\bsk-or-v1-[0-9a-f]{64}"),
    Kind("a Groq key", r"\bgsk_[A-Za-z0-9]{52}"),
    Kind("a Hugging Face token", r"\bhf_[A-Za-z]{34}\b"),
    Kind("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    Kind("a token of a package registry", r"_authToken\s?=\s?[\"']?[A-Za-z0-9+/_-]{20}"),
    Kind("a PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50}"),
    Kind("a Docker token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27}"),
    Kind("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    Kind("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    Kind("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    Kind("a Vault token", r"\bhv[sb]\.[A-Za-z0-9_-]{90}"),
    Kind(JWT, r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{32,}"),
)

# Values that documentation prints for everyone to copy; each is a part of the token that holds it.
EXAMPLES = (
    b"EXAMPLE",  # AWS ends all of its own this way
    b"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI",  # John Doe of jwt.io
    b"4eC39HqLyjWDarjtT1zdp7dc",  # Stripe
    b"BQokikJOvBiI2HlWgH4olfQ2",  # Stripe, older pages
    b"17653672481-19874698323",  # Slack
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",  # Azure's storage emulator
    b"x" * 16,
    b"X" * 16,
    b"0" * 16,
)
