package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
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

// TestSettings: each setting that a study can make is known to the program, as installed here, and
// those of nginx are in their contexts.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	for program, unknown := range map[string]string{"nginx": "unknown directive", "nsd": "syntax error",
		"postfix": "unknown parameter"} {
		t.Run(program, func(t *testing.T) {
			check := map[string][]string{
				"nginx":   {"nginx", "-t", "-e", "stderr", "-c"},
				"nsd":     {"nsd-checkconf"},
				"postfix": {"postconf", "-d"},
			}[program]
			if _, err := exec.LookPath(check[0]); err != nil {
				kerneltest.Skip(t, program+" is not installed")
			}
			says := func(key string) string {
				config := filepath.Join(dir, program+".conf")
				setting := topology.ServiceSetting{Key: key, Value: "off"}
				last := config
				switch program {
				case "nginx":
					text := nginxConfig(of(program, 80, setting), dir, false)
					if key == "listen" {
						return ""
					}
					if err := os.WriteFile(config, text, 0o600); err != nil {
						t.Fatal(err)
					}
				case "nsd":
					text := fmt.Sprintf("server:\n  %s: 1\n", key)
					if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				default:
					last = key
				}
				out, _ := exec.CommandContext(t.Context(), check[0], append(check[1:], last)...).CombinedOutput()
				return string(out)
			}
			if text := says("no_such_setting"); !strings.Contains(text, unknown) {
				t.Fatalf("an unknown setting: %q", text)
			}
			_, p, _ := of(program, 0).Of()
			for _, key := range p.Settings {
				if text := says(key); strings.Contains(text, unknown) || strings.Contains(text, "not allowed here") {
					t.Errorf("%s: %s", key, text)
				}
			}
		})
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
