package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/sciencetest"
)

// interactive are the shells as people use them, and what makes them echo the words of a
// completed line in brackets: linerate is a function there, which completion does not call.
// zsh's own Tab, expand-or-complete, executes the substitution before the cursor itself.
var interactive = []struct {
	shell string
	args  []string
	setup string
}{
	{"bash", []string{"--norc", "--noprofile", "-i"},
		`linerate() { printf '<%s>' "$@"; echo; }; PS1='$ '; source ./completion`},
	{"zsh", []string{"-f", "-i"},
		`PS1='$ '; bindkey '^I' complete-word; autoload -Uz compinit; compinit -u -D; linerate() { printf '<%s>' "$@"; echo }; source ./completion`},
	{"fish", []string{"--no-config", "-i"},
		`function fish_prompt; echo '$ '; end; function linerate; printf '<%s>' $argv; echo; end; source ./completion`},
}

// TestShells types lines in the shells that are installed: completions become the words
// that they are, and nothing of a line or a name is executed.
func TestShells(t *testing.T) {
	names := []string{"old cable", "$(touch executed1)", "`touch executed2`x", `Karl's "old" cable: port $3!`,
		"x;touch executed3;y", "ends with 'one'"}
	for _, at := range interactive {
		t.Run(at.shell, func(t *testing.T) {
			t.Parallel()
			kerneltest.Needs(t, at.shell)
			dir := t.TempDir()
			keepNamed(t, filepath.Join(dir, "notebook.db"), names)
			var script bytes.Buffer
			if err := WriteCompletion(&script, at.shell); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "completion"), script.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			typist := startShell(t, dir, at.shell, at.args)
			typist.send(at.setup + "\r")
			for _, line := range []struct{ typed, want string }{
				{"linerate repo\t latest", "<report><latest>"},
				{"linerate report --js\t", "<report><--json>"},
				{"linerate run arp-f\t", "<run><arp-flux>"},
				{"linerate run arp-flux --only static\t", "<run><arp-flux><--only><static ARP entries>"},
				{"linerate serve --alias l\t", "<serve><--alias><lo=>"},
				{"linerate measure --direction=bo\t", "<measure><--direction=both>"},
				{"linerate report ol\t", "<report><old cable>"},
				{"linerate report \"ol\t", "<report><old cable>"},
				{"linerate report 'ol\t", "<report><old cable>"},
				{"linerate report old\\ c\t", "<report><old cable>"},
				{"linerate report Ka\t", "<report><" + names[3] + ">"},
				{"linerate report \"Ka\t", "<report><" + names[3] + ">"},
				{"linerate report ends\t", "<report><ends with 'one'>"},
				{"linerate report 'ends\t", "<report><ends with 'one'>"},
				{"linerate report '$(tou\t --js\t", "<report><$(touch executed1)><--json>"},
				{"linerate report '`tou\t --js\t", "<report><`touch executed2`x><--json>"},
				{"linerate report 'x;\t --js\t", "<report><x;touch executed3;y><--json>"},
				{"linerate report '$(touch executed4)' --js\t", "<report><$(touch executed4)><--json>"},
				{"linerate report \\$\\(touch\\ executed5\\) --js\t", "<report><$(touch executed5)><--json>"},
			} {
				if got := typist.send(line.typed + "\r"); !strings.Contains(got, line.want+"\r\n") {
					t.Errorf("%q: %q, want %s", line.typed, got, line.want)
				}
			}
			// Of these the shell itself would execute the parts on Enter.
			for _, typed := range []string{"linerate report $(touch executed6) --js\t",
				"linerate report \"$(touch executed7)\" --js\t", "linerate report `touch executed8` --js\t",
				"linerate report \"$(touch executed9) \t"} {
				typist.send(typed + "\x15") // which removes the line
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "executed*")); len(found) > 0 {
				t.Errorf("completion executed what makes %q", found)
			}
		})
	}
}

// keepNamed makes a notebook with runs of these names.
func keepNamed(t *testing.T, path string, names []string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for i, name := range names {
		run := sciencetest.Run(uint64(i+1), 1)
		run.ID, run.Name = notebook.ProposeID(run.Study, run.Seed), name
		if err := store.Begin(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
}

// typist types at a shell on a terminal of 80 columns.
type typist struct {
	t     *testing.T
	keys  *os.File
	shown chan []byte
	n     int
}

func startShell(t *testing.T, dir, shell string, args []string) *typist {
	t.Helper()
	keys, terminal, err := file.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	defer terminal.Close()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, terminal, terminal, terminal
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "TERM=xterm", "LC_ALL=C.UTF-8",
		notebook.Variable+"="+filepath.Join(dir, "notebook.db"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	typist := &typist{t: t, keys: keys, shown: make(chan []byte, 1000)}
	go func() {
		defer close(typist.shown)
		for {
			buffer := make([]byte, 4096)
			n, err := keys.Read(buffer)
			if err != nil {
				return
			}
			typist.shown <- buffer[:n]
		}
	}()
	return typist
}

// send types keys, and waits until a command after them is executed.
func (y *typist) send(keys string) string {
	y.t.Helper()
	y.n++
	done := fmt.Sprintf("done%d\r\n", y.n)
	if _, err := fmt.Fprintf(y.keys, "%secho do'ne'%d\r", keys, y.n); err != nil {
		y.t.Fatal(err)
	}
	late := time.After(30 * time.Second)
	all := ""
	for !strings.Contains(all, done) {
		select {
		case text, is := <-y.shown:
			if !is {
				y.t.Fatalf("%q: the shell has ended: %q", keys, all)
			}
			all += string(text)
		case <-late:
			y.t.Fatalf("%q: no end of %q", keys, all)
		}
	}
	return all
}
