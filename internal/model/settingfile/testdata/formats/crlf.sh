#!/bin/sh
sysctl -w net.ipv4.tcp_sack=1
