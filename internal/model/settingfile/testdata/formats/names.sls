net.core.somaxconn:
  sysctl.present:
    - value: 4096
    - config: /etc/sysctl.d/90.conf
/etc/sysctl.d/91.conf:
  file.managed:
    - contents: |
        net.ipv4.tcp_syncookies = 0
        net.core.rmem_max = 16777216
multi:
  sysctl.present:
    - names:
      - net.ipv4.tcp_sack:
        - value: 0
      - net.ipv4.tcp_timestamps:
        - value: 1
