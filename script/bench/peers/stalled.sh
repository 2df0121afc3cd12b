#!/bin/sh
# stalled.sh FOR PIDFILE COMMAND...
#
# Executes a command while the process of PIDFILE stands still for the last FOR seconds of each
# second; 0: it does not.
stall=$1
pid=$(cat "$2")
shift 2
run=$(awk "BEGIN { print 1 - $stall }")
if [ "$stall" != 0 ]; then
	while sleep "$run"; do
		kill -STOP "$pid"
		sleep "$stall"
		kill -CONT "$pid"
	done &
	stalls=$!
fi
"$@"
status=$?
if [ -n "${stalls:-}" ]; then
	kill "$stalls"
	kill -CONT "$pid"
fi
exit "$status"
