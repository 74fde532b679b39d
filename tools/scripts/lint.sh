#!/usr/bin/env bash
# Checks what reviewers should not have to: format, lengths, direction and spelling of includes, banners, names of files,
# sentences in comments, no path of a machine. Prints each offence and exits with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
offences=0
offend() {
  echo "$1"
  offences=$((offences + 1))
}

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.h' '*.hpp' '*.c' '*.cpp' '*.cu' '*.cuh' '*.td' | sort -u)
mapfile -t all < <(git ls-files --cached --others --exclude-standard | sort -u)
mapfile -t scripts < <(printf '%s\n' "${all[@]}" | grep -E '\.(py|sh|js|css)$')
mapfile -t cxx < <(printf '%s\n' "${sources[@]}" | grep -v '\.td$')

# Not again what was in format before: TESSERA_LINT_KNOWN names a file of sums, each of the rules and a source.
formatter=${CLANG_FORMAT:-/usr/bin/clang-format}
known=${TESSERA_LINT_KNOWN:-/dev/null}
rules=$({ "$formatter" --version && cat .clang-format; } | sha256sum | cut -c1-64)
sums=$(sha256sum "${cxx[@]}" | sed "s/^/$rules /")
mapfile -t unknown < <(grep -vxFf <(cat "$known" 2>/dev/null) <<<"$sums" | cut -d' ' -f4-)
before=$offences
[ ${#unknown[@]} -eq 0 ] || while IFS= read -r line; do
  offend "format: $line; run $formatter -i"
done < <("$formatter" --dry-run -Werror "${unknown[@]}" 2>&1 | grep ': error: ' | cut -d: -f1 | sort | uniq -c)
[ $offences -ne $before ] || [ "$known" = /dev/null ] || echo "$sums" >"$known"

while IFS= read -r line; do
  offend "$line"
done < <(python3 tools/scripts/lint_sources.py "${sources[@]}" "${scripts[@]}")

while IFS= read -r line; do
  offend "$line"
done < <(python3 -B tools/scripts/lint_comments.py "${all[@]}")

while IFS= read -r file; do
  offend "name: $file says nothing about what it holds"
done < <(printf '%s\n' "${sources[@]}" | grep -E '(Utils|Helpers|Common|Misc)\.[^/]*$')

while IFS= read -r line; do
  offend "machine: $line"
done < <(git ls-files --cached --others --exclude-standard | grep -v '^tools/scripts/lint.sh$' |
  xargs -r -d '\n' grep -nIE '/(work|root|home)/[a-z]' 2>/dev/null | cut -c1-160)

[ $offences -eq 0 ] || echo "lint: $offences offences"
[ $offences -eq 0 ]
