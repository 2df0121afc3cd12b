{% set rmem = 16777216 %}
net.core.rmem_max:
  sysctl.present:
    - value: {{ rmem }}
net.core.somaxconn:
  sysctl.present:
    - value: 4096
tcp_rmem:
  sysctl.present:
    - name: net.ipv4.tcp_rmem
    - value: 4096 87380 16777216
