//go:build linux

package texts

import (
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestSecretsOfFiles: keys in files of parameters, which only root may be able to read, are in no snapshot.
func TestSecretsOfFiles(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/etc/sysctl.d")
		text := "net.ipv4.tcp_fastopen_key = canary1\nnet/ipv6/conf/eth0.5/stable_secret=canary2\n" +
			"net.core.somaxconn = 4096\n"
		if err := os.WriteFile("/etc/sysctl.d/99-test.conf", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lines, err := parameterFiles()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(lines, func(l netstate.ParameterLine) bool { return l.Value == "4096" }) {
			t.Errorf("the file was not read: %v", lines)
		}
		for _, l := range lines {
			if strings.Contains(l.Value, "canary") {
				t.Errorf("a key is in the snapshot: %+v", l)
			}
		}
	})
}
