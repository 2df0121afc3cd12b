//go:build linux && !portable

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/kernel/attached"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/version"
)

// agentVariable names the environment variable with the agent that agentProgram has made.
const agentVariable = "LINERATE_TEST_AGENT"

// agentProgram makes the agent that is attached to linerate, once. It is called before a test is in a process of its
// own.
func agentProgram(t *testing.T) {
	t.Helper()
	makeAgent.Lock()
	defer makeAgent.Unlock()
	if os.Getenv(agentVariable) != "" {
		return
	}
	own, err := exec.LookPath("linerate") // in a directory that is removed after all tests
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(own), "carried")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags=carried",
		"-ldflags=-s -w -X linerate/internal/version.Version="+version.String(), "-o", file, "linerate/cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Setenv(agentVariable, file); err != nil {
		t.Fatal(err)
	}
}

var makeAgent sync.Mutex

// bareTools are the programs of the users bare and arm.
var bareTools = []string{"sh", "uname", "head", "mktemp", "rm", "chmod", "cat", "sha256sum", "id", "df", "gzip"}

// startHost starts sshd for further users of this machine, which is the host: root; plain, who may not use sudo;
// admin, who may; nokey, who has a password; bare, who has few programs; arm, whose machine is another. The directories
// where users write are its own, as far as they are named, and the conductor is outside of them. It returns the
// conductor's directory.
func startHost(t *testing.T, writable ...string) (dir string) {
	t.Helper()
	kerneltest.Needs(t, "sudo", "python3")
	startSSHD(t, "Match User nokey", "PasswordAuthentication yes", "Match User bare", "SetEnv PATH=/run/bare",
		"Match User arm", "SetEnv PATH=/run/arm:/run/bare", "Match User other", "SetEnv PATH=/run/other:/usr/bin:/bin")
	own, err := exec.LookPath("linerate")
	if err != nil {
		t.Fatal(err)
	}
	dir = "/root/conductor"
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kerneltest.Do(t, "mkdir", "-p", dir+"/bin")
	copyProgram(t, own, dir+"/bin/linerate")
	copyProgram(t, os.Getenv(agentVariable), dir+"/agent")
	programs := map[attached.Kind]string{attached.Carried: dir + "/agent"}
	if err := attached.Append(dir+"/bin/linerate", programs); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"PATH": "/root/conductor/bin:" + os.Getenv("PATH"), "TMPDIR": "/root/conductor", "HOME": "/root"} {
		if err := os.Setenv(path, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range writable {
		kerneltest.Do(t, "mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", place)
	}
	key, err := os.ReadFile("/run/keys/plain")
	if err != nil {
		t.Fatal(err)
	}
	var shadow string
	for i, user := range []string{"admin", "nokey", "bare", "arm", "other"} {
		id, home := 4712+i, "/run/homes/"+user
		write("/run/passwd", fmt.Sprintf("%s:x:%d:65534::%s:/bin/sh\n", user, id, home), 0o644)
		shadow += user + ":*:19000:0:99999:7:::\n"
		if user != "nokey" {
			write("/run/keys/"+user, string(key), 0o644)
		}
		kerneltest.Do(t, "mkdir", "-p", home+"/.cache")
		kerneltest.Do(t, "chown", "-R", strconv.Itoa(id), home)
	}
	kerneltest.Do(t, "chown", "plain", "/run/home")
	write("/run/keys/root", string(key), 0o644)
	for file, text := range map[string]string{"/etc/shadow": "root:*:19000::::::\nplain:*:19000:0:99999:7:::\n" + shadow,
		"/etc/sudoers": "root ALL=(ALL) NOPASSWD: ALL\nadmin ALL=(ALL) NOPASSWD: ALL\n"} {
		at := "/run/" + filepath.Base(file)
		write(at, text, 0o440)
		kerneltest.Do(t, "mount", "--bind", at, file)
	}
	for _, tool := range bareTools {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "mkdir", "-p", "/run/bare")
		if err := os.Symlink(path, "/run/bare/"+tool); err != nil {
			t.Fatal(err)
		}
	}
	write("/run/arm/uname", "#!/bin/sh\ncase $1 in -s) echo Linux ;; *) echo aarch64 ;; esac\n", 0o755)
	write("/run/other/linerate", "#!/bin/sh\necho linerate v0.0.1, go1.20, linux/amd64\n", 0o755)
	write("/root/.ssh/config", `
Host shared
HostName 127.0.0.1
User plain
Port 2299
ControlMaster auto
ControlPath /root/conductor/control
ControlPersist 2
Host jumped
HostName 127.0.0.1
User plain
Port 2299
ProxyJump nas
Host changed
HostName 127.0.0.1
HostKeyAlias changed
User plain
Port 2299
`, 0o644)
	other, err := os.ReadFile("/root/user.pub")
	if err != nil {
		t.Fatal(err)
	}
	write("/root/known", "changed "+string(other), 0o644)
	return dir
}

// leftOn lists the files where users of the host write, and its processes: those in the mount namespace of the test
// and in the namespaces of its hosts, but the test and sshd.
func leftOn(t *testing.T) (list []string) {
	t.Helper()
	for _, dir := range []string{"/tmp/linerate.*", "/dev/shm", "/run/user", "/run/home", "/run/homes", "/root/.cache",
		"/var/lib/linerate", "/root/.local"} {
		matches, _ := filepath.Glob(dir)
		for _, dir := range matches {
			_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					list = append(list, path)
				}
				return nil
			})
		}
	}
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range all {
		pid, _ := strconv.Atoi(filepath.Base(process))
		mnt, err := os.Readlink(process + "/ns/mnt")
		if err != nil || mnt != own && !ofHost(process) || pid == os.Getpid() {
			continue
		}
		words, _ := os.ReadFile(process + "/cmdline")
		text := string(bytes.ReplaceAll(words, []byte{0}, []byte(" ")))
		if len(text) == 0 || strings.HasPrefix(text, "sshd: /") || strings.Contains(text, "[listener]") ||
			strings.Contains(text, "[mux]") {
			continue
		}
		list = append(list, fmt.Sprint(pid, " ", text))
	}
	return list
}

// awaitNothing waits until nothing is left on the host but what was there before.
func awaitNothing(t *testing.T, before []string, when string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left = slices.DeleteFunc(leftOn(t), func(one string) bool { return slices.Contains(before, one) })
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: left %q", when, left)
		}
	}
}

// logins is how many connections sshd has accepted.
func logins(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(sshdLog)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(log, []byte("Accepted publickey"))
}

// snapshotOf takes a snapshot, and returns the exit status and all that was printed.
func snapshotOf(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	return statusOf(t, command(t, t.Context(), dir, append([]string{"snapshot"}, args...)...))
}

// TestCarried: hosts that have never seen linerate are read, over one connection, and nothing is left on them.
func TestCarried(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	agentProgram(t)
	kerneltest.AsRoot(t, func(t *testing.T) {
		dir := startHost(t, "/dev/shm", "/var/lib", "/tmp")
		before := leftOn(t)
		port := ":" + sshdPort
		const prefix = "ssh -p " + sshdPort + " "
		for _, test := range []struct {
			args []string
			want string // empty: it works
		}{
			{[]string{"--host", "nas"}, ""},
			{[]string{"--host", "root@127.0.0.1" + port}, ""},
			{[]string{"--host", "plain@[::1]" + port}, ""},
			{[]string{"--host", "shared"}, ""}, {[]string{"--host", "shared"}, ""},
			{[]string{"--host", "jumped"}, ""},
			{[]string{"--host", "bare@127.0.0.1" + port}, ""},
			{[]string{"--host", "other@127.0.0.1" + port}, ""},
			{[]string{"--via", prefix + "admin@127.0.0.1 sudo -n"}, ""},
			{[]string{"--via", "nsenter -t " + strconv.Itoa(os.Getpid()) + " -m"}, ""},
			{[]string{"--via", prefix + "plain@127.0.0.1 sudo -n"}, "NOPASSWD in sudoers"},
			{[]string{"--host", "changed"}, "compare the key that it shows"},
			{[]string{"--host", "plain@127.0.0.2" + port}, "compare the key that it shows"},
			{[]string{"--host", "nokey@127.0.0.1" + port}, "add one with ssh-copy-id"},
			{[]string{"--host", "arm@127.0.0.1" + port}, "there is no linerate-linux-arm64 beside linerate"},
		} {
			earlier := logins(t)
			status, out := snapshotOf(t, dir, test.args...)
			if n := logins(t) - earlier; n > 1 && test.args[1] != "jumped" {
				t.Errorf("%s: %d connections", test.args, n)
			}
			if (status == 0) != (test.want == "") || !strings.Contains(out, test.want) ||
				status == 0 && !strings.Contains(out, "linerate.snapshot/v1") {
				t.Errorf("%s: status %d, want %q in\n%.2000s", test.args, status, test.want, out)
			}
			awaitNothing(t, before, strings.Join(test.args, " "))
		}
		// A program of another architecture is not taken for one of arm64.
		copyProgram(t, dir+"/agent", dir+"/bin/linerate-linux-arm64")
		if _, out := snapshotOf(t, dir, "--host", "arm@127.0.0.1"+port); !strings.Contains(out,
			"linerate/cmd/agent for linux/amd64") {
			t.Errorf("another architecture: %s", out)
		}
		for _, args := range [][]string{{"doctor", "--over", "0s"}, {"top", "--once"}} {
			out, err := command(t, t.Context(), dir, append(args, "--host", "nas", "--host",
				"root@127.0.0.1"+port)...).CombinedOutput()
			if len(out) < 500 || bytes.Contains(out, []byte("not reached")) {
				t.Errorf("%s: %v, %s", args, err, out)
			}
		}
		awaitNothing(t, before, "doctor and top")
		_, out := statusOf(t, command(t, t.Context(), dir, "doctor", "--host", "nas", "--host", "changed", "--host",
			"plain@127.0.0.2"+port, "--host", "nokey@127.0.0.1"+port))
		for _, want := range []string{"3 hosts were not reached", "  host key             2  ",
			"  authentication       1  nokey@127.0.0.1" + port} {
			if !strings.Contains(out, want) {
				t.Errorf("want %q in\n%s", want, out)
			}
		}
		placesOf(t, dir, before)
	})
}

// placesOf: the program is written where it may be, and executed where it may be, or from memory. It is kept if that is
// wanted.
func placesOf(t *testing.T, dir string, before []string) {
	const bare, home = "bare@127.0.0.1:" + sshdPort, "/run/homes/bare"
	if status, out := snapshotOf(t, dir, "--host", "nas", "--install", "keep"); status != 0 {
		t.Errorf("keep: %s", out)
	}
	if kept, err := filepath.Glob("/run/home/.cache/linerate/*"); err != nil || len(kept) != 1 {
		t.Errorf("kept %s, %v", kept, err)
	}
	if err := os.RemoveAll("/run/home/.cache"); err != nil {
		t.Fatal(err)
	}
	// What others can replace is not executed.
	if err := os.Symlink("/tmp", "/run/home/.cache"); err != nil {
		t.Fatal(err)
	}
	if status, out := snapshotOf(t, dir, "--host", "nas"); status != 0 {
		t.Errorf("a link: %s", out)
	}
	if err := os.Remove("/run/home/.cache"); err != nil {
		t.Fatal(err)
	}
	all := []string{home, "/dev/shm", "/tmp", "/run/home"}
	over := func(options string, list []string) (under func()) {
		for _, place := range list {
			kerneltest.Do(t, "mount", "-t", "tmpfs", "-o", options, "tmpfs", place)
		}
		return func() {
			for _, place := range list {
				kerneltest.Do(t, "umount", place)
			}
		}
	}
	for _, test := range []struct {
		options, host, want string
		where               []string
	}{
		{"mode=1777,noexec", bare, "", all[:1]},
		{"mode=1777,size=64k", bare, "", all[:2]},
		{"mode=1777,noexec", bare, "have noexec there", all},
		{"mode=1777,size=64k", bare, "needs 20 MB", all},
		{"mode=755", bare, "Let the user write", all},
		{"mode=755,noexec", "nas", "", all}, // from memory
	} {
		under := over(test.options, test.where)
		status, out := snapshotOf(t, dir, "--host", test.host)
		if (status == 0) != (test.want == "") || !strings.Contains(out, test.want) {
			t.Errorf("%s %s: status %d, want %q in\n%.2000s", test.host, test.options, status, test.want, out)
		}
		awaitNothing(t, before, test.options)
		under()
	}
}
