#!/bin/bash
# Trains a GPT-2 of 10 million parameters on the manual of Perl, which Debian's package perl-doc carries:
# tokenized, split, trained on four ranks, killed and resumed, evaluated, exported, opened by transformers.
#
#   bash examples/gpt2-perl/run.sh [FOLDER]
#
# FOLDER (default: gpt2-perl-run) takes everything that is made. About 5 minutes on two cores of 2025, 300 MB.
# Variables: TESSERA, PYTHON  the programs
#            CORPUS           a folder of texts to train on instead, one document per file; nothing is downloaded
#            MODEL            a folder with config.json and tokenizer.json (default: this one)
#            STEPS, BATCH     of the training (default: 600 steps of 8 sequences of 256 tokens)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tessera=${TESSERA:-tessera} python=${PYTHON:-python3} model=$(realpath "${MODEL:-$here}")
steps=${STEPS:-600} batch=${BATCH:-8}
corpus=${CORPUS:+$(realpath "$CORPUS")}
work=${1:-gpt2-perl-run}
if [[ -e $work ]]; then
  echo "run.sh: '$work' is there already; remove it or name another folder" >&2
  exit 1
fi
mkdir -p "$work"
cd "$work"

say() { printf '\n== %s (%d s)\n' "$1" $SECONDS; }

say "Texts"
if [[ -z $corpus ]]; then
  if ! (apt-get download perl-doc && dpkg-deb -x perl-doc_*.deb package); then
    echo "run.sh: cannot download Debian's package perl-doc; give CORPUS=FOLDER with texts of your own" >&2
    exit 1
  fi
  corpus=$(echo package/usr/share/perl/*/pod)
fi
# In the order of their checksums, so that the documents at the end, which are held out, are of all kinds. Left out are
# copies, tables and other languages.
mapfile -t texts < <(find "$corpus" -type f -exec md5sum {} + |
  grep -Ev '/perl(delta|toc|modlib|uniprops|cn|jp|ko|tw)\.pod$' | sort -u -k1,1 | cut -c35-)
echo "${#texts[@]} documents, $(cat "${texts[@]}" | wc -c) bytes"

say "Tokenize"
# Megatron's format knows where documents end, so that whole ones are held out.
"$tessera" tokenize "${texts[@]}" --tokenizer "$model" --model "$model" --append-eod --format megatron -o perl

say "Train, and be killed after half of the steps"
# Documents follow each other, with <|endoftext|> between them.
data=(--data perl.bin --validation-fraction 0.05)
train=("$tessera" train "$model" --mesh dp=2,tp=2 "${data[@]}" --batch "$batch" --steps "$steps"
  --lr 2e-3 --warmup-steps $((steps / 20)) --weight-decay 0.1 --log steps.jsonl --tensorboard curves
  --checkpoint-dir runs --save-every $((steps / 2)) --keep 2
  --eval-every $((steps / 6)) --eval-batches 16 --keep-best)
stepsLogged() { grep -c '"loss"' steps.jsonl 2>/dev/null || true; }
"${train[@]}" &
while kill -0 $! 2>/dev/null && ((${logged:-0} < steps / 2 + 5)); do
  sleep 0.2
  logged=$(stepsLogged)
done
kill -KILL $! 2>/dev/null || true
status=0
{ wait $!; } 2>/dev/null || status=$?
case $status in
0) ;;
137) echo "killed after step $(stepsLogged)" ;;
*) exit $status ;;
esac
# A run that was too quick to be killed here has saved checkpoints since then.
for checkpoint in runs/step-*; do
  [[ ${checkpoint#runs/step-} > $(printf %08d $((steps / 2))) ]] && rm -r "$checkpoint"
done

say "Resume"
"${train[@]}" --resume
# The steps after the checkpoint were done twice.
awk -F '[:,]' '/"loss"/ {
    numbers = $4 $6
    if ($2 in of) { ++twice; same += of[$2] == numbers }
    of[$2] = numbers
  }
  END {
    printf "%d steps were repeated, %d of them have the same loss and gradient norm to the last bit\n", twice, same
    exit !(twice && twice == same)
  }' steps.jsonl

say "Evaluate the best checkpoint on all that was held out"
# Another mesh reads the checkpoint as well.
"$tessera" evaluate "$model" --mesh tp=2 --batch 1 "${data[@]}" --checkpoint runs/best --json | tee evaluation.json

say "Export"
# A checkpoint is a model of transformers already; it lacks the tokenizer.
mkdir export
cp runs/best/{config.json,model.safetensors} "$model"/tokenizer*.json export
ls -l export
if "$python" "$here/plot_loss.py" steps.jsonl >loss.svg 2>/dev/null; then
  echo "loss.svg shows the losses"
fi

say "Open it in transformers"
if "$python" -c 'import torch, transformers' 2>/dev/null; then
  "$python" "$here/open_in_transformers.py" export perl evaluation.json
else
  echo "skipped: $python has no torch and transformers"
fi
say "Done"
