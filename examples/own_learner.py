"""A learner of your own, Q-learning on a grid: distinguo learn puck --learner examples/own_learner.py:GridLearner"""

from typing import NamedTuple

import numpy as np

import distinguo as dg


@dg.learner("grid-q-learning")
class GridLearner(NamedTuple):
    partition: tuple
    q: np.ndarray

    def fresh(setup):  # the memory to begin with
        boxes = dg.grid([10] * len(setup.low), setup.low, setup.high)
        return GridLearner(boxes, np.zeros((10 ** len(setup.low), setup.actions)))

    def act(self, agent, s):  # compiled, like learn
        return dg.choose(self.q[dg.region(self.partition, s)], 0.0, agent.rng)

    def learn(self, agent, t):
        j, k = dg.region(self.partition, t.s), dg.region(self.partition, t.s_next)
        future = 0.0 if t.terminal else 0.95 * dg.state_value(self.q[k])
        self.q[j, t.a] += 0.1 * (t.r + future - self.q[j, t.a])

    def controller(self):
        return dg.Controller(self.partition, self.q)
