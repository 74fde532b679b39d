"""Prints the examples of docs/reference/{nn,dist,rt}.md as functions of one op each, for tessera-opt to verify.

An example is one op whose operands are not defined; they become arguments, typed by what stands between ':' and '->'.
"""
import re
import sys

MESH = "module attributes {dist.masked, dist.mesh = #dist.mesh<dp = 2, tp = 2>}"


def split_types(text):
    """Returns the types of 'a, b' or '(a, b)': commas inside <> do not count."""
    return re.findall(r"tensor<(?:[^<>]|<[^<>]*>)*>", text)


def as_function(example, number):
    body = " ".join(example.split())
    bare = re.sub(r"\{[^}]*\}", "", body)
    uses, _, signature = bare.split("=", 1)[1].partition(" : ")
    names = list(dict.fromkeys(re.findall(r"%\w+", uses)))
    types = split_types(signature.split("->")[0])
    if names and len(names) != len(types):
        sys.exit(f"example {number} names {len(names)} operands, but has {len(types)} types: {body}")
    arguments = ", ".join(f"{name}: {type}" for name, type in zip(names, types))
    return f"{MESH} {{\n  func.func @example_{number}({arguments}) {{\n    {body}\n    return\n  }}\n}}"


examples = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        examples += re.findall(r"^```mlir\n(.*?)^```", file.read(), re.S | re.M)
print("\n// -----\n".join(as_function(text, number) for number, text in enumerate(examples)))
print(f"// {len(examples)} examples")
