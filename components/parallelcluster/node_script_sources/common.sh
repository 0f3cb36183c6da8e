# What all node scripts share; `node_scripts.py` puts it in front of each of them.

# shellcheck source=/dev/null
. /etc/os-release
# shellcheck source=/dev/null
. /etc/parallelcluster/cfnconfig

export DEBIAN_FRONTEND=noninteractive
# Ubuntu would restart services in the middle of the node's configuration.
export NEEDRESTART_SUSPEND=1

log() {
  printf '%s: %s\n' "$SCRIPT" "$*"
}

fail() {
  log "$*" >&2
  exit 1
}

# From cfnconfig: HeadNode or ComputeFleet.
: "${cfn_node_type:?}"

# The network can be down for some seconds after the start, and repositories answer late.
retry() {
  local attempt
  for attempt in 1 2 3 4; do
    if "$@"; then
      return
    fi
    log "attempt $attempt failed: $*"
    sleep $((attempt * 10))
  done
  "$@"
}

# write_file PATH < CONTENT: sets `changed` if the file had another content.
write_file() {
  local path=$1 content
  content=$(cat)
  if [[ -f $path && $(<"$path") == "$content" ]]; then
    return
  fi
  mkdir -p "$(dirname "$path")"
  printf '%s\n' "$content" >"$path"
  chmod 0644 "$path"
  # shellcheck disable=SC2034 # some scripts read it
  changed=yes
}

# make_directory MODE PATH
make_directory() {
  if [[ ! -d $2 || $(stat -c %a "$2") != "$1" ]]; then
    mkdir -p "$2"
    chmod "$1" "$2"
  fi
}

# download URL PATH, unless the file is there.
download() {
  if [[ ! -s $2 ]]; then
    mkdir -p "$(dirname "$2")"
    retry curl --fail --silent --show-error --location --output "$2.part" "$1"
    chmod 0644 "$2.part"
    mv "$2.part" "$2"
  fi
}

uses_apt() {
  [[ $ID == ubuntu || $ID == debian ]]
}

# installed_version NAME: prints nothing for a package that is not installed.
installed_version() {
  if uses_apt; then
    dpkg-query --show --showformat '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
      sed -n 's/^installed //p' || true
  elif rpm --query --quiet "$1"; then
    rpm --query --queryformat '%{VERSION}-%{RELEASE}\n' "$1"
  fi
}

# missing_packages NAME=VERSION...: prints those that are not installed in this version, which can
# end with *.
missing_packages() {
  local wanted
  for wanted in "$@"; do
    # shellcheck disable=SC2053 # the version is a pattern
    [[ $(installed_version "${wanted%%=*}") == ${wanted#*=} ]] || printf '%s\n' "$wanted"
  done
}

apt() {
  apt-get --quiet --option DPkg::Lock::Timeout=600 --option Acquire::Retries=3 "$@"
}

refresh_lists() {
  # A repository that this script does not need may fail; one that it needs fails below.
  apt update || log "apt-get update failed"
}

# install_packages NAME=VERSION...: exactly these versions, and nothing else is updated.
install_packages() {
  local missing packages
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    return
  fi
  mapfile -t packages <<<"$missing"
  if uses_apt; then
    refresh_lists
    retry apt install --yes --no-install-recommends --allow-downgrades \
      --allow-change-held-packages --option Dpkg::Options::=--force-confold "${packages[@]}"
  else
    retry dnf install --assumeyes "${packages[@]/=/-}"
  fi
  missing=$(missing_packages "$@")
  if [[ -n $missing ]]; then
    fail "the image keeps another version of: ${missing//$'\n'/ }"
  fi
}
