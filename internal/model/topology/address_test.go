package topology

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for text, want := range map[string]struct {
		last, spelled string
		count         int
	}{
		"192.168.1.15/24":         {"192.168.1.15", "192.168.1.15/24", 1},
		" 10.0.0.1/8 ":            {"10.0.0.1", "10.0.0.1/8", 1},
		"192.168.2.1-254/16":      {"192.168.2.254", "192.168.2.1-254/16", 254},
		"10.0.0.1-10.0.3.250/8":   {"10.0.3.250", "10.0.0.1-10.0.3.250/8", 1018},
		"10.0.0.5-10.0.0.7/24":    {"10.0.0.7", "10.0.0.5-7/24", 3},
		"10.0.0.5-5/24":           {"10.0.0.5", "10.0.0.5/24", 1},
		"fd00::1/64":              {"fd00::1", "fd00::1/64", 1},
		"fd00::1-ff/64":           {"fd00::ff", "fd00::1-fd00::ff/64", 255},
		"fd00::1:0-fd00::1:a/112": {"fd00::1:a", "fd00::1:0-fd00::1:a/112", 11},
	} {
		a, err := ParseAddress(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if a.Last.String() != want.last || a.String() != want.spelled || len(a.Prefixes()) != want.count {
			t.Errorf("%q ends at %s, is spelled %q, has %d addresses; want %+v", text, a.Last, a,
				len(a.Prefixes()), want)
		}
	}
	for text, want := range map[string]string{
		"10.0.0.1":            "its prefix length is missing, as in 10.0.0.1/24",
		"":                    "expected one with a prefix length",
		"server/24":           "expected one with a prefix length",
		"10.0.0.1/0":          "from 1 to 32",
		"10.0.0.1/024":        `found "024"`,
		"fd00::1/129":         "from 1 to 128",
		"10.0.0.9-5/24":       "backwards",
		"10.0.0.9-300/24":     "10.0.0.9-10.0.1.44",
		"10.0.0.9-fd00::1/24": "end of the range",
		"10.0.0.0-10.1.0.1/8": "more than 65536",
		"fd00::-fdff::/8":     "more than 65536",
		"fe80::1%eth0/64":     "expected one",
		"::ffff:10.0.0.1/128": "expected one",
	} {
		if a, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %s", text, a, err, want)
		}
	}
}

func TestAddressContains(t *testing.T) {
	a, err := ParseAddress("10.0.0.5-7/24")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"10.0.0.4": false, "10.0.0.5": true, "10.0.0.7": true, "10.0.0.8": false,
		"fd00::5": false} {
		if got := a.Contains(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s contains %s: %v", a, text, got)
		}
	}
}

// TestPlaces: a range with a port or without is written out; a name with a
// dash, and a single address, are not ranges.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"192.168.2.1-3":             "192.168.2.1 192.168.2.2 192.168.2.3",
		"192.168.2.255-192.168.3.0": "192.168.2.255 192.168.3.0",
		"192.168.2.9-10:5202":       "192.168.2.9:5202 192.168.2.10:5202",
		"fd00::fe-100":              "fd00::fe fd00::ff fd00::100",
		"[fd00::1-2]:5202":          "[fd00::1]:5202 [fd00::2]:5202",
		"nas-1":                     "nas-1",
		"nas-1:5202":                "nas-1:5202",
		"192.168.2.1":               "192.168.2.1",
		"[fd00::1]:5202":            "[fd00::1]:5202",
		":5202":                     ":5202",
		"[broken":                   "[broken",
		"192.168.2.3-1":             `error "192.168.2.3-1": the range runs backwards; expected one such as 192.168.2.1-254`,
		"192.168.2.1-300":           `error "192.168.2.1-300": 300 is above 255; a range over several /24 has its last address in full: 192.168.2.1-192.168.3.44`,
		"255.255.255.1-300":         `error "255.255.255.1-300": the end of the range is not an address of the same kind; expected one such as 192.168.2.1-254`,
		"10.0.0.0-11.0.0.0":         `error "10.0.0.0-11.0.0.0": the range has more than 65536 addresses; expected one such as 192.168.2.1-254`,
	} {
		list, err := Places(text)
		got := strings.Join(list, " ")
		if err != nil {
			got = "error " + err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// FuzzAddress: what is printed parses back to the same.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"192.168.2.1-254/16", "10.0.0.1-10.0.3.250/8", "fd00::1-ff/64", "::/1",
		"0.0.0.0-255/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAddress(text)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.String())
		if err != nil || again != a {
			t.Fatalf("%q is printed %q, which is %v, %v", text, a, again, err)
		}
		if n := len(a.Prefixes()); n < 1 || n > maxAliases {
			t.Fatalf("%q has %d addresses", text, n)
		}
	})
}

// FuzzEnd: what is printed parses back to the same.
func FuzzEnd(f *testing.F) {
	for _, s := range []string{"server.eth0", "switch", "a.eth0.100", ".x", "x."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e, again End
		if e.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(e.String())); err != nil || again != e {
			t.Fatalf("%q is printed %q, which is %+v, %v", text, e, again, err)
		}
	})
}
