"""Prints everything in code font in a document that does not exist: paths, files, ops, passes, flags, names."""
import fnmatch
import glob
import itertools
import os
import re
import sys

from documents import documents, lines_with_kind, read, spans

source = sys.argv[1]
ROOMS = ["lib", "include", "tools", "runtime", "test", "bench", "examples", "cmake"]
EXTENSIONS = r"\.(h|hpp|c|cpp|cu|cuh|td|py|sh|test|mlir|json|txt|md|svg|map)"
# Folders that a user's commands make, and names of other projects' programs and files.
MADE = ("build/", "build-embed/", "build-serve/", "ir/", "runs/", "DIR/", "1_Pooling/", "/tmp/", "ui.perfetto.dev")
FOREIGN_FILES = {"config.json", "vocab.json", "vocab.txt", "merges.txt", "generation_config.json", "one_rule.py", "ir", "torchrun", "cublasLt.h", "kernels.ptx",
                 "schedule.svg", "step.json", "a.txt", "b.txt", "text.txt", "input.txt", "cudnn_graph.h",
                 "tokenizer.json", "modules.json", "sentence_bert_config.json",
                 "special_tokens_map.json", "manifest.json"}


def sources():
    for folder in ROOMS + ["."]:
        for root, folders, files in os.walk(os.path.join(source, folder)):
            folders[:] = [] if folder == "." else [name for name in folders if name not in ("__pycache__", "Docs")]
            for name in files:
                yield os.path.relpath(os.path.join(root, name), source)


FILES = sorted(set(sources()))
NAMES = {os.path.basename(path) for path in FILES}
TEXT = "\n".join(read(source, path) for path in FILES
                 if re.search(r"\.(h|hpp|c|cpp|cu|cuh|td|py|sh|test|mlir|def|txt|in|cmake|map)$|CMakePresets.json$", path)
                 and os.path.getsize(os.path.join(source, path)) < 1 << 20)
WORDS = set(re.findall(r"[A-Za-z_]\w*", TEXT))
HYPHENATED = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", TEXT))
FLAG_TEXT = "\n".join(read(source, path) for path in FILES
                      if path.startswith(("tools/", "bench/", "examples/", "lib/", "test/Matrix/")) or
                      path.startswith("include/") and path.endswith((".td", ".def", "Pipeline.h")))
FLAGS = set(re.findall(r"(?:--|[\"',|(\[-])([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?=[\"'=,|)\]\s<])", FLAG_TEXT))
FLAGS |= {name.replace("_", "-") for path in FILES if path.endswith(".def")
          for name in re.findall(r"\b[a-z]\w+", read(source, path))}
DOTTED = set(re.findall(r"\b((?:nn|dist|rt)\.[a-z_0-9]+)", TEXT))
for dialect in ("NN", "Dist", "RT"):
    for path in glob.glob(f"include/tessera/Dialect/{dialect}/*.td", root_dir=source):
        DOTTED.update(f"{dialect.lower()}.{name}" for name in re.findall(r'"([a-z_0-9]+)"', read(source, path)))

# Names of other systems that documents compare with or explain.
FOREIGN = set("""
BertForMaskedLM T5ForConditionalGeneration shard_map all_gather_invariant GELU_AUX_BIAS GELU_AUX DGELU BGRADA BGRADB
DGELU_BGRAD vdpbf16ps CUDA_VISIBLE_DEVICES sgemm memcpy minnctapersm compute-sanitizer tie_word_embeddings
secretKeyRef ncclSend ncclRecv X_grad replicated_to_replicated Replicate spmd_types convert-arith-to-llvm
--mlir-print-ir-before-all --mlir-print-ir-after-change --mlir-timing --mlir-print-debuginfo --verify-each --run-reproducer --filter --strip
""".split())


def expand(path):
    """Returns all readings of "a/{b,c}"."""
    parts = re.split(r"\{([^}]*)\}", path)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def exists(path):
    return bool(glob.glob(path.rstrip("/"), root_dir=source))


def problem(token):
    """Returns what is wrong with one word in code font, or None."""
    if token in FOREIGN or token.startswith(MADE) or re.match(r"kernel_\d+|.*\bNAME\b", token):
        return None
    if re.fullmatch(r"(nn|dist|rt)\.[a-z_0-9]+", token):
        return None if token in DOTTED else "no such op or attribute"
    if re.fullmatch(r"[\w.{},*/-]+/[\w.{},*/-]*", token) and not re.search(r"\d/|^/", token):
        missing = [path for path in expand(token) if not exists(path)]
        return f"no such path: {' '.join(missing)}" if missing else None
    if re.fullmatch(rf"[\w*-]+{EXTENSIONS}", token):
        return None if token in FOREIGN_FILES or fnmatch.filter(NAMES, token) else "no such file"
    if match := re.match(r"--([a-z][a-z0-9-]+)(=|$)", token):
        return None if {match.group(1), match.group(1).removeprefix("no-")} & FLAGS else "no such flag"
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", token):
        return None if token in HYPHENATED else "no such pass, program or test"
    if re.fullmatch(r"[A-Za-z_]\w{4,}", token) and re.search(r"_|[a-z][A-Z]|^[A-Z]\w*[a-z]", token):
        return None if token in WORDS else "no such name in the sources"
    return None


def code_of(path):
    """Returns the words in code font, and flags and files of shell blocks."""
    text = read(source, path)
    if path == "docs/Glossary.md":  # the first column is ours, the others are of other systems
        text = re.sub(r"^(\|[^|]*\|).*", r"\1", text, flags=re.M)
    for number, span in spans(text):
        for token in re.split(r"[\s,()]+", span) if "{" not in span else [span]:
            yield number, token.strip("`'\";:=<>[]")
    for number, line, kind in lines_with_kind(text):
        if kind == "code" and re.match(r"\s*(\$ )?(tessera(-opt)?|bash|python3|lit|ctest|cmake|ninja|build/bin/\w+) ", line):
            for token in re.split(r"\s+", line.split(" #")[0].strip()):
                if re.match(r"--[a-z]|(bench|examples|tools|test|docs)/", token):
                    yield number, token


offences = 0
for path in documents(source):
    for number, token in code_of(path):
        if why := problem(token):
            offences += 1
            print(f"{path}:{number}: '{token}': {why}")
sys.exit(offences > 0)
