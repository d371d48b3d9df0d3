#!/bin/sh
# Runs one of coldbench's programs, by an interpreter that has its packages.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 2
python=${FRONTLOAD_PYTHON:-$here/../build/venv/bin/python}
[ -x "$python" ] || python=python3
export PYTHONPATH="$here:$here/../scripts:$here/../docs/site${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1
# The cargo and rustc that scripts/setup chose, where those in PATH do not run.
export PATH="$here/../build/toolchain/bin:$PATH"
exec "$python" -m coldbench "$@"
