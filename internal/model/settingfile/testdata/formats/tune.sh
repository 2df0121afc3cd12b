#!/bin/bash
set -euo pipefail
# of a database host
IFACE=${1:-eth0}
RMEM=$((16 * 1024 * 1024))
cat > /etc/sysctl.d/99-db.conf <<EOF
net.core.rmem_max = $RMEM
net.ipv4.tcp_rmem = 4096 87380 $RMEM
vm.nr_hugepages = $(awk '/MemTotal/ {print $2}' /proc/meminfo)
EOF
sysctl -p /etc/sysctl.d/99-db.conf
sysctl -w net.ipv4.tcp_wmem=4096 65536 16777216
sysctl -q -w net.core.somaxconn=4096 net.core.netdev_budget=600
for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > "$f"; done
for q in /sys/class/net/$IFACE/queues/rx-*/rps_cpus; do echo ff > $q; done
for irq in $(grep eth0 /proc/interrupts | cut -d: -f1); do echo 1 > /proc/irq/$irq/smp_affinity; done
if [ -e /proc/sys/net/ipv4/tcp_available_congestion_control ]; then
  modprobe tcp_bbr && sysctl net.ipv4.tcp_congestion_control=bbr
else
  sysctl net.ipv4.tcp_congestion_control=cubic
fi
grep -q somaxconn /etc/sysctl.conf || echo "net.core.somaxconn = 8192" | sudo tee -a /etc/sysctl.conf
ethtool -G "$IFACE" rx 4096 tx 4096
ethtool -K eth1 gro on
ethtool -s eth0 speed 1000
ip link set dev eth0 mtu 9000 txqueuelen 10000
ip addr add 192.0.2.1/24 dev eth0
tc qdisc replace dev eth0 root fq limit 20000
tc qdisc replace dev eth0 root fq maxrate 10gbit
tc filter add dev eth0 parent 1: u32
systemctl restart irqbalance
docker run -d --sysctl net.core.somaxconn=1024 --sysctl=net.ipv4.tcp_syncookies=0 nginx
./other.sh
echo "options ixgbe LRO=0" > /etc/modprobe.d/ixgbe.conf
apply() { sysctl -w "$1=$2"; }
apply net.ipv4.tcp_fin_timeout 15
apply net.ipv4.tcp_mem "$(compute)"
unused() { sysctl -w net.ipv4.tcp_sack=0; }
cp 99-more.conf /etc/sysctl.d/
exit 0
sysctl -w net.ipv4.tcp_dsack=0
