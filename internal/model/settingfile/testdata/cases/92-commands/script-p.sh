#!/bin/bash
set -euo pipefail
cat > /etc/sysctl.d/99-tuning.conf <<EOF
net.core.somaxconn = 1024
net.ipv4.tcp_rmem = 4096 131072 67108864
EOF
sysctl -p /etc/sysctl.d/99-tuning.conf
sysctl --system
sysctl -p
cat <<-'EOF' | sudo tee -a /etc/sysctl.conf >/dev/null
	net.ipv4.tcp_sack = 0
	EOF
sysctl -q -w net.core.netdev_max_backlog=5000 net.core.netdev_budget=600
sysctl net.ipv4.tcp_window_scaling=1
sysctl -e -w net.ipv4.tcp_low_latency=1
for i in eth0 eth1; do
  sysctl -w net.ipv4.conf.$i.rp_filter=2
  ethtool -G $i rx 4096 tx 4096
  ethtool -K $i gro on lro off
done
echo 1 > /proc/sys/net/ipv4/tcp_mtu_probing
sudo sh -c 'echo 4096 > /proc/sys/net/core/somaxconn'
