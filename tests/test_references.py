"""Tuples by reference: a field of a reference is read, and written into, as that of the tuple."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.references import by_reference
from distinguo.seam import generic, implements, kernel, part


class Inner(NamedTuple):
    rows: np.ndarray
    scale: float


class Outer(NamedTuple):
    inner: Inner
    other: Inner
    count: int
    flag: bool
    rng: np.random.Generator


@generic
def total(inner: Any) -> float:
    raise NotImplementedError


@implements(total, Inner)
def _(inner: Inner) -> float:
    return inner.rows.sum() * inner.scale


@part
def add_to(outer: Outer, n: int) -> None:
    chosen = outer.inner if n % 2 == 0 else outer.other
    chosen.rows[n % len(chosen.rows)] += outer.count if outer.flag else outer.rng.random()


@kernel
def worked(inner: Inner, other: Inner, count: int, flag: bool, rng: Any, times: int) -> float:
    outer = by_reference(Outer(inner, other, count, flag, rng))
    for n in range(times):
        add_to(outer, n)
    return total(outer.inner) - total(outer.other)


def fresh(flag: bool) -> tuple[Any, ...]:
    return Inner(np.arange(4.0), 2.0), Inner(np.ones(3), 0.5), 7, flag, np.random.default_rng(3)


def test_compiled_code_reads_and_writes_as_plain_python_does() -> None:
    for flag in (True, False):
        one, other = fresh(flag), fresh(flag)
        assert worked(*one, 20) == worked.py_func(*other, 20)
        for mine, theirs in zip(one[:2], other[:2], strict=True):
            np.testing.assert_array_equal(mine.rows, theirs.rows)
        assert one[-1].random() == other[-1].random()


class Pair(NamedTuple):
    first: Any
    second: Any


@part
def sum_of(pair: Pair) -> float:
    return total(pair.first) + total(pair.second)


@kernel
def paired(inner: Inner, other: Inner) -> float:
    outer = by_reference(Pair(inner, other))
    return sum_of(by_reference(Pair(outer.second, inner)))


def test_a_field_may_be_a_reference_itself() -> None:
    inner, other = fresh(True)[:2]
    assert paired(inner, other) == paired.py_func(inner, other) == 13.5


def made(weight: float) -> Any:
    """A class of the same name and fields at each call, with a total of its own."""

    class Mine(NamedTuple):
        rows: np.ndarray
        scale: float

    implements(total, Mine)(lambda inner: inner.rows.sum() * weight)
    return Mine


@kernel
def total_of(inner: Any) -> float:
    return total(by_reference(inner))


def test_two_classes_of_one_name_are_two_types() -> None:
    one, other = made(1.0), made(100.0)
    assert total_of(one(np.ones(3), 1.0)) == 3.0
    assert total_of(other(np.ones(3), 1.0)) == 300.0
