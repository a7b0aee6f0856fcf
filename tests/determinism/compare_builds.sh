#!/usr/bin/env bash
# Compares what different builds print, byte by byte: g++ -O3, g++ -O0 and clang++ -O3. Builds only the
# program. Takes minutes, so it is not among the tests: run it by hand or nightly.
#
#   tests/determinism/compare_builds.sh [SCENARIO...]      default: every scenario of the repository
set -euo pipefail

root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../..
readonly kPresets=(release debug clang)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

scenarios=("$@")
if ((${#scenarios[@]} == 0)); then
  mapfile -t scenarios < <(find "$root/scenarios" -name '*.yaml' | LC_ALL=C sort)
fi
if ((${#scenarios[@]} == 0)); then
  echo "no scenarios" >&2
  exit 1
fi
for preset in "${kPresets[@]}"; do HANDOFF_PRESET=$preset "$root/handoff" version >/dev/null; done

failures=0
for scenario in "${scenarios[@]}"; do
  verdict=same
  for preset in "${kPresets[@]}"; do
    status=0
    HANDOFF_PRESET=$preset "$root/handoff" run "$scenario" --format json >"$folder/$preset" || status=$?
    echo "exit code $status" >>"$folder/$preset"
    if ((status >= 2)); then
      verdict="no result from $preset (exit code $status)"
    elif ! cmp -s -- "$folder/${kPresets[0]}" "$folder/$preset"; then
      verdict="$preset differs from ${kPresets[0]}"
      diff -- "$folder/${kPresets[0]}" "$folder/$preset" | head -n 10 >&2 || true
    fi
    [[ $verdict == same ]] || break
  done
  echo "${scenario#"$root/"}: $verdict"
  [[ $verdict == same ]] || failures=$((failures + 1))
done
echo "${#scenarios[@]} scenarios, ${#kPresets[@]} builds, $failures differ"
((failures == 0))
