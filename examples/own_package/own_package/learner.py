"""A learner in a package: distinguo learn puck --learner optimist"""

from typing import NamedTuple

import numpy as np

import distinguo as dg


@dg.learner("optimist")
class Optimist(NamedTuple):
    partition: tuple
    q: np.ndarray

    def fresh(setup):
        boxes = dg.grid([8] * len(setup.low), setup.low, setup.high)
        return Optimist(boxes, np.ones((8 ** len(setup.low), setup.actions)))

    def act(self, agent, s):
        return dg.choose(self.q[dg.region(self.partition, s)], 0.0, agent.rng)

    def learn(self, agent, t):
        j, k = dg.region(self.partition, t.s), dg.region(self.partition, t.s_next)
        future = 0.0 if t.terminal else 0.95 * dg.state_value(self.q[k])
        self.q[j, t.a] += 0.1 * (t.r + future - self.q[j, t.a])

    def controller(self):
        return dg.Controller(self.partition, self.q)
