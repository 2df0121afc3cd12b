package setting

import (
	"slices"
	"strings"
	"testing"
)

func TestNICCheck(t *testing.T) {
	option := func(key, value string) []Option { return []Option{{key, value}} }
	for _, test := range []struct {
		nic         NIC
		place, want string // want empty: it is right
	}{
		{NIC{Features: option("gro", "off")}, "", ""},
		{NIC{Features: option("tx-udp_tnl-segmentation", "on")}, "", ""},
		{NIC{Features: option("gro", "false")}, "features.gro", "on or off"},
		{NIC{Features: option("gro; reboot", "on")}, "features.gro; reboot", "not the name of a feature"},
		{NIC{Rings: option("rx", "4096")}, "", ""},
		{NIC{Rings: option("rx", "-1")}, "rings.rx", "a whole number"},
		{NIC{Rings: option("rxx", "1")}, "rings.rxx", `did you mean "rx"?`},
		{NIC{Channels: option("combined", "8")}, "", ""},
		{NIC{Coalesce: option("adaptive-rx", "off")}, "", ""},
		{NIC{Coalesce: option("adaptive-rx", "0")}, "coalesce.adaptive-rx", "on or off"},
		{NIC{RSS: option("table", "weight 6 2")}, "", ""},
		{NIC{RSS: option("table", "0*64 1*64")}, "", ""},
		{NIC{RSS: option("table", "equal")}, "rss.table", "equal N"},
		{NIC{RSS: option("table", "weight 0 0")}, "rss.table", "weight N"},
		{NIC{RSS: option("udp4", "sdfn")}, "", ""},
		{NIC{RSS: option("udp4", "sdx")}, "rss.udp4", "letters"},
		{NIC{Queues: option("rps_cpus", "ff")}, "", ""},
		{NIC{Queues: option("rx-0/rps_cpus", "00000001,ffffffff")}, "", ""},
		{NIC{Queues: option("rx-0/../../../mtu", "1")}, "queues.rx-0/../../../mtu", "queues has no"},
		{NIC{Queues: option("tx-0/rps_cpus", "1")}, "queues.tx-0/rps_cpus", "queues has no"},
		{NIC{Queues: option("rps_cpus", "0-3")}, "queues.rps_cpus", "hexadecimal"},
		{NIC{IRQs: option("smp_affinity_list", "0-3,8")}, "", ""},
		{NIC{IRQs: option("smp_affinity_list", "spread")}, "", ""},
		{NIC{IRQs: option("smp_affinity_list", "3-0")}, "irqs.smp_affinity_list", "list of CPUs"},
		{NIC{IRQs: option("../affinity", "1")}, "irqs.../affinity", "irqs has no"},
		{NIC{RSS: option("table", strings.Repeat("0 ", 16<<10))}, "rss.table", "equal N"},
		{NIC{}, "", "nothing to change"},
	} {
		place, why := test.nic.Check()
		if place != test.place || (why == "") != (test.want == "") || !strings.Contains(why, test.want) {
			t.Errorf("%+v: %q, %q; want %q, %q", test.nic, place, why, test.place, test.want)
		}
	}
}

// TestNICOptions: all options are listed, in the order in which they are applied, and each alone
// is one of the same place.
func TestNICOptions(t *testing.T) {
	n := NIC{Interface: "eth0", Queues: []Option{{"rps_cpus", "3"}}, Channels: []Option{{"rx", "2"}, {"tx", "2"}},
		Features: []Option{{"gro", "off"}}}
	var order []string
	for _, o := range n.Options() {
		order = append(order, o.Group+" "+o.Key)
		if one := n.With(o); one.Interface != "eth0" || !slices.Equal(one.Options(), []NICOption{o}) {
			t.Errorf("%+v alone is %+v", o, one)
		}
	}
	if want := []string{"features gro", "channels rx", "channels tx", "queues rps_cpus"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

func TestRSSTable(t *testing.T) {
	for text, want := range map[string]string{
		"equal 2": "equal 2", "0 1 0 1 0 1 0 1": "equal 2", "weight 3 1": "0*6 1*2", "weight 1 0 1": "0*4 2*4",
		"0*8":     "equal 1",
		"equal 0": "", "equal 2 3": "", "weight": "", "0*9": "", "0 1": "", "5000*8": "", "0*-8": "", "": "",
	} {
		table, err := RSSTable(text, 8)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", text, table, err)
			continue
		}
		if err != nil {
			continue
		}
		if got := RSSText(table); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again, err := RSSTable(want, 8); !slices.Equal(again, table) {
			t.Errorf("%q: %v again, %v", text, again, err)
		}
	}
}

func TestBitmapAndCPUs(t *testing.T) {
	for text, want := range map[string]string{"3": "3", "00000003": "3", "0": "0", "00000000,00000000": "0",
		"1,00000000": "1,00000000", "FF": "ff", "1,1": "1,00000001", "100000000": "1,00000000"} {
		if got := Bitmap(text); got != want {
			t.Errorf("Bitmap(%q) is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"0": "0", "0-3": "0-3", "3,1,2": "1-3", "0,2,4-5": "0,2,4-5", "1-": "",
		"-1": "", "9000": "", "": ""} {
		list, err := ParseCPUs(text)
		if got := CPUs(list); got != want || (err != nil) != (want == "") {
			t.Errorf("CPUs of %q are %q (%v), want %q", text, got, err, want)
		}
	}
}
