#!/bin/sh
# One server of nsd at port 5353 with a zone, in the directory of the bench.
cd "$1" || exit
cat >nsd.conf <<-EOF
	server:
	  ip-address: 0.0.0.0@5353
	  server-count: 1
	  rrl-ratelimit: 0
	  username: ""
	  chroot: ""
	  zonesdir: "$1"
	  pidfile: "$1/nsd.pid"
	  xfrdfile: ""
	  zonelistfile: "$1/nsd.zones"
	  logfile: "$1/nsd.log"
	remote-control:
	  control-enable: no
	zone:
	  name: "linerate.test"
	  zonefile: "linerate.test"
EOF
cat >linerate.test <<-'EOF'
	$ORIGIN linerate.test.
	$TTL 60
	@ IN SOA ns hostmaster 1 3600 600 86400 60
	@ IN NS ns
	ns IN A 192.0.2.1
	www IN A 192.0.2.2
EOF
sed -i 's/^\t//' nsd.conf linerate.test
exec nsd -d -c "$1/nsd.conf"
