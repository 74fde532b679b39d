#!/usr/bin/env bash
# Checks what reviewers should not have to: format, direction and spelling of includes, banners, names of files, no path
# of a machine. Prints each offence and exits with 1; advice about long files is printed and does not count.
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

while IFS= read -r line; do
  offend "$line"
done < <(python3 tools/scripts/lint_sources.py "${sources[@]}")

for file in "${sources[@]}"; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 600 ] || echo "advice: $file has $lines lines; does it hold one class, table or pass?"
  [[ ! $(basename "$file") =~ (Utils|Helpers|Common|Misc)\. ]] || offend "name: $file says nothing about what it holds"
done

while IFS= read -r line; do
  offend "machine: $line"
done < <(git ls-files --cached --others --exclude-standard | grep -v '^tools/scripts/lint.sh$' |
  xargs -r -d '\n' grep -nIE '/(work|root|home)/[a-z]' 2>/dev/null | cut -c1-160)

[ $offences -eq 0 ] || echo "lint: $offences offences"
[ $offences -eq 0 ]
