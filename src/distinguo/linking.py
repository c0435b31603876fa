"""Changes to Numba: parts that are only linked into kernels, and generators that kernels borrow.

Numba optimises every compiled function on its own, and then again inside every function that calls it. Our parts
are only called from kernels. So a part is kept as intermediate code and optimised once, in the kernel that it is
linked into: the learner compiles in two thirds of the time and runs faster, with the same bits.

Parts are internal to their kernel, so a part with one caller is always inlined. An agent is about a hundred words,
which a call would copy at every step. Kernels count no references, so Numba's first pass, which looks for
references that cancel out, is left out.

If Numba's compiler is not as expected, both are compiled Numba's way.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from llvmlite import binding as _ll  # type: ignore[import-untyped]
from llvmlite import ir as _ir
from numba.core import boxing as _boxing  # noqa: F401 - registers what is replaced below
from numba.core import cgutils as _cgutils
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import pythonapi as _pythonapi
from numba.core import types

cgutils: Any = _cgutils
ir: Any = _ir
ll: Any = _ll
codegen: Any = _codegen
compiler: Any = _compiler
pythonapi: Any = _pythonapi

_NEEDED = (
    "_raise_if_finalized",
    "_get_module_for_linking",
    "_finalize_dynamic_globals",
    "_finalize_specific",
    "_ensure_finalized",
    "_optimize_final_module",
)
_CAN_LINK = all(hasattr(codegen.JITCodeLibrary, name) for name in _NEEDED) and hasattr(
    codegen.CPUCodegen, "_module_pass_manager"
)


class _NoEnvironment:
    """Stands for Numba's code generator where a part would be given its environment.

    An environment serves to make Python objects. That needs reference counting, which kernels do not have
    (``seam``).
    """

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: the part has no address yet."""


class PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: never machine code, never called from Python."""

    codegen = _NoEnvironment

    def finalize(self) -> None:
        """Link what the part calls, and do no more."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address."""
        self._ensure_finalized()
        return 0


class PartCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, with a library for parts."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = targetctx.codegen().create_library("part")
            library.__class__ = PartLibrary
        super().__init__(typingctx, targetctx, library, *rest)


class KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, with its parts."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == ll.Linkage.linkonce_odr:
                function.linkage = ll.Linkage.internal
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class KernelCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, with a library for kernels."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = targetctx.codegen().create_library("kernel")
            library.__class__ = KernelLibrary
            library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *rest)


#: Options for parts and for kernels.
PART_OPTIONS: dict[str, Any] = {}
KERNEL_OPTIONS: dict[str, Any] = {}
if _CAN_LINK:
    PART_OPTIONS = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    KERNEL_OPTIONS = {"pipeline_class": KernelCompiler, "no_cfunc_wrapper": True}


#: The addresses that a bit generator gives compiled code, in the order of NumPy's ``bitgen_t``.
_BITGEN = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")


def borrow_generators() -> None:
    """Let kernels borrow a ``Generator`` from their caller instead of owning it.

    Numba takes a reference to every generator that it is given, and its reference counting drops it later. Kernels
    have none (``seam``), so each call would keep a generator alive for ever. Code with reference counting is left
    alone.

    Numba also asks for the addresses through Python code and does not check the answer, so a Ctrl-C at that moment
    ends the process with a segmentation fault. Here the addresses are read from the bit generator's capsule, and no
    Python runs.
    """
    kind = types.NumPyRandomGeneratorType
    own = pythonapi._unboxers.functions[kind]

    def borrow(typ: Any, obj: Any, c: Any) -> Any:
        return own(typ, obj, c) if c.context.enable_nrt else _borrowed(typ, obj, c)

    pythonapi._unboxers.functions[kind] = borrow


def _borrowed(typ: Any, obj: Any, c: Any) -> Any:
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    generator = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    bits = cgutils.create_struct_proxy(types.NumPyRandomBitGeneratorType("bit_generator"))(
        c.context, c.builder
    )
    with ExitStack() as stack:

        def unless_null(value: Any) -> Any:
            with cgutils.early_exit_if_null(c.builder, stack, value):
                c.builder.store(cgutils.true_bit, failed)
            return value

        bit_generator = unless_null(c.pyapi.object_getattr_string(obj, "bit_generator"))
        c.pyapi.decref(bit_generator)  # its generator keeps it alive
        capsule = unless_null(c.pyapi.object_getattr_string(bit_generator, "capsule"))
        c.pyapi.decref(capsule)
        addresses = unless_null(_pointer_in(capsule, c))
        for place, name in enumerate(_BITGEN):
            setattr(bits, name, c.builder.load(cgutils.gep_inbounds(c.builder, addresses, place)))
        bits.state_address, bits.parent = bits.state, bit_generator
        generator.bit_generator, generator.parent = bits._getvalue(), obj
        generator.meminfo = cgutils.get_null_value(generator.meminfo.type)
    return pythonapi.NativeValue(generator._getvalue(), is_error=c.builder.load(failed))


def _pointer_in(capsule: Any, c: Any) -> Any:
    """Return the address of the ``bitgen_t`` in a capsule, as the address of a row of addresses."""
    kind = ir.FunctionType(cgutils.voidptr_t, [c.pyapi.pyobj, cgutils.voidptr_t])
    function = c.pyapi._get_function(kind, name="PyCapsule_GetPointer")
    name = c.context.insert_const_string(c.builder.module, "BitGenerator")
    address = c.context.get_value_type(types.uintp)
    return c.builder.bitcast(c.builder.call(function, [capsule, name]), address.as_pointer())
