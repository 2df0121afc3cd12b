package topology

import (
	"strings"
	"testing"
)

func TestSSH(t *testing.T) {
	for host, want := range map[string]string{
		"nas":                     "nas",
		"root@nas":                "root@nas",
		"root@nas:2299":           "-p 2299 root@nas",
		"nas:22":                  "-p 22 nas",
		"me@corp@nas:22":          "-p 22 me@corp@nas", // ssh takes the last @ as well
		"[2001:db8::1]:22":        "-p 22 2001:db8::1",
		"root@[fe80::1%eth0]:222": "-p 222 root@fe80::1%eth0",
		"[2001:db8::1]":           "2001:db8::1",
		"2001:db8::1":             "2001:db8::1",
		"root@::1":                "root@::1",
		"ssh://root@nas:2299":     "ssh://root@nas:2299",
		"":                        "!such as",
		"root@":                   "!such as",
		"-oProxyCommand=x":        "!such as",
		"root@-oProxyCommand=x":   "!such as",
		"a b":                     "!such as",
		"{a}":                     "!such as",
		"nas%eth0":                "!such as",
		"nas\n":                   "!such as",
		":22":                     "!such as",
		"nas:":                    "!1 to 65535",
		"nas:0":                   "!1 to 65535",
		"nas:65536":               "!1 to 65535",
		"nas:ssh":                 "!1 to 65535",
		"[nas]:22":                "!in brackets",
		"[2001:db8::1":            "!in brackets",
		"[2001:db8::1]22":         "!in brackets",
		"[2001:db8::1]:":          "!1 to 65535",
	} {
		words, err := SSH(host, "-v")
		switch message, wrong := strings.CutPrefix(want, "!"); {
		case wrong && (err == nil || !strings.Contains(err.Error(), message)):
			t.Errorf("%q: %v, want %q", host, err, message)
		case !wrong && (err != nil || strings.Join(words, " ") != "ssh -v "+want):
			t.Errorf("%q: %q, %v, want %q", host, words, err, want)
		}
	}
}
