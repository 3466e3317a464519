#!/usr/bin/env bash
# Makes a task of the newest suitable commit of this repository, as docs/tasks.md says, and fails if there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
  echo 'A shallow clone has no history to mine.'
  exit 0
fi
tasks=$(mktemp -d)
trap 'rm -rf "$tasks"' EXIT
# Folders whose tests are fast.
npm run --silent whetstone -- tasks mine --limit 1 --repeat 2 --out "$tasks" \
  --paths packages/events --paths packages/whetstone/src/stats --paths packages/whetstone/src/report
[ -n "$(find "$tasks" -name task.yaml)" ]
