"""Time and memory of compiling a model of a trillion parameters for 3072 ranks. Nothing is run.

The model and the mesh are those of Narayanan et al. 2021, section 5.1, with fewer micro-batches unless asked otherwise."""
import argparse
import pathlib
import sys
import tempfile

from workers import Failed, repeated_command

HERE = pathlib.Path(__file__).resolve().parent


def parse():
    parser = argparse.ArgumentParser(prog="bench/compile.py", description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/bin", help="folder of the built programs")
    parser.add_argument("--model", type=pathlib.Path, default=HERE / "configs/gpt-1t/config.json")
    parser.add_argument("--stages", type=int, default=64)
    parser.add_argument("--data", type=int, default=6, help="size of dp; tp is 8")
    parser.add_argument("--micro-batches", type=int, nargs="+", default=[8, 64, 512])
    parser.add_argument("--runs", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse()
    tessera = options.bin / "tessera"
    print("| command | micro-batches | wall, s | processor, s | peak memory, MiB |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for count in options.micro_batches:
            plan = [options.model, "--mesh", f"pp={options.stages},dp={options.data},tp=8", "--schedule", "interleaved",
                    "--virtual-stages", 2, "--micro-batches", count, "--batch", count * options.data]
            for command, rest in {"compile": ["-o", pathlib.Path(folder) / "model.tsr"], "report": []}.items():
                try:
                    result = repeated_command([tessera, command, *plan, *rest], options.runs)
                except Failed as failure:
                    sys.exit(f"{command}: {failure}")
                print(f"| `tessera {command}` | {count} | {result['median']:.1f} | {result['processor_seconds']:.1f} | "
                      f"{result['peak'] / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    main()
