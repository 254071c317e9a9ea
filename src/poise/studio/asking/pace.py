"""The pacing rule: when to think ahead, when to queue questions, and how many.

For one person, the next question is computed for every possible answer while the person looks at
the open one. Where a solve takes too long for that, questions are queued instead: one solve chooses
several. For several people, enough questions are kept ready that nobody waits for a solve.
"""

from dataclasses import dataclass
from math import ceil
from statistics import median


@dataclass(frozen=True)
class Load:
    """What the asker knows about its own speed.

    Attributes
    ----------
    n_nodes : of the graph
    solve_seconds : times of the last solves; empty until one was measured
    is_compiling : whether the solver is being compiled, once after an installation
    """

    n_nodes: int
    solve_seconds: tuple[float, ...] = ()
    is_compiling: bool = False


@dataclass(frozen=True)
class Pace:
    """How the asker works ahead of the people. Every method is pure.

    Attributes
    ----------
    slow_solve_seconds : above this solve time, questions are queued instead of precomputed per
        answer, since people may answer as quickly
    many_nodes : from this many nodes on, questions are queued too: that is known before the first
        solve, which takes longest
    answer_seconds : a quick person answers one question in this time. The queue lasts for a solve
    min_queued, max_queued : limits of the queue. More questions would be chosen without the answers
        to those before them
    solve_seconds_per_node : assumed until a solve was measured
    queued_while_compiling : compiling takes longer than a solve, but with more first questions that
        know nothing of each other's answers, fewer classes are seen early
    skip_lookahead_max_seconds : above this solve time, nothing is computed for a skip. It takes a
        solve of its own, and the likelier answers would wait for it
    max_duplicates : with more near-duplicates that get the same answer, nothing is computed ahead:
        each takes a solve
    first_classes : this many of the most likely classes come before a new class and a skip, and the
        others after them. An answer that was not precomputed costs no solve either
    max_ready_each : questions ready for each of several people. More would be chosen with older
        answers
    """

    slow_solve_seconds: float = 0.25
    many_nodes: int = 200_000
    answer_seconds: float = 1.0
    min_queued: int = 3
    max_queued: int = 12
    solve_seconds_per_node: float = 8e-6
    queued_while_compiling: int = 6
    skip_lookahead_max_seconds: float = 0.2
    max_duplicates: int = 4
    first_classes: int = 12
    max_ready_each: int = 3

    def queues(self, load: Load) -> bool:
        """Whether questions for one person are queued instead of precomputed per answer."""
        is_slow = median(load.solve_seconds or [0.0]) > self.slow_solve_seconds
        return is_slow or load.n_nodes >= self.many_nodes or load.is_compiling

    def batch(self, load: Load) -> int:
        """How many questions for one person are chosen with one solve."""
        if not self.queues(load):
            return 1
        if load.is_compiling:
            return self.queued_while_compiling
        seconds = median(load.solve_seconds or [0.0]) or self.solve_seconds_per_node * load.n_nodes
        return min(max(ceil(seconds / self.answer_seconds), self.min_queued), self.max_queued)

    def enough_queued(self, load: Load, has_labels: bool) -> int:
        """With fewer questions in the queue of one person, more are chosen.

        Fewer would run out before the next solve is done; without labels no solve is needed.
        """
        batch = self.batch(load)
        return batch if has_labels else batch // 2 + 1

    def foresees_skip(self, load: Load) -> bool:
        """Whether the question after a skip is precomputed."""
        return min(load.solve_seconds, default=0.0) <= self.skip_lookahead_max_seconds

    def foresees_duplicates(self, n_duplicates: int) -> bool:
        """Whether the question after one answer to so many near-duplicates is precomputed."""
        return n_duplicates <= self.max_duplicates

    def ready(self, people: int, taken_per_second: float, round_seconds: float) -> int:
        """How many questions are kept ready for several people.

        While one round of choosing runs, people take the questions that are ready, and the next
        round can only replace those taken before it began. So the questions of two rounds are kept
        ready, and at least one for each person.
        """
        in_two_rounds = ceil(2 * taken_per_second * round_seconds)
        return max(self.min_queued, people, min(in_two_rounds, self.max_ready_each * people))


DEFAULT_PACE = Pace()
