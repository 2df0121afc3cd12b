net.ipv4.tcp_rmem:
  sysctl.present:
    - value: 4096 87380 16777216
tcp-syncookies:
  sysctl.present:
    - name: net.ipv4.tcp_syncookies
    - value: 0
