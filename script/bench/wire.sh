#!/bin/sh
# script/bench/wire.sh: processor time of the link emulator while it carries a gigabit per
# second with 25 ms each way (decision 0012). Runs wire.yaml and watches the
# process `linerate lab emulate` that belongs to it. Works as an ordinary user too.
set -eu
cd "$(dirname "$0")/../.."
[ -x bin/linerate ] || {
	echo "there is no bin/linerate yet: make build"
	exit 1
}
out=$(mktemp)
notebook=$(mktemp -u).db
trap 'rm -rf "$out" "$notebook"*' EXIT
LINERATE_NOTEBOOK=$notebook bin/linerate run script/bench/wire.yaml >"$out" 2>/dev/null &
run=$!

# wire PID: the `lab emulate` below a process, however deep.
wire() {
	# shellcheck disable=SC2013 # numbers
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		case $(tr '\0' ' ' </proc/"$child"/cmdline 2>/dev/null) in
		*"lab emulate "*) echo "$child" ;;
		*) wire "$child" ;;
		esac
	done
}
pid=
while [ -z "$pid" ] && kill -0 $run 2>/dev/null; do
	sleep 0.1
	pid=$(wire $run)
done
if [ -z "$pid" ]; then
	wait $run && status=0 || status=$?
	echo "no process carried the link (the kernel has netem), or the run failed with $status:"
	cat "$out"
	exit 1
fi
ticks() { cut -d' ' -f14,15 </proc/"$pid"/stat | tr ' ' '+'; }
sleep 4 # the first trial's warm-up
from=$(($(ticks)))
sleep 4
to=$(($(ticks)))
wait $run || true
cat "$out"
awk -v t=$((to - from)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "\n  The wire took %.2f of a processor, both directions together.\n", t / hz / 4 }'
