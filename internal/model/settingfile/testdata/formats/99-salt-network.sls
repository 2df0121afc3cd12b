tune:
  sysctl.present:
    - name: net.ipv4.tcp_tw_recycle
    - value: 1
eth0:
  network.managed:
    - mtu: 9000
ethtool -K eth0 gro off:
  cmd.run
