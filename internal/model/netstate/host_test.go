package netstate

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseHostSnapshot(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas"}}`: "",
		``:                                  "expected a snapshot",
		`[]`:                                "expected a snapshot",
		`{"schema":"linerate.run/v2"}`:      `its schema is "linerate.run/v2"`,
		`{"schema":"linerate.snapshot/v1"}`: "names no host",
		`{"schema":"linerate.snapshot/v1","over_s":-1,"reading":{"host":"nas"}}`:                              "over_s is -1",
		`{"schema":"linerate.snapshot/v1","over_s":1e300,"reading":{"host":"nas"}}`:                           "over_s is 1e+300",
		`{"schema":"linerate.snapshot/v1","state":{"nics":7},"reading":{"host":"nas"}}`:                       "cannot unmarshal",
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas","begin":{"began_ns":9,"interfaces":[{}]}}}`: "from before the first",
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas"},"state":{"kernel_drops":{"rows":[` +
			strings.Repeat("{},", MostKernelDrops) + `{}]}}}`: "513 kinds of drops",
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas","snapshot":{"interfaces":[{"interface":"eth0;reboot","mac":"","addresses":null}]}}}`:      `interfaces[0].interface is "eth0;reboot": expected the name of an interface`,
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas","snapshot":{"neighbours":[{"interface":"eth0","address":"$(reboot)"}]}}}`:                 `neighbours[0].address is "$(reboot)": expected an IP address`,
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas"},"state":{"nftables":{"rules":[{"family":"ip","table":"a'b","chain":"c"}]}}}`:             "rules[0].table is \"a'b\": expected a name",
		`{"schema":"linerate.snapshot/v1","reading":{"host":"nas","snapshot":{"interfaces":[{"interface":"eth0.5@if7","addresses":["fe80::1%eth0/64"]}]}}}`: "",
	} {
		_, err := ParseHostSnapshot([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzParseHostSnapshot: what is parsed is written and parsed as the same.
func FuzzParseHostSnapshot(f *testing.F) {
	f.Add(
		[]byte(`{"schema":"linerate.snapshot/v1","over_s":3,"reading":{"host":"nas","snapshot":{"interfaces":[{"interface":"eth0","addresses":["192.0.2.1/24"]}]}},"state":{"nics":[{"interface":"eth0"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseHostSnapshot(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseHostSnapshot(again); err != nil {
			t.Fatalf("%v: %s", err, again)
		}
	})
}
