#!/usr/bin/env bash
# Installs what Whetstone or its tests can use and do not need: Chromium with a font, openssl for the certificates of tests, bubblewrap for its sandbox, ripgrep for OpenCode, pytest, and the shells that completion is tested in. Debian only.
set -euo pipefail
command -v apt-get >/dev/null || { echo "This script only knows apt-get; install Chromium by hand." >&2; exit 1; }
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
missing=()
for pair in chromium:chromium rg:ripgrep fc-list:fontconfig script:bsdutils openssl:openssl bwrap:bubblewrap zsh:zsh fish:fish socat:socat; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
python3 -m pytest --version >/dev/null 2>&1 || missing+=(python3-pytest)
fc-list 2>/dev/null | grep -q . || missing+=(fonts-dejavu-core)
[ "${#missing[@]}" = 0 ] && { echo "Everything is there."; exit 0; }
$sudo rm -f /var/lib/man-db/auto-update # its trigger takes longer than the installation
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}"
echo "Installed: ${missing[*]}"
