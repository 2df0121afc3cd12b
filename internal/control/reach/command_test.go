package reach

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestProgram(t *testing.T) {
	const own = "/opt/linerate"
	for via, want := range map[string]string{
		"ip netns exec blue":              own,
		"/usr/sbin/ip netns exec blue":    own,
		"sudo -n nsenter -t 7 -n":         own,
		"env":                             own,
		"/opt/linerate lab exec h1 --":    own,
		"linerate lab exec h1 --":         own,
		"ssh root@nas":                    "linerate",
		"sudo ssh nas":                    "linerate",
		"env X=1 /usr/bin/ssh nas":        "linerate",
		"ip netns exec blue ssh nas":      "linerate",
		"kubectl exec -i pod --":          "linerate",
		"nsenter -t 7 -m -n":              "linerate",
		"nsenter --mount=/run/m":          "linerate",
		"sudo chroot /srv":                "linerate",
		"sudo docker exec -i box":         "linerate",
		"/home/me/bin/on-the-machine nas": "linerate",
	} {
		if got := Program(strings.Fields(via), own); got != want {
			t.Errorf("via %s: %s, want %s", via, got, want)
		}
	}
}

// TestUnattended: ssh may not ask for anything, unless sshpass answers, and gives up in time, unless the user's
// configuration says when.
func TestUnattended(t *testing.T) {
	says := func(what string) string {
		return script(t, "ssh", `if [ "$1" = -G ]; then echo "user me\n`+what+`"; fi`)
	}
	plain, set := says("connecttimeout none"), says("connecttimeout 7")
	for via, want := range map[string]string{
		plain + " -p 7 nas":      plain + " -T -o BatchMode=yes -o ConnectTimeout=20 -p 7 nas",
		set + " nas":             set + " -T -o BatchMode=yes nas",
		"sudo ssh nas":           "sudo ssh -T -o BatchMode=yes nas",
		"sshpass -f f ssh nas":   "sshpass -f f ssh nas",
		"kubectl exec -i pod --": "kubectl exec -i pod --",
	} {
		if got := strings.Join(unattended(strings.Fields(via)), " "); got != want {
			t.Errorf("%s: %s, want %s", via, got, want)
		}
	}
}

func reachFor(t *testing.T, script string, arguments ...string) *Reached {
	t.Helper()
	c, err := startCommand(append([]string{"sh", "-c", script, "sh"}, arguments...), []string{"linerate"})
	if err != nil {
		t.Fatal(err)
	}
	return &Reached{Host: Host{Name: "nas"}, command: c}
}

// What an agent says in the end is the only word of settings that stay.
func TestEndOfARemote(t *testing.T) {
	if err := reachFor(t, "cat >/dev/null").end(); err != nil {
		t.Errorf("an agent that ended well: %v", err)
	}
	err := reachFor(t, "cat >/dev/null; echo cannot undo arp_ignore >&2; exit 1").end()
	for _, want := range []string{"nas", "exit status 1", "cannot undo arp_ignore", "linerate recover"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
}

// A process that keeps the command's standard error open, as ssh's shared
// connection does, must not hold the conductor up.
func TestEndOfARemoteThatLeavesSomebody(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := reachFor(t, `cat <"$1" >/dev/null & cat >/dev/null`, fifo)
	if err := r.end(); err != nil {
		t.Errorf("the command itself ended well: %v", err)
	}
	// The remaining process was waiting for this.
	if w, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Errorf("no process stayed behind, so the test does not test: %v", err)
	} else {
		w.Close()
	}
}
