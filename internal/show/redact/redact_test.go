package redact

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/science/diagnose"
)

// common is the length of the longest prefix of two addresses.
func common(a, b netip.Addr) int {
	for bits := a.BitLen(); bits >= 0; bits-- {
		if p, err := a.Prefix(bits); err == nil && p.Contains(b) {
			return bits
		}
	}
	return -1
}

// TestPrefixes: addresses share as long a prefix afterwards as before.
func TestPrefixes(t *testing.T) {
	r := redactor{key: [32]byte{7}}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a := netip.AddrFrom4([4]byte{byte(1 + random.IntN(100)), byte(random.IntN(4)), byte(random.IntN(4)),
			byte(random.IntN(256))})
		b := netip.AddrFrom4([4]byte{a.As4()[0], byte(random.IntN(4)), byte(random.IntN(4)), byte(random.IntN(256))})
		if got, want := common(r.address(a), r.address(b)), common(a, b); got != want {
			t.Fatalf("%s and %s share %d bits, %s and %s %d", a, b, want, r.address(a), r.address(b), got)
		}
	}
	for _, kept := range []string{"127.0.0.1", "0.0.0.0", "224.0.0.1", "::1", "::", "ff02::1", "255.255.255.0"} {
		if a := netip.MustParseAddr(kept); r.address(a) != a {
			t.Errorf("%s became %s", a, r.address(a))
		}
	}
	if a := r.address(netip.MustParseAddr("fe80::1")); !a.IsLinkLocalUnicast() {
		t.Errorf("fe80::1 became %s", a)
	}
}

// TestSnapshot: no address and no name of a snapshot is left, and equal ones stay equal.
func TestSnapshot(t *testing.T) {
	s := netstate.HostSnapshot{Reading: netstate.HostReading{Host: "nas"}, Host: netstate.HostEnvironment{Host: "nas"}}
	s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", MAC: "52:54:00:12:34:56",
		Addresses: []string{"192.168.77.15/24", "2001:db8:77::15/64"}}}
	s.Reading.Snapshot.Routes = []netstate.RouteEntry{
		netstate.ParseRoute(0, "0.0.0.0/0", "default via 192.168.77.1 dev eth0 src 192.168.77.15")}
	s.State.Listeners = []netstate.Listener{{Local: "192.168.77.15:445"}, {Local: "[2001:db8:77::15]:445"},
		{Local: "0.0.0.0:22"}}
	s.State.Resolver = &netstate.Resolver{Search: []string{"corp.example"}}
	s.State.LLDP = []netstate.LLDPNeighbour{{Interface: "eth0", System: "core-switch", Chassis: "52:54:00:99:34:56",
		Port: "Gi1/0/7", PortDescription: "to the vault", Addresses: []string{"192.168.77.3"}},
		{Interface: "eth0", System: "nas", Port: "52:54:00:98:34:56", PortDescription: "eth0"}}
	s.State.Nexthops = []netstate.Nexthop{{ID: 1, Via: "192.168.77.4", Interface: "eth0"}}
	s.State.Nftables = &netstate.Nftables{Rules: []netstate.NftRule{{Text: "ip saddr 192.168.77.0/24 drop"},
		{Text: `@nh,96,32 0xc0a84d0f meta mark 0x00000017 @ll,48,48 0x525400123456 log prefix "nas: "`}}}
	s.State.NICs = []netstate.NIC{{Interface: "enx525400123456"}}
	s.State.Parameters = map[string]string{"net.ipv4.conf.enx525400123456.rp_filter": "1"}
	redacted := s
	if err := Snapshots([32]byte{1}, &redacted); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(redacted)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"192.168.77", "2001:db8:77", "12:34:56", `"nas"`, "corp.example", "core-switch",
		"vault", "99:34:56", "525400123456", "c0a84d", "nas: "} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is left: %s", secret, text)
		}
	}
	if !strings.Contains(string(text), "0x00000017") {
		t.Errorf("the mark of packets is redacted: %s", text)
	}
	if nic := redacted.State.NICs[0].Interface; redacted.State.Parameters["net.ipv4.conf."+nic+".rp_filter"] != "1" {
		t.Errorf("the interface is called %s, and not so in %v", nic, redacted.State.Parameters)
	}
	address, _, _ := strings.Cut(redacted.Reading.Snapshot.Interfaces[0].Addresses[0], "/")
	if !strings.HasSuffix(redacted.Reading.Snapshot.Routes[0].Text, "src "+address) ||
		redacted.Reading.Snapshot.Routes[0].Source != address || redacted.Reading.Snapshot.Routes[0].Via == "" ||
		redacted.State.Listeners[0].Local != address+":445" {
		t.Errorf("not the same address everywhere: %s", text)
	}
	if l := redacted.State.LLDP; l[0].Interface != "eth0" || l[0].Port != "Gi1/0/7" || l[1].PortDescription != "eth0" ||
		l[1].System != redacted.Reading.Host || !strings.HasSuffix(redacted.State.Nftables.Rules[0].Text, "/24 drop") {
		t.Errorf("%s", text)
	}
	if !redacted.Redacted || redacted.State.Listeners[2].Local != "0.0.0.0:22" ||
		!strings.HasPrefix(redacted.Reading.Snapshot.Interfaces[0].MAC, "52:54:00:") {
		t.Errorf("%s", text)
	}
}

// TestTexts: addresses and names are replaced inside texts, in each notation and whatever is beside
// them, and each is the same everywhere; what resembles them stays.
func TestTexts(t *testing.T) {
	s := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Version: "snapshot 1",
		Reading: netstate.HostReading{Host: "snapshot"}}
	s.State.LLDP = []netstate.LLDPNeighbour{{System: "core-switch", Chassis: "vault-7", PortDescription: "7"}}
	s.State.Probes = []netstate.Probe{{Peer: "db.corp.example"}, {Peer: "corp.example"}}
	for _, test := range []struct {
		text    string
		secrets []string // that are not left
		kept    []string
	}{
		{"vxlan0: received packet with own address as source address (addr:52:54:00:12:34:56, vlan:0)",
			[]string{"12:34:56"}, []string{"(addr:52:54:00:", ", vlan:0)"}},
		{"MAC=52:54:00:12:34:56:52:54:00:ab:cd:ef:08:00 SRC=192.0.2.77", []string{"12:34:56", "ab:cd:ef", "192.0.2.77"},
			[]string{"MAC=52:54:00:", ":08:00 SRC="}},
		{"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:56", []string{"03:00:12", "12:34:56"},
			[]string{"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:"}},
		{"00:02:c9:03:00:12:34:56", []string{"03:00:12", "12:34:56"}, []string{"00:02:c9:"}},
		{"ff:ff:ff:ff:ff:ff:52:54:00:12:34:56:08:06", []string{"12:34:56"}, []string{"ff:ff:ff:ff:ff:ff:52:54:00:",
			":08:06"}},
		{"5254.0012.3456 at 52-54-00-12-34-56", []string{"12.3456", "12-34-56"}, []string{"5254.00", "52-54-00-"}},
		{"neighbour 2001:db8:77::15: no answer", []string{"db8:77", ":15:"}, []string{": no answer"}},
		{"from mac:52:54:00:12:34:56.", []string{"12:34:56"}, []string{"mac:52:54:00:"}},
		{"to 2001:db8:77::15.443, 2001:db8:77::15.", []string{"db8:77", "::15"}, []string{".443, "}},
		{"src:2001:db8:12:34:56:78:9a:bc", []string{"db8:12", "9a:bc"}, []string{"src:"}},
		{"add:52:54:00:12:34:56, fe:52:54:00:12:34:56: bad:00:02:c9:03:00:ab:cd:ef", []string{"12:34:56", "ab:cd:ef"},
			[]string{"add:52:54:00:", ", fe:52:54:00:", ": bad:00:02:c9:"}},
		{"dead:52:54:00:12:34:56:52:54:00:ab:cd:ef:08:00", []string{"12:34:56", "ab:cd:ef"},
			[]string{"dead:52:54:00:", ":08:00"}},
		{"std::foo at ::f00d:x, 6.6.87.2567", []string{"::f00d:"}, []string{"std::foo at ", ":x, 6.6.87.2567"}},
		{"Linux core-switch 6.1 of vault-7, 0000:03:00.0, port 7 at 12:34:56, tag 8001:",
			[]string{"core-switch", "vault"}, []string{"Linux host", ", 0000:03:00.0, port 7 at 12:34:56, tag 8001:"}},
		{"address: db.corp.example has no address", []string{"db.", "corp.example"},
			[]string{"address: host", " has no address"}},
		{"core-switches and xcorp.example", nil, []string{"core-switches and xcorp.example"}},
		{"vault-7.corp.example. <-vault-7->, //vault-7/x", []string{"vault", "corp"},
			[]string{". <-host", "->, //host", "/x"}},
		{"12:34:vault-7 and 2001:db8:77::15:", []string{"vault", "::15"}, []string{"12:34:host"}},
		{"vault-7-eth0, 6.1-vault-7, 90-vault-7.conf", nil, []string{"vault-7-eth0, 6.1-vault-7, 90-vault-7.conf"}},
	} {
		s.State.Log = &netstate.KernelLog{Lines: []netstate.LogLine{{Text: test.text}, {Text: test.text}}}
		redacted := s
		if err := Snapshots([32]byte{3}, &redacted); err != nil {
			t.Fatal(err)
		}
		if redacted.Schema != s.Schema || redacted.Version != s.Version {
			t.Errorf("a host is named snapshot: %q, %q", redacted.Schema, redacted.Version)
		}
		lines := redacted.State.Log.Lines
		for _, secret := range test.secrets {
			if strings.Contains(lines[0].Text, secret) {
				t.Errorf("%q is left of %q: %q", secret, test.text, lines[0].Text)
			}
		}
		for _, kept := range test.kept {
			if !strings.Contains(lines[0].Text, kept) {
				t.Errorf("%q has no %q: %q", test.text, kept, lines[0].Text)
			}
		}
		if lines[0].Text != lines[1].Text {
			t.Errorf("%q and %q", lines[0].Text, lines[1].Text)
		}
	}
	r := redactor{key: [32]byte{3}}
	plain := strings.NewReplacer(":", "", "-", "", ".", "")
	if a, b, c := r.text("52:54:00:12:34:56"), r.text("5254.0012.3456"),
		r.text("52-54-00-12-34-56"); plain.Replace(a) != plain.Replace(b) || plain.Replace(a) != plain.Replace(c) {
		t.Errorf("one address is %s, %s and %s", a, b, c)
	}
}

// TestNamesStay: names of interfaces, files, kernels and parameters and keywords stay, though hosts,
// domains and neighbours have the same ones; and a diagnosis finds the same afterwards.
func TestNamesStay(t *testing.T) {
	at := func(host, port string, n int) netstate.HostSnapshot {
		s := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Host: netstate.HostEnvironment{Host: host,
			Kernel: "6.6.87.2-4-pve"}, Reading: netstate.HostReading{Host: host}}
		s.Reading.Snapshot.Sysctls = map[string]string{}
		for i, name := range []string{port, "br-lan", "lan.7", "s1-eth0"} {
			s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
				netstate.InterfaceSnapshot{Interface: name, Kind: "bridge", MAC: fmt.Sprintf("02:00:00:00:%02x:%02x", n,
					i), MTU: 1500, Up: true, Addresses: []string{fmt.Sprintf("192.0.2.%d/24", n+i)}})
			key := strings.ReplaceAll(name, ".", "/")
			s.Reading.Snapshot.Sysctls["net.ipv4.conf."+key+".rp_filter"] = "1"
			s.Reading.Snapshot.Routes = append(s.Reading.Snapshot.Routes,
				netstate.ParseRoute(255, fmt.Sprintf("192.0.2.%d/32", n+i),
					fmt.Sprintf("local 192.0.2.%d dev %s proto kernel scope host src 192.0.2.%d", n+i,
						name, n+i)))
		}
		s.State.FirstNamespace = true
		s.State.Parameters = map[string]string{"net.core.rmem_max": "212992",
			"net.ipv4.tcp_congestion_control": "cubic"}
		s.State.Files = []netstate.ParameterLine{{File: "/etc/sysctl.d/90-core.conf", Line: 1, Key: "net.core.rmem_max",
			Value: "4194304"}, {File: "/etc/sysctl.d/local.conf", Line: 1, Key: "kernel.hostname", Value: host}}
		s.State.Resolver = &netstate.Resolver{Search: []string{"lan", "local"}}
		s.State.LLDP = []netstate.LLDPNeighbour{{Interface: port, System: "core", Chassis: "eth0",
			PortDescription: "eth0", MFS: 1200}, {Interface: port, System: "bridge", Chassis: "tcp"}}
		s.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:22"}}
		s.State.Log = &netstate.KernelLog{
			Lines: []netstate.LogLine{
				{Text: "br-lan: port 1(s1-eth0), lan.7, eth0 of core: net.core.rmem_max by pve.lan, 6.8.12-4-pve"},
				{Text: "page allocation failure"}}}
		for _, part := range []string{"parameters", "parameter files", "lldp", "kernel log", "sockets"} {
			s.State.Parts = append(s.State.Parts, netstate.StatePart{Part: part})
		}
		return s
	}
	ids := func(list []netstate.HostSnapshot) (ids []string) {
		for _, f := range diagnose.Hosts(list).Findings {
			ids = append(ids, f.ID)
		}
		slices.Sort(ids)
		return ids
	}
	before := []netstate.HostSnapshot{at("pve", "enp1s0", 10), at("s1", "eth0", 20)}
	before[1].State.Resolver.Search = []string{"corp.example"}
	before[0].State.Log.Lines[1].Text += " of vault.corp.example"
	after := slices.Clone(before)
	if err := Snapshots([32]byte{5}, &after[0], &after[1]); err != nil {
		t.Fatal(err)
	}
	if want, got := ids(before), ids(after); !slices.Equal(got, want) || !slices.Contains(want, "strict-rp-filter") ||
		!slices.Contains(want, "parameter-not-applied") || !slices.Contains(want, "fault-logged") ||
		!slices.Contains(want, "lldp-mtu") {
		t.Errorf("found %q, and before %q", got, want)
	}
	for i, s := range after {
		for n, was := range before[i].Reading.Snapshot.Interfaces {
			r := s.Reading.Snapshot.Routes[n]
			route := r.Text
			if is := s.Reading.Snapshot.Interfaces[n]; is.Interface != was.Interface || is.Kind != was.Kind ||
				!strings.HasPrefix(route, "local ") || r.Type != "local" || r.Protocol != "kernel" ||
				!strings.Contains(route, " dev "+was.Interface+" proto kernel scope host ") {
				t.Errorf("%+v, %q", is, route)
			}
		}
		if !maps.Equal(s.Reading.Snapshot.Sysctls, before[i].Reading.Snapshot.Sysctls) ||
			!maps.Equal(s.State.Parameters, before[i].State.Parameters) ||
			s.State.Files[0] != before[i].State.Files[0] || s.State.Files[1].File != "/etc/sysctl.d/local.conf" ||
			s.Host.Kernel != "6.6.87.2-4-pve" || s.State.Listeners[0].Protocol != "tcp" {
			t.Errorf("%+v, %+v", s.State, s.Reading.Snapshot)
		}
		if l := s.State.LLDP[0]; !strings.HasPrefix(l.System, "host") || l.PortDescription != "eth0" ||
			s.State.Files[1].Value != s.Host.Host ||
			s.State.Log.Lines[0].Text !=
				"br-lan: port 1(s1-eth0), lan.7, eth0 of "+l.System+
					": net.core.rmem_max by host1.domain1, 6.8.12-4-pve" {
			t.Errorf("%+v, %+v, %+v", s.State.LLDP, s.State.Files, s.State.Log)
		}
	}
	if text := after[0].State.Log.Lines[1].Text; !strings.HasSuffix(text, "vault.domain3") {
		t.Errorf("a domain that only a later snapshot has is left: %q", text)
	}
}

// TestManyNames: the time for a text hardly depends on how many names there are: neighbours choose them.
func TestManyNames(t *testing.T) {
	took := func(names int) time.Duration {
		var s netstate.HostSnapshot
		for n := range names {
			s.State.LLDP = append(s.State.LLDP, netstate.LLDPNeighbour{System: fmt.Sprintf("sw-%d.corp.example", n)})
		}
		s.State.Log = &netstate.KernelLog{}
		for range 50 {
			s.State.Log.Lines = append(s.State.Log.Lines,
				netstate.LogLine{Text: strings.Repeat("eth0: link of sw-0.corp.example is up ", 20)})
		}
		least := time.Duration(math.MaxInt64)
		for range 3 {
			redacted, began := s, time.Now()
			if err := Snapshots([32]byte{}, &redacted); err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(began))
		}
		return least
	}
	if few, many := took(4), took(768); many > 8*few {
		t.Errorf("%s with 4 names, and %s with 768", few, many)
	}
}
