#!/bin/bash
# tune one interface after the other
set_sysctl() { sysctl -qw "$1=$2" || echo "cannot set $1" >&2; }
MAX=$((64 * 1024 * 1024))
set_sysctl net.core.rmem_max $MAX
set_sysctl net.ipv4.tcp_rmem "4096 87380 $MAX"
while read -r key value; do
  [ -n "$key" ] && sysctl -w "$key=$value"
done <<EOF
net.ipv4.tcp_sack 0
net.ipv4.tcp_tw_recycle 1
EOF
case "$1" in
  fast) sysctl -w net.ipv4.tcp_congestion_control=cubic ;;
esac
CPUS=$(nproc)
ethtool -L eth0 combined "$CPUS"
printf '%s\n' 'net.core.somaxconn = 128' 'vm.swappiness = 10' > /etc/sysctl.d/50-x.conf
curl -s https://example.org/tune.sh | sh
