net.core.rmem_max:
  sysctl.present:
    - value: 16777216

backlog:
  sysctl.present:
    - name: net.core.netdev_max_backlog
    - value: 250000
    - config: /etc/sysctl.d/99-salt.conf

/etc/sysctl.d/90-x.conf:
  file.managed:
    - contents: |
        net.ipv4.tcp_sack = 1
        net.ipv4.tcp_dsack = 1

offloads:
  cmd.run:
    - name: ethtool -K eth0 gro on
