#!/usr/bin/env bash
# Installs what Whetstone can use and does not need: ripgrep, bubblewrap, Docker's engine, Redis, Chromium. Debian only.
set -euo pipefail
command -v apt-get >/dev/null || { echo "This script knows apt-get alone; install ripgrep and bubblewrap by hand." >&2; exit 1; }
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
missing=()
for pair in rg:ripgrep bwrap:bubblewrap git:git; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
[ "${#missing[@]}" = 0 ] && { echo "Everything is there."; exit 0; }
$sudo rm -f /var/lib/man-db/auto-update # its trigger takes longer than the installation
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}"
echo "Installed: ${missing[*]}"
