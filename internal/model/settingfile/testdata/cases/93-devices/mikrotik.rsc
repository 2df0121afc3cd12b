/ip settings set rp-filter=loose tcp-syncookies=yes
/interface ethernet set ether1 mtu=9000
