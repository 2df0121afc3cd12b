#!/bin/bash
kubectl apply -f - <<EOF
apiVersion: v1
kind: Pod
spec:
  securityContext:
    sysctls:
    - name: net.core.somaxconn
      value: "1024"
EOF
ssh root@nas sysctl -w net.ipv4.tcp_sack=0
for h in a b; do ssh $h "sysctl -w net.core.rmem_max=1"; done
nmcli connection modify eth0 ethtool.ring-rx 4096 802-3-ethernet.mtu 9000
echo 'net.core.rmem_max=1' | tee -a /etc/sysctl.conf | cat
crontab -l
xargs -n1 sysctl -w < list.txt
awk 'BEGIN{print "x"}' > /proc/sys/net/ipv4/tcp_ecn
perl -pi -e 's/a/b/' /etc/sysctl.conf
grep . /proc/sys/net/ipv4/tcp_sack
