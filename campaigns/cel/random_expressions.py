"""Random CEL expressions of device selectors: most have the right types, some on purpose have not."""

import random
import re
from collections.abc import Callable

DRIVER = "gpu.example.com"
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
NAMES = ("model", "numa", "ecc", "driverVersion", "nope", "missing")
TEXTS = ("A100", "h100", "", "gpu", DRIVER, "é", "1", "1.2.3", "40Gi")
PATTERNS = ("^A", "1+", "(a|A)1", "[0-9]{3}$", "(?i)a", "x*", "(")
QUANTITIES = ("40Gi", "1", "500m", "-3", "80Gi", "x")
VERSIONS = ("1.2.3", "2.0.0", "1.2.3-alpha.1", "1.2", "0.1.0+x")
WRONG = 0.03
WORD = re.compile(r"""'[^']*'|"[^"]*"|\w+|\s+|.""")


class Expressions:
    """One seed's expressions. Each method writes one of a type, which gets no deeper than the given number."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(f"cel {seed}")
        self.variables: list[tuple[str, str]] = []

    def one_of(self, *choices: Callable[[], str]) -> str:
        return self.r.choice(choices)()

    def quoted(self, texts: tuple[str, ...]) -> str:
        return f'"{self.r.choice(texts)}"'

    def any_of(self, depth: int) -> str:
        """Something of a type that only the device decides, or of a wrong one."""
        if self.r.random() < WRONG * 4:
            return self.one_of(lambda: self.number(depth), lambda: self.text(depth), lambda: self.numbers(depth))
        name = self.r.choice(NAMES)
        return self.r.choice(
            [f"{ATTRIBUTES}.{name}", f'{ATTRIBUTES}["{name}"]', f"{ATTRIBUTES}.?{name}.orValue({self.literal()})"]
        )

    def literal(self) -> str:
        return self.r.choice(["1", '"A100"', "true", "1.5", "-7", "2u", "null", '"gpu"', "[1]", '{"a": 1}'])

    def variable(self, kind: str, otherwise: Callable[[], str]) -> str:
        fitting = [name for name, of in self.variables if of == kind]
        return self.r.choice(fitting) if fitting and self.r.random() < 0.6 else otherwise()

    def number(self, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.3:
            return self.variable("int", lambda: str(self.r.choice([0, 1, 2, -1, 3, 9223372036854775807])))
        if self.r.random() < WRONG:
            return self.text(depth - 1)
        inner, less = depth - 1, depth - 2
        return self.one_of(
            lambda: f"({self.number(inner)} {self.r.choice('+-*/%')} {self.number(less)})",
            lambda: f"{self.text(inner)}.size()",
            lambda: f"size({self.numbers(inner)})",
            lambda: f"{self.numbers(inner)}[{self.number(less)}]",
            lambda: f"{self.numbers(inner)}.{self.r.choice(['sum', 'min', 'max'])}()",
            lambda: f"{self.text(inner)}.indexOf({self.text(less)})",
            lambda: f"({self.truth(inner)} ? {self.number(less)} : {self.number(less)})",
            lambda: f"int({self.any_of(inner)})",
            lambda: f"-{self.number(inner)}",
            lambda: f"cel.bind(b, {self.number(less)}, b + b)",
            lambda: f"optional.of({self.number(less)}).optMap(o, o + 1).orValue({self.number(less)})",
            lambda: f"{self.version()}.{self.r.choice(['major', 'minor', 'patch'])}()",
            lambda: f"{self.quantity()}.compareTo({self.quantity()})",
        )

    def text(self, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.3:
            return self.variable("string", lambda: self.r.choice(["device.driver", self.quoted(TEXTS)]))
        inner, less = depth - 1, depth - 2
        return self.one_of(
            lambda: f"({self.text(inner)} + {self.text(less)})",
            lambda: f"{self.text(inner)}.{self.r.choice(['lowerAscii', 'upperAscii', 'trim'])}()",
            lambda: f"{self.text(inner)}.substring({self.number(less)})",
            lambda: f"{self.text(inner)}.replace({self.quoted(TEXTS)}, {self.text(less)})",
            lambda: f"{self.text(inner)}.split({self.quoted(TEXTS)}).join({self.quoted(TEXTS)})",
            lambda: f"string({self.any_of(inner)})",
            lambda: f'"%s-%d".format([{self.text(less)}, {self.number(less)}])',
            lambda: f"{self.text(inner)}.charAt({self.number(less)})",
            lambda: f"{self.text(inner)}.find({self.quoted(PATTERNS)})",
        )

    def numbers(self, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.4:
            return f"[{', '.join(self.number(depth - 2) for _ in range(self.r.randrange(1, 4)))}]"
        inner, less = depth - 1, depth - 2
        return self.one_of(
            lambda: self.macro("map(x, {})", "int", self.number, inner),
            lambda: self.macro("filter(x, {})", "int", self.truth, inner),
            lambda: self.macro("transformList(i, x, {})", "int", self.number, inner),
            lambda: f"({self.numbers(inner)} + {self.numbers(less)})",
            lambda: f"{self.numbers(inner)}.{self.r.choice(['sort', 'distinct', 'reverse'])}()",
            lambda: f"{self.numbers(inner)}.slice({self.number(0)}, {self.number(0)})",
            lambda: f"[{self.numbers(less)}, {self.numbers(less)}].flatten()",
        )

    def macro(self, form: str, kind: str, body: Callable[[int], str], depth: int) -> str:
        operand = self.numbers(depth - 1)
        self.variables.append(("x", kind))
        inside = body(depth - 1)
        self.variables.pop()
        return f"{operand}.{form.format(inside)}"

    def quantity(self) -> str:
        return self.r.choice(
            [
                f"quantity({self.quoted(QUANTITIES)})",
                f'device.capacity["{DRIVER}"].memory',
                f'device.capacity["{DRIVER}"].x',
            ]
        )

    def version(self) -> str:
        return self.r.choice([f"semver({self.quoted(VERSIONS)})", f"{ATTRIBUTES}.driverVersion", f"{ATTRIBUTES}.model"])

    def truth(self, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.1:
            return self.r.choice(["true", "false", "device.allowMultipleAllocations", f"{ATTRIBUTES}.ecc"])
        inner, less = depth - 1, depth - 2
        order = self.r.choice(["==", "!=", "<", "<=", ">", ">="])
        return self.one_of(
            lambda: f"({self.truth(inner)} {self.r.choice(['&&', '||'])} {self.truth(inner)})",
            lambda: f"({self.truth(inner)} {self.r.choice(['&&', '||'])} {self.truth(inner)})",
            lambda: f"!{self.truth(inner)}",
            lambda: f"{self.number(inner)} {order} {self.number(inner)}",
            lambda: f"{self.text(inner)} {order} {self.text(inner)}",
            lambda: f"{self.any_of(inner)} {order} {self.any_of(inner)}",
            lambda: f"{self.any_of(inner)} {order} {self.literal()}",
            lambda: f"{self.numbers(inner)} == {self.numbers(less)}",
            lambda: f"{self.any_of(inner)} in [{self.number(0)}, {self.number(0)}]",
            lambda: f"{self.text(inner)} in [{self.quoted(TEXTS)}, {self.quoted(TEXTS)}]",
            lambda: f"{self.text(inner)}.matches({self.quoted(PATTERNS)})",
            lambda: f"{self.text(inner)}.{self.r.choice(['startsWith', 'contains'])}({self.text(less)})",
            lambda: f"has({ATTRIBUTES}.{self.r.choice(NAMES)})",
            lambda: f'"{self.r.choice(NAMES)}" in {ATTRIBUTES}',
            lambda: self.macro("all(x, {})", "int", self.truth, inner),
            lambda: self.macro("exists(x, {})", "int", self.truth, inner),
            lambda: self.macro("exists_one(x, {})", "int", self.truth, inner),
            lambda: f"{self.quantity()}.{self.r.choice(['isGreaterThan', 'isLessThan'])}({self.quantity()})",
            lambda: f"{self.version()}.isGreaterThan({self.version()})",
            lambda: f"({self.truth(inner)} ? {self.truth(less)} : {self.truth(less)})",
            lambda: f"{ATTRIBUTES}.?{self.r.choice(NAMES)}.hasValue()",
            lambda: f"sets.{self.r.choice(['contains', 'intersects'])}({self.numbers(less)}, {self.numbers(less)})",
        )


def expressions_of(seed: int, count: int) -> list[str]:
    """The expressions of a seed, always the same."""
    source = Expressions(seed)
    return [source.truth(source.r.randrange(1, 6)) for _ in range(count)]


def mutated(seed: int, expressions: list[str]) -> str:
    """One of the expressions with a word of another one, or with a whole one in the place of a literal."""
    r = random.Random(f"mutated {seed}")
    words = WORD.findall(r.choice(expressions))
    literals = [i for i, word in enumerate(words) if word[0] in "'\"" or word.isdigit()]
    if literals and r.random() < 0.6:
        other = r.choice(expressions).rsplit("==", 1)[0].strip()
        words[r.choice(literals)] = r.choice([f"({other})", f"dyn({other})"])
    else:
        words[r.randrange(len(words))] = r.choice(WORD.findall(r.choice(expressions)))
    return "".join(words)
