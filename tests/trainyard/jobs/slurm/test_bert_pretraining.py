"""`bert-pretraining` for Slurm: the commands of each node, in order."""

import getpass
import re

import pytest

from tests.support.parallelcluster import trn1_plan
from tests.support.slurm_jobs import SCONTROL, cluster, files_of, two_resources_plan
from trainyard.jobs.nodes import JobError

FILES = [
    "settings.sh",
    "addresses.sh",
    "phase1.sh",
    "phase2.sh",
    "setup.sh",
    "submit.sh",
    "compile.sbatch",
    "train.sbatch",
    "worker.sh",
]


def settings(text):
    return dict(re.findall(r"^export ([A-Z_]+)=(.*)$", text, re.MULTILINE))


@pytest.fixture
def node(tmp_path):
    """One of two nodes, with the requirements of the training."""
    made = cluster(tmp_path, "bert-pretraining", trn1_plan(), nodes=2)
    made.command("scontrol", SCONTROL)
    made.command("ldconfig", "echo '  libcrypt.so.1 (libc6,x86-64) => /lib/libcrypt.so.1'")
    for name in ("sudo", "neuron-ls"):
        made.command(name)
    made.command("torchrun", 'env > "$0.environment"')
    made.command("neuron_parallel_compile", 'env > "$0.environment"; "$@"')
    work(tmp_path).joinpath("samples").mkdir(parents=True)
    return made


def work(tmp_path):
    return tmp_path / "shared" / getpass.getuser() / "bert-pretraining"


def run_worker(node, phase, *task):
    ended = node.run(
        "worker.sh",
        str(phase),
        *task,
        SLURM_JOB_NUM_NODES="2",
        SLURM_JOB_NODELIST="n-[1-2]",
        SLURM_NODEID="1",
    )
    return ended, node.calls("torchrun")


def environment_of(node, name):
    return (node.commands / f"{name}.environment").read_text().splitlines()


@pytest.mark.parametrize("name", FILES)
def test_the_scripts_of_a_stack_stay_as_they_are(golden, name):
    files = files_of("bert-pretraining", trn1_plan())
    assert sorted(files) == sorted(FILES)
    golden(f"jobs/slurm/bert-pretraining-trn1/{name}", files[name])


def test_each_node_joins_the_first_one_with_a_process_a_core(node, tmp_path):
    """PR-45: torchrun with 32 processes; PR-44: the first node by address."""
    ended, (call,) = run_worker(node, 1)
    assert ended.returncode == 0, ended.stderr
    assert call.startswith(
        "--nproc_per_node=32 --nnodes=2 --node_rank=1 --master_addr=10.0.0.1 --master_port=2022 "
        f"dp_bert_large_hf_pretrain_hdf5.py --data_dir {work(tmp_path)}/datasets/"
        "bert_pretrain_wikicorpus_tokenized_hdf5_seqlen128 "
    )
    assert call.endswith(
        "--batch_size 16 --grad_accum_usteps 16 --lr 4e-4 --warmup_steps 2000 --max_steps 28125 "
        "--steps_this_run 28125 --seq_len 128 --max_pred_len 20"
    )


def test_the_environment_is_the_one_of_the_tutorial(node):
    """PR-45; variables that torch-xla no longer reads (XLA_USE_BF16) are omitted."""
    run_worker(node, 1)
    lines = environment_of(node, "torchrun")
    for setting in ("FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1", "BUCKET_CAP_MB=512"):
        assert setting in lines
    assert not [line for line in lines if line.startswith(("FI_EFA_FORK_SAFE", "XLA_USE_BF16"))]


def test_the_driver_is_loaded_anew_and_the_port_is_kept_free(node):
    """PR-45: rmmod, modprobe and ip_local_reserved_ports."""
    run_worker(node, 1)
    assert node.calls("sudo") == [
        "modprobe -r neuron",
        "modprobe neuron",
        "sysctl -q -w net.ipv4.ip_local_reserved_ports=48620",
    ]


def test_a_library_that_the_distribution_leaves_out_is_installed(node):
    node.command("ldconfig")
    run_worker(node, 1)
    assert "dnf install --quiet --assumeyes libxcrypt-compat" in node.calls("sudo")


def test_a_driver_that_is_in_use_does_not_stop_the_job(node):
    node.command("sudo", '[[ "$*" != "modprobe -r neuron" ]]')
    ended, calls = run_worker(node, 1)
    assert ended.returncode == 0
    assert "keeps the driver as it is" in ended.stderr
    assert calls


@pytest.mark.parametrize("left", [[], ["phase1/ckpt_28125.pt", "compile-phase1/ckpt_10.pt"]])
def test_compiling_is_a_short_run_into_a_directory_of_its_own(node, tmp_path, left):
    for name in left:
        (work(tmp_path) / name).parent.mkdir()
        (work(tmp_path) / name).touch()
    ended, (call,) = run_worker(node, 1, "compile")
    assert ended.returncode == 0, ended.stderr
    assert " --steps_this_run 10 " in call
    assert f" --output_dir {work(tmp_path)}/compile-phase1 " in call
    assert "--resume_ckpt" not in call


def test_the_compiler_fills_the_cache_that_the_training_reads(node, tmp_path):
    """The compiler reads and writes graphs at the location in its own environment."""
    run_worker(node, 1, "compile")
    assert node.calls("neuron_parallel_compile")[0].startswith("torchrun --nproc_per_node=32 ")
    run_worker(node, 1)
    cache = f"NEURON_COMPILE_CACHE_URL={work(tmp_path)}/neuron-cache/node-1"
    for name in ("neuron_parallel_compile", "torchrun"):
        assert cache in environment_of(node, name)


def test_phase_2_starts_from_the_checkpoint_of_phase_1(node, tmp_path):
    checkpoint = work(tmp_path) / "phase1" / "ckpt_28125.pt"
    checkpoint.parent.mkdir()
    checkpoint.touch()
    ended, (call,) = run_worker(node, 2)
    assert ended.returncode == 0, ended.stderr
    assert (
        f" --phase2 --resume_ckpt --resume_ckpt_path {checkpoint} --phase1_end_step 28125 " in call
    )
    assert call.endswith(
        "--batch_size 2 --grad_accum_usteps 256 --lr 2.8e-4 --warmup_steps 781 --max_steps 1563 "
        "--steps_this_run 1563 --seq_len 512 --max_pred_len 80"
    )


def test_phase_2_does_not_start_without_it(node):
    ended, calls = run_worker(node, 2)
    assert ended.returncode == 1
    assert "phase 1 has not come to its end" in ended.stderr
    assert not calls


def test_phase_1_goes_on_where_a_job_was_stopped(node, tmp_path):
    checkpoint = work(tmp_path) / "phase1" / "ckpt_400.pt"
    checkpoint.parent.mkdir()
    checkpoint.touch()
    _, (call,) = run_worker(node, 1)
    assert "hdf5.py --resume_ckpt --data_dir" in call


def test_phase_1_is_not_trained_twice(node, tmp_path):
    checkpoint = work(tmp_path) / "phase1" / "ckpt_28125.pt"
    checkpoint.parent.mkdir()
    checkpoint.touch()
    ended, calls = run_worker(node, 1)
    assert ended.returncode == 0
    assert not calls


def test_a_training_that_fails_fails_the_job(node):
    node.command("torchrun", "exit 5")
    assert run_worker(node, 1)[0].returncode == 5


def test_a_node_without_neuron_says_how_to_get_it(node):
    (node.commands / "neuron-ls").unlink()
    ended, calls = run_worker(node, 1)
    assert ended.returncode == 1
    assert "custom action 'neuron'" in ended.stderr
    assert not calls


def test_jobs_follow_one_another_and_each_phase_is_compiled_first(node):
    node.command("sbatch", 'echo >> "$0.count"; wc -l < "$0.count"')
    ended = node.run("submit.sh")
    assert ended.returncode == 0, ended.stderr
    after = "--parsable --dependency=afterok:{} --kill-on-invalid-dep=yes"
    assert node.calls("sbatch") == [
        "--parsable compile.sbatch 1",
        f"{after.format(1)} train.sbatch 1",
        f"{after.format(2)} compile.sbatch 2",
        f"{after.format(3)} train.sbatch 2",
    ]


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("train.sbatch", "bash {}/worker.sh 2"),
        ("compile.sbatch", "bash {}/worker.sh 2 compile"),
    ],
)
def test_every_node_runs_the_worker(node, script, command):
    node.command("srun")
    assert node.run(script, "2").returncode == 0
    (call,) = node.calls("srun")
    assert call == f"--cpu-bind=none --kill-on-bad-exit=1 {command.format(node.scripts)}"


def test_setup_gets_everything_once(tmp_path):
    made = cluster(tmp_path, "bert-pretraining", trn1_plan())
    python = work(tmp_path) / "venv" / "bin"
    made.command("curl", 'for word in "$@"; do [[ $word == */install.sh ]] && echo true; done; :')
    made.command("aws", 'tar -c -C "$HOME/data" "$(basename "${@: -2:1}" .tar)"')
    for phase in (128, 512):
        name = f"bert_pretrain_wikicorpus_tokenized_hdf5_seqlen{phase}"
        (made.scripts / "data" / name).mkdir(parents=True)
    uv = work(tmp_path) / "uv" / "uv"
    uv.parent.mkdir(parents=True)
    programs = " ".join(f'"$venv/bin/{name}"' for name in ("python", "torchrun", "huggingface-cli"))
    uv.write_text(
        '#!/bin/bash\nvenv="${@: -1}"; mkdir -p "$venv/bin"\n'
        f'for p in {programs}; do printf "#!/bin/bash\\n" > "$p"; chmod +x "$p"; done\n'
    )
    uv.chmod(0o755)
    first = made.run("setup.sh")
    assert first.returncode == 0, first.stderr
    assert (python / "torchrun").exists()
    assert sorted(path.name for path in (work(tmp_path) / "datasets").iterdir()) == [
        "bert_pretrain_wikicorpus_tokenized_hdf5_seqlen128",
        "bert_pretrain_wikicorpus_tokenized_hdf5_seqlen512",
    ]
    downloads = len(made.calls("aws"))
    assert made.run("setup.sh").returncode == 0
    assert len(made.calls("aws")) == downloads == 2


def test_a_download_that_fails_leaves_nothing(tmp_path):
    made = cluster(tmp_path, "bert-pretraining", trn1_plan())
    venv = tmp_path / "mine" / "bin"
    venv.mkdir(parents=True)
    made.command("huggingface-cli")
    (made.commands / "huggingface-cli").rename(venv / "huggingface-cli")
    made.command("curl")
    made.command("aws", "exit 1")
    assert made.run("setup.sh", NEURON_VENV=str(venv.parent)).returncode != 0
    assert [call.split()[0] for call in made.calls("aws")] == ["s3"]
    assert list((work(tmp_path) / "datasets").iterdir()) == []


@pytest.mark.parametrize(
    ("scaling", "nodes", "accumulated", "batch"),
    [
        pytest.param("strong", 16, "2", "16384", id="strong"),
        pytest.param("weak", 16, "32", "262144", id="weak"),
    ],
)
def test_scaling_is_a_matter_of_the_accumulation(scaling, nodes, accumulated, batch):
    text = files_of("bert-pretraining", trn1_plan(), scaling=scaling, nodes=nodes)["phase1.sh"]
    assert settings(text)["GRAD_ACCUM_USTEPS"] == accumulated
    assert f"a global batch of {batch} sequences" in text


@pytest.mark.parametrize("nodes", [3, 5, 6, 7, 12])
def test_refuses_nodes_that_do_not_divide_the_batch(nodes):
    with pytest.raises(JobError, match="1, 2, 4, 8, 16, or --scaling weak"):
        files_of("bert-pretraining", trn1_plan(), nodes=nodes)
    assert files_of("bert-pretraining", trn1_plan(), nodes=nodes, scaling="weak")


def test_runs_on_one_of_two_compute_resources():
    """PR-60."""
    files = files_of("bert-pretraining", two_resources_plan(), compute_resource="queue-1")
    for name in ("compile.sbatch", "train.sbatch"):
        assert "#SBATCH --constraint=queue-1\n#SBATCH --nodes=8\n" in files[name]
