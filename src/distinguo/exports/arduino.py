"""A library for the Arduino IDE: the controller in C, a sketch that uses it, and a test bench for the host.

The bench holds observations with the answers that the exported arithmetic gives in Python, faults among them.
"""

from __future__ import annotations

import numpy as np

from distinguo import __version__
from distinguo.exports.agreement import amounts_chosen, chosen
from distinguo.exports.certified import table
from distinguo.exports.decision import Decision, known_extent
from distinguo.exports.header import C, source_and_header
from distinguo.exports.language import comment
from distinguo.representations.partition import has_labels
from distinguo.writing import pack_files

CASES = 200

PROPERTIES = """\
name={name}
version={version}
author=distinguo
maintainer=distinguo
sentence=A controller of few regions, exported by distinguo.
paragraph=See src/{name}.h for what it takes and gives.
category=Device Control
url=https://docs.arduino.cc/libraries
architectures=*
includes={name}.h
"""

SKETCH = """\
/* Observes, decides and acts at even intervals. Fill in observe() and act(). */
#include <{name}.h>

static const unsigned long INTERVAL = 20; /* milliseconds */

static void observe({kind} s[{n}])
{{
{coordinates}
}}

{act}

void setup()
{{
    Serial.begin(115200);
    pinMode(LED_BUILTIN, OUTPUT);
}}

void loop()
{{
    static unsigned long last = 0;
    {kind} s[{n}];

    if (millis() - last < INTERVAL) {{
        return;
    }}
    last += INTERVAL;
    observe(s);
    digitalWrite(LED_BUILTIN, {name}_fault(s) ? HIGH : LOW); /* a fault: the safe action is taken */
{call}
}}
"""

AMOUNTS = """\
static void act(int i, {kind} amount)
{{
    (void)i; /* set amount i */
    (void)amount;
}}"""

BENCH = """\
/* Compares the controller with {count} answers computed in Python, and with its safe answer at faults.
 *
 *     cc -std=c99 -I src extras/bench.c src/{name}.c -o bench && ./bench
 */
#include "{name}.h"
#include <math.h>
#include <stdio.h>

{tables}
int main(void)
{{
    {kind} faults[{faults}];
    int k;
    int wrong = 0;
{fill}
    for (k = 0; k < {count}; k++) {{
        wrong += {test};
    }}
{broken}    printf("%d of {count} answers are wrong\\n", wrong);
    return wrong != 0;
}}
"""

#: Numbers that are faults, one at a time in each coordinate.
BROKEN = """\
    for (k = 0; k < {faulty}; k++) {{
        {kind} s[{n}];
        int i;
        for (i = 0; i < {n}; i++) {{
            s[i] = states[0][i];
        }}
        s[k % {n}] = faults[k / {n}];
        wrong += !{name}_fault(s) || {safe};
    }}
"""


def to_arduino(decision: Decision, name: str) -> bytes:
    """Return a library as a zip file, for *Sketch > Include Library > Add .ZIP Library*."""
    c = source_and_header(decision, name, name)
    version = ".".join([*__version__.split("+")[0].split("."), "0", "0"][:3])
    files = {
        "library.properties": PROPERTIES.format(name=name, version=version),
        f"src/{name}.h": c[".h"],
        f"src/{name}.c": c[".c"],
        f"examples/{name}_sketch/{name}_sketch.ino": _sketch(decision, name),
        "extras/bench.c": _bench(decision, name),
    }
    return pack_files({f"{name}/{path}": text for path, text in files.items()})


def _sketch(decision: Decision, name: str) -> str:
    printer, named = C(decision, name), decision.named
    zero = "0" if decision.arithmetic == "fixed" else printer.number(0.0)
    units = [
        f", {k!r} counts per unit" if decision.arithmetic == "fixed" else ""
        for k in decision.per_unit.tolist()
    ]
    coordinates = [
        f"    s[{i}] = {zero}; /* {comment(word)}{unit} */"
        for i, (word, unit) in enumerate(zip(named.dimensions, units, strict=True))
    ]
    if decision.safe_amounts:
        act = AMOUNTS.format(kind=printer.kind)
        call = f"    for (int i = 0; i < {name.upper()}_AMOUNTS; i++) act(i, {name}_amount(s, i));"
    else:
        cases = "\n".join(
            f"    case {a}: /* {comment(word)} */\n        break;" for a, word in enumerate(named.actions)
        )
        act = f"static void act(int action)\n{{\n    switch (action) {{\n{cases}\n    }}\n}}"
        call = f"    act({name}_action(s));"
    return SKETCH.format(
        name=name,
        n=decision.dimensions,
        kind=printer.kind,
        coordinates="\n".join(coordinates),
        act=act,
        call=call,
    )


def _bench(decision: Decision, name: str) -> str:
    printer, n = C(decision, name), decision.dimensions
    low, high = known_extent(decision.named)
    rng = np.random.default_rng(0)
    states = low + (high - low) * rng.random((CASES, n))
    partition = decision.named.controller.partition
    if has_labels(partition):
        states = np.stack([rng.choice(column, CASES) for column in partition.prototypes.T], axis=1)
    given, kind = decision.read(states), printer.kind
    tables = table(f"{kind} states[{CASES}][{n}]", printer.entries(given))
    tables += printer.table("actions", chosen(decision, states).astype(np.int64))
    test, safe = f"{name}_action(states[k]) != actions[k]", f"{name}_action(s) != {name.upper()}_SAFE_ACTION"
    if decision.safe_amounts:
        amounts = amounts_chosen(decision, states) * decision.amounts_per_unit
        answers = np.rint(amounts).astype(np.int64) if decision.arithmetic == "fixed" else amounts
        tables += table(f"{kind} amounts[{CASES}][{answers.shape[1]}]", printer.entries(answers))
        several = [f"({name}_amount(states[k], {i}) != amounts[k][{i}])" for i in range(answers.shape[1])]
        test = " + ".join([f"({test})", *several])
    limit = f"{name.upper()}_LIMIT"
    fill = [f"-{limit} - 1", f"{limit} + 1"]
    if decision.arithmetic != "fixed":
        fill = [
            "HUGE_VAL" if decision.arithmetic == "double" else "(float)HUGE_VAL",
            "-faults[0]",
            "faults[0] - faults[0]",
        ]
        fill.append(f"{limit} * {printer.number(2.0)}")
    return BENCH.format(
        count=CASES,
        name=name,
        kind=kind,
        tables=tables,
        test=test,
        faults=len(fill),
        fill="\n".join(f"    faults[{i}] = {value};" for i, value in enumerate(fill)),
        broken=BROKEN.format(faulty=len(fill) * n, kind=kind, n=n, name=name, safe=safe),
    )
