"""A view of your own: a function from a run to a picture, which is a value.

python examples/own_view.py
distinguo show runs/puck-default-seed0 --view examples/own_view.py:experience --out experience.svg
"""

import distinguo as dg
from distinguo.views.curves import Series, SeriesPicture


@dg.view("experience")
def experience(run):
    """Show how often the values of each region were updated, beside what they are."""
    updates = tuple(run.updates.sum(axis=1).astype(float))
    values = tuple(run.q.max(axis=1))
    regions = tuple(float(j) for j in range(len(values)))
    series = (Series("updates", updates, logarithmic=True), Series("state value", values))
    return SeriesPicture("What the regions rest on", "region", regions, series)


if __name__ == "__main__":
    dg.show(dg.learn("puck", seed=1), view="experience", path="experience.png")
