//go:build linux && !portable

package apply

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// TestNFT: what nft refuses leaves nothing behind and says why; a chain of thousands of rules,
// two chains at one hook, and a table of the same name that is there already.
func TestNFT(t *testing.T) {
	if _, err := exec.LookPath("nft"); err != nil {
		kerneltest.Skip(t, "nft is not installed")
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		m := open(t, "")
		ruleset := func() string { return kerneltest.Do(t, "nft", "list", "ruleset") }
		make := func(chains ...setting.NFT) error {
			var list []setting.Setting
			for _, c := range chains {
				list = append(list, setting.Setting{Host: "nas", NFT: &c})
			}
			_, _, err := applySettings(m, t.Context(), list, false)
			return err
		}
		for rules, want := range map[string]string{
			"ip saddr 1.2.3.4 dorp":                       "syntax error",
			"tcp dport 80 accept; delete table inet x":    "without ;",
			"accept\nflush ruleset":                       "on one line",
			"ip saddr { 1.2.3.4 accept":                   "no partner",
			"ip saddr 1.2.3.4 accept } \" chain x { drop": "no partner",
			"} chain y {":                                 "no partner",
			"ct state established accept # all of them":   "without #",
		} {
			if err := make(setting.NFT{Hook: "input", Rules: []string{rules}}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", rules, err, want)
			}
		}
		if text := ruleset(); text != "" {
			t.Fatalf("after refusals:\n%s", text)
		}
		var many []string
		for i := range 3000 {
			many = append(many, fmt.Sprintf("ip saddr 198.18.%d.%d drop", i/250, i%250))
		}
		if err := make(setting.NFT{Hook: "forward", Rules: many}, setting.NFT{Hook: "forward", Priority: 10,
			Policy: "drop"}); err != nil {
			t.Fatal(err)
		}
		if text := ruleset(); strings.Count(text, "drop\n") != len(many) ||
			!strings.Contains(text, "priority filter + 10; policy drop") {
			t.Errorf("%d rules in\n%.2000s", strings.Count(text, "drop\n"), text)
		}
		if err := make(setting.NFT{Hook: "forward", Policy: "drop"}); err == nil ||
			!strings.Contains(err.Error(), "already") {
			t.Errorf("a second table of the name: %v", err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		if text := ruleset(); text != "" {
			t.Errorf("after the undo:\n%.2000s", text)
		}
	})
}

// TestManyRoutes: 65,536 routes, of which another program has removed some, and
// a run of which one exists already.
func TestManyRoutes(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		count := func() int {
			return strings.Count(kerneltest.Do(t, "ip", "route", "show", "table", "main"), "via 10.1.0.9")
		}
		before := count()
		run := setting.Setting{Host: "nas", Route: &setting.Route{To: "20.0.0.0/24", Via: "10.1.0.9", Count: 1 << 16}}
		if _, _, err := applySettings(m, t.Context(), []setting.Setting{run}, false); err != nil {
			t.Fatal(err)
		}
		if n := count() - before; n != 1<<16 {
			t.Errorf("%d routes", n)
		}
		kerneltest.Do(t, "ip", "route", "del", "20.1.2.0/24")
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		if n := count() - before; n != 0 {
			t.Errorf("%d routes are left", n)
		}
		kerneltest.Do(t, "ip", "route", "add", "20.0.3.0/24", "via", "10.1.0.9")
		if _, _, err := applySettings(m, t.Context(), []setting.Setting{run}, false); err == nil ||
			!strings.Contains(err.Error(), "1 of 65536 present") {
			t.Errorf("one is there already: %v", err)
		}
		if n := count() - before; n != 1 {
			t.Errorf("%d routes are left", n)
		}
	})
}
