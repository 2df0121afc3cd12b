package proc

import (
	"maps"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	got, err := parseConfig(
		strings.NewReader("#\n# Linux/x86 6.1.0 Kernel Configuration\n#\nCONFIG_NET_SCHED=y\nCONFIG_NET_SCH_FQ=m\n" +
			"# CONFIG_NET_SCH_CAKE is not set\nCONFIG_DEFAULT_TCP_CONG=\"cubic\"\nCONFIG_HZ=250\n\n"))
	want := map[string]bool{"CONFIG_NET_SCHED": true, "CONFIG_NET_SCH_FQ": true, "CONFIG_NET_SCH_CAKE": false,
		"CONFIG_DEFAULT_TCP_CONG": false, "CONFIG_HZ": false}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
