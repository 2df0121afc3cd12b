# RouterOS 7
/ip settings set tcp-syncookies=yes rp-filter=loose
/ip firewall connection tracking set tcp-established-timeout=1h
/interface ethernet set [ find default-name=ether1 ] mtu=9000 l2mtu=9192
/queue type add name=fq kind=fq-codel
