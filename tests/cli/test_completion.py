"""``usp completion``: the scripts, in the shells that are installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import TIMEOUT, run, search_path, usp

BASH = """
source "$1"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_usp; echo "${COMPREPLY[@]}"; }
cd "$2"
complete_words usp fin; complete_words usp ls --lim; complete_words usp ls -f pa
complete_words usp export --table prob; complete_words usp ls --kind n
complete_words usp ls --record si; complete_words usp check --replay si
complete_words usp export -o si; complete_words usp sync --state si; complete_words usp diff x si
complete_words usp crawl si; complete_words usp crawl x --previous fo
"""
FISH = """
source $argv[1]
cd $argv[2]
for typed in "usp fin" "usp ls --lim" "usp ls -f pa" "usp export --table prob" "usp ls --kind n" \\
  "usp ls --record si" "usp check --replay si" "usp export -o si" "usp sync --state si" \\
  "usp diff x si" "usp crawl si" "usp crawl x --previous fo"
  complete -C $typed
end
"""
COMPLETED = ["find", "--limit", "pages", "problems", "news", *["site.x"] * 6, "folder"]


def script_for(shell: str, folder: Path) -> Path:
    file = folder / f"usp.{shell}"
    file.write_text(usp("completion", shell).out)
    return file


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT)
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("shell", "options"), [("bash", ("-c", BASH, "bash")), ("fish", ("-c", FISH))]
)
def test_commands_options_and_formats_are_completed(
    shell: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    there = tmp_path / "there"
    (there / "folder").mkdir(parents=True)
    (there / "site.x").touch()
    completed = output_of(program, *options, str(script_for(shell, tmp_path)), str(there))
    assert [line.split()[0].rstrip("/") for line in completed.splitlines()] == COMPLETED


def test_files_are_completed_where_an_option_takes_one(tmp_path: Path) -> None:
    script = script_for("bash", tmp_path).read_text()
    assert "_shtab_usp_ls___log_file_COMPGEN=_shtab_compgen_files" in script
    assert "_shtab_usp_ls___limit_COMPGEN" not in script


def test_the_script_for_zsh_is_valid(tmp_path: Path) -> None:
    program = shutil.which("zsh")
    script = script_for("zsh", tmp_path)
    assert script.read_text().startswith("#compdef usp\n")
    if program is None:
        pytest.skip("zsh is not installed")
    output_of(program, "-n", str(script))
    text = script.read_text()
    assert ":FILE.warc.gz:_files" in text
    assert ":KINDS:(news image video)" in text


def test_an_unknown_shell_is_one_line() -> None:
    ended = usp("completion", "bsh")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "SHELL: must be one of bash, zsh, fish, not 'bsh' (did you mean 'bash'?)" in ended.err


def test_a_missing_extra_is_one_line(tmp_path: Path) -> None:
    hidden = "raise ModuleNotFoundError('hidden', name='shtab')\n"
    (tmp_path / "shtab.py").write_text(hidden)
    ended = run(
        *(sys.executable, "-m", "usp", "completion", "bash"),
        env={"PYTHONPATH": search_path(tmp_path)},
    )
    (line,) = ended.err.splitlines()
    assert ended.code == 2
    assert line.endswith('pip install ".[cli]"')
    assert "A completion script needs shtab, which the extra cli installs" in line
