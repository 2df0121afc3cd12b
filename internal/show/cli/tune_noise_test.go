package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// samplesOfLists are files of each format, those of the cases that users have reported among them.
func samplesOfLists(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"formats/*", "cases/*/*"} {
		names, err := filepath.Glob(filepath.Join("../../model/settingfile/testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".golden") && filepath.Base(name) != "expected.txt" {
				list = append(list, name)
			}
		}
	}
	if len(list) < 30 {
		t.Fatalf("%d samples", len(list))
	}
	return list
}

// lintStatus is the exit status of a check of a file with a text.
func lintStatus(t *testing.T, name, text string) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Main([]string{"tune", "--lint", "--elsewhere", "--quiet", "--json", file}, strings.NewReader(""), io.Discard,
		io.Discard)
}

// TestNoiseIsNoSuccess: lines that are no settings never turn an error into success, wherever they
// are. In documents they are before and after all others: between them they change what these mean.
func TestNoiseIsNoSuccess(t *testing.T) {
	kerneltest.Parallel(t)
	errors := 0
	for _, sample := range samplesOfLists(t) {
		content, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		name, lines := filepath.Base(sample), strings.SplitAfter(string(content), "\n")
		if before := lintStatus(t, name, string(content)); before == ExitOK {
			continue
		}
		errors++
		places := []int{0, len(lines)}
		if ext := filepath.Ext(name); ext == ".conf" || ext == ".sh" || ext == ".local" {
			for i := range lines {
				places = append(places, i)
			}
		}
		for _, noise := range []string{"# a remark\n", "\n", "hello world\n", "see: the manual\n", "[section]\n", "{\n",
			"echo hello\n", "ls -l /proc/sys\n"} {
			for _, at := range places {
				if noise[0] == '[' && at > 0 && at < len(lines) {
					continue // which lines a section has is what they mean
				}
				text := strings.Join(slices.Insert(slices.Clone(lines), at, noise), "")
				if status := lintStatus(t, name, text); status == ExitOK {
					t.Errorf("%s with %q at line %d: no error", name, noise, at+1)
				}
			}
		}
	}
	if errors < 15 {
		t.Errorf("%d samples with errors", errors)
	}
}

// TestNothingIsNoSuccess: a document of YAML or JSON without parameters is an error, however long, and
// so is a script that sets nothing that is known.
func TestNothingIsNoSuccess(t *testing.T) {
	manifest := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      " +
		"containers:\n" +
		strings.Repeat("      - name: web\n        image: nginx\n        ports: [{containerPort: 80}]\n        env: "+
			"[]\n", 100)
	for name, text := range map[string]string{
		"deployment.yaml": manifest,
		"two.yaml":        manifest + "---\n" + manifest,
		"package.json":    "{\"name\": \"x\", \"version\": \"1.0\"}",
		"netplan.yaml":    "network:\n  version: 2\n  ethernets:\n    eth0: {dhcp4: true}\n",
		"install.sh":      "#!/bin/sh\nmake && make install\n",
		"empty.conf":      "",
		"x.toml":          "[a]\nb = 1\n",
		"x.txt":           "Dear all,\nplease tune the kernel.\n",
	} {
		if status := lintStatus(t, name, text); status != ExitUsage {
			t.Errorf("%s: exit status %d, want %d", name, status, ExitUsage)
		}
	}
}
