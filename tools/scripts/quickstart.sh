#!/usr/bin/env bash
# From a fresh clone to a trained model: installs what is missing, builds what training needs, and trains a small GPT-2
# on four ranks. Usage: quickstart.sh [--cuda] [option of `tessera train`...]
# --cuda (or --device cuda) builds the CUDA device, too, and trains on it; it needs nvcc.
# --data FILE... replaces the project's own docs and sources.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD
cuda=OFF
if [ "${1:-}" = --cuda ]; then
  shift
  set -- --device cuda "$@"
fi
case " $* " in
  *" --device cuda "* | *" --device=cuda "*)
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
    [ -n "$nvcc" ] || { echo "quickstart: --cuda needs nvcc; install the CUDA toolkit, or leave --cuda out" >&2 && exit 1; }
    cuda=ON
    ;;
esac
bash tools/scripts/setup.sh
if [ ! -x build/bin/tessera ]; then
  # Processor minutes of this build, to be measured again when it changes: CCACHE_DISABLE=1, `time`, user + sys.
  minutes=12
  [ $cuda = OFF ] || minutes=$((minutes + 5))
  echo "quickstart: building, about $((minutes / $(nproc) + 1)) minutes on $(nproc) cores"
fi
# All but tests: what an installation and a package hold costs little beside `tessera`.
bash tools/scripts/build.sh --progress release -DTESSERA_BUILD_TESTS=OFF -DTESSERA_CUDA=$cuda

out=$root/runs/quickstart
rm -rf "$out"
mkdir -p "$out"
words=" $* "
isGiven() { [[ $words =~ \ $1[\ =] ]]; }
data=()
if ! isGiven --data; then
  data=(--data)
  while IFS= read -r file; do
    data+=("$root/$file")
  done < <(git ls-files --cached --others --exclude-standard '*.md' '*.h' '*.cpp' '*.td' '*.py' '*.c' | LC_ALL=C sort)
fi
defaults=()
while read -r name value; do
  isGiven "$name" || defaults+=("$name" "$value")
done <<END
--mesh dp=2,tp=2
--batch 8
--steps 300
--lr 2e-3
--warmup-steps 20
--checkpoint-dir $out/checkpoints
--log $out/log.jsonl
END
echo "quickstart: training examples/gpt2-tiny"
cd "$here"
"$root/build/bin/tessera" train "$root/examples/gpt2-tiny" "${defaults[@]}" "${data[@]}" "$@"
isGiven --log || echo "quickstart: log in runs/quickstart/log.jsonl"
isGiven --checkpoint-dir || echo "quickstart: now let it write: build/bin/tessera generate examples/gpt2-tiny" \
  "--checkpoint runs/quickstart/checkpoints --prompt 'The compiler ' --temperature 0.8"
