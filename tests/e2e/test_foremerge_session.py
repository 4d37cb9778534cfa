"""Two agents in two worktrees of one repository, by the Foremerge command: from `init` to a recorded squash landing."""

from pathlib import Path

from tests.cli.command import git
from tests.cli.foremerge import Foremerge, repository
from tests.support.stack import RunningStack

STRIPE = "class StripePaymentService:\n    def pay(self, sum):\n        return sum\n"


async def test_two_worktrees_from_init_to_a_recorded_squash_landing(
    stack: RunningStack, tmp_path: Path
) -> None:
    shop = repository(tmp_path / "payments-shop")
    Foremerge(shop, {"FOREMERGE_DB": str(stack.folder / "connection.json")})("init")
    main = Foremerge(shop)
    main("checks", "set", "unit", "--", "grep", "-q", "def pay", "src/payments.py")
    for branch in ("stripe", "paypal"):
        main("worktree", "create", "--branch", branch, "--path", str(tmp_path / branch))
    stripe, paypal = main.at(tmp_path / "stripe"), main.at(tmp_path / "paypal")
    a = stripe("agent", "register", "--name", "stripe")["id"]
    b = paypal("agent", "register", "--name", "paypal")["id"]

    first = stripe(
        *("intent", "publish", "--agent", a, "--task", "payments"),
        *("--summary", "Replace PaymentService with StripePaymentService"),
        *("--scope", "symbol:PaymentService=replace", "--scope", "file:src/payments.py=modify"),
    )
    assert first["conflicts"] == []
    own = first["intent"]["id"]
    second = paypal(
        *("intent", "publish", "--agent", b, "--task", "payments"),
        *("--summary", "Add PayPal support to PaymentService", "--scope", "symbol:PaymentService=extend"),
    )
    (conflict,) = second["conflicts"]
    assert (conflict["kind"], conflict["severity"], conflict["score"]) == (
        "destructive_vs_additive",
        "HIGH",
        0.97,
    )
    assert conflict["evidence"]["asserted"] and conflict["evidence"]["detected_before_code"]
    assert "PaymentProvider" in conflict["suggestion"] and second["assessment_required"]
    other = second["intent"]["id"]
    assert git(shop, "status", "--porcelain") == ""

    judged = ("--verdict", "conflicts", "--rationale", "theirs takes it away", "--action", "waiting")
    paypal("assess", "record", "--agent", b, "--intent", other, "--related-intent-id", own, *judged)
    assert len(paypal("assess", "list", "--intent", other)) == 1
    message = paypal(
        *("coordinate", "send", "--from", b, "--to", a, "--conflict", conflict["id"]),
        *("--message", "You land first; I build on StripePaymentService."),
    )["id"]
    (told,) = stripe("coordinate", "inbox", a, "--mark-read")
    assert (told["id"], told["status"]) == (message, "READ")
    assert [one["id"] for one in stripe("conflicts", "list", "--status", "coordinating")] == [conflict["id"]]

    stripe("work", "claim", "--agent", a, "--intent", own, "--scope", "symbol:PaymentService")
    overlap = paypal("work", "claim", "--agent", b, "--intent", other, "--scope", "symbol:paymentservice")
    assert [(one["kind"], one["score"]) for one in overlap["warnings"]] == [("overlapping_claim", 0.88)]
    assert len(stripe("conflicts", "detections", overlap["warnings"][0]["id"])) == 1
    assert stripe("work", "start", own, "--agent", a)["status"] == "IN_PROGRESS"
    assert paypal.refused("work", "start", own, "--agent", b).startswith("FORBIDDEN: ")
    seen = paypal.refused("work", "adopt", own, "--agent", b, "--reason", "it looks idle")
    assert seen.startswith("FORBIDDEN: ")

    (stripe.folder / "src" / "payments.py").write_text(STRIPE)
    git(stripe.folder, "commit", "--quiet", "--all", "--message=Stripe")
    published = stripe(
        *("changeset", "publish", "--agent", a, "--intent", own, "--summary", "Stripe in its place"),
        *(
            "--reported-test",
            "make test=passed",
            "--decision",
            "No adapter",
            "--decision-rationale",
            "one caller",
        ),
    )
    changeset = published["id"]
    assert published["files"] == ["src/payments.py"] and published["open_conflicts"]["count"] == 2
    assert published["tests"] == [{"command": "make test", "status": "passed", "summary": None}]
    assert stripe.refused("changeset", "accept", changeset).startswith("CHECK_FAILED: ")
    failed = stripe("changeset", "validate", changeset, "--", "grep", "-q", "PayPal", "src/payments.py")
    assert (failed["passed"], failed["exit_code"]) == (False, 1)
    passed = stripe("changeset", "validate", changeset, "--check", "unit")
    assert passed["passed"] and passed["command"][:2] == ["grep", "-q"]
    assert len(stripe("changeset", "attempts", changeset)) == 2
    assert stripe.refused("changeset", "accept", changeset).startswith("BLOCKING_CONFLICT: ")
    override = ("changeset", "accept", changeset, "--allow-high-conflicts")
    assert stripe.refused(*override).startswith("INVALID_INPUT: ")
    settled = stripe(
        *("conflicts", "resolve", conflict["id"], "--agent", a, "--resolution", "sequenced: Stripe first"),
        *("--rationale", f"agreed in {message}"),
    )
    assert settled["status"] == "RESOLVED"

    accepted = stripe("changeset", "accept", changeset)
    assert (accepted["status"], accepted["acceptance_verification"]) == ("ACCEPTED", "VERIFIED")
    head = git(stripe.folder, "rev-parse", "HEAD").strip()
    assert git(shop, "rev-parse", f"refs/foremerge/accepted/{changeset}").strip() == head
    assert accepted["accepted_commit"] == head == git(shop, "rev-parse", "stripe").strip()

    before = git(shop, "rev-parse", "main").strip()
    refused = main.refused("changeset", "commit", changeset, "--git-ref", before)
    assert refused.startswith("TARGET_DIVERGED: ")
    git(shop, "merge", "--quiet", "--squash", "stripe")
    git(shop, "commit", "--quiet", "--message=Stripe, squashed")
    landed = main("changeset", "commit", changeset, "--git-ref", "main")
    assert (landed["status"], landed["provenance"]["integration"]["method"]) == ("COMMITTED", "content")
    assert landed["integration_commit"] == git(shop, "rev-parse", "main").strip() != landed["accepted_commit"]

    assert paypal.refused("work", "discard", other, "--agent", b, "--reason", " ").startswith(
        "INVALID_INPUT: "
    )
    paypal("work", "discard", other, "--agent", b, "--reason", "built on Stripe instead")
    report = main("status")
    assert [(group["status"], group["count"]) for group in report["intents"]] == [
        ("COMMITTED", 1),
        ("DISCARDED", 1),
    ]
    assert report["claims"] == [] == report["conflicts"]
    assert main("events", "audit")["valid"] is True
