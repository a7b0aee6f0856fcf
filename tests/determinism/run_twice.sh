#!/usr/bin/env bash
# Runs a scenario twice and compares what it prints, byte by byte. The second run has another working
# directory, time zone, locale and environment size, and its heap is filled with other bytes: what a result
# must not depend on. It does not see a result that is wrong twice.
#
#   run_twice.sh PROGRAM SCENARIO
set -euo pipefail

program=$(readlink -f -- "$1")
scenario=$(readlink -f -- "$2")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# run NAME COMMAND...: keeps stdout and the exit code; 2 and above mean that there is no result to compare.
run() {
  local name=$1 status=0
  shift
  "$@" >"$folder/$name" 2>"$folder/$name.err" || status=$?
  if ((status >= 2)) || [[ ! -s $folder/$name ]]; then
    cat "$folder/$name.err"
    echo "$scenario: no result (exit code $status)"
    exit 1
  fi
  echo "exit code $status" >>"$folder/$name"
}

words=(run "$scenario" --format json)
run first "$program" "${words[@]}"
cd /
run second env TZ=Pacific/Chatham LC_ALL=C.UTF-8 MALLOC_PERTURB_=165 FILL="$(printf '%04000d' 0)" \
  "$program" "${words[@]}"

if ! cmp -s -- "$folder/first" "$folder/second"; then
  echo "$scenario: two runs differ:"
  diff -- "$folder/first" "$folder/second" | head -n 20 || true
  exit 1
fi
