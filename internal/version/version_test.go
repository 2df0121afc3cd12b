package version

import (
	"runtime/debug"
	"testing"
)

func TestFromBuild(t *testing.T) {
	setting := func(kv ...string) []debug.BuildSetting {
		var all []debug.BuildSetting
		for i := 0; i < len(kv); i += 2 {
			all = append(all, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return all
	}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"installed as a module", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		{"built in a checkout", debug.BuildInfo{
			Main:     debug.Module{Version: "(devel)"},
			Settings: setting("vcs.revision", "0123456789abcdef", "vcs.modified", "false"),
		}, "devel-0123456789ab"},
		{"built with changes", debug.BuildInfo{
			Settings: setting("vcs.revision", "0123456789abcdef", "vcs.modified", "true"),
		}, "devel-0123456789ab-dirty"},
		{"built without version control", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
	} {
		if got := FromBuild(&c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinkerWins(t *testing.T) {
	defer func(v string) { Version = v }(Version)
	Version = "v0.1.0-3-gabcdef"
	if got := String(); got != Version {
		t.Errorf("String() = %q, want the linker's %q", got, Version)
	}
	Version = ""
	if String() == "" {
		t.Error("String() is empty without a linker's version")
	}
}
