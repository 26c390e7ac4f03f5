#!/bin/sh
# A generator made by others, in an environment of its own, audited by the epsilon that it claims:
#
#     sh examples/generators/third_party.sh people.csv [epsilon] [more options of unveil audit]
#
# DataSynthesizer is no part of unveil and is installed into .venv-synth once. UNVEIL names another unveil than that on
# the path, and PYTHON another Python for the environment.
set -eu
people=${1:?"name a CSV file of people"}
epsilon=${2:-1}
shift "$(($# < 2 ? $# : 2))"
folder=$(dirname "$0")
if [ ! -e .venv-synth/ready ]; then
    "${PYTHON:-python3}" -m venv .venv-synth
    .venv-synth/bin/python -m pip install --quiet 'DataSynthesizer==0.1.13'
    touch .venv-synth/ready
fi
exec "${UNVEIL:-unveil}" audit "$people" --epsilon "$epsilon" --canaries 200:unusual --runs 4 \
    --generator ".venv-synth/bin/python '$folder/privbayes.py' {in} {out} $epsilon {seed}" "$@"
