#!/usr/bin/env bash
# Builds Release if needed, measures, and writes bench/results/<date>-<cpu>.json, an .svg beside it, and a table.
# Usage: bash bench/run.sh [--build DIR] [options of bench/run.py, see --help]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
if [[ ${1:-} == --build ]]; then
  build=$(cd "$2" && pwd)
  shift 2
fi
python=/usr/bin/python3 # Debian's, which python3-torch is for
[[ -x $python ]] || python=python3

if [[ ! -f $build/CMakeCache.txt ]]; then
  (cd "$root" && cmake --preset release >/dev/null)
fi
kind=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
if [[ $kind != Release && -z ${TESSERA_BENCH_ANY_BUILD:-} ]]; then
  echo "run.sh: $build is a '$kind' build; measure a Release build" >&2
  exit 1
fi
if [[ -z ${TESSERA_BENCH_NO_BUILD:-} ]]; then
  cmake --build "$build" --target tessera bench-steps bench-floor >&2
fi
exec "$python" "$root/bench/run.py" --bin "$build/bin" "$@"
