package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// target is a system that linerate is built for. Packages are made for those with
// Packaged.
type target struct {
	OS, Arch string
	Packaged bool
}

var targets = []target{
	{"linux", "amd64", true}, {"linux", "arm64", true},
	{"freebsd", "amd64", false}, {"openbsd", "amd64", false}, {"darwin", "arm64", false},
}

// root is the directory of the program's module, as seen from this one.
const root = "../.."

// release writes an archive for each target, packages for those that have them, and
// SHA256SUMS into out, and returns the files' names.
func release(version, out string, targets []target) (names []string, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "linerate-release-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	when, err := committed()
	if err != nil {
		return nil, err
	}
	shared, err := sharedFiles(work, when)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		binary := filepath.Join(work, t.OS+"-"+t.Arch, "linerate")
		if err := build(binary, version, t); err != nil {
			return nil, err
		}
		archive := fmt.Sprintf("linerate-%s-%s-%s.tar.gz", version, t.OS, t.Arch)
		if err := archived(filepath.Join(out, archive), strings.TrimSuffix(archive, ".tar.gz"), binary, shared,
			when); err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		names = append(names, archive)
		if !t.Packaged {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			name, err := packaged(out, format, version, binary, t, shared, when)
			if err != nil {
				return nil, fmt.Errorf("%s for %s: %w", format, t.Arch, err)
			}
			names = append(names, name)
		}
	}
	return append(names, "SHA256SUMS"), checksums(out, names)
}

// committed is when the commit was made that is built, so that the same commit gives
// the same files.
func committed() (time.Time, error) {
	text, err := exec.Command("git", "-C", root, "log", "-1", "--format=%cI").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the commit: %w", err)
	}
	when, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	return when.UTC(), err
}

// build builds linerate and, for Linux, attaches its agents to it.
func build(binary, version string, t target) error {
	compile := func(to, what string, tags ...string) error {
		return inRoot("build for "+t.OS+"/"+t.Arch, []string{"CGO_ENABLED=0", "GOOS=" + t.OS, "GOARCH=" + t.Arch},
			"build", "-trimpath", "-buildvcs=auto", "-tags", strings.Join(tags, ","), "-ldflags",
			"-s -w -X linerate/internal/version.Version="+version, "-o", to, what)
	}
	if err := compile(binary, "./cmd/linerate"); err != nil || t.OS != "linux" {
		return err
	}
	agent, carried := binary+"-agent", binary+"-carried"
	defer os.Remove(agent)
	defer os.Remove(carried)
	if err := compile(agent, "./cmd/agent"); err != nil {
		return err
	}
	if err := compile(carried, "./cmd/agent", "carried"); err != nil {
		return err
	}
	return inRoot("attach the agents", nil, "run", "./script/attach", binary, agent, carried)
}

// inRoot runs the go command in the directory of linerate's module.
func inRoot(what string, environment []string, words ...string) error {
	cmd := exec.Command("go", words...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), environment...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", what, err, text)
	}
	return nil
}

// shared is a file that every archive and package has, with its place in a package.
type shared struct {
	path    string // on this machine
	archive string // below the archive's directory
	install string // in a package
}

// installed is where each kind of shared file goes in a package, by the directory that
// script/manual has put it in.
var installed = map[string]func(name string) string{
	"man":  func(name string) string { return "/usr/share/man/man1/" + name },
	"bash": func(string) string { return "/usr/share/bash-completion/completions/linerate" },
	"zsh":  func(string) string { return "/usr/share/zsh/vendor-completions/_linerate" },
	"fish": func(name string) string { return "/usr/share/fish/vendor_completions.d/" + name },
}

// sharedFiles has manual pages and completions made from the command tree.
func sharedFiles(work string, when time.Time) ([]shared, error) {
	list := []shared{
		{filepath.Join(root, "README.md"), "README.md", "/usr/share/doc/linerate/README.md"},
		{filepath.Join(root, "CHANGELOG.md"), "CHANGELOG.md", "/usr/share/doc/linerate/CHANGELOG.md"},
		{filepath.Join(root, "LICENSE"), "LICENSE", "/usr/share/doc/linerate/copyright"},
	}
	for _, unit := range []string{"linerate-serve.service", "linerate-agent.socket", "linerate-agent@.service"} {
		list = append(list, shared{filepath.Join(root, "script", "release", "systemd", unit), "systemd/" + unit,
			"/usr/lib/systemd/system/" + unit})
	}
	manual := filepath.Join(work, "manual")
	cmd := exec.Command("go", "run", "./script/manual", "-out", manual, "-date", when.Format(time.DateOnly))
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("manual pages and completions: %w\n%s", err, text)
	}
	paths, err := filepath.Glob(filepath.Join(manual, "*", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		kind := filepath.Base(filepath.Dir(path))
		if kind == "man" {
			if err := compress(path, path+".gz", when); err != nil {
				return nil, err
			}
			path += ".gz"
		}
		name := filepath.Base(path)
		list = append(list, shared{path, kind + "/" + name, installed[kind](name)})
	}
	return list, nil
}

// compress writes a file again with gzip, with the time of the commit in it.
func compress(from, to string, when time.Time) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	z.ModTime = when
	_, err = z.Write(text)
	return errors.Join(err, z.Close(), f.Close())
}

// archived writes a .tar.gz with one directory.
func archived(path, dir, binary string, list []shared, when time.Time) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	add := func(from, name string, mode int64) error {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		err = w.WriteHeader(&tar.Header{Name: dir + "/" + name, Mode: mode, Size: int64(len(text)), ModTime: when,
			Format: tar.FormatPAX})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	err = add(binary, "linerate", 0o755)
	for _, s := range list {
		err = errors.Join(err, add(s.path, s.archive, 0o644))
	}
	return errors.Join(err, w.Close(), z.Close(), f.Close())
}

// packaged writes a package for a system's package manager and returns its name.
func packaged(out, format, version, binary string, t target, list []shared, when time.Time) (string, error) {
	contents := files.Contents{{Source: binary, Destination: "/usr/bin/linerate", FileInfo: &files.ContentFileInfo{
		Mode: 0o755, MTime: when}}}
	for _, s := range list {
		contents = append(contents, &files.Content{Source: s.path, Destination: s.install,
			FileInfo: &files.ContentFileInfo{Mode: 0o644, MTime: when}})
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "linerate", Arch: t.Arch, Platform: t.OS, Version: strings.TrimPrefix(version, "v"), MTime: when,
		Section: "net", Priority: "optional", License: "Apache-2.0", Maintainer: "linerate <linerate@localhost>",
		Description: "finds out why a network is not running at line rate, and proves the fix",
		Overridables: nfpm.Overridables{
			Contents: contents,
			// The programs that labs with BGP and studies with other tools start.
			Suggests: []string{"bird2", "iperf3"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return "", err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", err
	}
	name := packager.ConventionalFileName(info)
	f, err := os.Create(filepath.Join(out, name))
	if err != nil {
		return "", err
	}
	return name, errors.Join(packager.Package(info, f), f.Close())
}

// checksums writes SHA256SUMS as sha256sum(1) reads it.
func checksums(out string, names []string) error {
	names = slices.Sorted(slices.Values(names))
	var text strings.Builder
	for _, name := range names {
		f, err := os.Open(filepath.Join(out, name))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", h.Sum(nil), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(text.String()), 0o644)
}
