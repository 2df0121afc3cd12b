package reach

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/pasted"
)

// TestReadPlain: of several hosts, those that cannot be read are named with their reasons, and what
// others print is parsed, without the banner before it.
func TestReadPlain(t *testing.T) {
	kerneltest.Needs(t, "head")
	via := func(text string) []string { return []string{script(t, "there", text)} }
	reasons := map[string]Reason{"lost": NoProgram, "silent": Ended, "much": TooLarge, "nowhere": NoCommand}
	list, err := ReadPlain(t.Context(), []Host{
		{Name: "lost", Via: via("exit 127")},
		{Name: "a", Called: "a", Via: via("cat >/dev/null; echo welcome to a; echo 'missing: ethtool' >&2;" +
			"echo 'root@box:~# sysctl -a'; echo net.ipv4.tcp_sack = 0")},
		{Name: "silent", Via: via("exec cat >/dev/null")},
		{Name: "much", Via: via("cat >/dev/null; head -c 9000000 /dev/zero")},
		{Name: "nowhere", Via: []string{"/no/such/command"}},
	})
	if len(list) != 1 || list[0].Snapshot.Reading.Host != "a" || list[0].Lost != 1 ||
		!slices.Equal(list[0].Missing, []string{"ethtool"}) ||
		list[0].Snapshot.State.Parameters["net.ipv4.tcp_sack"] != "0" {
		t.Errorf("read %+v", list)
	}
	joined, is := err.(interface{ Unwrap() []error })
	if !is || len(joined.Unwrap()) != len(reasons) {
		t.Fatal(err)
	}
	for _, one := range joined.Unwrap() {
		if e, is := errors.AsType[*Error](one); !is || e.Reason != reasons[e.Host] {
			t.Errorf("%v: %+v", one, e)
		}
	}
}

// TestPlainScript: what the script prints is of one machine, whichever tools there are; those that
// are not are named.
func TestPlainScript(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range []string{"sh", "uname", "id", "head", "grep", "cat", "ip"} {
		if err := os.Symlink(kerneltest.Program(t, tool), filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string) (said string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-s")
		var wrong strings.Builder
		cmd.Stdin, cmd.Stderr = strings.NewReader(script), &wrong
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		text, err := pasted.Parse(string(out))
		if err != nil || len(text.Machines) != 1 || !slices.Contains(text.Machines[0].Pasted, "interfaces") {
			t.Errorf("%d machines, %v, not understood: %q", len(text.Machines), err, text.NotUnderstood)
		}
		return wrong.String()
	}
	run(PlainScript)
	before, after, _ := strings.Cut(PlainScript, `PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"`)
	if said := run(before + "PATH='" + dir + "'" + after); said != "missing: ss\nmissing: tc\nmissing: ethtool\n"+
		"missing: sysctl\nmissing: dmesg\nmissing: nstat\n" {
		t.Errorf("without tools: %q", said)
	}
}
