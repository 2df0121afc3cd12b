//go:build linux && !portable

package apply

import (
	"regexp"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
)

// handle is the number that a qdisc got.
var handle = regexp.MustCompile(`(qdisc [a-z_]+ )[0-9a-f]+:`)

// TestCommands: the commands of package hostconfig leave a host as the settings do that
// they spell, by all that other tools can see.
func TestCommands(t *testing.T) {
	for name, s := range everyKind() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each in a namespace of its own
			if s.Address != nil && s.Address.Number() > 1 {
				s.Address = &setting.Address{Interface: s.Address.Interface, Address: s.Address.Address, Count: 3}
			}
			if s.Route != nil && s.Route.Number() > 1 {
				few := *s.Route
				few.Count = 3
				s.Route = &few
			}
			kerneltest.InNamespace(t, func(t *testing.T) {
				scene(t)
				m := open(t, "")
				if _, _, err := applySettings(m, t.Context(), []setting.Setting{s}, false); err != nil {
					t.Fatal(err)
				}
				want := look(t)
				wantSizes, err := packetSizes("eth0")
				if err != nil {
					t.Fatal(err)
				}
				if err := m.RevertTo(0); err != nil {
					t.Fatal(err)
				}
				// Before iproute2 6.3, ip(8) neither sets nor shows sizes of IPv4.
				old := !strings.Contains(kerneltest.Do(t, "ip", "-d", "link", "show", "dev", "lo"), "gso_ipv4_max_size")
				for _, command := range hostconfig.Commands([]setting.Setting{s}) {
					t.Log(command)
					if old && strings.Contains(command, "_ipv4_max_size") {
						wantSizes.GSOIPv4, wantSizes.GROIPv4 = setting.LegacyPacketSize, setting.LegacyPacketSize
						continue
					}
					kerneltest.Do(t, "sh", "-c", command)
				}
				// linerate calls its routes static, and restores neighbours that a new MAC address
				// removes; commands do neither.
				plain := func(text string) string {
					text = handle.ReplaceAllString(strings.ReplaceAll(text, " proto static", ""), "$1")
					if s.Link != nil && (s.Link.MAC != "" || s.Link.Up != nil || s.Link.MTU != 0) {
						text, _, _ = strings.Cut(text, "# route show")
					}
					return text
				}
				if diff := differences(plain(want), plain(look(t))); diff != "" {
					t.Errorf("before is by the settings, after by the commands:\n%s", diff)
				}
				if sizes, err := packetSizes("eth0"); err != nil || sizes != wantSizes {
					t.Errorf("packets by the commands: %+v (%v), by the settings: %+v", sizes, err, wantSizes)
				}
			})
		})
	}
}
