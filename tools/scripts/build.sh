#!/usr/bin/env bash
# Configures and builds a preset (default: release). Prints nothing but errors.
# Usage: build.sh [preset] [cmake option...]
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
shift || true
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
  if ! "$@" >"$log" 2>&1; then
    grep -E -A 12 'error|FAILED|CMake Error' "$log" | head -n 80 >&2 || tail -n 40 "$log" >&2
    echo "build: failed: $*" >&2
    exit 1
  fi
}
run cmake --preset "$preset" "$@"
run cmake --build --preset "$preset"
