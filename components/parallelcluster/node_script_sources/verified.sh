# Runs another script if it is the file whose digest is in the stack file.
# Arguments: its address, its SHA-256 digest, and its own arguments.

address=$1 wanted=$2
shift 2
script=$(mktemp)
trap 'rm -f "$script"' EXIT

case $address in
  # ParallelCluster's images have the AWS CLI here, perhaps not on the PATH of a node that starts.
  s3://*) retry /usr/local/bin/aws s3 cp --only-show-errors --region "${cfn_region:?}" \
    "$address" "$script" ;;
  *) retry curl --fail --silent --show-error --location --output "$script" "$address" ;;
esac
found=$(sha256sum "$script")
found=${found%% *}
if [[ $found != "$wanted" ]]; then
  fail "$address is not the file of the stack file: its SHA-256 digest is $found, not $wanted"
fi

# As ParallelCluster runs it (custom_action_executor.py of its cookbook).
chmod +x "$script"
dos2unix --quiet "$script"
"$script" "$@"
