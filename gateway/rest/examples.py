"""Example inputs for the API's description; a test checks that each is a valid call."""

from typing import Any

from protocol.asks import CreateAsk
from protocol.intents import (
    AcceptDriftInput,
    AckInput,
    CommentInput,
    DecideInput,
    DeclareInput,
    LandNowInput,
    SettleInput,
    SubmitInput,
    SuggestInput,
    UpdatePlanInput,
    WithdrawInput,
)
from protocol.people import InvitePerson, MakeLink, SetRole
from protocol.projects import ChangeSettings, CreateLine, CreateProject, CreateSeries, CreateToken, PauseLine

_REQUEST_ID = "5d0f6c1e-8a2b-4c7d-9e3f-1a2b3c4d5e6f"

EXAMPLES: dict[type[Any], dict[str, Any]] = {
    CreateProject: {
        "slug": "storefront",
        "source": "/srv/repositories/storefront.git",
        "checks": {"test": "make test", "timeoutSec": 600},
    },
    ChangeSettings: {"mergeApproval": "always", "sharedFiles": ["docs/DECISIONS.md"]},
    CreateLine: {"name": "release/2.x", "from": "main"},
    CreateSeries: {"prefix": "D", "next": 560},
    PauseLine: {"reason": "Release day: nothing lands before six."},
    CreateToken: {"name": "claude-code", "projects": ["storefront"], "kind": "agent"},
    InvitePerson: {"name": "Jonas Weber", "projects": ["storefront"], "role": "writer"},
    MakeLink: {"personId": "per_01JBQ8M4ZK7V3XW9N2D5HT6RYE"},
    SetRole: {"role": "viewer"},
    CreateAsk: {
        "text": "Show prices with their currency on the cart page.",
        "draft": {
            "title": "Show prices with their currency",
            "plan": {"scope": {"change": [{"path": "src/cart/"}]}},
        },
        "requestId": _REQUEST_ID,
    },
    DeclareInput: {
        "projectId": "storefront",
        "title": "Show prices with their currency",
        "goal": "A price names its currency, so nobody adds euros to yen.",
        "plan": {
            "summary": "Give Money a currency code and refuse to add two different ones.",
            "steps": ["Add the code", "Check it in Money.add", "Test a mixed sum"],
            "scope": {
                "change": [{"path": "src/money.ts", "symbol": "Money"}],
                "use": [{"path": "src/cart.ts", "symbol": "Cart.total"}],
            },
        },
        "requestId": _REQUEST_ID,
    },
    UpdatePlanInput: {
        "plan": {
            "summary": "Give Money a currency code, and show it.",
            "steps": ["Add the code", "Show it"],
            "scope": {"change": [{"path": "src/money.ts"}, {"path": "src/format.ts"}]},
        },
        "reason": "The formatter changes too.",
        "requestId": _REQUEST_ID,
    },
    AckInput: {"changeRequestId": "chq_01JBR3A2B4C6D8E0F2G4H6J8K0", "requestId": _REQUEST_ID},
    SubmitInput: {"headCommit": "9c1b2a3d5e7f9a1b3c5d7e9f1a3b5c7d9e1f3a5b", "requestId": _REQUEST_ID},
    WithdrawInput: {"reason": "Another intent does this already.", "requestId": _REQUEST_ID},
    CommentInput: {
        "text": "Keep the cache key stable across currencies.",
        "path": "src/cart/cache.ts",
        "startLine": 10,
        "endLine": 14,
        "requestId": _REQUEST_ID,
    },
    SuggestInput: {
        "text": "Rename Cart.add to Cart.addItem.",
        "place": "src/cart.ts",
        "requestId": _REQUEST_ID,
    },
    SettleInput: {
        "conflictId": "cnf_01JBQ9C3D5E7F9G1H3J5K7M9N2",
        "first": 41,
        "note": "The type comes before its users.",
        "requestId": _REQUEST_ID,
    },
    LandNowInput: {"reason": "Customers cannot pay.", "checks": "run", "requestId": _REQUEST_ID},
    AcceptDriftInput: {"note": "The test file belongs to it.", "requestId": _REQUEST_ID},
    DecideInput: {"decision": "send_back", "subject": "plan", "note": "Keep the old function working."},
}
"""By input model; ids that stand in the address are left out."""
