#!/usr/bin/env bash
# usage: network-faults.sh [STEPS]; TESSERA: the program (default: build/bin/tessera)
# Four processes, each in a network namespace of its own on a bridge, train a small model while their network delays,
# loses and reorders packets, is slow, breaks and heals, or stays broken. A run that goes on must end with the bits of
# one without faults; one that cannot must say which rank is missing, and end with exit code 1. Needs root.
set -euo pipefail
cd "$(dirname "$0")/../.."
tessera=${TESSERA:-build/bin/tessera} steps=${1:-400}
time_out=10 # seconds of a collective
patience=900 # seconds after which a run counts as stuck

give_up() { echo "network-faults: $1" >&2 && exit 2; }
[ "$(id -u)" = 0 ] || give_up "only root may make network namespaces"
for tool in ip tc nft; do
  command -v "$tool" >/dev/null || give_up "there is no '$tool'; apt-get install iproute2 nftables"
done
[ -e /dev/net/tun ] || give_up "there is no /dev/net/tun, which the switch that delays needs; modprobe tun"
[ -x "$tessera" ] || give_up "there is no '$tessera'; build it with tools/scripts/build.sh, or set TESSERA"

net=tsr$$ work=$(mktemp -d) failures=0
network=10.77.0 switch="" # or 10.78.0, of the switch that delays, and its process
declare -a processes
in_switch() { ip netns exec "$net-switch" "$@"; }
at() { local rank=$1 && shift && ip netns exec "$net-$rank" "$@"; }
clean_up() {
  for process in "${processes[@]}" $switch; do kill -KILL "$process" 2>/dev/null || true; done
  for name in switch 0 1 2 3; do ip netns del "$net-$name" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT

connect() {
  ip netns add "$net-switch" && in_switch ip link add br0 type bridge && in_switch ip link set br0 up || return
  for rank in 0 1 2 3; do
    ip netns add "$net-$rank" &&
      ip link add eth0 netns "$net-$rank" type veth peer name "port$rank" netns "$net-switch" &&
      in_switch ip link set "port$rank" master br0 up && at "$rank" ip link set lo up &&
      at "$rank" ip address add "10.77.0.$((rank + 1))/24" dev eth0 && at "$rank" ip link set eth0 up || return
  done
}

# Starts the four processes of a case.
start() {
  case_name=$1 began=$SECONDS
  mkdir "$work/$case_name"
  for rank in 0 1 2 3; do
    RANK=$rank WORLD_SIZE=4 MASTER_ADDR=$network.1 MASTER_PORT=29500 TESSERA_SECRET=network-faults-$net \
      ip netns exec "$net-$rank" "$tessera" train "$work/model.tsr" --data README.md --steps "$steps" --threads 1 \
      --timeout-ms $((time_out * 1000)) --rendezvous-timeout-ms 60000 --log "$work/$case_name/log" \
      --checkpoint-dir "$work/$case_name/checkpoints" >"$work/$case_name/$rank" 2>&1 &
    processes[rank]=$!
  done
}

# Waits until the run has made so many steps.
await_step() {
  until [ -f "$work/$case_name/log" ] && [ "$(wc -l <"$work/$case_name/log")" -ge "$1" ]; do
    kill -0 "${processes[0]}" 2>/dev/null || return 0
    sleep 0.05
  done
}

# Waits for the ends: sets `codes`, and `stuck` to the ranks that had to be killed.
finish() {
  local deadline=$((SECONDS + patience))
  codes="" stuck=""
  for rank in 0 1 2 3; do
    while kill -0 "${processes[rank]}" 2>/dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
    if kill -KILL "${processes[rank]}" 2>/dev/null; then stuck="$stuck $rank"; fi
    local code=0
    wait "${processes[rank]}" 2>/dev/null || code=$?
    codes="$codes $code"
    [ -z "$(ip netns pids "$net-$rank")" ] || fail "left processes behind in the namespace of rank $rank"
  done
  processes=()
  [ -z "$stuck" ] || fail "ranks$stuck were stuck"
}

fail() {
  failures=$((failures + 1))
  echo "FAIL $case_name: $1"
  for rank in 0 1 2 3; do tail -n 2 "$work/$case_name/$rank" | cut -c1-300 | sed "s/^/  rank $rank: /"; done
}

expect_same() {
  finish
  if [ "$codes" != " 0 0 0 0" ]; then
    fail "exit codes$codes"
  elif diff -qr "$work/undisturbed/checkpoints" "$work/$case_name/checkpoints" >/dev/null; then
    echo "ok   $case_name: $steps steps in $((SECONDS - began)) s, the bits of the undisturbed run"
  else
    fail "other bits than the undisturbed run"
  fi
}

# expect_missing RANK CODES: the others name the rank.
expect_missing() {
  local broke=$SECONDS
  finish 2>/dev/null # bash says here who was killed
  for rank in 0 1 2 3; do
    [ "$rank" = "$1" ] || grep -q "error: .*rank $1 " "$work/$case_name/$rank" || {
      fail "rank $rank does not name rank $1" && return
    }
  done
  [ "$codes" = "$2" ] || { fail "exit codes$codes, expected$2" && return; }
  echo "ok   $case_name: rank $1 named by the others $((SECONDS - broke)) s after the fault (time-out $time_out s)"
}

# delayed CASE DELAY JITTER REORDERED: on a network of its own, see delaying_switch.py.
delayed() {
  python3 tools/scripts/delaying_switch.py "${@:2}" "$net-0" "$net-1" "$net-2" "$net-3" >"$work/switch" 2>&1 &
  switch=$!
  until grep -q ready "$work/switch"; do
    kill -0 "$switch" 2>/dev/null || give_up "no switch that delays: $(cat "$work/switch")"
    sleep 0.05
  done
  for rank in 0 1 2 3; do
    at "$rank" ip address add "10.78.0.$((rank + 1))/24" dev tap0
    at "$rank" ip link set tap0 up
  done
  network=10.78.0
  start "$1"
  expect_same
  network=10.77.0
  { kill "$switch" && wait "$switch"; } 2>/dev/null || true
  switch=""
}

connect 2>"$work/why" || give_up "cannot make namespaces, veth or a bridge: $(cat "$work/why")"
"$tessera" compile examples/gpt2-tiny --mesh dp=2,tp=2 --seq-length 16 --batch 4 -o "$work/model.tsr" >/dev/null

start undisturbed
finish
[ "$codes" = " 0 0 0 0" ] || { fail "exit codes$codes" && exit 1; }
echo "ok   undisturbed: $steps steps in $((SECONDS - began)) s"

delayed delay-and-jitter 5 3 0
delayed reordering 5 0 25
for percent in 1 5; do
  in_switch nft "add table bridge lossy; add chain bridge lossy passing { type filter hook forward priority 0; };
    add rule bridge lossy passing numgen random mod 100 < $percent counter drop"
  start "loss-of-$percent-percent"
  expect_same
  in_switch nft list table bridge lossy | sed -n 's/.*counter packets \([0-9]*\).*/     \1 packets were dropped/p'
  in_switch nft delete table bridge lossy
done

at 3 tc qdisc add dev eth0 root tbf rate 50mbit burst 64kb latency 400ms
in_switch tc qdisc add dev port3 root tbf rate 50mbit burst 64kb latency 400ms
start slow-peer
expect_same
at 3 tc qdisc del dev eth0 root
in_switch tc qdisc del dev port3 root

start partition-that-heals
await_step $((steps / 4))
in_switch ip link set port3 down
sleep 3
in_switch ip link set port3 up
expect_same

start partition-that-stays
await_step $((steps / 4))
in_switch ip link set port3 down
expect_missing 3 " 1 1 1 1"
in_switch ip link set port3 up

start half-open
await_step $((steps / 4))
at 2 ip link set eth0 down # keeps the process's last words from getting out
kill -KILL "${processes[2]}"
expect_missing 2 " 1 1 137 1"

echo "network-faults: $failures cases failed"
[ $failures = 0 ]
