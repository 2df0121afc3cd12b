package reach

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/bus"
	"linerate/internal/host/agent"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
)

// TestMain: the program of the tests is the agent that they carry.
func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == "agent" {
		o := agent.Options{Node: os.Args[4], Access: message.ForRead.Access()}
		if agent.Serve(context.Background(), bus.Pipes(os.Stdin, os.Stdout), o) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tools are what a script for sh may need.
var tools = []string{"uname", "head", "mktemp", "rm", "chmod", "cat", "sha256sum", "id", "df", "mkdir", "mv"}

// hostOf returns a command that executes words with a shell, a home directory and programs of its own.
func hostOf(t *testing.T, shell, home string, programs ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(programs, "sh="+shell) {
		name, target, has := strings.Cut(name, "=")
		if !has {
			target = name
		}
		if err := os.Symlink(kerneltest.Program(t, target), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return []string{script(t, "host", "exec env -i HOME="+home+" PATH="+dir+` "$@"`)}
}

// files lists what is below a directory.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCarry: shells execute the agent that is carried to them. It is left in the cache if it is to be kept, and the
// next time it is executed from there; an older one is removed.
func TestCarry(t *testing.T) {
	for _, shell := range []string{"dash", "bash", "busybox", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			cache := filepath.Join(home, ".cache", "linerate")
			via := hostOf(t, shell, home, append(tools, "gzip")...)
			withoutGzip := hostOf(t, shell, home, tools...)
			// Without gzip, a host that has the program is not sent it; one that needs tools is found out.
			withoutHead := hostOf(t, shell, home, "uname", "cat", "sha256sum", "rm", "mktemp", "chmod")
			for i, test := range []struct {
				via     []string
				install Install
				left    int
				reason  Reason
			}{{via, Temporary, 0, ""}, {withoutGzip, Temporary, 0, ""}, {withoutHead, Temporary, 0, NoTool},
				{via, Keep, 1, ""}, {via, Temporary, 1, ""}, {via, Never, 1, NoProgram}} {
				if shell != "dash" && i != 0 && i != 3 && i != 4 { // as much as the shell can make different
					continue
				}
				if i == 3 {
					if err := os.MkdirAll(cache, 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(cache, "older"), nil, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				list := []Host{{Name: "nas", Via: test.via, Install: test.install}}
				h, err := Open(t.Context(), list, Read, Options{})
				if e, is := errors.AsType[*Error](err); is != (test.reason != "") || is && e.Reason != test.reason {
					t.Fatalf("%d: %v, want %q", i, err, test.reason)
				}
				if test.reason == "" {
					if _, err := Snapshots(t.Context(), h, message.SnapshotRequest{}); err != nil {
						t.Errorf("%d: %v", i, err)
					}
				}
				h.Close()
				if left := files(t, home); len(left) != test.left {
					t.Errorf("%d: left %s, want %d", i, left, test.left)
				}
			}
			if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the cache: %v, %v", info, err)
			}
		})
	}
}
