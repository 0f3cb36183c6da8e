# Neuron's driver, collectives, runtime and tools: what programs need of the node. A program brings
# its framework and compiler with its own Python, because Neuron does not support the Pythons of
# Amazon Linux 2023 (3.9) and Ubuntu 22.04 (3.10), and /home is shared by all nodes.

if [[ ! -e /lib/modules/$(uname -r)/build ]]; then
  if uses_apt; then
    refresh_lists
    retry apt install --yes --no-install-recommends "linux-headers-$(uname -r)"
  else
    retry dnf install --assumeyes "kernel-devel-uname-r = $(uname -r)"
  fi
fi

if uses_apt; then
  key=/etc/apt/keyrings/neuron.asc
  download https://apt.repos.neuron.amazonaws.com/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB "$key"
  write_file /etc/apt/sources.list.d/neuron.list <<END
deb [signed-by=$key] https://apt.repos.neuron.amazonaws.com $VERSION_CODENAME main
END
else
  write_file /etc/yum.repos.d/neuron.repo <<'END'
[neuron]
name=Neuron YUM Repository
baseurl=https://yum.repos.neuron.amazonaws.com
enabled=1
metadata_expire=0
gpgcheck=1
gpgkey=https://yum.repos.neuron.amazonaws.com/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB
END
fi

# The files of a version have a suffix after these four numbers.
install_packages \
  "aws-neuronx-dkms=$NEURON_DRIVER_VERSION*" \
  "aws-neuronx-collectives=$NEURON_COLLECTIVES_VERSION*" \
  "aws-neuronx-runtime-lib=$NEURON_RUNTIME_VERSION*" \
  "aws-neuronx-tools=$NEURON_TOOLS_VERSION*"

# shellcheck disable=SC2016 # the shell that reads the file expands it
write_file /etc/profile.d/neuron.sh <<<'export PATH=/opt/aws/neuron/bin:$PATH'
log "Neuron is installed"
