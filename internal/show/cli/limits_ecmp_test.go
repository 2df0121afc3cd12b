package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"linerate/internal/science/ecmp"
)

func ecmpRun(args string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = Main(append([]string{"limits", "ecmp"}, strings.Fields(args)...), strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

func TestLimitsECMP(t *testing.T) {
	for _, test := range []struct {
		args           string
		expected, idle float64
		carry, all     int
		drawn          bool
	}{
		{"--flows 3", 1.75e9, 0.25, 5, 6, false},
		{"--flows 40 --policy 0", 1e9, 1, 5, 6, false},
		{"--flows 40 --policy l3 --pairs 3", 1.75e9, 0.25, 0, 6, true}, // 14, 13 and 13 flows: the busiest is drawn
		{"--flows 40 --policy custom --fields 0x37", 2e9, 0, 5, 6, false},
		{"--flows 40 --policy 3 --fields 0x20", 1e9, 1, 5, 6, false},
		{"--flows 2 --rate 1gbit,3gbit --weights 1,3", 1e9*(1-9./16) + 3e9*(1-1./16), 10. / 16, 6, 11, false},
		{"--links 4 --flows 32x10mbit --target 99%", 320e6, 4*math.Pow(0.75, 32) - 6*math.Pow(0.5, 32), 0, 21, false},
		{"--links 2 --flows 1x200mbit,1x300mbit", 500e6, 0.5, 0, 6, true},
		{"--links 2 --flows 3 --tiers 2 --second-rate 500mbit", 2 * (0.375*0.5e9 + 0.375*0.75e9 + 0.125*0.875e9), 0.25,
			0, 6, true},
	} {
		status, out, errs := ecmpRun(test.args + " --json")
		var l ecmp.Forecast
		if err := json.Unmarshal([]byte(out), &l); err != nil || status != ExitOK || errs != "" ||
			l.Schema != "linerate.limits.ecmp/v1" {
			t.Errorf("%s: status %d, %v, %s", test.args, status, err, errs)
			continue
		}
		if math.Abs(l.ExpectedBps/test.expected-1) > 1e-9 || math.Abs(l.SomeIdle-test.idle) > 1e-9 ||
			len(l.Drawn) > 0 != test.drawn {
			t.Errorf("%s: %.6g bit/s, %.4g idle, drawn %q; want %.6g, %.4g", test.args, l.ExpectedBps, l.SomeIdle,
				l.Drawn, test.expected, test.idle)
		}
		// Enough of 10 Mbit/s for four links takes as many as there is room for.
		if test.carry > 0 && l.NeededCarry != test.carry || l.NeededAll != test.all {
			t.Errorf("%s: %d flows carry the target, %d use all links; want %d, %d", test.args, l.NeededCarry,
				l.NeededAll, test.carry, test.all)
		}
	}
	for args, want := range map[string][]string{
		"--flows 3": {"3 flows on 2 links of 1 Gbit/s carry 1.75 Gbit/s on average, 87.5 % of the\n2 Gbit/s that even",
			"carried        1 Gbit/s in 25 % of the cases", "75 % of the flows", "  exact          all figures"},
		"--links 4 --flows 1": {
			"1 flow on 4 links of 1 Gbit/s carries 1 Gbit/s on average, 100 % of the 1 Gbit/s\nthat even spreading"},
		"--flows 8 --policy l3 --pairs 2": {
			"0 hashes addresses: 2 groups of flows, each on one link; with\n                 policy 1 (--policy " +
				"l4) the flows would carry 1.992 Gbit/s",
			"pairs of addresses fill 95 %"},
		"--links 2 --weights 1,3 --flows 4": {"idle  carries on average", "31.6 %        683.6 Mbit/s"},
		"--links 4 --flows 64 --tiers 2 --second-rate 250mbit": {
			"second tier                 15.74 of 16          4 of 16",
			"carried on average          3.936 Gbit/s         1 Gbit/s", "(polarisation): 12 links of"},
		"--links 4 --flows 2000 --hosts 64": {"2000 flows among 64 hosts carry",
			"16 leaves, 4 spines", "leaf to spine     128"},
		"--links 4 --flows 500x1mbit --hosts 64 --tiers 2 --pairs 100": {"16 leaves in 4 pods, 16 spines, 16 cores",
			"links, one seed", "own seeds"},
	} {
		status, out, errs := ecmpRun(args)
		if status != ExitOK || errs != "" {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%s: no %q in\n%s", args, text, out)
			}
		}
		for _, line := range strings.Split(out, "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: more than 80 columns: %s", args, line)
			}
		}
	}
}

// TestLimitsECMPSeed: the same words give the same answer, another seed another.
func TestLimitsECMPSeed(t *testing.T) {
	const args = "--links 4 --flows 1000 --hosts 64 --tiers 2 --json"
	_, first, _ := ecmpRun(args)
	_, again, _ := ecmpRun(args)
	_, other, _ := ecmpRun(args + " --seed 2")
	if first != again || first == other {
		t.Errorf("%s\n%s\n%s", first, again, other)
	}
	var l ecmp.FabricForecast
	if err := json.Unmarshal([]byte(first), &l); err != nil || l.Leaves != 16 || l.Cores != 16 || l.Replicates != 100 ||
		l.OneSeed == nil ||
		l.ExpectedBps <= l.OneSeed.Flow.MostBps || l.ExpectedBps > l.LimitBps*1.01 ||
		l.OneSeed.Flow.P50Bps >= l.Flow.P50Bps || len(l.PerTier) != 3 {
		t.Errorf("%v, %s", err, first)
	}
}

func TestLimitsECMPRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--hosts 9":                              "--hosts: expected --flows, too",
		"--flows 0":                              `--flows: "0": expected a number`,
		"--flows 3x":                             `--flows: "3x": "" is not a bit rate`,
		"--flows 3x0bit":                         "is not a bit rate",
		"--flows 9999999,9999999":                "19999998 together: expected at most 10000000",
		"--flows 3 --links 0":                    "--links 0: expected 1 to 4096",
		"--flows 3 --policy l5":                  "expected 0 to 3, l3, l4, inner or custom",
		"--flows 3 --policy 4":                   "expected 0 to 3",
		"--flows 3 --fields 7":                   "--fields is for --policy custom",
		"--flows 3 --policy 3 --fields ports":    "expected a number such as 0x37",
		"--flows 3 --rate 1gbit,2gbit,3gbit":     "--rate has 3 rates: expected one, or one for each of 2 links",
		"--flows 3 --rate fast":                  "--rate:",
		"--flows 3 --weights 1":                  "--weights has 1 weights",
		"--flows 3 --weights 1,0":                `--weights: "0": expected a whole number`,
		"--flows 3 --pairs 0":                    "--pairs 0: expected at least 1",
		"--flows 3 --tiers 3":                    "--tiers 3: expected 1 to 2",
		"--flows 3 --second-links 2":             "--second-links is for --tiers 2",
		"--flows 3 --tiers 2 --second-links 0":   "--second-links 0 behind each",
		"--flows 3 --hosts 1":                    "1 hosts: expected 2 to 1000000",
		"--flows 3 --host-rate 1gbit":            "--host-rate is for --hosts",
		"--flows 3 --hosts 9 --sizes lognormal":  "shape 0 of lognormal",
		"--flows 3 --hosts 9 --sizes pareto:2":   "--sizes and --target are for one sender",
		"--flows 3 --sizes pareto:x":             `"x" is not a number`,
		"--flows 3 --sizes normal:1":             `no law "normal"`,
		"--flows 3x1mbit --sizes pareto:2":       "--sizes is for flows that take what they get",
		"--flows 3 --target 100%":                "--target 100%: expected more than 0 and less",
		"--flows 3 --replicates -1":              "--replicates -1: expected",
		"--flows 3 --seed many":                  `--seed "many": expected a whole number`,
		"--links 0 --tiers 9":                    "--tiers 9: expected 1 to 2", // all at once
		"--flows 3 --hosts 9 --hosts-per-leaf 0": "0 hosts per leaf: expected",
	} {
		if status, out, errs := ecmpRun(args); status != ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errs, want)
		}
	}
}

// TestLimitsBond: asked for a bond, the answer has a bond's policies and their names.
func TestLimitsBond(t *testing.T) {
	for args, want := range map[string]string{
		"":                                      "xmit_hash_policy layer3+4 hashes",
		"--flows 3":                             "layer3+4, ports too; with layer2, Linux's default",
		"--policy layer2":                       "xmit_hash_policy layer2, Linux's default, hashes MAC addresses",
		"--links 4 --policy LAYER2+3":           "xmit_hash_policy layer2+3 hashes MAC",
		"--flows 6 --policy layer2+3 --pairs 3": "layer2+3 hashes addresses: 3 groups of flows",
		"--flows 6 --policy layer2 --pairs 3":   "layer2 hashes MAC addresses, as many pairs as --pairs: 3",
	} {
		var out, errs bytes.Buffer
		status := Main(append([]string{"limits", "bond"}, strings.Fields(args)...), strings.NewReader(""), &out, &errs)
		if text := strings.Join(strings.Fields(out.String()), " "); status != ExitOK || !strings.Contains(text, want) ||
			strings.Contains(text, "fib_multipath") {
			t.Errorf("%q: status %d, %s%s, want %q", args, status, text, errs.String(), want)
		}
	}
	// The policies of routes are none of a bond, whose members would not go by them.
	for verb, want := range map[string]string{
		"bond": "is the hash policy of routes (limits ecmp): expected that of a bond, layer2, layer2+3 or layer3+4",
		"ecmp": "is the hash policy of a bond (limits bond): expected 0 to 3"} {
		for _, policy := range map[string][]string{"bond": {"l3", "l4", "0", "1"},
			"ecmp": {"layer2", "layer3+4"}}[verb] {
			var out, errs bytes.Buffer
			status := Main([]string{"limits", verb, "--policy", policy}, strings.NewReader(""), &out, &errs)
			if text := strings.Join(strings.Fields(errs.String()), " "); status != ExitUsage ||
				!strings.Contains(text, want) {
				t.Errorf("limits %s --policy %s: status %d, %s", verb, policy, status, text)
			}
		}
	}
}

// TestECMPDocument: the outputs in the document are those of the commands above them, line by
// line; … stands for lines that are left out.
func TestECMPDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/ecmp.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for part := range strings.SplitSeq(string(text), "```") {
		args, shown, is := strings.Cut(strings.TrimPrefix(part, "\n$ linerate limits ecmp "), "\n")
		if !is || !strings.HasPrefix(part, "\n$ linerate limits ecmp ") {
			continue
		}
		found++
		_, out, errs := ecmpRun(args)
		for line := range strings.Lines(shown) {
			if line = strings.TrimSpace(line); line != "…" && !strings.Contains(out, line) {
				t.Errorf("limits ecmp %s: no %q in\n%s%s", args, line, out, errs)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d outputs, want 2", found)
	}
}
