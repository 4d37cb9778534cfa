"""The queue's planner, as a pure rule: driven to its end over every kind of queue by a model of the checks."""

from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from rules.queue_plan import Plan, between, may_test_together, plan


class Model:
    """A line, its queue, and checks that fail as `bad` and `clashing` say; runs the planner's plans to their end."""

    def __init__(
        self, size: int, bad: Collection[int], clashing: Collection[tuple[int, int]], slots: int
    ) -> None:
        self.queue = list(range(size))
        self.line: list[int] = []
        self.bad, self.clashing, self.slots = set(bad), list(clashing), slots
        self.results: dict[tuple[int, ...], bool] = {}
        self.running: list[tuple[int, ...]] = []
        self.returned: list[int] = []
        self.tests = self.rounds = 0

    def tree(self, prefix: int) -> tuple[int, ...]:
        return (*self.line, *self.queue[:prefix])

    def good(self, tree: Collection[int]) -> bool:
        return not self.bad.intersection(tree) and not any(a in tree and b in tree for a, b in self.clashing)

    def step(self) -> Plan:
        places = {self.tree(n): n for n in range(len(self.queue) + 1)}
        self.running = [tree for tree in self.running if tree in places]
        known = {places[tree]: verdict for tree, verdict in self.results.items() if tree in places}
        found = plan(len(self.queue), known, [places[tree] for tree in self.running], self.slots)
        for n in found.stop:
            self.running.remove(self.tree(n))
        for n in found.start:
            assert self.tree(n) not in self.results, "a tree is tested twice"
            assert self.tree(n) not in self.running
            self.running.append(self.tree(n))
            self.tests += 1
        assert len(self.running) <= max(self.slots, 1)
        if found.land:
            assert self.results[self.tree(found.land)], "an untested tree lands"
            self.line, self.queue = list(self.tree(found.land)), self.queue[found.land :]
        if found.blame:
            assert self.good(self.line), "somebody is blamed on a red line"
            assert not self.good(self.tree(1)), "an innocent is blamed"
            self.returned.append(self.queue.pop(0))
        return found

    def finish(self, which: int) -> None:
        tree = self.running.pop(which % len(self.running))
        self.results[tree] = self.good(tree)

    def drive(self, choices: list[int]) -> None:
        while self.queue:
            found = self.step()
            assert not found.line_failed
            if found.idle or (found.start and not (found.land or found.blame)):
                assert self.running, "the queue stands still with work in it"
                self.rounds += 1
                if choices:
                    self.finish(choices.pop())
                else:
                    for _ in range(len(self.running)):
                        self.finish(0)


@st.composite
def queues(draw: st.DrawFn) -> Model:
    size = draw(st.integers(1, 24))
    members = st.integers(0, size - 1)
    bad = draw(st.sets(members, max_size=4))
    clashing = draw(st.lists(st.tuples(members, members).filter(lambda p: p[0] < p[1]), max_size=3))
    return Model(size, bad, clashing, draw(st.integers(1, 6)))


@given(queues(), st.lists(st.integers(0, 5), max_size=60))
@settings(max_examples=300, deadline=None)
def test_every_queue_comes_to_its_end_with_a_green_line_and_only_the_guilty_returned(
    model: Model, choices: list[int]
) -> None:
    everybody = set(model.queue)
    model.drive(choices)
    assert model.good(model.line)
    assert {*model.line, *model.returned} == everybody
    assert model.line == sorted(model.line)
    for member in set(model.returned) - model.bad:
        assert any(member in pair for pair in model.clashing)


def test_twenty_good_intents_cost_one_test() -> None:
    model = Model(20, [], [], slots=2)
    model.drive([])
    assert (model.tests, model.returned) == (2 - 1, [])


def test_one_bad_among_twenty_costs_at_most_six_rounds_wherever_it_stands() -> None:
    for slots in (2, 4):
        rounds = []
        for bad in range(20):
            model = Model(20, [bad], [], slots)
            model.results[()] = True  # the line's own tree was tested when it landed
            model.drive([])
            assert model.returned == [bad]
            rounds.append(model.rounds)
        assert max(rounds) <= 6


def test_a_green_prefix_lands_before_anything_else_is_asked() -> None:
    assert plan(8, {3: True, 8: False}, {5}, 4) == Plan(land=3)


def test_a_longer_chain_is_tested_while_a_shorter_one_still_runs() -> None:
    assert plan(5, {}, {2}, 2) == Plan(start=(5,))
    assert plan(5, {}, {2, 4}, 2).idle


def test_a_red_chain_is_halved_at_once_and_asks_about_the_line_first() -> None:
    assert plan(8, {8: False}, (), 4) == Plan(start=(0, 2, 4, 6))
    assert plan(8, {0: True, 8: False}, (), 3) == Plan(start=(2, 4, 6))


def test_what_runs_above_a_red_prefix_is_stopped() -> None:
    assert plan(8, {0: True, 3: False}, {6, 8}, 2) == Plan(start=(1, 2), stop=(6, 8))


def test_nobody_is_blamed_before_the_line_is_known_to_be_good() -> None:
    assert plan(4, {1: False}, (), 2) == Plan(start=(0,))
    assert plan(4, {0: False, 1: False}, (), 2) == Plan(line_failed=True)
    assert plan(4, {0: True, 1: False}, (), 2) == Plan(blame=True)


def test_new_tests_part_the_widest_gap_beside_those_that_run() -> None:
    assert between(8, {4}, 1) in ([2], [6])
    assert between(3, {1, 2}, 4) == []


def test_only_intents_that_meet_others_fill_the_window() -> None:
    order = [f"i{n}" for n in range(10)]
    assert may_test_together({}, order, 4) == order
    chained = {f"i{n}": {f"i{n - 1}"} for n in range(1, 10)}
    assert may_test_together(chained, order, 4) == order[:5]
