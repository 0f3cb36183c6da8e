"""`completion`: scripts with which shells complete commands, options and stack names."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from trainyard.cli import console
from trainyard.cli.command_line import COMPLETION
from trainyard.stack_files.installation import program_path

_BASH = """\
_trainyard_completion() {{
    local IFS=$'\\n'
    COMPREPLY=( $(env COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD=$COMP_CWORD \\
        {variable}=complete_bash {launcher}) )
}}
complete -o default -F _trainyard_completion trainyard
"""
_ZSH = """\
#compdef trainyard
_trainyard_completion() {{
    eval $(env _TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" {variable}=complete_zsh {launcher})
}}
compdef _trainyard_completion trainyard
"""
_FISH = """\
function __trainyard_completion
    env {variable}=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] \\
        _TYPER_COMPLETE_ARGS=(commandline -cp) {launcher}
end
complete --command trainyard --no-files --arguments "(__trainyard_completion get-args)" \\
    --condition "__trainyard_completion is-args"
"""


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}
"""As those of typer, which call a program on the PATH:
https://github.com/fastapi/typer/blob/0.29.2/typer/_completion_shared.py"""


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that reads the script.")],
) -> None:
    """Print a script that completes commands, options and stack names.

    bash: eval "$(./trainyard completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc, after
    compinit. fish: ./trainyard completion fish > ~/.config/fish/completions/trainyard.fish
    """
    launcher = shlex.quote(str(program_path()))
    console.answer_document(_SCRIPTS[shell].format(variable=COMPLETION, launcher=launcher))
