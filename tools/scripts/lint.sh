#!/usr/bin/env bash
# Checks what reviewers should not have to: format, direction of includes, size
# and names of files, no path of a machine. Prints each offence; exits with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
offences=0
offend() {
  echo "$1"
  offences=$((offences + 1))
}

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.h' '*.hpp' '*.c' '*.cpp' '*.cu' '*.cuh' '*.td' | sort -u)
mapfile -t cxx < <(printf '%s\n' "${sources[@]}" | grep -v '\.td$')

formatter=${CLANG_FORMAT:-/usr/bin/clang-format}
while IFS= read -r line; do
  offend "format: $line; run $formatter -i"
done < <("$formatter" --dry-run -Werror "${cxx[@]}" 2>&1 | grep ': error: ' | cut -d: -f1 | sort | uniq -c)

# A layer and what it may include besides itself.
declare -A allowed=(
  [Dialect]="Dialect" [Schedule]="Schedule"
  [Analysis]="Dialect Schedule Transforms" [Import]="Dialect" [Transforms]="Dialect Schedule"
  [Conversion]="Dialect abi.h" [Target]="Dialect abi.h"
  [Pipelines]="Dialect Analysis Import Transforms Conversion Target"
  [tools]="Dialect Schedule Analysis Import Transforms Conversion Target Pipelines tessera.h tessera.hpp"
  [runtime]="tessera.h tessera.hpp abi.h abi_arguments.h"
)
layerOf() {
  case $1 in
    include/tessera/*/* | lib/*/*) echo "$1" | sed -E 's#^(include/tessera|lib)/([^/]*)/.*#\2#' ;;
    tools/* | runtime/*) echo "${1%%/*}" ;;
  esac
}
for file in "${sources[@]}"; do
  layer=$(layerOf "$file")
  [ -n "$layer" ] && [ -n "${allowed[$layer]:-}" ] || continue
  while IFS= read -r target; do
    [[ " $layer ${allowed[$layer]} " == *" $target "* ]] ||
      offend "includes: $file ($layer) includes tessera/$target; it may include: ${allowed[$layer]}"
  done < <(sed -nE 's#^ *(\#include|include) "tessera/([^/"]*).*#\2#p' "$file" | sort -u)
done

for file in "${sources[@]}"; do
  [[ $file == *.td ]] && limit=600 || limit=400
  lines=$(wc -l <"$file")
  [ "$lines" -le $limit ] || offend "size: $file has $lines lines; split it below $limit"
  [[ ! $(basename "$file") =~ (Utils|Helpers|Common|Misc)\. ]] || offend "name: $file says nothing about what it holds"
done

while IFS= read -r line; do
  offend "machine: $line"
done < <(git ls-files --cached --others --exclude-standard | grep -v '^tools/scripts/lint.sh$' |
  xargs -r -d '\n' grep -nIE '/(work|root|home)/[a-z]' 2>/dev/null | cut -c1-160)

[ $offences -eq 0 ] || echo "lint: $offences offences"
[ $offences -eq 0 ]
