# Configures Enroot and Pyxis, which the image of ParallelCluster contains.
# Arguments: the directory of Enroot, on a local disk (optional).

examples=/opt/parallelcluster/examples
for file in "$examples/enroot/enroot.conf" "$examples/spank/plugstack.conf" \
  "$examples/pyxis/pyxis.conf"; do
  [[ -f $file ]] || fail "the image has no $file: it is not an image of ParallelCluster with Pyxis"
done

local_disks() {
  # The disks of the instance, where ParallelCluster has mounted them; else the root volume.
  if mountpoint --quiet "${cfn_ephemeral_dir:-/scratch}"; then
    printf '%s/enroot\n' "${cfn_ephemeral_dir:-/scratch}"
  else
    printf '/var/enroot\n'
  fi
}

directory=${1:-$(local_disks)}
make_directory 1777 "$directory"
make_directory 1777 "$directory/data"
make_directory 1777 "$directory/cache"

sed \
  -e "s|^ENROOT_RUNTIME_PATH.*|ENROOT_RUNTIME_PATH $directory/user-\$(id -u)|" \
  -e "s|^ENROOT_DATA_PATH.*|ENROOT_DATA_PATH $directory/data/user-\$(id -u)|" \
  -e "s|^ENROOT_CACHE_PATH.*|ENROOT_CACHE_PATH $directory/cache/user-\$(id -u)|" \
  -e "s|^ENROOT_CONFIG_PATH.*|ENROOT_CONFIG_PATH /home/\$(id -u -n)/.config/enroot|" \
  "$examples/enroot/enroot.conf" | write_file /etc/enroot/enroot.conf

# /run is empty after a restart of the node.
write_file /etc/tmpfiles.d/pyxis.conf <<<'d /run/pyxis 1777 root root -'
make_directory 1777 /run/pyxis

changed=no
case $cfn_node_type in
  HeadNode)
    # /opt/slurm is the head node's; ParallelCluster shares it with all nodes.
    write_file /opt/slurm/etc/plugstack.conf <"$examples/spank/plugstack.conf"
    write_file /opt/slurm/etc/plugstack.conf.d/pyxis.conf <"$examples/pyxis/pyxis.conf"
    if [[ $changed == yes ]]; then
      /opt/slurm/bin/scontrol reconfigure
    fi
    ;;
  *)
    # The hooks of Enroot call Slurm's programs, and run in slurmd's environment. ParallelCluster
    # writes /etc/sysconfig/slurmd after this script, and starts slurmd: this file stays.
    write_file /etc/systemd/system/slurmd.service.d/path.conf <<'END'
[Service]
Environment=PATH=/opt/slurm/sbin:/opt/slurm/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
END
    if [[ $changed == yes ]]; then
      systemctl daemon-reload
      # Not while the node starts: slurmd runs if somebody calls the script later.
      systemctl try-restart slurmd.service
    fi
    ;;
esac
log "Enroot uses $directory"
