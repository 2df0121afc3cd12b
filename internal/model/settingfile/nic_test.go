package settingfile

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
)

// TestNICFiles: options of NICs and CPUs are read from each kind of file that has them.
func TestNICFiles(t *testing.T) {
	for _, test := range []struct{ name, text, format, want string }{
		{"list.conf", "net.core.somaxconn = 4096\nethtool -K eth0 gro off tso off\nsudo ethtool -G eth1 rx 4096\n",
			sysctlConf,
			"net.core.somaxconn=4096|nic eth0 features gro=off|nic eth0 features tso=off|nic eth1 rings rx=4096"},
		{"tune.sh",
			"#!/bin/sh\nfor d in eth0 eth1; do ethtool -C $d adaptive-rx off rx-usecs 50; done\nethtool -X eth0 " +
				"equal 4\nethtool -N eth0 rx-flow-hash udp4 sdfn\nethtool -U eth0 flow-type tcp4 dst-port 80 loc 5 " +
				"action 2\nethtool --config-ntuple eth0 delete 6\nsysctl -w net.ipv4.tcp_sack=1\n" +
				"echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus\necho 1 | sudo tee " +
				"/sys/class/net/eth0/threaded\ncpupower frequency-set -g performance\n", scriptFile,
			"nic eth0 coalesce adaptive-rx=off|nic eth0 coalesce rx-usecs=50|nic eth1 coalesce adaptive-rx=off|nic " +
				"eth1 " +
				"coalesce rx-usecs=50|nic eth0 rss table=equal 4|nic eth0 rss " +
				"udp4=sdfn|nic eth0 steering 5=tcp4 dst-port 80 action 2|nic eth0 steering " +
				"6=none|net.ipv4.tcp_sack=1|nic eth0 queues rx-0/rps_cpus=f|nic eth0 napi threaded=1|cpu " +
				"governor=performance"},
		{"50-net.rules",
			`ACTION=="add", SUBSYSTEM=="net", KERNEL=="eth3", RUN+="/sbin/ethtool -G $name rx 2048", ` +
				`ATTR{queues/rx-0/rps_cpus}="3"` + "\n", "udev",
			"nic eth3 rings rx=2048|nic eth3 queues rx-0/rps_cpus=3"},
		{"10-eth.link",
			"[Match]\nOriginalName=eth2\n[Link]\nName=lan\nRxBufferSize=4096\nGenericReceiveOffload=no\nCombinedChannels=4\n", "systemd.link",
			"nic eth2 rings rx=4096|nic eth2 features gro=off|nic eth2 channels combined=4"},
		{"ifcfg-eth5", "DEVICE=eth5\nETHTOOL_OPTS=\"-G ${DEVICE} rx 1024 tx 1024; -K ${DEVICE} lro off\"\n", "ifcfg",
			"nic eth5 rings rx=1024|nic eth5 rings tx=1024|nic eth5 features lro=off"},
		{"interfaces",
			"iface eth1 inet dhcp\n  offload-tso off\n  hardware-dma-ring-rx 512\n  post-up ethtool -A $IFACE rx " +
				"off tx off\n", "interfaces",
			"nic eth1 features tso=off|nic eth1 rings rx=512|nic eth1 pause rx=off|nic eth1 pause tx=off"},
		{"01-netcfg.yaml",
			"network:\n  version: 2\n  ethernets:\n    ens3:\n      dhcp4: true\n      generic-receive-offload: " +
				"false\n", "netplan",
			"nic ens3 features gro=off"},
		{"tuned.conf",
			"[net]\ndevices=eth0, eth1\ncoalesce=adaptive-rx off rx-usecs 10\n[cpu]\ngovernor=performance|powersave\n",
			tunedProfile,
			"nic eth0 coalesce adaptive-rx=off|nic eth1 coalesce adaptive-rx=off|nic eth0 coalesce rx-usecs=10|nic " +
				"eth1 coalesce rx-usecs=10|cpu governor=performance"},
	} {
		f := Read(test.name, []byte(test.text), "")
		var got []string
		for _, l := range f.Lines {
			got = append(got, l.Key+"="+l.Value)
			if why := l.Wrong(); why != "" {
				t.Errorf("%s: %s = %s: %s", test.name, l.Key, l.Value, why)
			}
		}
		if text := strings.Join(got, "|"); text != test.want || f.Format != test.format {
			t.Errorf("%s as %s:\ngot  %s\nwant %s\napart %+v", test.name, f.Format, text, test.want, f.Apart)
		}
	}
}

// TestNICLines: a line of every interface is one of each, and a line is the setting that it names.
func TestNICLines(t *testing.T) {
	f := Read("list.conf", []byte("ethtool -K $DEV gro off\nethtool -K eth0 gro maybe\n"), opsystem.Linux)
	var got []string
	for _, l := range f.Lines[0].Each([]string{"eth0", "eth1"}) {
		got = append(got, l.On("h").Lines()...)
	}
	if want := []string{"h: nic eth0 features gro off", "h: nic eth1 features gro off"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f.Lines[0].Slip == "" {
		t.Error("sysctl would refuse the line")
	}
	if why := f.Lines[1].Wrong(); !strings.Contains(why, "on or off") {
		t.Errorf("maybe is taken: %q", why)
	}
	if l := f.Lines[1].Each([]string{"eth7"}); len(l) != 1 || InterfaceOf(l[0].Key) != "eth0" ||
		InterfaceOf(f.Lines[0].Key) != "" {
		t.Errorf("%+v", l)
	}
}
