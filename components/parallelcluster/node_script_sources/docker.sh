# Docker for all users, and NVIDIA's container toolkit on nodes with GPUs.

if uses_apt; then
  key=/etc/apt/keyrings/docker.asc
  download https://download.docker.com/linux/ubuntu/gpg "$key"
  write_file /etc/apt/sources.list.d/docker.list <<END
deb [arch=$(dpkg --print-architecture) signed-by=$key] https://download.docker.com/linux/ubuntu $VERSION_CODENAME stable
END
  release="1~ubuntu.$VERSION_ID~$VERSION_CODENAME"
  install_packages \
    "docker-ce=5:$DOCKER_VERSION-$release" \
    "docker-ce-cli=5:$DOCKER_VERSION-$release" \
    "containerd.io=$CONTAINERD_VERSION-$release" \
    "docker-buildx-plugin=$BUILDX_VERSION-$release" \
    "docker-compose-plugin=$COMPOSE_VERSION-$release"
elif [[ -z $(installed_version docker) ]]; then
  # Amazon Linux 2023 installs from the repositories of the release of its image, which never
  # change, so that the image pins the version.
  retry dnf install --assumeyes docker
fi

# Everybody who can log in to the cluster can use Docker, which is as good as root. Membership of
# the group would need the same number of the group on all nodes.
binary=$(command -v docker)
if [[ $(stat -c %G "$binary") != docker || ! -g $binary ]]; then
  chgrp docker "$binary"
  chmod g+s "$binary"
fi
systemctl enable --now docker.service

if [[ ! -e /proc/driver/nvidia/version ]]; then
  log "Docker is installed; this node has no NVIDIA driver that is loaded"
  exit
fi

if uses_apt; then
  key=/etc/apt/keyrings/nvidia-container-toolkit.asc
  download https://nvidia.github.io/libnvidia-container/gpgkey "$key"
  write_file /etc/apt/sources.list.d/nvidia-container-toolkit.list <<END
deb [signed-by=$key] https://nvidia.github.io/libnvidia-container/stable/deb/\$(ARCH) /
END
else
  write_file /etc/yum.repos.d/nvidia-container-toolkit.repo <<'END'
[nvidia-container-toolkit]
name=nvidia-container-toolkit
baseurl=https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch
repo_gpgcheck=1
gpgcheck=0
enabled=1
gpgkey=https://nvidia.github.io/libnvidia-container/gpgkey
sslverify=1
sslcacert=/etc/pki/tls/certs/ca-bundle.crt
END
fi
# Those that the image has stay: Enroot uses the same libraries.
if [[ -z $(installed_version nvidia-container-toolkit) ]]; then
  install_packages \
    "nvidia-container-toolkit=$NVIDIA_CONTAINER_TOOLKIT_VERSION-1" \
    "nvidia-container-toolkit-base=$NVIDIA_CONTAINER_TOOLKIT_VERSION-1" \
    "libnvidia-container-tools=$NVIDIA_CONTAINER_TOOLKIT_VERSION-1" \
    "libnvidia-container1=$NVIDIA_CONTAINER_TOOLKIT_VERSION-1"
fi

settings=/etc/docker/daemon.json
if ! grep --quiet --no-messages nvidia-container-runtime "$settings"; then
  nvidia-ctk runtime configure --runtime=docker
  systemctl restart docker.service
fi
log "Docker and NVIDIA's container toolkit are installed"
