#!/usr/bin/env bash
# From a fresh clone to a trained model: installs what is missing, builds, and
# trains a small GPT-2 on four thread ranks. Options are passed on to
# `tessera train`; --data FILE... replaces the project's own docs and sources.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD
bash tools/scripts/setup.sh
echo "quickstart: building (minutes the first time)"
bash tools/scripts/build.sh release -DTESSERA_BUILD_TESTS=OFF

out=$root/runs/quickstart
rm -rf "$out"
mkdir -p "$out"
data=()
case " $* " in
  *" --data "*) ;;
  *)
    while IFS= read -r file; do
      data+=("$root/$file")
    done < <(git ls-files --cached --others --exclude-standard '*.md' '*.h' '*.cpp' '*.td' '*.py' '*.c' | LC_ALL=C sort)
    ;;
esac
[ ${#data[@]} -eq 0 ] || data=(--data "${data[@]}")
echo "quickstart: training examples/gpt2-tiny on dp=2,tp=2"
cd "$here"
"$root/build/bin/tessera" train "$root/examples/gpt2-tiny" --mesh dp=2,tp=2 --batch 8 --steps 300 --lr 2e-3 \
  --warmup-steps 20 --checkpoint-dir "$out/checkpoints" --log "$out/log.jsonl" "${data[@]}" "$@"
echo "quickstart: log in runs/quickstart/log.jsonl"
