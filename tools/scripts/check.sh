#!/usr/bin/env bash
# Sets up, builds and runs every test; the last line adds them up. With --full, before that, every combination of
# strategies in test/Matrix/matrix.txt and 300 random configurations, each failure printed as a command, all mutants of
# test/Mutation, all faults of test/Runtime/faults, the runtime under sanitizers where there is Clang, the instructions of
# compiling where there is valgrind, and the package in an empty Debian where there is debootstrap.
set -euo pipefail
full=
case ${1:-} in
  "") ;;
  --full) full=1 ;;
  *) echo "check: unknown argument '$1'; use --full or nothing" && exit 2 ;;
esac
cd "$(dirname "$0")/../.."
bash tools/scripts/setup.sh
echo "check: building"
bash tools/scripts/build.sh --progress release -DTESSERA_BUILD_TESTS=ON -DTESSERA_CUDA=AUTO

# run_where_possible WHAT LEFT_OUT SCRIPT: sets `code` if it fails, unless it exits with LEFT_OUT.
run_where_possible() {
  local left_out=0
  "tools/scripts/$3" || left_out=$?
  case $left_out in
    0) ;;
    "$2") echo "check: $1 left out, the line above says why" ;;
    *) code=1 ;;
  esac
}

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
code=0
if [ -n "$full" ]; then
  echo "check: verifying combinations"
  python3 test/Matrix/matrix.py || code=1
  echo "check: verifying random configurations"
  python3 test/Matrix/random_configurations.py --count 300 || code=1
  python3 test/Matrix/random_configurations.py --programs generate --count 200 || code=1
  python3 test/Matrix/random_configurations.py --programs encode --count 60 || code=1
  echo "check: judging mutants"
  build/bin/MutationTest --whole || code=1
  echo "check: failing calls of libc"
  build/bin/FaultTests --whole || code=1
  echo "check: running under sanitizers"
  run_where_possible "sanitizers were" 2 sanitize.sh
  echo "check: counting the work of compiling"
  run_where_possible "the work was" 77 compile-work.py
  echo "check: installing the package"
  run_where_possible "the package was" 77 package-check.sh
fi
echo "check: testing"
rm -f build/test/results/*.xml
# One more than there are cores: some tests wait for what does not come.
ctest --test-dir build --no-tests=error -j "$(($(nproc) + 1))" --output-junit "$results/ctest.xml" \
  >"$results/ctest.log" 2>&1 || code=1
[ -s "$results/ctest.xml" ] || tail -n 40 "$results/ctest.log"
# The paths of the CPU below the best, which the tests above took. The slowest numerics wait for --full.
paths=()
while IFS= read -r path; do
  if TESSERA_CPU=$path build/bin/tessera compile test/Tools/Inputs/tiny -o "$results/path.tsr" >/dev/null 2>&1; then
    paths+=("$path")
  fi
done < <(sed -n 's/^TSR_CPU_PATH([^"]*"\([^"]*\)".*/\1/p' runtime/include/tessera/abi_cpu.def)
numerics='MixedPrecision|FineTuning|Grid'
[ -z "$full" ] || numerics+='|Reference|Generation'
for path in "${paths[@]::$((${#paths[@]} > 0 ? ${#paths[@]} - 1 : 0))}"; do
  echo "check: testing numerics on $path"
  TESSERA_CPU=$path ctest --test-dir build --no-tests=error -j "$(($(nproc) + 1))" --output-on-failure \
    -R "^(cpu-kernels|Numerics\.($numerics)Test)\$" >"$results/path.log" 2>&1 || {
    tail -n 60 "$results/path.log"
    code=1
  }
done
python3 tools/scripts/summarize.py "$results/ctest.xml" build/test/results || code=1
exit $code
