#!/bin/sh
# Runs a command while another program takes all of CPU 1 that it can get.
#   taken.sh COMMAND…
set -eu
taskset -c 1 sh -c 'while :; do :; done' &
busy=$!
trap 'kill $busy' EXIT
"$@"
