#!/usr/bin/env bash
# Says which part of Clang 22 is missing, and how to install it; exit code 2.
# Usage: require-clang.sh WHO RUNTIME TOOL   (libclang_rt.RUNTIME, a program of llvm-22)
set -euo pipefail
tools=/usr/lib/llvm-22/bin
for file in /usr/bin/clang++-22 "$tools/../lib/clang/22/lib/linux/libclang_rt.$2-x86_64.a" "$tools/$3"; do
  if [ ! -e "$file" ]; then
    echo "$1: $file is missing; run as root: apt-get install --no-install-recommends clang-22 libclang-rt-22-dev llvm-22" >&2
    exit 2
  fi
done
