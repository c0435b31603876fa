"""A slow and literal transcription of the paper's definitions and of Figures 1-6, to compare learners with.

Everything is lists, sets and floats; nothing is shared with the package. Regions are named by the index of
their primary prototype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

State = tuple[float, ...]


def v(q: Sequence[float]) -> float:
    """Definitions 2 and 6."""
    return max(q)


def pref(q: Sequence[float], eps: float) -> frozenset[int]:
    """Definitions 3 and 7."""
    return frozenset(a for a, value in enumerate(q) if value >= v(q) - eps)


def adequate(q: Sequence[float], q1: Sequence[float], eps: float, delta: float) -> bool:
    """Definition 8 at one state: Equations 1 and 2."""
    return pref(q, delta) <= pref(q1, eps) and abs(v(q1) - v(q)) <= eps


def compatible(q1: Sequence[float], q2: Sequence[float], eps: float, delta: float) -> bool:
    """Definition 9: Equations 3, 4 and, by the size of delta, 5 or 6."""
    if pref(q1, eps) != pref(q2, eps):
        return False
    if not abs(v(q1) - v(q2)) <= delta:
        return False
    if delta <= eps / 2:
        return pref(q1, delta) == pref(q2, delta)
    return pref(q1, 0.0) == pref(q2, 0.0)


class Profile(NamedTuple):
    """What an investigation found: ``Q1(s, .)``, and which actions ended in a reliable source."""

    values: list[float]
    reliable: list[bool]


class Oracle:
    """The agent of section 3 with a real replacing-stack."""

    def __init__(
        self,
        transition: Callable[[State, int], tuple[State, float, bool]],
        start: Callable[[], State],
        actions: int,
        prototypes: Sequence[State],
        scale: Sequence[float],
        settings: Any,
        rng: Any,
    ) -> None:
        self.transition, self.start, self.actions = transition, start, actions
        self.scale, self.settings, self.rng = list(scale), settings, rng
        self.prototypes: list[State] = [tuple(p) for p in prototypes]
        self.primary = list(range(len(self.prototypes)))
        self.q = [[0.0] * actions for _ in self.prototypes]
        self.updates = [[0] * actions for _ in self.prototypes]
        self.investigated = [False] * len(self.prototypes)
        self.stack: list[tuple[State, int]] = []
        self.events: list[tuple[str, int, int]] = []
        self.steps = self.investigation_steps = 0
        self.sessions = self.fe_calls = self.merge_calls = 0

    def nearest(self, s: State) -> int:
        """Return the index of the nearest prototype, the oldest of equally near ones."""
        distances = []
        for p in self.prototypes:
            total = 0.0
            for i in range(len(s)):
                d = (s[i] - p[i]) * (1.0 / self.scale[i])
                total += d * d
            distances.append(total)
        return distances.index(min(distances))

    def region(self, s: State) -> int:
        """Return the region of a state: the primary prototype of its nearest prototype."""
        return self.primary[self.nearest(s)]

    def reliable_source(self, k: int) -> bool:
        """Tell whether some action of a region has had enough updates."""
        return any(n >= self.settings.min_updates for n in self.updates[k])

    def reliable_prototype(self, k: int) -> bool:
        """Tell whether every action of a region has had enough updates."""
        return all(n >= self.settings.min_updates for n in self.updates[k])

    def run_trial(self, cap: int) -> int:
        """Run one trial of at most ``cap`` steps, then process the stack; return the trial's length."""
        s, terminal, length = self.start(), False, 0
        a = self.next_action(self.region(s))
        while length < cap and not terminal:
            s_next, r, terminal = self.transition(s, a)
            length += 1
            self.steps += 1
            self.learn(s, a, r, s_next, terminal)
            if not terminal:
                a = self.next_action(self.region(s_next))
            s = s_next
        self.process_stack()
        return length

    def next_action(self, j: int) -> int:
        """Explore at random with the set probability, else take any preferred action."""
        if self.settings.explore > 0 and self.rng.random() < self.settings.explore:
            return int(self.rng.random() * self.actions)
        choices = sorted(pref(self.q[j], self.settings.delta))
        if len(choices) == 1:
            return choices[0]
        return choices[int(self.rng.random() * len(choices))]

    def learn(self, s: State, a: int, r: float, s_next: State, terminal: bool) -> None:
        """Figure 1 without the choice of the next action."""
        j, k, alpha = self.region(s), self.region(s_next), self.settings.alpha
        q_new = r if terminal else r + self.settings.gamma * max(self.q[k])
        grounded = terminal or self.reliable_source(k)
        if grounded:
            self.q[j][a] = (1 - alpha) * self.q[j][a] + alpha * q_new
            self.updates[j][a] += 1
        heeded = grounded or not self.settings.surprise_reliable
        if (
            (heeded and self.surprising(j, a, q_new))
            or not self.investigated[j]
            or self.rng.random() < self.settings.coin
        ):
            self.push(s, j)

    def surprising(self, j: int, a: int, q_new: float) -> bool:
        """Tell whether the last transition shows that a region is not adequate."""
        if self.settings.surprise_by_transition:
            return not abs(q_new - self.q[j][a]) <= self.settings.epsilon
        seen = list(self.q[j])
        seen[a] = q_new
        return not adequate(self.q[j], seen, self.settings.epsilon, self.settings.delta)

    def push(self, s: State, j: int) -> None:
        """Put a state on the replacing-stack in place of an earlier one of its region."""
        self.stack = [entry for entry in self.stack if entry[1] != j]
        self.stack.append((s, j))

    def process_stack(self) -> None:
        """Figure 2."""
        self.sessions += 1
        while self.stack:
            s, _ = self.stack.pop()
            j = self.region(s)
            if self.fe_timer():
                self.update_representation(s, j)
            else:
                self.update(j, self.investigate(s))

    def fe_timer(self) -> bool:
        """Tell whether this popped state is one for feature extraction."""
        self.fe_calls += 1
        ticks = self.sessions if self.settings.fe_counts_trials else self.fe_calls
        return ticks % self.settings.fe_interval == 0

    def investigate(self, s: State) -> Profile:
        """Figure 3: one mini-trial for each action."""
        j = self.region(s)
        profile = Profile([], [])
        for a in range(self.actions):
            value, reliable = self.mini_trial(s, j, a)
            profile.values.append(value)
            profile.reliable.append(reliable)
        self.investigated[j] = True
        return profile

    def mini_trial(self, s: State, j: int, a: int) -> tuple[float, bool]:
        """Repeat one action until it leaves region ``j``, ends the task or takes too long."""
        gamma = self.settings.gamma
        s_hat, r_hat, steps, discount = s, 0.0, 0, 1.0
        while True:
            s_hat, r, terminal = self.transition(s_hat, a)
            k = self.region(s_hat)
            r_hat = r_hat + discount * r
            discount *= gamma
            steps += 1
            self.investigation_steps += 1
            if k != j or steps >= self.settings.max_steps or terminal:
                break
        reliable = self.reliable_source(k) or (terminal and self.settings.terminal_reliable)
        if terminal:
            return r_hat, reliable
        future = discount if self.settings.discount_steps else gamma
        return r_hat + future * max(self.q[k]), reliable

    def alpha(self, j: int, a: int) -> float:
        """Figure 4."""
        if self.updates[j][a] <= self.settings.enough_samples:
            return 1.0 / self.updates[j][a]
        return 1.0 / self.settings.enough_samples

    def update(self, j: int, profile: Profile) -> None:
        """Move ``Q(j, .)`` towards the reliable entries of a profile."""
        for a in range(self.actions):
            if profile.reliable[a]:
                self.updates[j][a] += 1
                self.q[j][a] += self.alpha(j, a) * (profile.values[a] - self.q[j][a])

    def should_split(self, p1: Profile, p2: Profile | None) -> bool:
        """Figure 6; a prototype that does not exist is no reason to split."""
        if p2 is None or not (all(p1.reliable) and all(p2.reliable)):
            return False
        return not compatible(p1.values, p2.values, self.settings.epsilon, self.settings.epsilon)

    def update_representation(self, s: State, j: int) -> None:
        """Figure 5."""
        p2 = self.nearest(s)
        profile = self.investigate(s)
        profile_p = self.investigate(self.prototypes[j])
        self.update(j, profile_p)
        if not self.should_split(profile, profile_p) or not self.reliable_prototype(j):
            self.update(j, profile)
        else:
            self.split(s, j, p2, profile, profile_p)
        self.merge_calls += 1
        if self.settings.merge_interval > 0 and self.merge_calls % self.settings.merge_interval == 0:
            self.consolidate()

    def split(self, s: State, j: int, p2: int, profile: Profile, profile_p: Profile) -> None:
        """The second half of Figure 5: add ``s``, or detach its nearest prototype, or both."""
        self.updates[j] = [min(n, self.settings.reduced_updates) for n in self.updates[j]]
        profile_p2 = self.investigate(self.prototypes[p2]) if p2 != j else None
        detach = self.should_split(profile_p, profile_p2)
        add = not detach or self.should_split(profile, profile_p2)
        if add and s == self.prototypes[p2]:  # it is a prototype already: give it back its own region
            self.found_region(p2, profile)
            self.events.append(("detach", j, p2))
            return
        if add:
            new = self.add_prototype(s)
            self.found_region(new, profile)
            self.events.append(("split", j, new))
        if detach and profile_p2 is not None:
            self.found_region(p2, profile_p2)
            self.events.append(("detach", j, p2))
            if not add:
                self.update(p2, profile)

    def add_prototype(self, s: State) -> int:
        """Append a row for a new prototype and return its index."""
        new = len(self.prototypes)
        self.prototypes.append(s)
        self.primary.append(new)
        self.q.append([])
        self.updates.append([])
        self.investigated.append(False)
        return new

    def found_region(self, p: int, profile: Profile) -> None:
        """Make a prototype the primary of a region of its own."""
        self.primary[p] = p
        self.q[p] = list(profile.values)
        self.updates[p] = [self.settings.new_updates] * self.actions
        self.investigated[p] = bool(self.settings.new_investigated)

    def consolidate(self) -> None:
        """Merge every region into the first (or the youngest) older one that it is compatible with."""
        everyone = list(range(len(self.prototypes)))
        review = self.settings.review_merged
        asked = [p for p in everyone if review or self.primary[p] == p]
        profiles = {p: self.investigate(self.prototypes[p]) for p in asked}
        if review:
            for p in everyone:
                j = self.primary[p]
                if j != p and self.should_split(profiles[j], profiles[p]):
                    self.found_region(p, profiles[p])
                    self.events.append(("detach", j, p))
        regions = [p for p in everyone if self.primary[p] == p]
        for k in regions:
            older = [j for j in regions if j < k and self.primary[j] == j]
            if self.settings.merge_into_youngest:
                older.reverse()
            for j in older:
                if self.mergeable(profiles[j], profiles[k]):
                    self.primary = [j if p == k else p for p in self.primary]
                    self.events.append(("merge", j, k))
                    break

    def mergeable(self, p1: Profile, p2: Profile) -> bool:
        """Tell whether two profiles are known well and compatible."""
        eps = self.settings.epsilon
        return all(p1.reliable) and all(p2.reliable) and compatible(p1.values, p2.values, eps, eps)
