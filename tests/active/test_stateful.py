"""Everything a person can do with a learner, in any order, against a plain model of it."""

import pickle

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import poise
from poise.errors import PoiseError, PoolExhausted

N = 16
CLASSES = ("a", "b", "c")
#: After this many further answers a skipped node may be asked again.
LATER = 20
nodes = st.integers(0, N - 1)
several = st.lists(nodes, min_size=1, max_size=3)
names = st.sampled_from(CLASSES)


def two_clouds() -> poise.Graph:
    rng = np.random.default_rng(0)
    return poise.knn_graph(np.repeat([[0.0], [2.0]], N // 2, axis=0) + rng.normal(size=(N, 2)), k=4)


GRAPH = two_clouds()


class Plain:
    """What a session is, in dicts and sets: what happened, gone through from the start."""

    def __init__(self, given):
        self.given, self.history = given, []

    def play(self):
        labels, pending, skipped, excluded = dict(self.given), {}, {}, set()
        for kind, some, *more in self.history:
            for node in some:
                if kind == "ask":
                    pending[node] = None
                    continue
                pending.pop(node, None)
                if kind in ("tell", "relabel"):
                    skipped.pop(node, None)
                elif kind == "exclude":
                    excluded.add(node)
                elif kind == "release":
                    skipped.pop(node, None)
                    excluded.discard(node)
            if kind == "skip":
                answers = len(labels) - len(self.given)
                skipped |= dict.fromkeys(some, answers + LATER)
            if kind in ("tell", "relabel"):
                labels |= dict(zip(some, more[0], strict=True))
        return labels, pending, skipped, excluded

    def undo(self):
        last = max(i for i, event in enumerate(self.history) if event[0] != "ask")
        later = self.history[last + 1 :]
        del self.history[last:]
        excluded = self.play()[3]
        self.history += [event for event in later if event[1][0] not in excluded]

    def classes(self):
        named = [*self.given.values()]
        for kind, _, *more in self.history:
            named += more[0] if kind in ("tell", "relabel") else ()
        return tuple(dict.fromkeys(named))

    def candidates(self):
        labels, pending, skipped, excluded = self.play()
        allowed = set(range(N)) - set(labels) - set(pending) - excluded
        answers = len(labels) - len(self.given)
        return allowed - {node for node, until in skipped.items() if until > answers} or allowed


class Sessions(RuleBasedStateMachine):
    acquisition = "auto"

    def __init__(self):
        super().__init__()
        given = {0: "a"}
        self.learner = poise.Learner(GRAPH, given, acquisition=self.acquisition)
        self.plain = Plain(given)

    def refused(self, call, *arguments):
        """Whether a call was refused, in which case nothing may have changed."""
        before = self.learner.to_json()
        try:
            call(*arguments)
        except PoiseError:
            assert self.learner.to_json() == before
            return True
        return False

    @rule(k=st.integers(1, 3))
    def ask(self, k):
        left = self.plain.candidates()
        try:
            asked = self.learner.ask(k).tolist()
        except PoolExhausted:
            assert not left
            return
        assert len(asked) == len(set(asked))
        for node in asked:
            assert node in self.plain.candidates()
            self.plain.history.append(("ask", [node]))

    @rule(node=nodes)
    def pend(self, node):
        labels, pending, _, excluded = self.plain.play()
        refused = self.refused(self.learner.pend, node)
        assert refused == (node in labels or node in pending or node in excluded)
        if not refused:
            self.plain.history.append(("ask", [node]))

    @rule(some=several, name=names)
    def tell(self, some, name):
        labels, _, _, excluded = self.plain.play()
        some = list(dict.fromkeys(some))
        refused = self.refused(self.learner.tell, some, [name] * len(some))
        assert refused == any(node in excluded or labels.get(node, name) != name for node in some)
        new = [node for node in some if node not in labels]
        if new and not refused:
            self.plain.history.append(("tell", new, [name] * len(new)))

    @precondition(lambda self: self.learner.pending)
    @rule(name=names)
    def answer(self, name):
        node = self.learner.pending[0]
        self.learner.tell(node, name)
        self.plain.history.append(("tell", [node], [name]))

    @rule(node=nodes, name=names)
    def relabel(self, node, name):
        labels = self.plain.play()[0]
        refused = self.refused(self.learner.relabel, node, name)
        assert refused == (node not in labels)
        if not refused and labels[node] != name:
            self.plain.history.append(("relabel", [node], [name]))

    @rule(kind=st.sampled_from(["skip", "exclude", "release"]), some=several)
    def set_aside(self, kind, some):
        labels, pending, skipped, excluded = self.plain.play()
        refused = self.refused(getattr(self.learner, kind), some)
        aside = {*pending, *skipped, *excluded}
        assert refused == (
            any(node in labels for node in some)
            or (kind == "release" and any(node not in aside for node in some))
        )
        if not refused:
            self.plain.history.append((kind, list(dict.fromkeys(some))))

    @rule()
    def undo(self):
        if self.refused(self.learner.undo):
            assert all(event[0] == "ask" for event in self.plain.history)
        else:
            self.plain.undo()

    @rule()
    def copy(self):
        """The copy goes on; the learner that was copied must not notice."""
        before, self.learner = self.learner, self.learner.copy()
        text = before.to_json()
        self.learner.exclude([n for n in range(N) if n not in before.labels][:1])
        assert before.to_json() == text
        self.learner = before.copy()

    @rule()
    def save_and_load(self):
        text = self.learner.to_json()
        again = poise.Learner.from_json(GRAPH, text)
        assert again.to_json() == text
        if self.plain.candidates():  # the same question follows, whatever happened before
            assert again.copy().ask().tolist() == self.learner.copy().ask().tolist()
        self.learner = again

    @rule()
    def pickle(self):
        self.learner = pickle.loads(pickle.dumps(self.learner))

    @invariant()
    def is_where_the_plain_model_is(self):
        labels, pending, skipped, excluded = self.plain.play()
        state = self.learner._session.state
        assert self.learner.labels == labels
        assert set(self.learner.pending) == set(pending)
        assert state.skipped == skipped
        assert set(state.excluded) == excluded
        assert self.learner.classes == self.plain.classes()
        assert set(np.flatnonzero(state.candidates()).tolist()) == self.plain.candidates()
        assert all(len(guess) <= len(self.plain.classes()) for guess in state.pending.values())

    def teardown(self):
        assert set(self.learner.predictions) <= set(CLASSES)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=25, stateful_step_count=20)


@pytest.mark.slow
class TestTenThousandSteps(Sessions.TestCase):
    settings = settings(max_examples=100, stateful_step_count=100)
