"""Gives deep, wide and ambiguous files to every command that reads JSON or TOML: each ends with an error that says why.

hostile_files.py MODEL TOKENIZER CLUSTER FOLDER: the last is for files."""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

model, good_tokenizer, good_cluster, folder = sys.argv[1:5]
DEEP = "[" * 300000 + "]" * 300000
TWICE = '{"a": 1, "a": 2}'


def wide(values):
    return "[" + "0," * values + "0]"


def write(name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def folder_with(name, file, text):
    """Returns a copy of the model with another file in it."""
    path = os.path.join(folder, name)
    shutil.copytree(model, path, dirs_exist_ok=True)
    write(os.path.join(name, file), text)
    return path


def of_model(file, text, *command):
    """Runs a command whose MODEL is a folder with a hostile file."""
    name = f"{file}-{len(cases)}"
    path = folder_with(name, file, text)
    return [path if word == "MODEL" else word for word in command]


cases = []  # command, what its error says


def add(why, *command):
    cases.append((command, why))


text = write("a.txt", "to be or not to be, " * 40)
checkpoint = os.path.join(folder, "good")
subprocess.run(["tessera", "train", model, "--data", text, "--steps", "1", "--checkpoint-dir", checkpoint], check=True, capture_output=True)
nests, many, twice = "nest more than", "more than {} values", "comes twice"
hostile = {nests: DEEP, twice: TWICE}
for why, content in {**hostile, many.format(1000000): wide(1000000)}.items():
    add(why, "report", *of_model("config.json", '{"model_type": "gpt2", "x": ' + content + "}", "MODEL"))
    add(why, "import", *of_model("generation_config.json", '{"x": ' + content + "}", "MODEL"), "-o", os.devnull)
for why, content in {**hostile, many.format(100000): wide(100000)}.items():
    add(why, "report", model, "--plan", write(f"plan-{len(cases)}.json", '{"tessera_plan": 1, "x": ' + content + "}"))
    add(why, "merge", os.path.join(checkpoint, "step-00000001"), "-o", os.path.join(folder, "merged"), "--adapter",
        os.path.dirname(write(f"adapter-{len(cases)}/adapter_config.json", '{"x": ' + content + "}")))
for why, content in hostile.items():
    tokenizer = write(f"tokenizer-{len(cases)}/tokenizer.json", '{"model": ' + content + "}")
    add(why, "tokenize", text, "--tokenizer", tokenizer, "-o", os.devnull)
    folder_of = os.path.dirname(write(f"folder-{len(cases)}/tokenizer.json", "{}"))
    write(f"folder-{len(cases)}/tokenizer_config.json", '{"x": ' + content + "}")
    add(why, "tokenize", text, "--tokenizer", folder_of, "-o", os.devnull)
    index = os.path.dirname(write(f"index-{len(cases)}/model.safetensors.index.json", '{"weight_map": ' + content + "}"))
    add(why, "train", model, "--data", text, "--steps", "1", "--load-weights", index)
    add(why, "simulate", model, "--cluster", good_cluster, "--measured", write(f"trace-{len(cases)}.json", '{"traceEvents": ' + content + "}"))
    add(why, "evaluate", model, "--checkpoint", checkpoint, "--choices", write(f"questions-{len(cases)}.jsonl", '{"prompt": ' + content + "}\n"))
    add(why, "tokenize", write(f"documents-{len(cases)}.jsonl", '{"text": ' + content + "}\n"), "--tokenizer", good_tokenizer, "-o", os.devnull)
    manifest = write(f"run-{len(cases)}/step-00000001/manifest.json", '{"format": ' + content + "}")
    add(why, "train", model, "--data", text, "--steps", "1", "--resume", os.path.dirname(os.path.dirname(manifest)))
for name, content in {"header": "[" + ".".join("a" * 300000) + "]\n", "key": ".".join("a" * 300000) + " = 1\n",
                      "tables": "x = " + "{a=" * 100000}.items():
    add("32 dots" if name != "tables" else "nested", "simulate", model, "--cluster", write(name + ".toml", content))


def run(case):
    command, why = case
    result = subprocess.run(["tessera", *command], capture_output=True, text=True, errors="replace", timeout=120)
    said = result.stderr[:2000]
    return "" if result.returncode == 1 and "error: " in said and why in said else \
        f"{' '.join(command)[-200:]}: exit {result.returncode}, wanted '{why}', said: {said[:500]}"


with ThreadPoolExecutor(2) as pool:
    wrong = [line for line in pool.map(run, cases) if line]
print("\n".join(wrong) or f"{len(cases)} hostile files are refused")
sys.exit(bool(wrong))
