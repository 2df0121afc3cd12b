package hostconfig

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
)

// cells are the kinds of change, each with where its formats write it: k the format's own
// key, s /etc/sysctl.d, - the script. The columns are those of Formats.
func cells() []struct {
	name, places string
	s            setting.Setting
} {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	up := true
	return []struct {
		name, places string
		s            setting.Setting
	}{
		{"`sysctl`", "sssss", setting.Setting{
			Sysctl: []setting.Sysctl{{Key: "net.ipv4.tcp_rmem", Value: "4096 131072 16777216"}}}},
		{"`sysctl` of an interface", "sssss",
			setting.Setting{Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.eth0/7.rp_filter", Value: "2"}}}},
		{"`neighbour`", "--k-k",
			setting.Setting{Neighbour: &setting.Neighbour{Interface: "eth0", Address: addr("10.1.0.7"),
				LLAddr: "02:00:00:02:00:07"}}},
		{"`address`", "-kkkk", setting.Setting{Address: &setting.Address{Interface: "eth1",
			Address: prefix("10.2.0.20/24"), Count: 2}}},
		{"`route` on its link", "-kkkk", setting.Setting{Route: &setting.Route{To: "10.1.0.0/24", Interface: "eth0",
			Source: addr("10.1.0.1"), Table: 101}}},
		{"`route` by a next hop", "-kkkk", setting.Setting{Route: &setting.Route{To: "default", Via: "10.2.0.9",
			Metric: 7, InitCwnd: 40}}},
		{"`route` by `inet6`", "--k-k", setting.Setting{Route: &setting.Route{To: "10.68.0.0/16", Via: "inet6 fe80::1",
			Interface: "eth1"}}},
		{"`route` by several next hops", "--k-k",
			setting.Setting{Route: &setting.Route{To: "10.67.0.0/16",
				Nexthops: []setting.Nexthop{{Via: "10.1.0.9", Weight: 3}, {Via: "10.2.0.9"}}}}},
		{"`route` by a nexthop object", "--k-k", setting.Setting{Route: &setting.Route{To: "10.69.0.0/16", Object: 3}}},
		{"`rule`", "-kkkk", setting.Setting{Rule: &setting.Rule{From: "10.1.0.1", Table: 101}}},
		{"`nft`", "-----", setting.Setting{
			NFT: &setting.NFT{Hook: "forward", Rules: []string{"ct state invalid drop"}}}},
		{"`nexthop`", "--k-k", setting.Setting{Nexthop: &setting.NexthopObject{ID: 1, Via: "10.1.0.9",
			Interface: "eth0"}}},
		{"`nexthop`, a group", "--k-k",
			setting.Setting{Nexthop: &setting.NexthopObject{ID: 3, Group: []setting.Member{{ID: 1, Weight: 2},
				{ID: 2}}}}},
		{"`nexthop`, a resilient group", "----k",
			setting.Setting{Nexthop: &setting.NexthopObject{ID: 4, Group: []setting.Member{{ID: 1}},
				Resilient: &setting.Resilient{Buckets: 32}}}},
		{"`link`: MTU", "-kkkk", setting.Setting{Link: &setting.Link{Interface: "eth0", MTU: 9000}}},
		{"`link`: MAC address", "-kkkk",
			setting.Setting{Link: &setting.Link{Interface: "eth0", MAC: "02:00:00:09:00:01"}}},
		{"`link`: queue length", "----k", setting.Setting{Link: &setting.Link{Interface: "eth0",
			TxQueueLen: new(5000)}}},
		{"`link`: largest packets", "----k",
			setting.Setting{Link: &setting.Link{Interface: "eth0", GSOMaxSize: 30_000}}},
		{"`link`: hash of a bond", "---kk",
			setting.Setting{Link: &setting.Link{Interface: "eth0", XmitHashPolicy: "layer3+4"}}},
		{"`link`: up or down", "--k-k", setting.Setting{Link: &setting.Link{Interface: "eth1", Up: &up}}},
		{"`qdisc`", "--k-k", setting.Setting{Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: 1e9,
			Burst: 256 << 10}}},
		{"`qdisc`: red, or a `limit` of sfq", "----k",
			setting.Setting{Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "red", Limit: 400_000}}},
		{"`nic`: features, rings, coalesce, pause", "---kk",
			setting.Setting{NIC: &setting.NIC{Interface: "eth0",
				Features: []setting.Option{{Key: "gro", Value: "off"}}}}},
		{"`nic`: channels, rss, queues, napi, irqs", "----k",
			setting.Setting{NIC: &setting.NIC{Interface: "eth0",
				Queues: []setting.Option{{Key: "rps_cpus", Value: "3"}}}}},
		{"`cpu`", "----k", setting.Setting{CPU: &setting.CPU{Governor: "performance"}}},
	}
}

func nas(settings ...setting.Setting) Host {
	return Host{Name: "nas", Settings: settings, Interfaces: []Interface{
		{"eth0", []netip.Prefix{netip.MustParsePrefix("10.1.0.1/24")}},
		{"eth1", []netip.Prefix{netip.MustParsePrefix("10.2.0.1/24")}}}}
}

// TestCells: each kind of change is in the place of its format that the table says, and
// nowhere else.
func TestCells(t *testing.T) {
	kinds := map[string]bool{}
	for _, cell := range cells() {
		kinds[cell.s.Kind()] = true
		for i, f := range Formats {
			c := f.Config(nas(cell.s), []string{"a head"})
			got := ""
			for _, file := range c.Files {
				switch file.Path {
				case sysctlPath:
					got += "s"
				case scriptPath:
					got += "-"
				case unitPath:
				default:
					got += "k"
				}
				if file.Path != unitPath && !strings.Contains(file.Text, "# a head\n") {
					t.Errorf("%s as %s: no head in %s:\n%s", cell.name, f.Name, file.Path, file.Text)
				}
			}
			if got != cell.places[i:i+1] {
				t.Errorf("%s as %s is in %q, want %q: %+v", cell.name, f.Name, got, cell.places[i:i+1], c.Files)
			}
			if noted := slices.Contains(c.Notes, sysctlNote); noted != (got == "s") {
				t.Errorf("%s as %s: a note on /etc/sysctl.conf: %v", cell.name, f.Name, noted)
			}
			if len(c.Apply) == 0 {
				t.Errorf("%s as %s: no word on how to put it into effect", cell.name, f.Name)
			}
		}
	}
	for _, kind := range setting.Kinds {
		if !kinds[kind] {
			t.Errorf("no cell for the kind %s", kind)
		}
	}
}

func all() (list []setting.Setting) {
	for _, cell := range cells() {
		list = append(list, cell.s)
	}
	return list
}

func text(t *testing.T, format string, path string) string {
	t.Helper()
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == format })
	files := Formats[i].Config(nas(all()...), nil).Files
	k := slices.IndexFunc(files, func(f File) bool { return f.Path == path })
	if k < 0 {
		t.Fatalf("%s has no %s: %+v", format, path, files)
	}
	return files[k].Text
}

// TestSysctlFile: the file for sysctl.d is read back as the same settings.
func TestSysctlFile(t *testing.T) {
	file := settingfile.Read("x.conf", []byte(text(t, "sysctl", sysctlPath)), opsystem.Linux)
	var got, want []string
	for _, l := range file.Lines {
		got = append(got, l.Key+"="+l.Value)
	}
	for _, s := range all() {
		for _, one := range s.Sysctl {
			want = append(want, one.Key+"="+one.Value)
		}
	}
	if !slices.Equal(got, want) || len(file.Apart) > 0 {
		t.Errorf("read back are %q and %v, want %q", got, file.Apart, want)
	}
}

// TestNetplan: the file is YAML that has netplan's keys alone.
func TestNetplan(t *testing.T) {
	type route struct {
		To, Via, From, Scope string
		Table, Metric        int
		Window               int `yaml:"congestion-window"`
	}
	type rule struct {
		From, To        string
		Table, Priority int
	}
	var file struct {
		Network struct {
			Version   int
			Ethernets map[string]struct {
				MTU        int
				MACAddress string `yaml:"macaddress"`
				Addresses  []string
				Routes     []route
				Policy     []rule `yaml:"routing-policy"`
			}
		}
	}
	made := text(t, "netplan", "etc/netplan/90-linerate.yaml")
	if err := yaml.NewDecoder(strings.NewReader(made), yaml.Strict()).Decode(&file); err != nil {
		t.Fatalf("%v\n%s", err, made)
	}
	n := file.Network
	eth0, eth1 := n.Ethernets["eth0"], n.Ethernets["eth1"]
	if n.Version != 2 || len(n.Ethernets) != 2 || eth0.MTU != 9000 || eth0.MACAddress != "02:00:00:09:00:01" ||
		!slices.Equal(eth1.Addresses, []string{"10.2.0.20/24", "10.2.0.21/24"}) ||
		!slices.Equal(eth0.Routes, []route{{To: "10.1.0.0/24", From: "10.1.0.1", Scope: "link", Table: 101}}) ||
		!slices.Equal(eth1.Routes, []route{{To: "default", Via: "10.2.0.9", Metric: 7, Window: 40}}) ||
		!slices.Equal(eth0.Policy, []rule{{From: "10.1.0.1", Table: 101, Priority: 1001}}) {
		t.Errorf("%+v\n%s", n, made)
	}
}

// TestNetworkd: each drop-in has sections and keys of systemd.network(5) alone.
func TestNetworkd(t *testing.T) {
	known := map[string]string{
		"Link": "MTUBytes MACAddress ActivationPolicy", "Address": "Address", "Neighbor": "Address LinkLayerAddress",
		"RoutingPolicyRule": "From To Table Priority", "NextHop": "Id Gateway Family Group",
		"Route": "Destination Gateway NextHop PreferredSource Table Metric Scope " +
			"InitialCongestionWindow MultiPathRoute",
		"TokenBucketFilter": "Parent Rate BurstBytes LimitBytes LatencySec",
	}
	for _, name := range []string{"eth0", "eth1"} {
		made, section := text(t, "systemd-networkd", "etc/systemd/network/"+name+".network.d/90-linerate.conf"), ""
		for line := range strings.Lines(made) {
			line = strings.TrimSpace(line)
			key, value, pair := strings.Cut(line, "=")
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '[':
				section = strings.Trim(line, "[]")
			case !pair || value == "" || !slices.Contains(strings.Fields(known[section]), key):
				t.Errorf("%s: [%s] %s", name, section, line)
			}
		}
	}
	for _, want := range []string{
		"[Route]\nDestination=10.67.0.0/16\nMultiPathRoute=10.1.0.9@eth0 3\nMultiPathRoute=10.2.0.9@eth1\n",
		"[Route]\nDestination=0.0.0.0/0\nGateway=10.2.0.9\nMetric=7\nInitialCongestionWindow=40\n",
		"[NextHop]\nId=3\nGroup=1:2 2\n",
	} {
		if made := text(t, "systemd-networkd",
			"etc/systemd/network/eth1.network.d/90-linerate.conf"); !strings.Contains(made, want) {
			t.Errorf("no %q in\n%s", want, made)
		}
	}
}

// TestScripts: nmcli's commands and ifupdown's stanzas.
func TestScripts(t *testing.T) {
	for _, test := range []struct{ format, path, want string }{
		{"networkmanager", nmcliPath, "connection=$(nmcli -g GENERAL.CONNECTION device show eth0)\n"},
		{"networkmanager", nmcliPath,
			`nmcli connection modify "$connection" +ipv4.routes '10.1.0.0/24 src=10.1.0.1 table=101'` + "\n"},
		{"networkmanager", nmcliPath, `+ipv4.routes '0.0.0.0/0 10.2.0.9 7 initcwnd=40'` + "\n"},
		{"networkmanager", nmcliPath, `+ipv4.routing-rules 'priority 32765 from 10.1.0.1 table 101'` + "\n"},
		{"networkmanager", scriptPath,
			"\nip neigh replace 10.1.0.7 lladdr 02:00:00:02:00:07 dev eth0 nud permanent || status=1\n"},
		{"ifupdown", ifupdownPath, "\niface eth0 inet manual\n    up ip neigh replace 10.1.0.7 "},
		{"ifupdown", ifupdownPath,
			"    up ip rule add from 10.1.0.1 lookup 101\n    down ip rule del from 10.1.0.1 lookup 101 || true\n"},
		{"sysctl", scriptPath,
			"\nip rule del from 10.1.0.1 lookup 101 2>/dev/null\nip rule add from 10.1.0.1 lookup 101 || status=1\n"},
	} {
		if made := text(t, test.format, test.path); !strings.Contains(made, test.want) {
			t.Errorf("no %q in %s:\n%s", test.want, test.path, made)
		}
	}
}

// TestDependent: a route by a nexthop object that only the script can make is made there,
// after it.
func TestDependent(t *testing.T) {
	h := nas(setting.Setting{Nexthop: &setting.NexthopObject{ID: 4, Group: []setting.Member{{ID: 1}},
		Resilient: &setting.Resilient{}}}, setting.Setting{Route: &setting.Route{To: "10.0.0.0/8", Object: 4}})
	files := Formats[2].Config(h, nil).Files
	if len(files) != 2 || !strings.Contains(files[0].Text,
		"type resilient || status=1\nip route replace 10.0.0.0/8 nhid 4 || status=1\n") {
		t.Errorf("%+v", files)
	}
}

// TestPacketSizes: no command has words for both address families, and one of IPv4 is there
// only where the kernel does not set that size by itself.
func TestPacketSizes(t *testing.T) {
	got := Commands([]setting.Setting{{Link: &setting.Link{Interface: "eth0", GSOMaxSize: 65537, GROMaxSize: 65536}}})
	want := []string{"ip link set dev eth0 gso_max_size 65537", "ip link set dev eth0 gso_ipv4_max_size 65537",
		"ip link set dev eth0 gro_max_size 65536"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestQuoted: no value reaches a shell as more than a word.
func TestQuoted(t *testing.T) {
	got := Commands([]setting.Setting{{Sysctl: []setting.Sysctl{{Key: "net.x", Value: "1; rm -rf '/'"}}}})
	if want := `sysctl -w net.x='1; rm -rf '\''/'\'''`; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDocumented: the table in the document is that of cells. UPDATE_DOCS=1 writes it.
func TestDocumented(t *testing.T) {
	const page, begin, end = "../../../docs/fix.md", "<!-- formats -->\n", "<!-- /formats -->"
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(doc), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the table", page)
	}
	table := "\n| change |"
	for _, f := range Formats {
		table += " `" + f.Name + "` |"
	}
	table += "\n|---|" + strings.Repeat("---|", len(Formats)) + "\n"
	for _, cell := range cells() {
		table += "| " + cell.name + " |"
		for _, place := range cell.places {
			table += " " + map[rune]string{'k': "its own", 's': "`sysctl.d`", '-': "script"}[place] + " |"
		}
		table += "\n"
	}
	want := before + begin + table + end + after
	if want != string(doc) && os.Getenv("UPDATE_DOCS") != "" {
		err = os.WriteFile(page, []byte(want), 0o644)
	} else if want != string(doc) {
		t.Errorf("%s: the table is not that of cells (UPDATE_DOCS=1 writes it)", page)
	}
	if err != nil {
		t.Fatal(err)
	}
}
