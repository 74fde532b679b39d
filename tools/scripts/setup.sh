#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Quiet where all
# are there; without root or apt it says what is missing and fails.
set -euo pipefail

packages=(llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22 cmake ninja-build g++ ccache
  libdnnl-dev libssl-dev openssl nlohmann-json3-dev libxxhash-dev libicu-dev libpcre2-dev libsentencepiece-dev libcli11-dev libtomlplusplus-dev libboost1.81-dev libgtest-dev libjs-chart.js clang-format python3 python3-numpy git)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian system; install by hand what these packages hold:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

install="apt-get install --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "setup: missing packages: ${missing[*]}" >&2
  echo "setup: run as root: $install" >&2
  exit 1
fi

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && $install --yes; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get failed; the lines above say why" >&2
  exit 1
fi
