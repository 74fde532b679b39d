"""Writes programs whose parts nest deeply, each in its own way."""
deep = 100000
programs = {
    "brackets": "module attributes {x.a = " + "[" * deep + "]" * deep + "} {}",
    "regions": 'module {\n' * deep + '}\n' * deep,
    "types": "func.func private @f(" + "tuple<" * deep + ">" * deep + ")",
    "names": "#a0 = [1]\n" + "".join(f"#a{k + 1} = [#a{k}]\n" for k in range(deep)) + f"module attributes {{x.a = #a{deep}}} {{}}",
    "same_line": "!a0 = i1 " + "".join(f"!a{k + 1} = tuple<!a{k}> " for k in range(deep)),
    "signs": "module attributes {x.a = affine_map<() -> (" + "- " * deep + "1)>} {}",
    "sum": "module attributes {x.a = affine_map<(d0) -> (" + "d0 + " * deep + "d0)>} {}",
    "strings": 'module attributes {x.a = "' + "[" * deep + '"} {} // ' + "(" * deep,
    "wide": "module attributes {x.a = [" + "[], " * deep + "[]]} {}",
    "shallow": "module attributes {x.a = " + "[" * 200 + "]" * 200 + "} {}",
}
for name, text in programs.items():
    with open(name + ".mlir", "w") as file:
        file.write(text + "\n")
with open("bytecode.mlir", "wb") as file:
    file.write(b"ML\xefR\x06MLIR22\0" + bytes(range(200)))
