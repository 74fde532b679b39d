"""Small changes of C++ sources for mutation.py, made on tokens: no parser, so some do not compile.

Left out are literals of time and text: no test asserts how long something takes, and few every word of an error.
"""
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*)
      | (?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"))
      | (?P<char>'(?:[^'\\\n]|\\.)+')
      | (?P<number>\.?\d(?:[\w.]|'\d|[eEpP][+-])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign><=>|->\*|<<=|>>=|\.\.\.|[-+*/%^&|=!<>]=|\+\+|--|&&|\|\||<<|>>|->|::|[-+*/%^&|~!=<>?:;,.(){}\[\]])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL)

# Binary operators only: the formatter puts spaces around them, and around nothing else that looks like them.
BINARY = {"<": ["<=", ">"], ">": [">=", "<"], "<=": ["<", ">="], ">=": [">", "<="], "==": ["!="], "!=": ["=="],
          "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"],
          ">>": ["<<"], "|": ["&"], "&": ["|"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="]}
WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break", "min": "max", "max": "min"}
KEYWORDS = set("""if for while do switch case default return throw try catch else using namespace template class struct
    enum union typedef static constexpr const auto explicit virtual inline extern friend public private protected
    operator static_assert goto alignas mutable typename unsigned signed void bool char int long float double new delete
    sizeof break continue""".split())
OPENING, CLOSING = "([{", ")]}"
SIMPLE = re.compile(r"(?:&|\*)?[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*(?:\(\)|\[\w+\])?|\d+")


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class Mutant:
    line: int
    begin: int
    end: int
    before: str
    after: str


def shape_of(argument):
    """Returns what two arguments of one type have in common: "&", a method's name, and if it is a number."""
    method = re.search(r"\w+(?=\(\)$)", argument)
    return argument[0] in "&*" and argument[0], method and method.group(), argument.isdigit()


def tokens_of(source):
    return [Token(match.lastgroup if match.lastgroup != "mark" else "string", match.group(), match.start(), match.end())
            for match in TOKEN.finditer(source) if match.group("comment") is None and match.group("directive") is None]


class Mutator:
    """All mutants of one source."""

    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        self.partner = self.match_brackets()
        self.mutants = []
        for index, token in enumerate(self.tokens):
            for make in (self.operators, self.words, self.numbers, self.negations, self.statements, self.returns,
                         self.arguments):
                make(index, token)

    def text(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index):
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def match_brackets(self):
        open_ones, partner = [], {}
        for index, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in OPENING:
                open_ones.append(index)
            elif token.kind == "sign" and token.text in CLOSING and open_ones:
                partner[open_ones.pop()] = index
        return partner

    def add(self, begin, end, after):
        line = self.source.count("\n", 0, begin) + 1
        self.mutants.append(Mutant(line, begin, end, self.source[begin:end], after))

    def operators(self, index, token):
        if token.text in ("++", "--"):
            self.add(token.begin, token.end, {"++": "--", "--": "++"}[token.text])
        around = self.source[token.begin - 1:token.begin], self.source[token.end:token.end + 1]
        joins_text = "string" in (self.kind(index - 1), self.kind(index + 1))
        if token.kind != "sign" or not all(map(str.isspace, around)) or joins_text:
            return
        for after in BINARY.get(token.text, []):
            self.add(token.begin, token.end, after)

    def words(self, index, token):
        is_call = token.text not in ("min", "max") or self.text(index - 1) == "::" and self.text(index + 1) in "(<"
        if token.kind == "name" and token.text in WORDS and is_call:
            self.add(token.begin, token.end, WORDS[token.text])

    def numbers(self, _, token):
        if token.kind == "number" and re.fullmatch(r"(0|[1-9][\d']*|0x[\dA-Fa-f]+)[uUlL]*", token.text) \
                and "chrono::" not in self.line_of(token):
            value = int(re.sub("['uUlL]", "", token.text), 0)
            for other in (value + 1, value - 1):
                if other >= 0:
                    self.add(token.begin, token.end, str(other))

    def line_of(self, token):
        begin = self.source.rfind("\n", 0, token.begin) + 1
        return self.source[begin:self.source.find("\n", token.end)]

    def negations(self, index, token):
        if token.text == "!" and token.kind == "sign":
            self.add(token.begin, token.end, "")
        if token.text not in ("if", "while") or self.text(index + 1) != "(":
            return
        close = self.partner[index + 1]
        inside = self.tokens[index + 2:close]
        begin = 0
        for k, part in enumerate(inside):  # if (T x = f(); condition)
            begin = k + 1 if part.text == ";" else begin
        condition = inside[begin:]
        signs = {part.text for part in condition}
        is_other = not signs & {"==", "!=", "!"} or signs & {"&&", "||"}  # else changing the operator is the same
        if "=" not in signs and is_other:
            self.add(condition[0].begin, condition[-1].end,
                     "!(" + self.source[condition[0].begin:condition[-1].end] + ")")

    def end_of_statement(self, index):
        """Returns the index of the ';' that ends a statement without a block; None if there is none."""
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == ";":
                return index
            if text in CLOSING and self.kind(index) == "sign":
                return None
            index = self.partner.get(index, index) + 1
        return None

    def statements(self, index, token):
        is_first = self.text(index - 1) in (";", "{", "}", ")", "else", "do") or index == 0
        is_throw = token.text == "throw"
        if not is_first or token.kind != "name" and token.text not in ("++", "--", "*", "::") \
                or token.text in KEYWORDS and not is_throw:
            return
        end = self.end_of_statement(index)
        if end is None or not is_throw and self.is_declaration(index):
            return
        self.add(token.begin, self.tokens[end].begin, "")

    def is_declaration(self, index):
        """Recognizes `T x..`, with T qualified; statements begin otherwise."""
        while self.kind(index) == "name" and self.text(index + 1) == "::":
            index += 2
        return self.kind(index + 1) == "name" or self.text(index + 1) in ("<", "*", "&", "&&", "{")

    def returns(self, index, token):
        end = self.end_of_statement(index + 1) if token.text == "return" else None
        if end is None or end == index + 1:
            return
        begin, stop = self.tokens[index + 1].begin, self.tokens[end].begin
        if re.sub(r"\s", "", self.source[begin:stop]) not in ("{}", "true", "false", "0", "nullptr", '""', "*this"):
            self.add(begin, stop, "{}")

    def arguments(self, index, token):
        """Swaps two neighbours of a call that may be of one type."""
        if token.text not in ("(", "{") or index not in self.partner or self.text(index - 1) in KEYWORDS:
            return
        parts, begin, k = [], index + 1, index + 1
        while k <= self.partner[index]:
            if self.text(k) == "," or k == self.partner[index]:
                if k > begin:
                    parts.append((self.tokens[begin].begin, self.tokens[k - 1].end))
                begin = k + 1
            k = self.partner.get(k, k) + 1
        for (first, first_end), (second, second_end) in zip(parts, parts[1:]):
            one, two = self.source[first:first_end], self.source[second:second_end]
            if one != two and SIMPLE.fullmatch(one) and SIMPLE.fullmatch(two) and shape_of(one) == shape_of(two):
                self.add(first, second_end, two + self.source[first_end:second] + one)


def mutants_of(source):
    """Mutants in the order of the source, each change once."""
    unique = {(mutant.begin, mutant.end, mutant.after): mutant for mutant in Mutator(source).mutants}
    return sorted(unique.values(), key=lambda mutant: (mutant.begin, mutant.end, mutant.after))


def apply(source, mutant):
    return source[:mutant.begin] + mutant.after + source[mutant.end:]
