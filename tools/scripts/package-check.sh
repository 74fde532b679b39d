#!/usr/bin/env bash
# Installs the .deb in a Debian 12 that holds nothing but the base system, trains a model there, and prints how long both
# took. Exits with 77, after saying why, where such a system cannot be made: that takes root, debootstrap and Debian's
# mirror (DEBIAN_MIRROR names another; it holds debian and debian-security).
# Usage: package-check.sh [FILE.deb]   (default: made of the build in build/; BUILD names another)
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
skip() { echo "package-check: skipped, $1" && exit 77; }
fail() { echo "package-check: $1" >&2 && exit 1; }
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "there is no debootstrap; run as root: apt-get install debootstrap"
unshare --mount --pid --fork true 2>/dev/null || skip "this system does not allow new mount and process namespaces"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/debian
log=$work/log

package=${1:-}
if [ -z "$package" ]; then
  [ -f "$build/CPackConfig.cmake" ] || fail "there is no build in $build; run tools/scripts/build.sh, or name a .deb"
  cpack -G DEB -B "$work/package" --config "$build/CPackConfig.cmake" >"$log" 2>&1 || { cat "$log" >&2 && fail "cpack failed"; }
  package=$(echo "$work"/package/*.deb)
fi
[ -f "$package" ] || fail "there is no file '$package'"

# Runs a command in the new system, in namespaces of its own: nothing of it stays.
inside() {
  DEBIAN_FRONTEND=noninteractive LC_ALL=C unshare --mount --pid --fork --kill-child bash -c \
    'mount --make-rprivate / && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@" >"$log" 2>&1
}
reason() { grep -v '^$' "$log" | tail -n 1; }

debootstrap --variant=minbase bookworm "$root" "$mirror/debian" >"$log" 2>&1 || skip "debootstrap failed: $(reason)"
echo "deb $mirror/debian-security bookworm-security main" >>"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tessera.deb"

start=$SECONDS
inside apt-get update --error-on=any || skip "the mirror cannot be read: $(reason)"
install=(apt-get install --yes --no-install-recommends /tessera.deb)
inside "${install[@]}" --simulate || { cat "$log" >&2 && fail "the package cannot be installed"; }
inside "${install[@]}" --download-only || skip "packages cannot be fetched: $(reason)"
inside "${install[@]}" || { cat "$log" >&2 && fail "the package cannot be installed"; }
installed=$SECONDS
inside tessera train /usr/share/tessera/examples/gpt2-tiny --mesh dp=2,tp=2 --steps 3 \
  --data /usr/share/common-licenses/GPL-3 --checkpoint-dir /run || { cat "$log" >&2 && fail "the training failed"; }
trained=$SECONDS
grep -q 'in 3 steps' "$log" || { cat "$log" >&2 && fail "the training did not do its 3 steps"; }
[ -f "$root/run/step-00000003/manifest.json" ] || fail "the training left no checkpoint"
inside ldd /usr/bin/tessera /usr/bin/tessera-opt /usr/bin/tessera-lsp-server
! grep 'not found' "$log" >&2 || fail "installed programs lack libraries"
echo "package-check: installed in $((installed - start)) s, then 3 steps in $((trained - installed)) s"
