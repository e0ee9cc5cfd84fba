#!/usr/bin/env bash
# Check the package beside RAPIDS for CUDA 13, whose packages install, import and compile without a GPU.
#
#     ci/beside_cu13.sh install    an environment with the compare-cu13 extra
#     ci/beside_cu13.sh            install, if need be, and run the tests that these packages can make fail
#     ci/beside_cu13.sh all        run all tests that need no GPU, and compile all kernels for all architectures
#
# The packages stay in the user's cache folder until their pins in pyproject.toml change.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=$("${PYTHON:-.venv/bin/python}" - << 'END'
import re, tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]

def required(lines):
    for line in lines:
        own = re.fullmatch(r"rapids-trav\[(.*)\]", line)
        for extra in own[1].split(",") if own else []:
            yield from required(project["optional-dependencies"][extra])
        if not own:
            yield line

print(*sorted({"hatchling", *required([*project["dependencies"], "rapids-trav[test,compare-cu13]"])}), sep="\n")
END
)
python_version=$("${PYTHON:-.venv/bin/python}" -c 'import platform; print(platform.python_version(), platform.machine())')
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rapids_trav
kept=$cache/cu13-$(sha256sum <<< "$python_version $requirements" | cut -c 1-16)

mkdir -p "$cache"
exec 9> "$cache/cu13.lock"
flock 9 # another checkout may be installing it
if [ ! -e "$kept/complete" ]; then
    rm -rf "$cache"/cu13-*
    "${PYTHON:-.venv/bin/python}" -m venv "$kept"
    "$kept/bin/python" -m pip install --quiet --disable-pip-version-check -r /dev/stdin <<< "$requirements"
    # for the entry points; the code is that of PYTHONPATH
    "$kept/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    touch "$kept/complete"
fi
flock -u 9
[ "${1:-}" = install ] && exit

export PYTHONPATH=$PWD
"$kept/bin/python" ci/check_rapids_install.py
pytest=("$kept/bin/python" -m pytest -q -n auto --maxprocesses 4 --dist worksteal)
if [ "${1:-}" = all ]; then
    "${pytest[@]}" -m "not gpu and not multigpu"
    "$kept/bin/python" ci/compile_kernels.py --all
else
    # What depends on the versions of pandas, Numba and Dask, and what needs NVRTC.
    "${pytest[@]}" -m "not gpu and not multigpu and not slow and not release" tests/accessor tests/frames tests/edges \
        tests/ids tests/io tests/graph tests/backends tests/engines/cuda tests/jit/test_kernel_cache.py \
        tests/distributed/test_dask_inputs.py tests/distributed/test_graphs_on_workers.py
    "$kept/bin/python" -m pytest -q -m "slow and not gpu and not multigpu" tests/engines/cuda
    "$kept/bin/python" ci/compile_kernels.py --new
fi
