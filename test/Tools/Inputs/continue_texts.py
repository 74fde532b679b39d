"""--stop and --chat of tessera generate, against the plain continuations that they are made of.

    continue_texts.py MODEL WEIGHTS
"""
import json
import subprocess
import sys

COMMAND = ["tessera", "generate", sys.argv[1], "--load-weights", sys.argv[2], "--temperature", "1.5", "--seed", "3"]


def run(*options, **keys):
    return subprocess.run([*COMMAND, *options], check=True, capture_output=True, text=True, **keys).stdout


def continued(prompt, *options):
    return json.loads(run("--prompt", prompt, "--json", *options))


whole = continued("The runtime", "--max-new-tokens", "12")
assert whole["ended"] == "length" and len(whole["text"]) > 12, whole
for start in range(len(whole["text"]) - 3):
    if start % 5 == 0:
        stop = whole["text"][start : start + 3]
        cut = continued("The runtime", "--max-new-tokens", "12", "--stop", "never there", "--stop", stop)
        assert cut["text"] == whole["text"].split(stop)[0], (stop, cut)
        assert cut["ended"] == "stop" and cut["tokens"] == whole["tokens"][: len(cut["tokens"])], (stop, cut)

history, answers = "Two that talk.\n", ""
for line in "Who?", "You.":
    history += f"User: {line}\nAssistant:"
    text = continued(history, "--max-new-tokens", "8", "--stop", "\nUser:")["text"]
    history += text + "\n"
    answers += text.lstrip(" \t\n\v\f\r") + "\n"
chat = run("--chat", "--prompt", "Two that talk.", "--max-new-tokens", "8", input="Who?\n \nYou.\n")
assert chat == answers, (chat, answers)
print("texts are as expected")
