"""Structured text, translated to C by a few lines of its own and by matiec, against Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.exports.decision import Decision, decision_of
from distinguo.exports.structured_text import KINDS, to_structured_text
from tests.exports.test_header import compiler
from tests.exports.test_programs import MAPS, Answers, check_answers, pole, safe_of, tried_on

ARITHMETICS = ("double", "float", "fixed")
TYPES = {"lreal": "double", "real": "float", "dint": "int32_t"}
TOKEN = re.compile(
    r"\(\*.*?\*\)|\s+|(?:lreal|real|dint)#-?[\d.]+(?:e[-+]?\d+)?|\d+\.\d+(?:e[-+]?\d+)?|\d+"
    r"|[a-z_]\w*|:=|<>|<=|>=|\.\.|[-+*/()\[\],;:<>=]",
    re.DOTALL,
)
SIGNS = {":=": "=", "=": "==", "<>": "!=", "and": "&&", "or": "||", "not": "!"}
CLOSED = {"end_if", "end_while", "end_for"}


class Translator:
    """From structured text to C, token by token; case does not matter, as in the standard."""

    def __init__(self, text: str) -> None:
        lower, self.tokens, place = text.lower(), [], 0
        while place < len(lower):
            found = TOKEN.match(lower, place)
            assert found, lower[place : place + 60]
            place = found.end()
            if not found.group().isspace() and not found.group().startswith("(*"):
                self.tokens.append(found.group())
        self.place, self.result = 0, ""

    def take(self, wanted: str | None = None) -> str:
        """The next token."""
        token = self.tokens[self.place]
        assert wanted in (None, token), (wanted, self.tokens[self.place - 5 : self.place + 5])
        self.place += 1
        return token

    def until(self, *ends: str) -> Iterator[str]:
        """The tokens before an end, which is taken, too."""
        while (token := self.take()) not in ends:
            yield token

    def program(self) -> str:
        """All functions."""
        return "".join(iter(lambda: self.function() if self.place < len(self.tokens) else "", ""))

    def function(self) -> str:
        """A function; its name stands for its answer."""
        self.take("function")
        self.result = self.take()
        self.take(":")
        kind, inputs, local = TYPES[self.take()], [], []
        while (token := self.take()) in ("var", "var_input"):
            constant = self.tokens[self.place] == "constant" and bool(self.take())
            while self.tokens[self.place] != "end_var":
                (inputs if token == "var_input" else local).append(
                    ("const " if constant else "") + self.variable()
                )
            self.take()
        self.place -= 1
        body = "".join(self.statements("end_function"))
        head = "".join(f"    {one};\n" for one in local)
        return (
            f"static {kind} {self.result}({', '.join(inputs)})\n{{\n    {kind} result = 0;\n{head}{body}"
            "    return result;\n}\n"
        )

    def variable(self) -> str:
        """A declaration, with a value or as zero."""
        name = self.take()
        self.take(":")
        sizes: list[str] = []
        if self.tokens[self.place] == "array":
            self.take()
            listed = list(self.until("of"))
            sizes = [str(int(end) + 1) for end in listed[3::4]]
            assert listed[0] == "[", listed
            assert set(listed[1::4]) == {"0"}, listed
        kind = TYPES[self.take()]
        value = "".join(self.until(";"))
        shape = "".join(f"[{size}]" for size in sizes)
        if not value:
            return f"{kind} {name}{shape}"
        plain = re.sub(r"(lreal|real)#", "", value.removeprefix(":="))
        if sizes:
            numbers = plain.strip("[]").split(",")
            assert len(numbers) == np.prod([int(size) for size in sizes])
            width = int(sizes[-1])
            rows = [", ".join(map(_c(kind), numbers[n : n + width])) for n in range(0, len(numbers), width)]
            return f"{kind} {name}{shape} = {{{', '.join(f'{{{row}}}' if len(sizes) > 1 else row for row in rows)}}}"
        return f"{kind} {name} = {_c(kind)(plain)}"

    def expression(self, *ends: str) -> str:
        """An expression in C; an index of two numbers becomes two."""
        texts, brackets = [], []
        for token in self.until(*ends):
            if token in "([":
                brackets.append(token)
            elif token in ")]":
                brackets.pop()
            if "#" in token:
                kind, digits = token.split("#")
                token = _c(TYPES[kind])(digits)
            texts.append("][" if token == "," and brackets[-1] == "[" else SIGNS.get(token, token))
        return " ".join(texts)

    def statements(self, *ends: str) -> Iterator[str]:
        """Statements before an end, which is taken, too."""
        while (token := self.take()) not in ends:
            if token == "if":
                yield f"if ({self.expression('then')}) {{\n"
                yield from self.statements("end_if")
                yield "}\n"
                self.take(";")
            elif token == "else":
                yield "} else {\n"
            elif token == "while":
                yield f"while ({self.expression('do')}) {{\n"
                yield from self.statements("end_while")
                yield "}\n"
                self.take(";")
            elif token == "for":
                name = self.take()
                self.take(":=")
                yield f"for ({name} = {self.expression('to')}; {name} <= {self.expression('do')}; {name}++) {{\n"
                yield from self.statements("end_for")
                yield "}\n"
                self.take(";")
            else:
                self.place -= 1
                target = self.expression(":=")
                yield f"{'result' if target == self.result else target} = {self.expression(';')};\n"


def _c(kind: str) -> Callable[[str], str]:
    return lambda digits: digits + ("f" if kind == "float" else "")


def decisions(arithmetic: str) -> dict[str, Decision]:
    """A decision for every map, with the limit that structured text has."""
    found = {}
    for which, make in MAPS.items():
        named = make(np.random.default_rng(sum(map(ord, which))))
        found[which] = decision_of(named, arithmetic, safe_of(named))
    return found


def driver(known: dict[str, Decision], call: str, name: Callable[[str], str]) -> str:
    """A program in C that reads observations, and writes what the map of its argument answers."""
    cases = []
    for n, (which, decision) in enumerate(known.items()):
        width, kind = decision.dimensions, TYPES[KINDS[decision.arithmetic].lower()]
        given = ", ".join(f"s[{i}]" for i in range(width))
        amounts = len(decision.safe_amounts)
        answers = [f"{call.format(name(f'{which}_{one}'))}{given})" for one in ("action", "fault")]
        answers += [f"{call.format(name(f'{which}_amount'))}{given}, {i})" for i in range(amounts)]
        out = f"double out[] = {{{', '.join(f'(double){one}' for one in answers)}}};"
        loop = f"while (fread(s, sizeof s, 1, stdin) == 1) {{ {out} fwrite(out, sizeof out, 1, stdout); }}"
        cases.append(f"case {n}: {{ {kind} s[{width}]; {loop} return 0; }}\n")
    body = f"(void)argc; switch (atoi(argv[1])) {{\n{''.join(cases)}}} return 1;"
    return f"int main(int argc, char **argv) {{ {body} }}\n"


def files(known: dict[str, Decision]) -> str:
    """All maps in one file, as in one project."""
    return "\n".join(str(to_structured_text(decision, which).content) for which, decision in known.items())


def run(program: Path, known: dict[str, Decision], which: str, states: np.ndarray) -> Answers:
    decision = known[which]
    given = decision.read(states)
    given = given.astype(np.int32) if decision.arithmetic == "fixed" else given
    number = str(list(known).index(which))
    output = subprocess.run([program, number], input=given.tobytes(), capture_output=True, check=True).stdout
    rows = np.frombuffer(output).reshape(len(states), -1)
    amounts = rows[:, 2:] / decision.amounts_per_unit if decision.safe_amounts else None
    return Answers(rows[:, 0].astype(int), rows[:, 1] == 1, amounts)


@pytest.fixture(scope="module", params=ARITHMETICS)
def translated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    place = tmp_path_factory.mktemp(request.param)
    known = decisions(request.param)
    source = (
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n" + Translator(files(known)).program()
    )
    source += driver(known, "{}(", str.lower)
    (place / "all.c").write_text(source)
    flags = ["-std=c99", "-O1", "-ftrapv", "-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    flags += ["-Wno-unused-function", "-Wno-unused-parameter"]
    done = subprocess.run(
        [compiler(), *flags, "all.c", "-o", "all"], cwd=place, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return place / "all", request.param


def _check(program: Path, arithmetic: str, which: str) -> None:
    known = decisions(arithmetic)
    written = to_structured_text(known[which], which).decision
    states = tried_on(written.named, np.random.default_rng(7))
    check_answers(written, states, run(program, known, which, states))


@pytest.mark.parametrize("which", MAPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_structured_text_does_what_python_does(translated: tuple[Path, str], which: str) -> None:
    _check(*translated, which)


@pytest.mark.skipif(shutil.which("iec2c") is None, reason="there is no matiec; IEC2C_LIB is its folder lib")
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_compiler_for_controllers_agrees(arithmetic: str, tmp_path: Path) -> None:
    library, known = os.environ["IEC2C_LIB"], decisions(arithmetic)
    (tmp_path / "all.st").write_text(files(known))
    subprocess.run(
        ["iec2c", "-I", library, "-T", ".", "all.st"], cwd=tmp_path, check=True, capture_output=True
    )
    head = '#include "iec_std_lib.h"\n#include "accessor.h"\n#include "POUS.h"\nTIME __CURRENT_TIME;\n'
    head += 'BOOL __DEBUG;\n#include "POUS.c"\n#include <stdio.h>\n#include <stdlib.h>\n'
    (tmp_path / "main.c").write_text(head + driver(known, "{}(1, NULL, ", str.upper))
    flags = ["-w", "-O1", "-ffp-contract=off", "-I", f"{library}/C", "-I", "."]
    subprocess.run([compiler(), *flags, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    for which in MAPS:
        _check(tmp_path / "main", arithmetic, which)


def test_literals_have_a_point_and_a_type_and_names_are_allowed() -> None:
    named = pole(np.random.default_rng(3))
    text = str(to_structured_text(decision_of(named), "hover").content)
    assert "HOVER_LIMIT : LREAL := LREAL#1.0E+30;" in text
    assert not re.search(r"\d[eE]", text.replace(".0E", ""))
    wide = named._replace(low=(-1e40,) * 4, high=(1e20,) * 4)
    assert to_structured_text(decision_of(wide), "hover").decision.limit == 1e30, "without a bound"
    for name in ("a__b", "a_"):
        with pytest.raises(DistinguoError, match="no two underscores in a row and none at its end"):
            to_structured_text(decision_of(named), name)
    hostile = named._replace(dimensions=("*) END", "(*", "é", "x"))
    assert Translator(str(to_structured_text(decision_of(hostile), "hover").content)).program()
