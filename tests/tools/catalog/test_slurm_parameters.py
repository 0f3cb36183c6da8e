"""Parameters are read from the tables of Slurm's parser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.catalog.slurm_parameters import parameters, plugins, removed, values

SOURCE = """
s_p_options_t slurm_conf_options[] = {
	{"AuthType", S_P_STRING},
	{"NodeName", S_P_ARRAY, _parse_nodename, _destroy_nodename},
	{NULL}
};
	static s_p_options_t _nodename_options[] = {
		{"CPUs", S_P_UINT16},
		{NULL}
	};
	static s_p_options_t _partition_options[] = {
		{"MaxTime", S_P_STRING}, /* a comment */
		{"DefCPUPerGPU" , S_P_UINT64},
		{NULL}
	};
"""


ENTRIES = """
	{"PreemptMode", S_P_STRING},
	{"SchedulerParameters", S_P_STRING},
	{"SelectType", S_P_STRING},
"""
MANUAL = r"""
.SH "PARAMETERS"
.TP
\fBPreemptMode\fR
A mechanism.
.RS
.TP 12
\fBOFF\fR
Is the default value.
.TP
\fBREQUEUE\fR
Preempts jobs.
.RE
.TP
\fBSchedulerParameters\fR
.RS
.TP
\fBbf_interval\fR=\#
The number of seconds.
.RE
.TP
\fBSelectType\fR
.RS
.TP
\fBselect/cons_tres\fR
.RE
"""
CONFIG = (
    SOURCE.replace('{"AuthType", S_P_STRING},', ENTRIES)
    + """
	if (s_p_get_string(&temp_str, "PreemptMode", hashtbl)) {
		conf->preempt_mode = preempt_mode_num(temp_str);
		xfree(temp_str);
	}
	(void) s_p_get_string(&conf->sched_params, "SchedulerParameters", hashtbl);
	if (s_p_get_string(&tmp, "MaxTime", tbl)) {
		max_time = time_str2mins(tmp);
		xfree(tmp);
	}
	fatal("The FastSchedule option has been removed. Please remove it.");
"""
)
MODES = """
extern uint16_t preempt_mode_num(const char *preempt_mode)
{
	if (xstrcasecmp(tok, "gang") == 0)
		return 1;
}
"""


def test_each_table_has_its_own_parameters_with_their_types():
    assert parameters(SOURCE) == {
        "slurm_conf": {"AuthType": "string", "NodeName": "array"},
        "partition": {"DefCPUPerGPU": "uint64", "MaxTime": "string"},
        "node": {"CPUs": "uint16"},
    }
    assert parameters(CONFIG)["partition"]["MaxTime"] == "time"
    assert removed(CONFIG) == ["FastSchedule"]


def test_values_are_those_of_the_manual_and_of_the_code(tmp_path: Path):
    write(tmp_path)
    known = parameters(CONFIG)
    assert values(tmp_path, known)["slurm_conf"] == {
        "PreemptMode": ["OFF", "REQUEUE", "gang"],
        "SchedulerParameters": ["bf_interval=#", "defer"],
    }
    assert plugins(tmp_path, known["slurm_conf"]) == {
        "SelectType": ["select/cons_tres", "select/linear"]
    }


def write(root: Path) -> None:
    """Write what is read of a checkout of Slurm."""
    files = {
        "src/common/read_config.c": CONFIG,
        "src/common/slurm_protocol_defs.c": MODES,
        "src/slurmctld/controller.c": 'xstrcasestr(slurm_conf.sched_params, "defer")',
        "src/plugins/select/linear/select_linear.c": "",
        "src/plugins/select/common/common.c": "",
        "doc/man/man5/slurm.conf.5": MANUAL,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_another_source_is_refused():
    with pytest.raises(ValueError, match="no table slurm_conf_options"):
        parameters("int main() {}")
