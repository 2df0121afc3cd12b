uci set network.globals.packet_steering=1
uci set network.@device[0].mtu=1492
uci commit network
echo "net.netfilter.nf_conntrack_max=65536" >> /etc/sysctl.conf
