"""Jobs as values: a function by its name, and arguments as JSON, so that any process can do them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple

from distinguo.engines.code import Code, bring
from distinguo.errors import DistinguoError, reason_of
from distinguo.processes import Failed
from distinguo.versions import PACKAGES, software


class Job(NamedTuple):
    """A call of a function of a module, by a key that is unique among the jobs of a study."""

    key: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    code: tuple[Code, ...] = ()  #: files of the user that the function needs

    @property
    def name(self) -> str:
        """The name of the function, by which another process finds it.

        >>> Job("a", round, {"number": 2.5}).name
        'builtins:round'
        """
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def digest(self) -> str:
        """What decides the result: the function, the arguments, and the code of the user.

        >>> Job("a", round, {"number": 2.5}).digest == Job("b", round, {"number": 2.5}).digest
        True
        """
        parts = [self.name, dict(self.arguments), [code.digest for code in self.code]]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def do(self) -> Any:
        """Do it here."""
        try:
            return self.function(**self.arguments)
        except DistinguoError as error:
            return Failed(str(error))
        except Exception as error:
            return Failed(reason_of(error))

    def sent(self) -> str:
        """Write it for another process.

        >>> answer_in(done(Job("a", round, {"number": 2.5}).sent()))
        2
        """
        return json.dumps(
            {
                "function": self.name,
                "arguments": dict(self.arguments),
                "code": [list(code) for code in self.code],
                "software": _deciding(),
            }
        )


def done(sent: str) -> str:
    """Do a job that was sent, and write its answer."""
    content = json.loads(sent)
    if misfit := _misfit(content["software"]):
        return json.dumps({"refused": misfit})
    try:
        for code in content["code"]:
            bring(Code(*code))
        module, _, name = content["function"].partition(":")
        function: Any = reduce(getattr, name.split("."), import_module(module))
    except Exception as error:
        return json.dumps({"failed": str(error) if isinstance(error, DistinguoError) else reason_of(error)})
    answer = Job("", function, content["arguments"]).do()
    return json.dumps({"failed": answer.reason} if isinstance(answer, Failed) else {"answer": answer})


def answer_in(text: str) -> Any:
    """Read the answer of a job; one by other software would have other bits, so nothing of it is kept."""
    content = json.loads(text)
    if "refused" in content:
        raise DistinguoError(content["refused"])
    return Failed(content["failed"]) if "failed" in content else content["answer"]


def _deciding() -> dict[str, str]:
    return {name: version for name, version in software().items() if name in PACKAGES}


def _misfit(theirs: Mapping[str, str]) -> str:
    """What is wrong with the software of this process, in a sentence.

    >>> _misfit({"distinguo": "0.0.1"})
    'A worker has distinguo ..., and this command has 0.0.1; install the same version on both.'
    """
    for name, mine in _deciding().items():
        if theirs.get(name) != mine:
            asked = theirs.get(name, "none")
            return (
                f"A worker has {name} {mine}, and this command has {asked}; install the same version on both."
            )
    return ""
