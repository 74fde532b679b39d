"""Checks that comments are English sentences: their first words, and doc comments of functions that have no verb.

lint_comments.py SOURCE...           prints one line per offence, as lint.sh shows it
lint_comments.py --count SOURCE...   prints how many comments each room has, and how many of them begin oddly
"""
import bisect
import collections
import io
import os
import re
import sys
import tokenize

# Fragments begin with these words, and sentences rarely.
FRAGMENTS = ("Of", "That", "By", "As", "Which")
QUESTIONS = ("What", "Whether", "Where", "How")

C_LIKE = (".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".def", ".td", ".js", ".css", ".mlir")
HASHED = (".sh", ".cmake", ".test", "CMakeLists.txt")
# These lines speak to tools: directives of lit and FileCheck, of linters, banners, the ends of namespaces and guards.
TOOLS = re.compile(r"(RUN|REQUIRES|UNSUPPORTED|DEFINE|REDEFINE)\b|expected-|CHECK|[A-Z][A-Z0-9-]+:|NOLINT|clang-format|SPDX|!|-\*-|===|---|"
                   r"shellcheck|noqa|pylint|namespace\b|TESSERA_\w+_H$")

# Verbs that the comments have, without -s. Many are nouns as well; so the check misses fragments rather than blames sentences.
VERBS = """abort accept accumulate add adopt agree align allocate allow announce answer append apply approximate arrive ask assign attach attempt
attend avoid batch become begin behave belong bind bisect bound bracket break bring broadcast build call cancel carry cast catch change check choose
claim clear clone close collect combine come communicate compare compile complete compute concatenate configure connect consider consume contain
continue contract contradict contribute convert copy correspond cost count cover create cross cut deal decay decide declare decode decompose define
delete deliver depend descend describe destroy differ disappear distinguish distribute divide do draw drift drop emit empty emulate enable encode end
enter enumerate equal erase escape estimate evaluate exceed exchange execute exist exit expand expect export expose extend fail fall fetch fill find
finish fit flush fold follow forbid forget form format free freeze fuse fuzz gather generate get give go group grow guarantee guard hand handle
happen harm hash have hear hide hold identify ignore implement import include increment inherit initialize insert install interpret intersect invalidate
invert join judge jump keep know lack last lay lead learn leave lend let lie limit link list listen live load localize lock look lose lower make map mark
mask match matter mean measure meet merge minimize miss modify move multiply name need note notify number obtain occur offer open optimize order outlive
overlap overwrite own pack pad pair parse part pass pay peak peel permit pick pin place plan point poison poll pool precede predict prefer prepare
print produce promise prove provide pull push put queue quote raise rank reach read rebuild receive recognize recompute record recurse reduce refer
refuse register reject release remain remember remove rename repeat replace report request require reserve reset resolve rest restore resume retry
return rewrite roll rotate round run save say scale scan scatter schedule score search see seed seek select send serve set settle shadow shape shard
share shift show shrink shut sign signal simulate sit skip sleep slice sort spawn speak spell spend spill split spread stand start state stay stop store
stream stretch submit subtract succeed suffice suggest suit sum summarize supply support suppress swallow synchronize take talk tell terminate test
throw tie time touch trace train transfer transpose treat truncate try tune turn type understand undo unpack update upload use vanish vary verify
visit wait wake walk want warn wear widen win wipe wish work wrap write yield zero""".split()
FINITE = {"am", "are", "be", "been", "came", "can", "cannot", "could", "did", "does", "ended", "failed", "found", "gave", "goes", "had", "has", "is", "lies",
          "made", "may", "might", "must", "proven", "said", "says", "sent", "shall", "should", "took", "was", "went", "were", "will", "would", "wrote"}
SUBORDINATE = {"how", "if", "that", "unless", "until", "what", "when", "where", "whether", "which", "who", "whom", "whose"}
# Plurals at the begin of a comment are no verbs.
PLURALS = set("""Arguments Axes Biases Bits Blocks Buckets Buffers Bytes Caches Candidates Characters Checkpoints Chunks Classes Coefficients Collectives
Columns Connections Constants Conversions Devices Dimensions Distances Documents Elements Entries Errors Estimates Experts Extents Factors Files Flags
Flops Frames Functions Gates Gradients Headers Heads Ids Indices Inputs Integers Kernels Keys Labels Lanes Layers Letters Lines Logits Losses Means
Messages Microseconds Milliseconds Models Moments Multiply-adds Nodes Operands Ops Options Orders Pages Pairs Parameters Parts Pieces Places Points Positions
Processes Products Programs Prompts Queries Ranges Ranks Rates Requests Results Rows Scalars Seconds Segments Sequences Shapes Shares Slots Sources
Stages Steps Tables Tasks Tensors Terms Tests Texts Threads Times Tokens Types Values Views Ways Weights Windows Words""".split())


def third_person(verb):
    if re.search(r"(s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


FINITE |= set(VERBS) | {third_person(verb) for verb in VERBS}


class Comment:
    """A run of lines of one kind and column, from `line` to `last`; `text` has no marks."""

    def __init__(self, line, column, trails, mark, text):
        self.line, self.column, self.trails, self.mark, self.text = line, column, trails, mark, text
        self.last = line + text.count("\n")

    def first_word(self):
        match = re.match(r"[\s('\"*]*([A-Za-z]+)", self.text)
        return match.group(1) if match else ""

    def goes_on(self, other):
        return (other.mark != "/*" and other.mark.rstrip("<") == self.mark.rstrip("<") and other.line == self.last + 1 and
                other.column == self.column and not other.trails)

    def join(self, other):
        self.text += "\n" + other.text
        self.last = other.last


TOKEN = re.compile(r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|"""
                   r"""(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""", re.S)


def c_lines(source):
    starts = [0] + [match.end() for match in re.finditer("\n", source)]
    for match in TOKEN.finditer(source):
        line, block = match.group("line"), match.group("block")
        if not line and not block:
            continue
        number = bisect.bisect_right(starts, match.start())
        before = source[starts[number - 1]:match.start()]
        mark = re.match(r"///?<?", line).group() if line else "/*"
        text = line[len(mark):] if line else re.sub(r"(?m)^\s*\*(?!/) ?", "", block[2:-2].lstrip("*!<"))
        yield Comment(number, len(before), bool(before.strip()), mark, text)


def hash_lines(source):
    for number, text in enumerate(source.split("\n"), 1):
        match = re.match(r"""((?:[^'"#]|'[^']*'|"(?:\\.|[^"\\])*")*?)(?:(?<=\s)|^)#(?!!)(.*)""", text)
        if match:
            yield Comment(number, len(match.group(1)), bool(match.group(1).strip()), "#", match.group(2))


def python_lines(source):
    """Comments and docstrings."""
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield Comment(token.start[0], token.start[1], bool(token.line[:token.start[1]].strip()), "#", token.string[1:])
        elif token.type == tokenize.STRING and begins and token.string.startswith('"""'):
            yield Comment(token.start[0], token.start[1], True, '"""', token.string[3:-3])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def comments_of(path, source):
    lines = c_lines(source) if path.endswith(C_LIKE) else python_lines(source) if path.endswith(".py") else hash_lines(source)
    found = []
    for line in lines:
        if not line.text.strip() or line.mark != '"""' and TOOLS.match(line.text.strip()):
            continue
        if found and found[-1].goes_on(line):
            found[-1].join(line)
        else:
            found.append(line)
    return found


FUNCTION = re.compile(r"\s*(?:(?:static|inline|constexpr|virtual|explicit|friend|extern|TSR_DEVICE|TSR_HOST_DEVICE)\s+)*"
                      r"(?:const\s+)?[\w:]+(?:<[^;=]*>)?(?:\s*[*&]+|\s)\s*[\w:~]+\(")


def documents_function(comment, lines):
    """Returns whether a comment is the documentation of a function of C++."""
    if comment.mark != "///" or comment.trails or comment.last >= len(lines):
        return False
    line = lines[comment.last]
    if line.lstrip().startswith("template"):
        rest = re.sub(r"^\s*template\s*<[^>]*>\s*", "", line)
        line = rest if "(" in rest else "".join(lines[comment.last + 1:comment.last + 2])
    return not re.match(r"\s*(if|for|while|return|switch|else|struct|class|enum|using|case)\b", line) and bool(FUNCTION.match(line))


def has_verb(text):
    """Returns whether the first sentence has more verbs than subordinate clauses; formulas, codes and examples need none."""
    text = re.sub(r"\s+", " ", text).strip()
    if re.match(r"[^A-Za-z]|[a-z]+\(|\w+ [-+*/^] |TSR_|RFC |i\d+ ", text):
        return True
    text = re.sub(r'`[^`]*`|"[^"]*"', " X ", text)
    sentence = re.split(r"(?<=[.;?!])\s", re.sub(r"\([^)]*\)", " ", text))[0]
    if re.search(r"\s(=|<=|>=|->|<|>|[!=]=|[-+*/])\s", sentence):
        return True
    words = re.findall(r"[A-Za-z][A-Za-z'-]*", sentence)
    if words and words[0].endswith("s") and words[0] not in PLURALS | {"Its", "This", "Always", "Unless", "Less"}:
        return True
    verbs = sum(word.lower() in FINITE for word in words)
    return verbs > sum(word.lower() in SUBORDINATE for word in words)


def room(path):
    parts = path.split("/")
    return "/".join(parts[:-1][:3 if parts[0] == "include" else 2]) or parts[0]


def sources(paths):
    for path in paths:
        if path.endswith(C_LIKE + HASHED + (".py",)) and os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                yield path, file.read()


def count(paths):
    """Returns for each room how many comments it has, and how many begin as fragments or as questions."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for path, source in sources(paths):
        for comment in comments_of(path, source):
            word = comment.first_word().capitalize()
            for k, counted in enumerate((True, word in FRAGMENTS, word in QUESTIONS)):
                counts[room(path)][k] += counted
    return counts


def offences(paths):
    for path, source in sources(paths):
        lines = source.split("\n")
        for comment in comments_of(path, source):
            word = comment.first_word()
            if word.capitalize() in FRAGMENTS + QUESTIONS:
                yield f"comments: {path}:{comment.line} begins with '{word}'; write a sentence with a subject and a verb"
            elif documents_function(comment, lines) and not has_verb(comment.text):
                yield (f"comments: {path}:{comment.line} documents a function without a verb, '{comment.text.split(chr(10))[0].strip()}'; "
                       "write what it does: 'Returns ..'")


def main(arguments):
    if arguments[:1] != ["--count"]:
        for offence in offences(arguments):
            print(offence)
        return
    counts = count(arguments[1:])
    for name in sorted(counts, key=lambda name: -sum(counts[name][1:])):
        print(f"{name:28}" + "".join(f"{number:7}" for number in counts[name]))
    total = [sum(each) for each in zip(*counts.values())]
    print(f"{'all':28}" + "".join(f"{number:7}" for number in total) + "".join(f"  {number / total[0]:.2%}" for number in total[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
