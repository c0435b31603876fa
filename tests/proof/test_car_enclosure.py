"""Strips and bundles hold the next state of every state of theirs, as the program computes it."""

from __future__ import annotations

from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distinguo.proof.arrive.arrival import strip_of
from distinguo.proof.arrive.car import (
    ARRIVED,
    NEVER,
    MountainCar,
    Strip,
    blurred,
    enclose_strip,
    half,
    least,
    most,
    ways,
)
from distinguo.proof.checker.arrive import observed
from distinguo.proof.checker.balls import BallBundle, CarEquations
from distinguo.proof.schema import CarClaim
from distinguo.tasks.task import observe, transition

signed = st.floats(-1, 1)
strips = st.builds(
    Strip,
    st.tuples(st.floats(-1.25, 0.6), st.floats(-0.075, 0.075)),
    st.tuples(st.floats(-0.2, 0.2), st.floats(-0.03, 0.03)),
    st.tuples(st.floats(0, 0.02), st.floats(0, 0.01)),
)
cars = st.one_of(
    st.just(MountainCar()),
    st.builds(
        MountainCar,
        min_position=st.floats(-1.3, -0.8),
        max_position=st.floats(0.4, 0.8),
        max_speed=st.floats(0.02, 0.1),
        goal_position=st.floats(0.2, 0.6),
        goal_velocity=st.floats(-0.02, 0.05),
        force=st.floats(0.0005, 0.01),
        gravity=st.floats(0.001, 0.02),
    ),
)
#: Strips at the goal of a car that must be fast there, and not all of whose states are.
at_the_goal = st.builds(
    Strip,
    st.tuples(st.floats(0.42, 0.58), st.floats(0.01, 0.05)),
    st.tuples(st.floats(-0.03, 0.03), st.floats(-0.03, 0.03)),
    st.tuples(st.floats(0, 0.01), st.floats(0, 0.01)),
)
at_the_wall = st.builds(
    Strip,
    st.tuples(st.floats(-1.2, -1.1), st.floats(-0.07, 0.01)),
    st.tuples(st.floats(-0.05, 0.05), st.floats(-0.01, 0.01)),
    st.tuples(st.floats(0, 0.01), st.floats(0, 0.01)),
)
fast_cars = st.floats(0.01, 0.05).map(lambda speed: MountainCar(goal_velocity=speed))
shares = st.tuples(signed, signed, signed)
exact = settings(max_examples=500, deadline=None)


def member(strip, share):
    """A state of a strip, in the real numbers nearly so: a little inside of its box, against our own rounding."""
    return tuple(
        strip.centre[i] + share[0] * strip.along[i] + 0.999999 * share[1 + i] * strip.off[i] for i in (0, 1)
    )


def holds(strip, s) -> bool:
    """Tell whether a state lies in a strip: whether some ``t`` leaves no more than its box, give or take rounding."""
    low, high = -1.0, 1.0
    for i in (0, 1):
        centre, along, off = strip.centre[i], strip.along[i], strip.off[i] + 1e-15
        if abs(along) < 1e-12:
            if abs(s[i] - centre) > off + abs(along):
                return False
            continue
        ends = sorted(((s[i] - centre - off) / along, (s[i] - centre + off) / along))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low <= high + 1e-9


def can_go(task, strip, a, way, s, arrived) -> bool:
    image, known = enclose_strip(task, strip, a, way)
    return known != NEVER and (arrived if known == ARRIVED else holds(image, s))


@exact
@given(cars, strips, shares, st.integers(0, 2))
@example(MountainCar(), Strip((-1.15, -0.06), (0.05, 0.01), (0.0, 0.0)), (0.5, 0.0, 0.0), 0)
@example(MountainCar(), Strip((0.47, 0.03), (0.05, 0.03), (0.0, 0.0)), (0.5, 0.0, 0.0), 2)
def test_every_step_goes_one_of_the_ways(task, strip, share, a):
    s, _, arrived = transition(task, member(strip, share), a)
    assert any(can_go(task, strip, a, way, s, arrived) for way in range(ways(task)))


@exact
@given(fast_cars, st.one_of(at_the_goal, at_the_wall), shares, st.integers(0, 2))
def test_every_step_at_the_ends_goes_one_of_the_ways(task, strip, share, a):
    s, _, arrived = transition(task, member(strip, share), a)
    assert any(can_go(task, strip, a, way, s, arrived) for way in range(ways(task)))


@exact
@given(fast_cars, at_the_goal, shares, st.integers(0, 2))
def test_what_must_have_arrived_has_arrived(task, strip, share, a):
    outcomes = {enclose_strip(task, strip, a, way)[1] for way in range(ways(task))}
    if outcomes <= {NEVER, ARRIVED}:
        assert transition(task, member(strip, share), a)[2]


@exact
@given(
    *(st.one_of(both) for both in ((cars, fast_cars), (strips, at_the_goal, at_the_wall))),
    shares,
    st.integers(0, 2),
)
def test_bundles_hold_every_step_too(task, strip, share, a):
    with ctx.workprec(100):
        bundle = bundle_like(strip)
        s, _, arrived = transition(task, member(strip, share), a)
        car = CarEquations(CarClaim(name="MountainCar-v0", parameters=task._asdict()))
        images = list(car.outcomes(bundle, a))
        going = [image for image in images if image is not None]
        if arrived:
            assert None in images
        else:
            assert any(image.all_x.contains(arb(s[0])) and image.all_v.contains(arb(s[1])) for image in going)


def bundle_like(strip) -> BallBundle:
    (x, v), (dx, dv), (rx, rv) = strip
    return BallBundle(arb(x, rx + 1e-15), arb(v, rv + 1e-15), arb(dx), arb(dv))


@exact
@given(strips, shares)
def test_observations_are_within_the_blur(strip, share):
    s = member(strip, share)
    seen, blur = observe(MountainCar(), s), blurred(MountainCar(), strip)
    assert all(abs(seen[i] - s[i]) <= blur[i] for i in (0, 1))
    with ctx.workprec(100):
        block = observed(bundle_like(strip))
        assert not abs(arb(seen[0]) - block.x) > block.rx
        assert not abs(arb(seen[1]) - block.v) > block.rv


@exact
@given(strips, shares)
def test_the_halves_hold_the_whole(strip, share):
    s = member(strip, share)
    assert any(holds(half(strip, side), s) for side in (-1.0, 1.0))


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(-0.1, 0.1), st.floats(0, 0.1))
def test_a_box_becomes_a_strip_around_it(x, wide, v, high):
    strip = strip_of([x, x + wide, v, v + high])
    assert all(least(strip)[i] <= (x, v)[i] for i in (0, 1))
    assert all(most(strip)[i] >= (x + wide, v + high)[i] for i in (0, 1))


def test_it_is_not_much_larger_than_the_image():
    image, _ = enclose_strip(MountainCar(), Strip((-0.5, 0.0), (0.001, 0.0), (0.0, 0.0)), 2, 4)
    assert max(image.off) < 1.2e-8  # the bend of the cosine over a thousandth
