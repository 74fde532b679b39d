"""The configs of test/models: a small one of each family. What a model is, its imported program says."""
import os
import re
import subprocess

FOLDER = os.path.relpath(os.path.join(os.path.dirname(__file__), "..", "models"))

# A word of the table stands for the models whose programs, as text, are of this kind.
KINDS = {
    "every": lambda text: True,
    "causal": lambda text: not isMasked(text) and not isPair(text),
    "generating": lambda text: not isMasked(text),
    "encoding": lambda text: isMasked(text) or isPair(text),
    "experts": lambda text: "nn.expert_linear" in text,
}


def isMasked(text):
    return "mask_token" in modelOf(text)


def isPair(text):
    return "target" in modelOf(text)


def modelOf(text):
    return re.search(r"nn\.model = {([^}]*)}", text).group(1)


def paths():
    """Returns the files of the folder by their names without '.json'."""
    files = sorted(name for name in os.listdir(FOLDER) if name.endswith(".json"))
    return {name[:-len(".json")]: os.path.join(FOLDER, name) for name in files}


def ofKind(kind, tessera):
    """Returns the paths of the models that a word of KINDS stands for."""
    if kind == "every":
        return list(paths().values())
    return [path for path in paths().values() if KINDS[kind](programOf(path, tessera))]


PROGRAMS = {}


def programOf(path, tessera):
    if path not in PROGRAMS:
        PROGRAMS[path] = subprocess.run([tessera, "import", path], capture_output=True, text=True, check=True).stdout
    return PROGRAMS[path]
