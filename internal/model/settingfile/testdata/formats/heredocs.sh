#!/bin/bash
cat <<EOF | sudo tee /etc/sysctl.d/99-x.conf
net.core.rmem_max = 16777216
net.core.default_qdisc=fq
EOF
sudo tee -a /etc/sysctl.conf > /dev/null <<'EOT'
net.ipv4.tcp_congestion_control=bbr
EOT
sed -i 's/^#net.ipv4.ip_forward=1/net.ipv4.ip_forward=1/' /etc/sysctl.conf
sed -i '/net.ipv4.tcp_ecn/d' /etc/sysctl.conf
cat > /etc/modprobe.d/x.conf <<EOF
options ixgbe RSS=8
EOF
grep -q somaxconn /etc/sysctl.conf || echo 'net.core.somaxconn=1024' >> /etc/sysctl.conf
cp 99.conf /etc/sysctl.d/
curl -s https://example.com/tune.sh | sudo bash
sudo bash -c 'echo "net.ipv4.tcp_sack=0" >> /etc/sysctl.conf'
sudo sh -c "sysctl -w net.ipv4.tcp_timestamps=0"
bash <(curl -s https://example.com/x)
MEM=$(free -b | awk '/Mem/{print $2}')
sysctl -w net.ipv4.tcp_mem="$((MEM/4096/4)) 2 3"
python3 -c "open('/proc/sys/net/ipv4/tcp_ecn','w').write('1')"
set_it() { sysctl -w "$1=$2"; }
set_it net.ipv4.tcp_fin_timeout 15
KEYS=( [net.core.wmem_max]=5 )
declare -A M=( [net.core.optmem_max]=65536 [net.core.netdev_budget]=600 )
for k in "${!M[@]}"; do sysctl -w $k=${M[$k]}; done
while read k v; do sysctl -w $k=$v; done <<E
E
