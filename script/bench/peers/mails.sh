#!/bin/sh
# The rate of smtp-source over 16 sessions: of two numbers of mails, since its time includes its
# own start and that of the server's processes.
#   mails.sh SERVER
set -eu
few=160
many=640
ns() {
	begin=$(date +%s%N)
	smtp-source -d -s 16 -m "$1" -l 1000 "$2:25" >/dev/null
	echo $(($(date +%s%N) - begin))
}
a=$(ns $few "$1")
b=$(ns $many "$1")
awk -v n=$((many - few)) -v ns=$((b - a)) 'BEGIN { printf "Mails per second: %.2f\n", n / ns * 1e9 }'
