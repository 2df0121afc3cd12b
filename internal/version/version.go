// Package version says which linerate this is: for the result document, the
// notebook, the hello of an agent and --version. Every package may import it, and it
// imports none.
package version

import "runtime/debug"

// Version is set by the linker (make build: git describe). When it is empty,
// String looks at what the Go toolchain recorded.
var Version string

// String is the version to print, never empty: the linker's, else the module's,
// else the commit the binary was built from, else "devel".
func String() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return FromBuild(info)
}

// FromBuild is the version of a program that was linked without one: that of its module, or its commit.
func FromBuild(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if c := commit(info); c != "" {
		return "devel-" + c
	}
	return "devel"
}

// Commit is what the binary was built from, 12 digits, with "-dirty" where files
// differed from it; empty where the Go toolchain recorded none, as it does for a
// source tree without version control.
func Commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return commit(info)
	}
	return ""
}

func commit(info *debug.BuildInfo) string {
	var revision, modified string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "-dirty"
			}
		}
	}
	if len(revision) < 12 {
		return ""
	}
	return revision[:12] + modified
}
