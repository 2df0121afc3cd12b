package topology

import (
	"slices"
	"testing"
)

// TestSNMPIsPermitted: that credentials are sent to an address is one of the commands that
// are asked about, another one for each address and file.
func TestSNMPIsPermitted(t *testing.T) {
	of := func(s SNMP) Command {
		list := (&Topology{Switches: []Switch{{Name: "sg300", SNMP: &s}}}).Commands()
		if len(list) != 1 || list[0].Node != "sg300" {
			t.Fatalf("commands of %+v: %+v", s, list)
		}
		return list[0]
	}
	own := of(SNMP{Address: "192.0.2.9", Credentials: "/srv/sg300.snmp"})
	if want := []string{"snmp", "192.0.2.9", "--credentials", "/srv/sg300.snmp"}; !slices.Equal(own.Argv, want) {
		t.Errorf("got %q", own.Argv)
	}
	for _, other := range []SNMP{{Address: "198.51.100.66", Credentials: "/srv/sg300.snmp"},
		{Address: "192.0.2.9", Credentials: "/srv/other.snmp"}} {
		if of(other).Alike == own.Alike {
			t.Errorf("%+v is permitted with the other", other)
		}
	}
	if lab := of(SNMP{}); !slices.Equal(lab.Argv, []string{SNMPDaemon}) {
		t.Errorf("of a lab: %q", lab.Argv)
	}
}

func TestEndpoint(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.9": "192.0.2.9", "192.0.2.9:1161": "192.0.2.9", "2001:db8::9": "2001:db8::9",
		"[2001:db8::9]:161": "2001:db8::9",
		"sg300":             "sg300", "sg300.example.org:161": "sg300.example.org",
		"192.0.2.9:0": "", "192.0.2.9:port": "", "sg300:99999": "", "-x": "", "a b": "", "a..b": "", "": "",
		"sg300/": "",
	} {
		host, port, ok := (&SNMP{Address: address}).Endpoint()
		if ok != (want != "") || ok && (host != want || port == 0) {
			t.Errorf("%q: %q, %d, %t", address, host, port, ok)
		}
	}
}
