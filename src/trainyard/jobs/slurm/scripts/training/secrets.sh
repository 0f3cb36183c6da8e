#!/bin/bash
# Source this script: it defines `secret_in FILE`, which prints the secret in a file. It refuses a
# file that somebody else may read.

secret_in() {
  local file=$1 mode
  if [[ ! -f $file ]]; then
    echo "there is no secret in $file; write it on the head node:" \
      "(umask 077; mkdir -p ${file%/*}; cat > $file)" >&2
    return 1
  fi
  if [[ ! -O $file || ! -r $file ]]; then
    echo "$file belongs to $(stat -Lc %U "$file"), and the job runs as $(id -un);" \
      "use a file of your own" >&2
    return 1
  fi
  mode=$(stat -Lc %a "$file")
  if ((8#$mode & 8#077)); then
    echo "$file has the mode $mode, so that others may read the secret; run: chmod 600 $file" >&2
    return 1
  fi
  if [[ ! -s $file ]]; then
    echo "$file is empty, and should have a secret" >&2
    return 1
  fi
  cat "$file"
}
