"""Tuples by reference in compiled code: an agent is passed as one pointer, not as about a hundred words.

Numba passes a tuple field by field, nested tuples included. A part that takes an agent would have hundreds of
arguments, all of them typed, lowered and copied. :func:`by_reference` puts a tuple into the frame of the calling
kernel and passes its address; reading a field reads only that field. The source stays the same: a field of a
reference is read like a field of the tuple, and in plain Python the reference is the tuple.

A reference must not outlive the function that called :func:`by_reference`, which keeps the tuple in its frame.
"""

from __future__ import annotations

from typing import Any, TypeVar

from numba import extending as _extending
from numba.core import cgutils as _cgutils
from numba.core import imputils as _imputils
from numba.core import types as _types
from numba.core.datamodel import models as _models
from numba.core.typing import templates as _templates

cgutils: Any = _cgutils
models: Any = _models
templates: Any = _templates
types: Any = _types
extending: Any = _extending
imputils: Any = _imputils

T = TypeVar("T")


class Reference(types.Type):  # type: ignore[misc]
    """The type of a tuple that is known by its address."""

    def __init__(self, referred: Any) -> None:
        self.referred = referred
        super().__init__(f"Reference({referred})")

    @property
    def key(self) -> Any:
        """The type of the tuple: two classes of one name are two types."""
        return self.referred

    @property
    def instance_class(self) -> Any:
        """The class of the tuple; generics choose their implementation by it."""
        return self.referred.instance_class

    def field(self, name: str) -> tuple[int, Any]:
        """The index of a field, and its type when read: nested tuples are references, too."""
        place = self.referred.fields.index(name)
        kind = self.referred.types[place]
        return place, Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@extending.register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager.lookup(kind.referred).get_data_type().as_pointer())


@templates.infer_getattr
class _ReferenceFields(templates.AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.field(name)[1] if name in kind.referred.fields else None


@imputils.lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _read_field(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    place, field = kind.field(name)
    at = cgutils.gep_inbounds(builder, address, 0, place)
    if isinstance(kind.referred.types[place], types.BaseNamedTuple):
        return at
    return context.unpack_value(builder, field, at)  # a field may be a reference itself


def by_reference(value: T) -> T:
    """Pass a tuple by its address in compiled code; in plain Python, return the tuple itself.

    >>> by_reference((1, 2))
    (1, 2)
    """
    return value


@extending.type_callable(by_reference)  # type: ignore[untyped-decorator]
def _type_by_reference(context: Any) -> Any:
    def type_of(value: Any) -> Any:
        if isinstance(value, Reference):
            return value
        return Reference(value) if isinstance(value, types.BaseNamedTuple) else None

    return type_of


@extending.lower_builtin(by_reference, types.BaseNamedTuple)  # type: ignore[untyped-decorator]
def _put_into_frame(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    at = cgutils.alloca_once(builder, context.data_model_manager[kind].get_data_type())
    context.pack_value(builder, kind, arguments[0], at)
    return at


@extending.lower_builtin(by_reference, Reference)  # type: ignore[untyped-decorator]
def _leave_it(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return arguments[0]
