#!/bin/sh
# Prints what the network tools of this host say of it, for linerate doctor -. It changes
# nothing and sends nothing. ss and dmesg, which say more to root, are executed by sudo if that asks
# for no password.
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
host=$(uname -n)
case ${host%%.*} in
[A-Za-z]*) host=${host%%.*} ;;
*) host=host-$host ;; # a number is no prompt
esac
sudo='' limit=''
if [ "$(id -u)" != 0 ] && sudo -n true </dev/null >/dev/null 2>&1; then sudo='sudo -n'; fi
if timeout 20 true 2>/dev/null; then limit='timeout 20'; fi

# say ROWS WORD…: the words after a prompt, and the first rows of what they print.
say() {
	rows=$1
	shift
	command -v "$1" >/dev/null || return 0
	case $1 in ss | dmesg) as=$sudo ;; *) as='' ;; esac
	printf 'root@%s:~# %s\n' "$host" "$*"
	# shellcheck disable=SC2086 # one word each, or none
	$limit $as "$@" 2>/dev/null </dev/null | grep -v '^No data available$' | head -n "$rows"
	echo
}

for tool in ip ss tc ethtool sysctl dmesg; do
	command -v $tool >/dev/null || echo "missing: $tool" >&2
done
command -v nstat >/dev/null || command -v netstat >/dev/null || echo "missing: nstat" >&2

say 5000 ip -d addr
say 10000 ip -s -s link
say 5000 ip neigh
for family in -4 -6; do
	say 5000 ip $family route show table all
	say 1000 ip $family rule
done
say 5000 bridge fdb
say 10000 tc -s qdisc
say 1000 cat /proc/net/softnet_stat
if command -v nstat >/dev/null; then
	say 1000 nstat -asz
else
	say 1000 netstat -s
fi
say 5000 ss -tinmpoa
say 2000 ss -uanmp
say 100 ss -s
say 15000 sysctl -a

# Interfaces of devices first, of which there are few.
nics=
for way in device other; do
	for nic in /sys/class/net/*; do
		is=other
		if [ -e "$nic/device" ]; then is=device; fi
		if [ $is = $way ] && [ -d "$nic" ] && [ "${nic##*/}" != lo ]; then nics="$nics ${nic##*/}"; fi
	done
done
n=0
for nic in $nics; do
	n=$((n + 1))
	if [ $n -gt 32 ]; then break; fi
	say 100 ethtool "$nic"
	for option in -i -k -g -l -c -a; do
		say 100 ethtool $option "$nic"
	done
	say 2000 ethtool -S "$nic"
done
say 3000 dmesg
