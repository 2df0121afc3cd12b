@echo off
netsh int tcp set global autotuninglevel=normal
netsh int tcp set global rss=enabled
netsh interface ipv4 set subinterface "Ethernet" mtu=9000 store=persistent
reg add HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters /v TcpWindowSize /t REG_DWORD /d 256960
