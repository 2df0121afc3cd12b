package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/topology"
)

func of(program string, port int, settings ...topology.ServiceSetting) topology.Service {
	return topology.Service{Name: "one", Program: program, Port: port, Settings: settings}
}

// TestDescriptors: each program that a topology can name has a descriptor.
func TestDescriptors(t *testing.T) {
	for _, p := range topology.ServicePrograms {
		if make := descriptors[p.Name]; make == nil || make(of(p.Name, p.Port)).Configure == nil {
			t.Errorf("%s has no descriptor", p.Name)
		}
	}
	if len(descriptors) != len(topology.ServicePrograms) {
		t.Errorf("%d descriptors, %d programs", len(descriptors), len(topology.ServicePrograms))
	}
}

// TestNginxConfig: each setting is in its context, and replaces Debian's.
func TestNginxConfig(t *testing.T) {
	text := string(nginxConfig(of("nginx", 8080, topology.ServiceSetting{Key: "worker_processes", Value: "2"},
		topology.ServiceSetting{Key: "worker_connections", Value: "4096"},
		topology.ServiceSetting{Key: "keepalive_timeout", Value: "5s"}, topology.ServiceSetting{Key: "listen",
			Value: "backlog=64"}), "/d", true))
	main, rest, _ := strings.Cut(text, "events {\n")
	events, http, _ := strings.Cut(rest, "http {\n")
	for part, want := range map[string]string{
		main: "\nworker_processes 2;\n", events: "  worker_connections 4096;\n", http: "  keepalive_timeout 5s;\n",
		text: "    listen 8080 backlog=64;\n    listen [::]:8080 backlog=64;\n",
	} {
		if !strings.Contains(part, want) {
			t.Errorf("no %q in\n%s", want, part)
		}
	}
	if strings.Contains(text, "auto") || strings.Contains(text, "768") {
		t.Errorf("settings of Debian are left:\n%s", text)
	}
	if text := string(nginxConfig(of("nginx", 80), "/d", false)); strings.Contains(text, "[::]") ||
		!strings.Contains(text, "worker_processes auto;") {
		t.Errorf("without IPv6 and settings:\n%s", text)
	}
}

// TestNSDConfig: settings follow linerate's own, and so replace them.
func TestNSDConfig(t *testing.T) {
	text := string(nsdConfig(of("nsd", 5353, topology.ServiceSetting{Key: "rrl-ratelimit", Value: "100"}), "/d", true))
	for _, want := range []string{"  ip-address: 0.0.0.0@5353\n  ip-address: ::0@5353\n",
		"  rrl-ratelimit: 0\n  rrl-ratelimit: 100\nremote-control:\n", "  zonesdir: \"/d\"\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestBodies: files have the sizes that their names say, and their number is bounded.
func TestBodies(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "www"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := bodies(dir, []int64{1, 100_000}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "www", "100000")); err != nil || info.Size() != 100_000 {
		t.Errorf("%v, %v", info, err)
	}
	many := make([]int64, mostBodies+1)
	for i := range many {
		many[i] = int64(i + 2)
	}
	if bodies(dir, many) == nil {
		t.Error("any number of files is made")
	}
}
