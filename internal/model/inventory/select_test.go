package inventory

import (
	"os"
	"strings"
	"testing"
)

// TestSelect: a selection has the hosts of its terms, in the order of the inventory.
func TestSelect(t *testing.T) {
	inv := sample(t)
	for text, want := range map[string]string{
		"":                      "web01 web02 web03 gpua.example.org gpub.example.org gpuc.example.org vm1 vm2 nas here drained1",
		"all":                   "web01 web02 web03 gpua.example.org gpub.example.org gpuc.example.org vm1 vm2 nas here drained1",
		"nas,web02":             "web02 nas",
		"web":                   "web01 web02 web03",
		"web[01-02]":            "web01 web02",
		"web[01:03:2]":          "web01 web03",
		"*.example.org":         "gpua.example.org gpub.example.org gpuc.example.org",
		"vm?,d*":                "web01 web02 web03 vm1 vm2 drained1", // dc1, drained are groups
		"web,!drained":          "web01 web02",
		"!drained,web":          "web01 web02",
		"web:&dc1:!drained":     "web01 web02",
		"web:virtual":           "web01 web02 web03 vm1 vm2",
		"dc1,&kind=vm":          "vm1 vm2",
		"&dc1,!web":             "vm1 vm2",
		"rack=r1":               "web01 web02 web03",
		"rack=r*,&machine":      "vm1 vm2",
		"state":                 "web01 web02 web03",
		"rack=r[1-2]":           "web01 web02 web03 vm1 vm2",
		"!rack=r[2-9],!nas*":    "web01 web02 web03",
		"!drained1,!web[01-99]": "gpua.example.org gpub.example.org gpuc.example.org vm1 vm2 nas here",
	} {
		found, err := inv.Select(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var names []string
		for _, h := range found {
			names = append(names, h.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if found, err := inv.Select("web01", "nas,&all"); err != nil || len(found) != 2 {
		t.Errorf("two texts: %v, %v", found, err)
	}
	for text, want := range map[string]string{
		"wbe":        `nothing is called "wbe"; did you mean "web"?; there are the groups`,
		"web[01-04]": `nothing is called "web04"`,
		"!drianed":   `did you mean "drained"?`,
		"rak=r1":     `no host has a label "rak"; did you mean "rack"?`,
		"rack=r7":    "expected r1, r2 or r9",
		"web,&vm1":   `"web,&vm1" selects none of 11 hosts: there are the groups`,
		"web,!all":   "selects none of 11 hosts",
		"!&web":      "expected & or ! once",
		"~web.*":     "regular expressions are not read",
		"web[1":      "a bracket is not closed",
		"!":          "a term without a name",
		"[1-20000]":  "more than 10000 names",
	} {
		if found, err := inv.Select(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, found, err, want)
		}
	}
}

// sample is the inventory of testdata/hosts.yaml.
func sample(t *testing.T) *Inventory {
	t.Helper()
	text, err := os.ReadFile("testdata/hosts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inv, err := Read("hosts.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// TestExpand: ranges as SLURM and Ansible write them.
func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		"a":              "a",
		"a[1-3]":         "a1 a2 a3",
		"a[08-11,5]x":    "a08x a09x a10x a11x a5x",
		"a[0:6:3]":       "a0 a3 a6",
		"a[:2]":          "a0 a1 a2",
		"[a-c]1":         "a1 b1 c1",
		"[A:E:2]":        "A C E",
		"r[1-2]n[01-02]": "r1n01 r1n02 r2n01 r2n02",
		"a[1-9:4]":       "a1 a5 a9",
		"a[x,1]":         "",
		"a[1-]":          "", "a[-1]": "", "a[3-1]": "", "a[c-a]": "", "a[a-C]": "", "a]": "", "a[[1]]": "", "a[]": "",
		"a[1-3:0]": "", "a[1-10001]": "", "a[1-5000][1-5000]": "", "a[1-1000000000000]": "", "a[1:2:3:4]": "",
	} {
		got, err := Expand(text)
		if want == "" && text != "a[x,1]" && err == nil {
			t.Errorf("%q: %q", text, got)
		}
		if want != "" && strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %s", text, got, err, want)
		}
	}
}
