#!/bin/bash
# Executes a command, and prints its CPU time behind what it prints: "spent USER SYSTEM", in
# seconds, of the command and of those of its children that it has waited for.
#   spent.sh COMMAND…
TIMEFORMAT=$'\nspent %3U %3S'
exec 3>&2
{ time "$@" 2>&3; } 2>&1
