"""A partition of your own: which region a state falls in, and how many regions there are.

distinguo test examples/own_partition.py:Bands diagonal --runs 2 --cap 10000
"""

from typing import NamedTuple

import distinguo as dg


@dg.partition
class Bands(NamedTuple):
    """Bands of states along the line v = slope * x, the outermost ones without end."""

    slope: float = -1.76
    height: float = 2.0
    count: int = 4

    def region(self, s):
        """Return the number of the band, from the lowest upwards."""
        band = int((s[1] - self.slope * s[0]) // self.height) + self.count // 2
        return min(max(band, 0), self.count - 1)

    def regions(self):
        """Return how many bands there are."""
        return self.count


if __name__ == "__main__":
    print(dg.check_partition(Bands(), low=(-2.4, -5.5), high=(2.4, 5.5)))
