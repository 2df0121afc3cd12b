sysctl:
  params:
    net.core.rmem_max: 16777216
    net.ipv4.tcp_rmem:
      value: 4096 87380 16777216
      config: x.conf
