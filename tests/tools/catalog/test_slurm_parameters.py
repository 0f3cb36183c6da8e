"""Parameters are read from the tables of Slurm's parser."""

from __future__ import annotations

import pytest

from tools.catalog.slurm_parameters import parameters

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


def test_each_table_has_its_own_parameters():
    assert parameters(SOURCE) == {
        "slurm_conf": ["AuthType", "NodeName"],
        "partition": ["DefCPUPerGPU", "MaxTime"],
        "node": ["CPUs"],
    }


def test_another_source_is_refused():
    with pytest.raises(ValueError, match="no table slurm_conf_options"):
        parameters("int main() {}")
