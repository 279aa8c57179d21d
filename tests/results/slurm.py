"""A SLURM cluster of one node on this machine, on loopback, for as long as a command runs.

    python -m tests.results.slurm snakemake --workflow-profile profiles/slurm

Needs root and the packages slurm-wlm and munge (Debian, Ubuntu). Configuration, keys, logs and
state live in a temporary folder; nothing under /etc is read or written.
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
LIFETIME = 600  # seconds after which the daemons end whatever happens to this process

# No accounting database and no cgroups: neither is available everywhere, and one node that
# belongs to one user needs none. Finished jobs stay visible to squeue for MinJobAge seconds.
SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,batch_sched_delay=1
ReturnToService=2
MinJobAge=300
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mb}
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why a cluster cannot be started here; None if it can."""
    # Daemons are in sbin, which is not on everyone's path.
    absent = [name for name in PROGRAMS if not shutil.which(name, path=_path())]
    if absent:
        return f"not installed: {', '.join(absent)} (packages slurm-wlm and munge)"
    return None if os.geteuid() == 0 else "starting SLURM takes root"


@contextlib.contextmanager
def cluster(folder, cpus=2, memory_mb=4000):
    """Start a cluster with its files in `folder`; yield the environment for its users.

    Whatever happens inside, its jobs are cancelled and its daemons stopped on the way out.
    """
    folder = Path(folder).resolve()
    environment = _written(folder, cpus, memory_mb)
    with contextlib.ExitStack() as stack:

        def start(*command):
            stack.enter_context(_daemon(folder, environment, *command))

        # fmt: off
        start("munged", "--foreground", "--force", "--num-threads=1",
              f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
              f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed",
              f"--log-file={folder}/munged.log")
        # fmt: on
        _wait("munged", (folder / "munge.socket").exists, folder)
        start("slurmctld", "-D", "-c")
        start("slurmd", "-D")
        _wait("the node", lambda: "idle" in _answer(environment, "sinfo", "-h", "-o%T"), folder)
        stack.callback(_cancel_jobs, environment)
        yield environment


def _written(folder, cpus, memory_mb):
    """Write the configuration; return the environment that makes programs use it."""
    folder.chmod(0o755)  # munge's socket has to be in reach of its users
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    controller_port, node_port = _free_ports(2)
    conf = folder / "slurm.conf"
    conf.write_text(
        SLURM_CONF.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            cpus=cpus,
            memory_mb=memory_mb,
            controller_port=controller_port,
            node_port=node_port,
        )
    )
    (folder / "plugstack.conf").touch()
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(secrets.token_bytes(128))
    # The executor takes SLURM_CONF away from the srun that it calls inside a job.
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("SLURM_")}
    return kept | {"SLURM_CONF": str(conf), "PATH": f"{folder}/bin{os.pathsep}{_path()}"}


@contextlib.contextmanager
def _daemon(folder, environment, *command):
    """Run a daemon in the foreground of a process of ours, and end just that one."""
    with open(folder / f"{command[0]}.out", "wb") as output:
        process = subprocess.Popen(
            ["timeout", "--kill-after=5", str(LIFETIME), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield
    finally:
        process.terminate()  # `timeout` passes it on, and kills 5 seconds later
        process.wait()


def _cancel_jobs(environment):
    """End all jobs: they are not children of the daemons and would outlive them."""
    _answer(environment, "scancel", "--user=root")
    deadline = time.monotonic() + 10
    while _answer(environment, "squeue", "-h") and time.monotonic() < deadline:
        time.sleep(0.2)


def _wait(what, ready, folder, seconds=20):
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            logs = "".join(
                f"\n--- {log.name}\n{log.read_text(errors='replace')[-2000:]}"
                for log in sorted((*folder.glob("*.log"), *folder.glob("*.out")))
            )
            raise RuntimeError(f"{what} is not ready after {seconds} seconds{logs}")
        time.sleep(0.1)


def _answer(environment, *command):
    """What a SLURM client says; nothing if the controller does not answer."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=5, check=False
        ).stdout.strip()
    return ""


def _free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _path():
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


if __name__ == "__main__":
    if reason := missing():
        sys.exit(reason)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    with tempfile.TemporaryDirectory() as temporary, cluster(temporary) as variables:
        sys.exit(subprocess.run(sys.argv[1:], env=variables, check=False).returncode)
