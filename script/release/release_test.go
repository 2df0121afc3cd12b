package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRelease makes archive and packages, installs each into a root directory of its
// own with the system's package manager, and runs what was installed. By itself it
// does so for this machine's architecture; with LINERATE_RELEASE_ALL for all.
func TestRelease(t *testing.T) {
	const version = "v9.8.7"
	some := []target{{"linux", runtime.GOARCH, true}}
	if os.Getenv("LINERATE_RELEASE_ALL") != "" {
		some = targets
	}
	out := t.TempDir()
	names, err := release(version, out, some)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := commandIn(out, "sha256sum", "--check", "--strict", "SHA256SUMS"); err != nil {
		t.Errorf("checksums: %v\n%s", err, text)
	}
	for _, name := range names {
		path := filepath.Join(out, name)
		root := t.TempDir()
		binary := filepath.Join(root, "usr/bin/linerate")
		var text []byte
		var err error
		switch {
		case strings.HasSuffix(name, ".deb"):
			for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			text, err = commandIn(root, "dpkg", "--root="+root, "--force-architecture", "--force-not-root",
				"--log=/dev/null", "-i", path)
		case strings.HasSuffix(name, ".rpm"):
			text, err = commandIn(root, "rpm", "--root", root, "--dbpath", "/db", "--ignorearch", "--nodeps",
				"--noscripts", "-i", path)
		case strings.HasSuffix(name, ".tar.gz"):
			text, err = commandIn(root, "tar", "-xzf", path, "--strip-components=1")
			binary = filepath.Join(root, "linerate")
		default:
			continue
		}
		if err != nil {
			t.Errorf("install %s: %v\n%s", name, err, text)
			continue
		}
		for _, file := range []string{"linerate-measure.1.gz", "_linerate", "linerate.fish"} {
			if found, _ := findFile(root, file); found == "" {
				t.Errorf("%s has no %s", name, file)
			}
		}
		var run []string
		switch {
		case strings.Contains(name, runtime.GOARCH) && strings.Contains(name, "linux"),
			strings.Contains(name, "x86_64") &&
				runtime.GOARCH == "amd64", strings.HasSuffix(name, runtime.GOARCH+".deb"):
		case strings.Contains(name, "arm64") && (strings.Contains(name, "linux") || strings.HasSuffix(name, ".deb")),
			strings.Contains(name, "aarch64"):
			run = []string{"qemu-aarch64"}
		default:
			continue // another system's
		}
		if len(run) > 0 {
			if _, err := exec.LookPath(run[0]); err != nil {
				t.Errorf("%s cannot be run: %v (qemu-user)", name, err)
				continue
			}
		}
		for _, args := range [][]string{{"--version"}, {"limits", "goodput", "--rate", "1gbit", "--mtu", "1500"}} {
			command := append(append(run[:len(run):len(run)], binary), args...)
			text, err := commandIn(root, command...)
			if err != nil || args[0] == "--version" && !bytes.Contains(text, []byte(version)) {
				t.Errorf("%s: %s: %v\n%s", name, strings.Join(args, " "), err, text)
			}
		}
	}
}

// TestSameFiles: one commit gives the same files twice.
func TestSameFiles(t *testing.T) {
	some := []target{{"linux", runtime.GOARCH, true}}
	var sums [2]string
	for i := range sums {
		out := t.TempDir()
		if _, err := release("v9.8.7", out, some); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(text)
	}
	if sums[0] != sums[1] {
		t.Errorf("differ:\n%s\n%s", sums[0], sums[1])
	}
}

func commandIn(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// findFile finds a file below a directory by its name.
func findFile(root, name string) (found string, err error) {
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == name {
			found = path
		}
		return nil
	})
	return found, err
}
