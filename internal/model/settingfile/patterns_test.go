package settingfile

import (
	"strings"
	"testing"
)

// TestExpand: what patterns set, as "KEY = VALUE; …", and what is remarked, of one file after another.
func TestExpand(t *testing.T) {
	known := []string{"net.core.rmem_max", "net.core.wmem_max", "net.ipv4.conf.all.rp_filter",
		"net.ipv4.conf.eth0/5.rp_filter", "net.ipv4.conf.lo.rp_filter"}
	of := func(pattern string) (keys []string) {
		for _, key := range known {
			if Matches(pattern, key) {
				keys = append(keys, key)
			}
		}
		return keys
	}
	const all, vlan, lo = "net.ipv4.conf.all.rp_filter", "net.ipv4.conf.eth0/5.rp_filter", "net.ipv4.conf.lo.rp_filter"
	for _, test := range []struct {
		files        []string
		want, remark string
	}{
		{[]string{"net.ipv4.conf.*.rp_filter = 2\n"}, all + " = 2; " + vlan + " = 2; " + lo + " = 2", "for 3 parameters"},
		{[]string{"net/ipv4/conf/eth*/rp_filter = 2\n"}, vlan + " = 2", ""},
		{[]string{"net.core.?mem_max = 1\n"}, "net.core.rmem_max = 1; net.core.wmem_max = 1", ""},
		{[]string{"net.*.rp_filter = 2\n"}, "", "sets nothing"}, // * ends at a dot
		{[]string{"net.ipv4.conf.*.rp_filter = 2\n-" + all + "\n"}, vlan + " = 2; " + lo + " = 2", "keeps patterns from"},
		{[]string{"-net/ipv4/conf/all/rp_filter\n", "net.ipv4.conf.[al]*.rp_filter = 2\n"}, lo + " = 2", ""},
		{[]string{all + " = 1\nnet.ipv4.conf.[al]*.rp_filter = 2\n"}, all + " = 1; " + lo + " = 2", ""},
		{[]string{"net.ipv4.conf.[al]*.rp_filter = 2\n", all + " = 1\n"}, lo + " = 2; " + all + " = 1", ""},
		{[]string{all + " = 1\n-" + all + "\n"}, all + " = 1", "systemd-sysctl(8) then does not set"},
		{[]string{"-" + all + "\n" + all + " = 1\n"}, all + " = 1", "keeps patterns from"},
		{[]string{"-net.ipv4.conf.*.rp_filter\nnet.core.rmem_max = 1\n"}, "net.core.rmem_max = 1", "excludes nothing"},
		{[]string{"net.ipv4.conf.l*.rp_filter 2\n"}, "", "expected an equals sign"},
		{[]string{"#!/bin/sh\nfor f in /proc/sys/net/ipv4/conf/[al]*/rp_filter; do echo 2 > $f; done\n" +
			"echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter\n"}, all + " = 2; " + lo + " = 2; " + all + " = 1", ""},
		{[]string{"#!/bin/sh\necho 1 > /proc/sys/net/ipv4/conf/*/rp_filter\n"}, "", "a shell redirects to one file"},
		{[]string{"#!/bin/sh\nsysctl -w 'net.ipv4.conf.*.rp_filter=1'\n"}, "", "none on its command line"},
	} {
		var files []File
		for _, text := range test.files {
			name := "/etc/sysctl.d/x.conf"
			if strings.HasPrefix(text, "#!") {
				name = "x.sh"
			}
			files = append(files, Read(name, []byte(text), ""))
		}
		Expand(files, of)
		var got, remarks []string
		for _, f := range files {
			for _, l := range f.Lines {
				got = append(got, l.Setting())
			}
			for _, a := range f.Apart {
				remarks = append(remarks, a.Why)
			}
		}
		if s := strings.Join(got, "; "); s != test.want || !strings.Contains(strings.Join(remarks, "\n"), test.remark) {
			t.Errorf("%q:\n%s\nwant\n%s\nremarks %q, want %q", test.files, s, test.want, remarks, test.remark)
		}
	}
}
