#!/usr/bin/env bash
# Configures and builds a preset (default: release). Prints nothing but errors; with --progress also how far it is: one
# line that changes on a terminal, a line for every tenth in a log.
# Usage: build.sh [--progress] [--target NAME]... [preset] [cmake option...]
set -euo pipefail
cd "$(dirname "$0")/../.."
progress=
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --progress) progress=1 && shift ;;
    --target) targets+=("$2") && shift 2 ;;
    *) break ;;
  esac
done
preset=${1:-release}
shift || true
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Reads the build's lines, keeps them in the log and shows how far they are.
watch() {
  local line percent due=10 start=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $progress && $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [ -t 1 ]; then
      printf '\rbuild: %3d %%, %s of %s, %d min ' $percent "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" $(((SECONDS - start) / 60))
    elif [ $percent -ge $due ]; then
      echo "build: $percent %, ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}, $(((SECONDS - start) / 60)) min"
      due=$((percent / 10 * 10 + 10))
    fi
  done
  if [[ $progress && -t 1 ]]; then
    echo
  fi
}

run() {
  : >"$log"
  if ! NINJA_STATUS='[%f/%t] ' "$@" 2>&1 | watch; then
    grep -E -A 12 'error|FAILED|CMake Error' "$log" | head -n 80 >&2 || tail -n 40 "$log" >&2
    echo "build: failed: $*" >&2
    exit 1
  fi
}
run cmake --preset "$preset" "$@"
run cmake --build --preset "$preset" --target "${targets[@]:-all}"
