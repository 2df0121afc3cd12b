package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"linerate/internal/science/limits"
)

func limitsRun(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = Main(append([]string{"limits", "goodput"}, args...), strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

func TestLimitsGoodput(t *testing.T) {
	for _, test := range []struct {
		args    string
		goodput float64 // bit/s
	}{
		{"--rate 1gbit", 941.482e6},
		{"--rate 1gbit --shaped", 956.407e6},
		{"--rate 1gbit --timestamps=false", 949.285e6},
		{"--rate 10gbit --mtu 9000 --family ipv6 --vlan 2", 9869.556e6},
		{"--rate 100mbit --protocol udp", 95.709e6},
		{"--rate 1gbit --mss 1448", 941.022e6},
		{"--rate 1gbit --protocol udp --datagram 64", 1e9 * 64 / 130},
		{"--rate 1gbit --protocol udp --datagram 9000", 1e9 * 9000 / (9000 + 8 + 7*58)},
	} {
		status, out, errs := limitsRun(append(strings.Fields(test.args), "--json")...)
		var l limits.GoodputAnswer
		if err := json.Unmarshal([]byte(out), &l); err != nil || status != ExitOK || errs != "" {
			t.Errorf("%s: status %d, %v, %s", test.args, status, err, errs)
			continue
		}
		if math.Abs(l.GoodputBps/test.goodput-1) > 1e-5 || l.Schema != "linerate.limits.goodput/v1" {
			t.Errorf("%s: %s", test.args, out)
		}
	}
	_, out, _ := limitsRun("--rate", "1gbit", "--vlan", "1")
	for _, want := range []string{"1 Gbit/s carries at most 939 Mbit/s of payload (117.4 MB/s), 93.904 %.\n",
		"payload                            1448", "VLAN tags                             4",
		"together                           1542", "81,064 frames/s"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestLimitsGoodputRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--rate 1gigabit":              `"1gigabit" is not a bit rate`,
		"--family ip":                  `--family "ip": expected ipv4 or ipv6`,
		"--protocol sctp":              `--protocol "sctp": expected tcp or udp`,
		"--mtu 20":                     "--mtu 20: expected 68 to 65535",
		"--mtu 68 --family ipv6":       "IPv6 needs at least 1280 bytes",
		"--vlan 3":                     "--vlan 3: expected 0 to 2",
		"--mss 5":                      "nothing is left for payload",
		"--mss -1":                     "--mss -1: expected",
		"--datagram 64":                "--datagram is for --protocol udp",
		"--protocol udp --datagram -1": "datagrams of -1 bytes: expected at most 65507",
		"--rate 1gbit more":            `unexpected argument "more"`,
		"--shaped --lightspeed":        "unknown flag",
		"--rate 1gbit --mtu many":      "--mtu many: expected a whole number, 68 to 65535",
	} {
		if status, out, errs := limitsRun(strings.Fields(args)...); status != ExitUsage || out != "" ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errs, want)
		}
	}
}
