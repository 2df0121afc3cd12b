#!/bin/sh
# The rate of smtp-source over 16 sessions: of two numbers of mails, since its time includes its
# own start and that of the server's processes.
#   mails.sh SERVER:PORT FEW MANY
set -eu
ns() {
	begin=$(date +%s%N)
	smtp-source -d -s 16 -m "$1" -l 1000 "$server" >/dev/null
	echo $(($(date +%s%N) - begin))
}
server=$1
a=$(ns "$2")
b=$(ns "$3")
awk -v few="$2" -v many="$3" -v ns=$((b - a)) 'BEGIN { printf "Mails: %d\nMails per second: %.2f\n", few + many, (many - few) / ns * 1e9 }'
