#!/bin/bash
#
# Submits both phases, each compiled first; each job starts when the one before has succeeded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

previous=
# Submits "$@" behind the job before, if any.
submit() {
  local options=()
  [[ -n $previous ]] &&
    options=(--dependency="afterok:$previous" --kill-on-invalid-dep=yes)
  previous=$(sbatch --parsable "${options[@]}" "$@")
  echo "job $previous: $*"
}

for phase in 1 2; do
  submit compile.sbatch "$phase"
  submit train.sbatch "$phase"
done
