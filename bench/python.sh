# Sets $python to an interpreter with the bench's packages, and the folders of its modules. Sourced
# by the programs here, which have set $here.
python=${FRONTLOAD_PYTHON:-$here/../build/venv/bin/python}
[ -x "$python" ] || python=python3
export PYTHONPATH="$here:$here/../scripts${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1
# The cargo and rustc that scripts/setup chose, where those in PATH do not run.
export PATH="$here/../build/toolchain/bin:$PATH"
