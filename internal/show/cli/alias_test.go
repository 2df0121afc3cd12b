package cli

import (
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestAliasFlags: every mistake is reported, and a range is as many addresses.
func TestAliasFlags(t *testing.T) {
	for text, want := range map[string]string{
		"eth0=10.0.0.1/24":                       "1",
		"eth0=10.0.0.1-254/24":                   "254",
		"eth0=10.{0..1}.0.1-10/8":                "20",
		"eth0=fd00::1-ff/64":                     "255",
		"eth0=10.0.0.1-10.0.234.0/8":             "59904",
		"10.0.0.1/24":                            "expected INTERFACE=ADDRESSES/LENGTH",
		"=10.0.0.1/24":                           "expected INTERFACE=ADDRESSES/LENGTH",
		"eth0=10.0.0.1":                          "prefix length is missing",
		"eth0=10.0.0.%d/24":                      "192.168.2.1-254/24",
		"eth0=10.0.0.{1..3/24":                   "brace",
		"eth0=10.0.0.{1..2}-3/24":                "10.0.0.2 is given twice",
		"eth0=10.0-1.0.{0..2}/8":                 "not an address of an interface",
		"eth0=10.{0..1}.0.1-10.{0..1}.255.255/8": "more than 65536",
	} {
		f := aliasFlags{texts: []string{text}}
		problems := f.parse()
		var said strings.Builder
		for _, p := range problems {
			said.WriteString(p.Error())
		}
		if len(problems) == 0 {
			if got := len(f.addresses()); strings.Trim(want, "0123456789") != "" || want != strconv.Itoa(got) {
				t.Errorf("%s: %d addresses, want %s", text, got, want)
			}
		} else if !strings.Contains(said.String(), want) {
			t.Errorf("%s: %s, want %s", text, said.String(), want)
		}
	}
}

// TestServeAliases: a server listens at its aliases one by one, and grants as many
// flows.
func TestServeAliases(t *testing.T) {
	parse := func(args ...string) (*serveFlags, int, error) {
		var f serveFlags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.define(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		o, err := f.options()
		return &f, o.Bounds.Flows, err
	}
	f, flows, err := parse("--alias", "eth0=10.0.2.1-254/24")
	if err != nil || len(f.addresses) != 254 || f.addresses[253] != "10.0.2.254:5202" || flows != 254 {
		t.Errorf("%d addresses, %d flows, %v", len(f.addresses), flows, err)
	}
	f, flows, err = parse("--alias", "eth0=10.0.2.1-254/24", "--listen", ":5300", "--max-flows", "3")
	if err != nil || len(f.addresses) != 1 || flows != 3 {
		t.Errorf("%d addresses, %d flows, %v", len(f.addresses), flows, err)
	}
	f, flows, err = parse("--listen", "192.168.2.1-3:7000", "--listen", "[fd00::1-2]:{7000..7001}")
	if err != nil || strings.Join(f.addresses,
		" ") != "192.168.2.1:7000 192.168.2.2:7000 192.168.2.3:7000 [fd00::1]:7000 [fd00::2]:7000 [fd00::1]:7001 "+
		"[fd00::2]:7001" || flows != 128 {
		t.Errorf("%v, %d flows, %v", f.addresses, flows, err)
	}
	if _, _, err = parse("--alias", "eth0=10.0.0.1-10.0.8.0/8"); err == nil ||
		!strings.Contains(err.Error(), "--listen :5202 listens on all addresses with one") {
		t.Errorf("too many to listen at: %v", err)
	}
	if _, _, err = parse("--listen", "192.168.2.%d:5202"); err == nil ||
		!strings.Contains(err.Error(), "192.168.2.{1..254}:5202") {
		t.Errorf("a template: %v", err)
	}
}
