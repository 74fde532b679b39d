"""Counts what the generated kernels of a CUDA program read and write in a step. Nothing is run.

Usage: kernels.py [--bin BIN] [--top N] ARGUMENTS OF tessera compile
A kernel's bytes are those of its operands and results, each once: over the copy rate of the GPU (`gpu-limits`) they are
the least time it can take. Tables that a kernel reads by row count whole. What the library's products read and write
for an epilogue (GELU's input, sums of an operand) is told apart: a kernel would do it otherwise.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "bf16": 2}
TENSOR = re.compile(r"tensor<([^<>]*(?:<\d+>)?)>")
KERNEL = re.compile(r"func\.func private @(\w+)\((.*?)\) -> (.*?) attributes \{(.*)\}")
EPILOGUE = re.compile(r"rt\.gemm .*(?:gelu_grad\(%[\w#]+ : |saving |sums )tensor<([^<>]*)>")
GRID = re.compile(r"@(\w+)_descriptor\(\)(.*?)llvm\.return", re.S)


def size_of(tensor):
    *dims, element = tensor.split(",")[0].split("x")
    size = BYTES[element]
    for dim in dims:
        size *= int(dim)
    return size


def dump(options, folder):
    command = [options.bin / "tessera", "compile", *options.arguments, "--device", "cuda", "-o", folder / "model.tsr",
               "--dump-ir", folder / "ir"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def text(name):
        return next((folder / "ir").glob(f"*-{name}.mlir")).read_text()

    return text("rt-batch-launches"), text("convert-kernel-to-nvvm")


def kernels_of(program, code):
    """Returns (name, schedule, blocks, threads, bytes, ops, launches) of each kernel. Those in a loop over
    micro-batches count once; ops that the device runs as one are one launch."""
    grids = {name: re.findall(r"constant\((\d+) : i64\)", body)[:2] for name, body in GRID.findall(code)}
    ops, launches = collections.Counter(), collections.Counter()
    for name, rest in re.findall(r"rt\.launch @(\w+)\((.*)", program):
        ops[name] += 1
        launches[name] += "rt.followers" not in rest
    for name, arguments, results, attributes in KERNEL.findall(program):
        schedule = re.search(r'rt\.schedule = "(\w+)"', attributes)
        if schedule:
            size = sum(map(size_of, TENSOR.findall(arguments) + TENSOR.findall(results)))
            yield name, schedule[1], *grids[name], size, ops[name], launches[name]


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/kernels.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build/bin", help="folder of tessera")
    parser.add_argument("--top", type=int, default=12, help="kernels to list")
    options, options.arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        program, code = dump(options, pathlib.Path(folder))
    kernels = sorted(kernels_of(program, code), key=lambda k: -k[4] * k[5])
    epilogues = list(map(size_of, EPILOGUE.findall(program)))
    total = sum(size * count for *_, size, count, _ in kernels)
    print(f"{len(kernels)} kernels, {sum(k[5] for k in kernels)} ops in {sum(k[6] for k in kernels)} launches, "
          f"{total / 1e9:.2f} GB read and written")
    print(f"{len(epilogues)} epilogues of products, {sum(epilogues) / 1e9:.2f} GB\n")
    print("| kernel | schedule | blocks x threads | MB | ops | launches | share |")
    print("|---|---|---|---|---|---|---|")
    for name, schedule, blocks, threads, size, count, launches in kernels[:options.top]:
        print(f"| `{name}` | {schedule} | {blocks} x {threads} | {size / 1e6:.1f} | {count} | {launches} | "
              f"{size * count / total:.1%} |")


if __name__ == "__main__":
    main()
