import numba
import pytest

needs_speed = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="millions of steps need compiled code"
)
