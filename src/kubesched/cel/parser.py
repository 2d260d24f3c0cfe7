"""Parses expressions: precedence climbing over the tokens, with limits on size and depth.

Rule: CEL's grammar, and the errors of cel-go v0.26 for the first place that does not parse. Upstream also limits the
depth, to 250. Here it is less, so that no expression can exhaust Python's stack.
"""

from typing import Final

from kubesched.cel.compile_errors import SourceErrors, without_place
from kubesched.cel.macros import expanded
from kubesched.cel.syntax_tree import (
    Constant,
    Expression,
    FunctionCall,
    ListDisplay,
    MapDisplay,
    Name,
    Select,
    children,
    qualified_name,
)
from kubesched.cel.tokens import CelToken, TokenKind, tokens_of, value_of
from kubesched.errors import CelCompileError
from kubesched.release import DEFAULT_RELEASE, Release

MAX_SIZE: Final = 10 * 1024
"""Bytes; the limit of the API."""

MAX_DEPTH: Final = 100
"""Nodes above each other; `a && b && c` counts once."""

MAX_NESTING: Final = 64
"""Levels of brackets, each of which takes several frames of Python's stack."""

_LEVELS: Final = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_NAMES: Final = {"in": "@in"}
_STARTS: Final = frozenset(["[", "{", "(", ".", "-", "!", "true", "false", "null"])
_OPERAND_LIST: Final = (
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
)
_OPERAND: Final = f"{{{_OPERAND_LIST}}}"
_ARGUMENT: Final = "{" + _OPERAND_LIST.replace("'.'", "')', '.'") + "}"
_RESERVED: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"),
        *("package", "namespace", "return", "var", "void", "while"),
    }
)
_LITERALS: Final = frozenset(
    {TokenKind.NUM_FLOAT, TokenKind.NUM_INT, TokenKind.NUM_UINT, TokenKind.STRING, TokenKind.BYTES}
)
_NUMBERS: Final = frozenset({TokenKind.NUM_FLOAT, TokenKind.NUM_INT})


def parse_expression(text: str, release: Release = DEFAULT_RELEASE) -> Expression:
    """Parse an expression.

    Rule: kube-scheduler since v1.37 takes fields in backticks.

    Raises:
        CelCompileError: it does not parse, or is too large.
    """
    size = len(text.encode(errors="replace"))
    if size > MAX_SIZE:
        raise without_place(f"expression size exceeds limit: size: {size}, limit {MAX_SIZE}")
    errors = SourceErrors(text)
    tree = _Parser(tokens_of(text, errors), errors, takes_quoted=not release.before(37)).parse()
    errors.raise_any()
    return tree


class _SyntaxFault(Exception):
    pass


class _Parser:
    """The tokens of one expression, and how far it is parsed."""

    def __init__(self, tokens: list[CelToken], errors: SourceErrors, *, takes_quoted: bool) -> None:
        self._tokens = tokens
        self._takes_quoted = takes_quoted
        self._errors = errors
        self._next = 0
        self._nesting = 0

    def parse(self) -> Expression:
        try:
            tree = self._expression()
            if self._peek.kind is not TokenKind.END:
                kind = "extraneous" if self._after.kind is TokenKind.END else "mismatched"
                self._fault(self._peek, f"{kind} input '{self._peek.text}' expecting <EOF>")
        except _SyntaxFault:
            self._errors.raise_any()
            raise CelCompileError("compilation failed") from None
        return tree

    @property
    def _peek(self) -> CelToken:
        return self._tokens[self._next]

    def _take(self) -> CelToken:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _is_next(self, *texts: str) -> bool:
        return self._peek.kind is TokenKind.OPERATOR and self._peek.text in texts

    def _took(self, text: str) -> bool:
        """Take an operator if it is next."""
        if self._is_next(text):
            self._take()
            return True
        return False

    def _expect(self, text: str, expecting: str = "") -> CelToken:
        """Take an operator. One token too many before it, or its absence, does not end the parsing."""
        if self._is_next(text):
            return self._take()
        token = self._peek
        if expecting:
            raise self._fault(token, f"mismatched input '{token.text}' expecting {expecting}")
        if self._after.text == text and token.kind is not TokenKind.END:
            self._fault(token, f"extraneous input '{token.text}' expecting '{text}'")
            self._take()
            return self._take()
        if self._is_missing(token, text):
            self._fault(token, f"missing '{text}' at '{token.text}'")
            return token
        raise self._fault(token, f"mismatched input '{token.text}' expecting '{text}'")

    @property
    def _after(self) -> CelToken:
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    @staticmethod
    def _is_missing(token: CelToken, text: str) -> bool:
        """Whether the parse could go on as if an operator were before a token."""
        return token.kind is TokenKind.END if text == ")" else _starts_operand(token)

    def _fault(self, token: CelToken, message: str) -> _SyntaxFault:
        """Report an error; raise the result where the parsing cannot go on."""
        self._errors.add(token.start, f"Syntax error: {message}")
        return _SyntaxFault()

    def _expression(self, expecting: str = _OPERAND) -> Expression:
        """A whole expression: operands and operators, or ternaries of these."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise without_place(f"expression recursion limit exceeded: {MAX_NESTING}")
        node, choices = self._operation(expecting), []
        while self._is_next("?"):
            at = self._take().start
            choices.append((at, node, self._operation(_OPERAND)))
            self._expect(":")
            node = self._operation(_OPERAND)
        for at, condition, first in reversed(choices):
            node = self._operator("_?_:_", at, [condition, first, node])
        self._nesting -= 1
        return node

    def _operation(self, expecting: str) -> Expression:
        """Operands with binary operators between them. Those of higher precedence are applied first."""
        operands = [self._signed(expecting)]
        waiting: list[CelToken] = []
        while (level := self._level()) is not None:
            while waiting and _LEVELS[waiting[-1].text] >= level:
                self._apply(waiting.pop(), operands)
            waiting.append(self._take())
            operands.append(self._signed(_OPERAND))
        while waiting:
            self._apply(waiting.pop(), operands)
        return operands[0]

    def _level(self) -> int | None:
        """The precedence of the next token, None if it is not a binary operator."""
        return _LEVELS.get(self._peek.text) if self._peek.kind is TokenKind.OPERATOR else None

    def _apply(self, token: CelToken, operands: list[Expression]) -> None:
        """Replace the last two operands by an operation; `a && b && c` is one with three operands."""
        right, left = operands.pop(), operands.pop()
        name = _NAMES.get(token.text, f"_{token.text}_")
        if token.text in ("&&", "||") and isinstance(left, FunctionCall) and left.function == name:
            operands.append(self._operator(name, token.start, [*left.arguments, right]))
        else:
            operands.append(self._operator(name, token.start, [left, right]))

    def _signed(self, expecting: str) -> Expression:
        """An operand with `!` or `-` before it; two of them cancel out."""
        first, signs = self._peek, 0
        while self._is_next("!", "-") and self._peek.text == first.text and not self._is_negative_number():
            self._take()
            signs += 1
        if signs and self._is_next("!", "-") and not self._is_negative_number():
            raise self._other_sign()
        operand = self._member(_OPERAND if signs else expecting)
        if signs % 2 == 0:
            return operand
        node = self._operator("!_" if first.text == "!" else "-_", first.start, [operand])
        node.start = first.start
        return node

    def _other_sign(self) -> _SyntaxFault:
        """Report `!-x` or `-!x`, which the grammar does not have."""
        at = self._after if self._is_next("-") else self._peek
        return self._fault(at, f"no viable alternative at input '-{at.text}'")

    def _is_negative_number(self) -> bool:
        return self._is_next("-") and self._tokens[self._next + 1].kind in _NUMBERS

    def _operator(self, name: str, at: int, operands: list[Expression]) -> Expression:
        node = FunctionCall(name, operands, at=at, start=operands[0].start, end=operands[-1].end)
        return self._with_depth(node)

    def _with_depth(self, node: Expression) -> Expression:
        node.depth = 1 + max((child.depth for child in children(node)), default=0)
        if node.depth > MAX_DEPTH:
            raise without_place("max recursion depth exceeded")
        return node

    def _member(self, expecting: str) -> Expression:
        """An operand with its fields, indexes and methods."""
        node = self._primary(expecting)
        while self._is_next(".", "["):
            node = self._with_depth(self._field(node) if self._is_next(".") else self._index(node))
        if self._is_next("{") and qualified_name(node):
            text = f"undeclared reference to '{qualified_name(node)}' (in container '')"
            self._errors.add(self._peek.start, text)
            raise _SyntaxFault
        return node

    def _field(self, operand: Expression) -> Expression:
        dot = self._take()
        is_optional = self._took("?")
        name = self._take()
        if name.kind is TokenKind.QUOTED and self._takes_quoted and not self._is_next("("):
            return Select(operand, name.text[1:-1], is_optional, at=dot.start, start=operand.start, end=name.end)
        if name.kind is TokenKind.QUOTED:
            self._errors.add(name.start, "unsupported syntax: '`'")
        elif name.kind is not TokenKind.IDENTIFIER:
            raise self._no_field(dot, name)
        if self._is_next("(") and not is_optional:
            return self._call(name.text, operand, operand.start)
        return Select(operand, name.text, is_optional, at=dot.start, start=operand.start, end=name.end)

    def _no_field(self, dot: CelToken, name: CelToken) -> _SyntaxFault:
        is_end = name.kind is TokenKind.END
        read = self._errors.text[dot.start : name.end]
        at = name.start - 1 if is_end and name.start > dot.end else name.start
        self._errors.add(at, f"Syntax error: no viable alternative at input '{read.strip() if is_end else read}'")
        return _SyntaxFault()

    def _index(self, operand: Expression) -> Expression:
        bracket = self._take()
        name = "_[?_]" if self._took("?") else "_[_]"
        arguments = [operand, self._expression()]
        end = self._expect("]").end
        return FunctionCall(name, arguments, at=bracket.start, start=operand.start, end=end)

    def _call(self, name: str, target: Expression | None, start: int) -> Expression:
        """The arguments of a function or a method; macros are expanded."""
        bracket = self._expect("(")
        arguments: list[Expression] = []
        if not self._is_next(")"):
            arguments.append(self._expression(_ARGUMENT))
            while self._took(","):
                arguments.append(self._expression())
        end = self._expect(")").end
        call = FunctionCall(name, arguments, target, at=bracket.start, start=start, end=end)
        return expanded(call, self._errors)

    def _primary(self, expecting: str) -> Expression:
        token = self._peek
        if token.kind is TokenKind.IDENTIFIER:
            return self._name(token.start, is_rooted=False)
        if token.kind in _LITERALS or self._is_next("-"):
            return self._literal()
        if self._is_next("true", "false", "null"):
            value = {"true": True, "false": False, "null": None}[self._take().text]
            return Constant(value, at=token.start, start=token.start, end=token.end)
        if self._is_next("("):
            return self._parenthesized()
        if self._is_next("["):
            return self._with_depth(self._list())
        if self._is_next("{"):
            return self._with_depth(self._map())
        if self._is_next(".") and self._tokens[self._next + 1].kind is TokenKind.IDENTIFIER:
            return self._name(self._take().start, is_rooted=True)
        return self._no_operand(expecting)

    def _no_operand(self, expecting: str) -> Expression:
        """Report that no operand is here; skip a token if there is one after it."""
        token = self._peek
        goes_on = _starts_operand(self._after) or (expecting == _ARGUMENT and self._after.text == ")")
        if not goes_on or token.kind is TokenKind.END:
            raise self._fault(token, f"mismatched input '{token.text}' expecting {expecting}")
        self._fault(token, f"extraneous input '{token.text}' expecting {expecting}")
        self._take()
        if not _starts_operand(self._peek):
            raise _SyntaxFault
        return self._primary(expecting)

    def _name(self, start: int, *, is_rooted: bool) -> Expression:
        token = self._take()
        if token.text in _RESERVED:
            self._errors.add(token.start, f"reserved identifier: {token.text}")
        if self._is_next("("):
            return self._with_depth(self._call(token.text, None, start))
        return Name(token.text, is_rooted, at=token.start, start=start, end=token.end)

    def _literal(self) -> Expression:
        first = self._peek
        sign = self._take().text if self._is_next("-") else ""
        if sign and self._peek.kind not in _NUMBERS:
            return self._no_operand(_OPERAND)
        token = self._take()
        value = value_of(token, sign, self._errors, first.start)
        return Constant(value, at=first.start, start=first.start, end=token.end)

    def _parenthesized(self) -> Expression:
        self._take()
        node = self._expression()
        self._expect(")")
        return node

    def _list(self) -> ListDisplay:
        bracket, optional = self._take(), set()
        elements: list[Expression] = []
        while not self._is_next("]"):
            if self._took("?"):
                optional.add(len(elements))
            elements.append(self._expression())
            if not self._goes_on("]"):
                break
        end = self._expect("]", self._after_element("]")).end
        return ListDisplay(elements, frozenset(optional), at=bracket.start, start=bracket.start, end=end)

    def _map(self) -> MapDisplay:
        bracket, optional = self._take(), set()
        entries: list[tuple[Expression, Expression]] = []
        colons: list[int] = []
        while not self._is_next("}"):
            if self._took("?"):
                optional.add(len(entries))
            key = self._expression()
            colons.append(self._expect(":").start)
            entries.append((key, self._expression()))
            if not self._goes_on("}"):
                break
        end = self._expect("}", self._after_element("}")).end
        return MapDisplay(entries, colons, frozenset(optional), at=bracket.start, start=bracket.start, end=end)

    def _goes_on(self, bracket: str) -> bool:
        """Whether a comma is next. After it there is another element, or the end."""
        if not self._took(","):
            return False
        if not _starts_operand(self._peek) and not self._is_next("?", bracket):
            self._expect(bracket)
        return True

    @staticmethod
    def _after_element(bracket: str) -> str:
        return f"{{'{bracket}', ','}}"


def _starts_operand(token: CelToken) -> bool:
    if token.kind is TokenKind.OPERATOR:
        return token.text in _STARTS
    return token.kind is not TokenKind.END
