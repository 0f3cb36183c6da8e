"""How a node starts its program, under every scheduler.

The scheduler starts a Bash script, which starts the program. It is the first process of a container
or of a Slurm task, so that the scheduler sends SIGTERM to it alone. It

- passes SIGTERM on to the program, also before the program handles it;
- sends SIGTERM itself at the time limit, or before the nodes leave if that is earlier, by the time
  at which the program starts;
- ends with the exit code of the program, or with `TIMED_OUT`.

torchrun then sends SIGTERM to its processes, and SIGKILL when the time of `SHUTDOWN_TIMEOUT` has
passed. Before PyTorch 2.12, it does not know this variable, and kills them after 30 seconds. A
signal that only its processes get is no way around that: they end with another code than 0, which
torchrun takes for a failure. It then gives the others 30 seconds, and with restarts, starts all of
them again, with those of the other nodes. Therefore an old torchrun runs in its own Python with one
method changed: the wait after a signal, and only that, has the time of the variable. If a process
fails by itself, torchrun still gives the others 30 seconds.

Source:
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/elastic/multiprocessing/api.py
        (`PContext.close`, called without a signal after a failure; the same since 1.10, the first
        version with torchrun) and .../elastic/agent/server/api.py (`run`: `SignalException`)
    https://github.com/pytorch/pytorch/blob/v2.12.0/torch/distributed/launcher/api.py
        (`LaunchConfig.shutdown_timeout`)
    https://github.com/pypa/distlib, distlib/scripts.py (`_build_shebang`: the first lines of the
        script `torchrun`, with which pip installs it; `/bin/sh` with a long path)
    https://git.savannah.gnu.org/cgit/bash.git/tree/jobs.c (`waitchld`: CHECK_WAIT_INTR leaves it
        after `waitpid` and before the status is recorded)
    https://man7.org/linux/man-pages/man7/pid_namespaces.7.html: the first process of a container
        gets only the signals that it handles, and its end is the end of all others
    https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/ and
        https://github.com/kubernetes/kubernetes/blob/v1.36.4/third_party/forked/golang/expansion:
        two dollar signs in the command of a container become one
    https://github.com/SchedMD/slurm, src/plugins/proctrack/cgroup/proctrack_cgroup.c
        (`proctrack_p_signal`): "only signal slurm tasks unless signal is SIGKILL"
"""

from __future__ import annotations

from trainyard.jobs.time_limit import GRACE_SECONDS, TIMED_OUT
from trainyard.jobs.training import TrainingRequest, launch_command

LIMIT_SECONDS = "TIME_LIMIT_SECONDS"
"""Variable of a node with the longest time from the start of the program to SIGTERM."""
STOP_TIME = "STOP_TIME"
"""Variable of a node with the time of SIGTERM at the latest, in seconds since 1970."""

_TORCHRUN = """\
shim='import os, sys
if sys.path[:1] == [""]:
    del sys.path[0]
from torch.distributed import run
from torch.distributed.elastic.multiprocessing import api
from torch.distributed.launcher.api import LaunchConfig
close = api.PContext.close
def patient(self, death_sig=None, timeout=30):
    if isinstance(sys.exc_info()[1], api.SignalException):
        timeout = int(os.environ["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"])
    close(self, death_sig, timeout)
if not hasattr(LaunchConfig, "shutdown_timeout"):
    api.PContext.close = patient
sys.argv[0] = "torchrun"
sys.exit(run.main())'
python=() first= second=
{ read -r first; read -r second; } 2> /dev/null < "$(type -P torchrun)"
case $first in
  "#!"*python*) python=(${first#??}) ;;
  "#!/bin/sh")
    if [[ $second == ???"exec"?" "* ]]; then
      second=${second#*exec? }
      second=${second%% \\"\\$0\\"*}
      python=("${second//\\"/}")
    fi ;;
esac
if [ ${#python[@]} -gt 0 ]; then
  shift
  set -- "${python[@]}" -c "$shim" "$@"
fi
"""
_LEFT = f"""\
left=${{{LIMIT_SECONDS}-}}
printf -v now "%(%s)T" -1
if [ -n "${{{STOP_TIME}-}}" ] && [ "${{left:-$(({STOP_TIME} - now))}}" -ge $(({STOP_TIME} - now)) ]
then
  left=$(({STOP_TIME} - now))
  if [ $left -lt 1 ]; then
    echo "the nodes of the Capacity Block leave, and the program is not started" >&2
    exit {TIMED_OUT}
  fi
fi
"""
"""How many seconds the program has; empty for no limit."""
_PROGRAM = f"""\
{_LEFT}\
program= begun= timer= signalled= late= script=$BASHPID
stop() {{
  signalled=1
  if [ -n "$begun" ]; then kill -TERM -- "-$program"; fi
}}
trap stop TERM
trap "late=1; stop" USR1
# Bash would write about the end of the program.
exec 3>&2 4<> <(:) 2> /dev/null
# The program has a process group of its own. In it, a shell waits for the program and writes down
# its exit code: if a signal ends `wait`, Bash may forget a process that has ended just then.
set -m
{{
  trap : TERM
  (
    echo begun >&4
    exec "$@" < /dev/null 2>&3 3>&- 4>&-
  )
  echo $? >&4
}} &
program=$!
set +m
# Read the next line of that shell. A signal may have ended it: SIGTERM at its start, or SIGKILL.
await() {{
  local line= part=
  until read -rt 1 -u 4 part; do
    line+=$part
    if kill -0 "$program"; then continue; fi
    read -rt 1 -u 4 part || part=$((signalled ? 143 : 137))
    break
  done
  printf -v "$1" "%s" "$line$part"
}}
await begun
if [ -n "$signalled" ]; then stop; fi
if [ -n "$left" ]; then
  {{
    read -rt "$left" <> <(:)
    kill -USR1 "$script"
    read -rt {GRACE_SECONDS} <> <(:)
    kill -KILL -- "-$program"
  }} > /dev/null 3>&- 4>&- &
  timer=$!
fi
await code
if [ -n "$timer" ]; then
  kill "$timer"
  printf -v ended "%(%s)T" -1
  # Another node may have started earlier, and its limit has ended the program of all nodes.
  margin=$((left / 4 < {GRACE_SECONDS} ? left / 4 : {GRACE_SECONDS}))
  if [ -n "$late" ] || {{ [ $code -ne 0 ] && [ $((now + left - ended)) -le $margin ]; }}; then
    echo "the program has been ended at its time limit" >&3
    exit {TIMED_OUT}
  fi
fi
exit $code
"""


def start_command(request: TrainingRequest, first: str = "") -> list[str]:
    """Return the words of the command that starts the program of a node.

    Args:
        request: The program.
        first: Bash commands that run before it, such as those that set its variables.
    """
    script = start_script(request, first)
    return ["bash", "-c", script, request.name, *launch_command(request)]


def start_script(request: TrainingRequest, first: str = "") -> str:
    """Return the Bash script that starts the program in its arguments; see `start_command`."""
    return f"{first}{_TORCHRUN if request.launcher == 'torchrun' else ''}{_PROGRAM}"


def limit_of_mpi(request: TrainingRequest) -> tuple[str, str]:
    """Return the Bash commands before mpirun, and its prefix, which end it in time.

    One process ends those of all nodes, and it is not the first one of the container.
    """
    if not limit_environment(request):
        return "", ""
    return _LEFT, f'timeout -k {GRACE_SECONDS} "$left" '


def limit_environment(request: TrainingRequest) -> dict[str, str]:
    """Return the variables of a node with the time limit of its program; empty without one."""
    limit, stops_at = request.time_limit_minutes, request.stops_at
    return {
        **({LIMIT_SECONDS: str(limit * 60)} if limit is not None else {}),
        **({STOP_TIME: str(int(stops_at.timestamp()))} if stops_at else {}),
    }
