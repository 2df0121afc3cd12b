package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
)

// TestMachineUnits starts the units that packages install, under systemd in user-mode Linux:
// they become active, do what they are for, have no more privileges than they name, and end
// when they are stopped.
func TestMachineUnits(t *testing.T) {
	machinetest.TakesMinutes(t)
	s := bootSystemd(t)
	t.Run("serve", s.testServe)
	t.Run("limits", s.testServeLimits)
	t.Run("agent", s.testAgent)
}

const (
	systemdPath = "/usr/lib/systemd/systemd"
	unitsDir    = "../../../script/release/systemd"
	serveUnit   = "linerate-serve.service"
	agentSocket = "linerate-agent.socket"
)

// managed is a machine with systemd as the first process of a namespace whose root is this
// machine's tree below a tmpfs, so that all of it can be written there.
type managed struct {
	machine *machinetest.Running
	pid     string // of systemd, in the machine
}

// startSystemd makes that root and executes systemd in it. The units of this machine are not
// there, those to be tested are.
const startSystemd = `set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs etc/systemd/system
rm -f etc/machine-id etc/hostname usr/bin/linerate
echo 61a1f4f0b2b34e0ea6f3f4e3e3d1c2b3 >etc/machine-id
echo left >etc/hostname
cp /run/files/linerate usr/bin/
cp /run/files/connect /run/files/unit.yaml root/
cp /run/files/linerate-* etc/systemd/system/
chmod 644 etc/systemd/system/linerate-*
pivot_root . mnt
umount -l /mnt
# A container's systemd leaves that to what has started it, and passes credentials by it.
mount --make-rshared /
exec env -i container=machinetest PATH=$PATH ` + systemdPath + ` --unit=basic.target --log-target=console --show-status=0
`

// bootSystemd boots a machine and waits until systemd has started its first units.
func bootSystemd(t *testing.T) *managed {
	t.Helper()
	for _, program := range [][2]string{{systemdPath, "systemd"}, {"nsenter", "util-linux"}, {"ip", "iproute2"},
		{"perl", "perl-base"}} {
		machinetest.Needs(t, program[0], program[1])
	}
	files := map[string][]byte{"/units/start": []byte(startSystemd), "/units/connect": []byte(connectUnit),
		"/units/unit.yaml": []byte(unitStudy)}
	units, err := filepath.Glob(filepath.Join(unitsDir, "linerate-*"))
	if err != nil || len(units) != 3 {
		t.Fatalf("units %q, %v", units, err)
	}
	for _, unit := range units {
		if files["/units/"+filepath.Base(unit)], err = os.ReadFile(unit); err != nil {
			t.Fatal(err)
		}
	}
	m := machinetest.Boot(t, machinetest.Machine{Name: "systemd", Kernel: machinetest.UserMode(t), Tree: true,
		Memory:  2048,
		Modules: []string{"overlay", "autofs4", "ipv6", "veth", "sch_tbf"}, Files: files})[0]
	m.Do(t, "mkdir /run/files && cp /units/* /bin/linerate /run/files")
	s := &managed{machine: m}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(m.Do(t, "tail -n 40 /run/systemd.log"))
		}
	})
	if out, status := s.outside(t,
		"unshare --mount --pid --fork --cgroup sh /run/files/start </dev/null >/run/systemd.log 2>&1 &"); status != 0 {
		t.Fatal(out)
	}
	for end := time.Now().Add(time.Minute); s.pid == ""; time.Sleep(200 * time.Millisecond) {
		out, _ := s.outside(t, "pgrep -x systemd")
		s.pid = strings.TrimSpace(out)
		if time.Now().After(end) {
			t.Fatal("systemd was not executed")
		}
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		out, _ := s.run(t, "systemctl is-system-running")
		if state := strings.TrimSpace(out); state == "running" || state == "degraded" {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("systemd: %s", out)
		}
	}
}

// outside executes a shell script beside systemd.
func (s *managed) outside(t *testing.T, script string) (output string, status int) {
	t.Helper()
	words := append(s.machine.Exec(), "/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"timeout", "300", "/bin/sh", "-c", script)
	command := exec.CommandContext(t.Context(), words[0], words[1:]...)
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// run executes a shell script in systemd's namespaces.
func (s *managed) run(t *testing.T, script string) (output string, status int) {
	t.Helper()
	return s.outside(t, "exec nsenter --target "+s.pid+" --mount --pid --cgroup -- /bin/sh -c '"+
		strings.ReplaceAll(script, "'", `'\''`)+"'")
}

// do executes a script that has to succeed, and returns its output.
func (s *managed) do(t *testing.T, script string) string {
	t.Helper()
	out, status := s.run(t, script)
	if status != 0 {
		journal, _ := s.run(t, "journalctl --no-pager --lines=40 --unit='linerate-*'")
		t.Fatalf("%s: exit status %d\n%s\n%s", script, status, out, journal)
	}
	return strings.TrimSpace(out)
}

// property is one of a unit.
func (s *managed) property(t *testing.T, unit, name string) string {
	t.Helper()
	return s.do(t, "systemctl show --value --property="+name+" "+unit)
}

// startServe starts the server and waits until it serves a measurement.
func (s *managed) startServe(t *testing.T, arguments ...string) (pid string) {
	t.Helper()
	s.do(t, "systemctl restart "+serveUnit)
	for end := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
		if state := s.property(t, serveUnit, "ActiveState"); state != "active" {
			t.Fatalf("%s is %s\n%s", serveUnit, state, s.do(t, "journalctl --no-pager --lines=20 --unit="+serveUnit))
		}
		out, status := s.measure(t, arguments...)
		if status == ExitOK || status == ExitDoubt {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no measurement: %s", out)
		}
	}
	return s.property(t, serveUnit, "MainPID")
}

func (s *managed) measure(t *testing.T, arguments ...string) (output string, status int) {
	t.Helper()
	return s.run(t, "linerate measure 127.0.0.1 --duration 300ms --no-save --quiet "+strings.Join(arguments, " "))
}

// stop stops a unit, whose processes end by themselves, and returns how long that took.
func (s *managed) stop(t *testing.T, unit string) time.Duration {
	t.Helper()
	s.do(t, "systemctl stop "+unit)
	if result := s.property(t, unit, "Result"); result != "success" {
		t.Errorf("%s: result %q", unit, result)
	}
	var times [2]int64 // µs
	for i, name := range []string{"ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic"} {
		n, err := strconv.ParseInt(s.property(t, unit, name), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		times[i] = n
	}
	return time.Duration(times[1]-times[0]) * time.Microsecond
}

// statusOf is /proc/PID/status.
func (s *managed) statusOf(t *testing.T, pid string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(s.do(t, "cat /proc/"+pid+"/status")) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.Join(strings.Fields(value), " ")
	}
	return fields
}

// confined compares what a process may do with what its unit says.
func (s *managed) confined(t *testing.T, pid, capabilities string) {
	t.Helper()
	status := s.statusOf(t, pid)
	for name, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2", "CapBnd": capabilities,
		"CapEff": capabilities, "CapPrm": capabilities, "Umask": "0077"} {
		if status[name] != want {
			t.Errorf("%s: %q, want %q", name, status[name], want)
		}
	}
}

// readOnly has root try to write where a process is: the unit's mounts forbid it, and without
// them it is possible.
func (s *managed) readOnly(t *testing.T, pid string, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		probe := "d=" + dir + "/linerate-probe; mkdir $d && rmdir $d"
		if out, status := s.run(t, "nsenter --target "+pid+" --mount -- /bin/sh -c '"+probe+"'"); status == 0 ||
			!strings.Contains(out, "Read-only file system") {
			t.Errorf("%s: %q, %d; want it to be read-only", dir, out, status)
		}
		s.do(t, probe)
	}
}

// group compares the limits of a process's control group with those of its unit.
func (s *managed) group(t *testing.T, pid string, limits map[string]string) {
	t.Helper()
	_, path, _ := strings.Cut(s.do(t, "cat /proc/"+pid+"/cgroup"), "::")
	for name, want := range limits {
		if got := s.do(t, "cat '/sys/fs/cgroup"+path+"/"+name+"'"); got != want {
			t.Errorf("%s of %s: %s, want %s", name, path, got, want)
		}
	}
}

func (s *managed) testServe(t *testing.T) {
	pid := s.startServe(t)
	s.confined(t, pid, "0000000000000000")
	status := s.statusOf(t, pid)
	// https://systemd.io/UIDS-GIDS: those of dynamic users.
	if uid, err := strconv.Atoi(strings.Fields(status["Uid"])[0]); err != nil || uid < 61184 || uid > 65519 {
		t.Errorf("user %s, want a dynamic one", status["Uid"])
	}
	s.readOnly(t, pid, "/usr", "/etc", "/var/lib", "/run", "/run/lock", "/sys/fs/cgroup")
	if out, status := s.run(t, "nsenter --target "+pid+
		" --mount -- sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'"); status == 0 {
		t.Errorf("kernel parameters can be written: %s", out)
	}
	s.group(t, pid, map[string]string{"pids.max": "1024", "memory.max": fmt.Sprint(1 << 30), "memory.swap.max": "0"})
	if out, status := s.run(t, "iperf3 --version >/dev/null && exec iperf3 -c 127.0.0.1 -t 1"); status != 0 &&
		status != 127 {
		t.Errorf("iperf3: %s", out)
	}
	// Beyond the server's own bounds, which are below those of the unit.
	if out, status := s.measure(t, "--streams 400"); status != ExitFailed || !strings.Contains(out, "--max-flows") {
		t.Errorf("%q, exit status %d; want a refusal", out, status)
	}
	// It ends beside a measurement.
	s.do(t, "linerate measure 127.0.0.1 --duration 60s --no-save --quiet >/run/long 2>&1 & sleep 5; kill -0 $!")
	if took := s.stop(t, serveUnit); took > 2*time.Second {
		t.Errorf("it was stopped in %v, which is documented as two seconds at most", took)
	}
}

// testServeLimits: the bounds for clients follow the limits of the unit, and refusals name
// them. The token comes as the comment in the unit has it.
func (s *managed) testServeLimits(t *testing.T) {
	configure := func(lines string) {
		s.do(t, "mkdir -p /etc/systemd/system/"+serveUnit+".d && cat >/etc/systemd/system/"+serveUnit+
			".d/override.conf <<X && systemctl daemon-reload\n[Service]\n"+lines+"\nX")
	}
	const group = " of the control group /system.slice/" + serveUnit
	refuses := func(limit string, arguments ...string) {
		t.Helper()
		pid := s.property(t, serveUnit, "MainPID")
		if out, status := s.measure(t, arguments...); status != ExitFailed ||
			!strings.Contains(strings.Join(strings.Fields(out), " "), limit+group) {
			t.Errorf("%v: %q, exit status %d; want a refusal with %s", arguments, out, status, limit+group)
		}
		if now := s.property(t, serveUnit, "MainPID"); now != pid {
			t.Errorf("the server is process %s, was %s", now, pid)
		}
	}
	configure("TasksMax=70")
	pid := s.startServe(t)
	s.group(t, pid, map[string]string{"pids.max": "70"})
	refuses("pids.max", "--protocol rr --threads 60 --connections 60")

	s.do(t,
		"mkdir -p /etc/linerate && head -c 32 /dev/urandom | base64 | install -m 0600 /dev/stdin /etc/linerate/token")
	configure(`MemoryMax=128M
LoadCredential=token:/etc/linerate/token
ExecStart=
ExecStart=/usr/bin/linerate serve --max-flows 512 --token \${CREDENTIALS_DIRECTORY}/token`)
	const token = "--token /etc/linerate/token"
	pid = s.startServe(t, token)
	s.group(t, pid, map[string]string{"memory.max": fmt.Sprint(128 << 20), "pids.max": "1024"})
	refuses("memory.max", token, "--streams 400")
	if out, status := s.measure(t); status != ExitFailed || !strings.Contains(out, "requires a token") {
		t.Errorf("without a token: %q, exit status %d", out, status)
	}
	if out, status := s.measure(t, token); status != ExitOK && status != ExitDoubt {
		t.Errorf("after the refusals: %q, exit status %d", out, status)
	}
	s.stop(t, serveUnit)
}

// connectUnit connects standard input and output with a socket, as socat(1) does.
const connectUnit = `use IO::Socket::UNIX;
my $s = IO::Socket::UNIX->new(Peer => "/run/linerate-agent.sock") or die $!;
my $b;
if (fork) {
	while (sysread(STDIN, $b, 65536)) { syswrite($s, $b) }
	shutdown($s, 1);
	wait;
} else {
	while (sysread($s, $b, 65536)) { syswrite(STDOUT, $b) }
}
`

// unitStudy changes each kind of setting on the host that is behind the unit.
const unitStudy = `study: unit
topology:
  hosts:
    left:
      via: [perl, /root/connect]
      interfaces:
        eth0: {addresses: [192.0.2.1/24]}
    right:
      via: [ip, netns, exec, right]
      interfaces:
        eth0: {addresses: [192.0.2.2/24]}
  links:
    - {from: left, to: right, rate: 100mbit}
workload:
  duration: 1s
  warmup: 500ms
  flows:
    - {from: left, to: right, rate_cap: 5mbit}
design:
  replicates: 2
factors:
  tuning:
    levels:
      none: {}
      all:
        settings:
          - {host: left, sysctl: {net.ipv4.conf.eth0.rp_filter: 2, net.ipv4.tcp_slow_start_after_idle: 0}}
          - {host: left, address: {interface: eth0, address: 192.0.2.77/24}}
          - {host: left, neighbour: {interface: eth0, address: 192.0.2.99, lladdr: "02:00:00:00:00:99"}}
          - {host: left, route: {to: 198.51.100.0/24, via: 192.0.2.99, interface: eth0}}
          - {host: left, link: {interface: eth0, mtu: 1400}}
          - {host: left, qdisc: {interface: eth0, kind: tbf, rate: 20mbit, burst: 32KiB, limit: 100000}}
`

// testAgent runs a study with the agent behind its socket: it may make each setting and
// reverts it, also when it is stopped or killed.
func (s *managed) testAgent(t *testing.T) {
	s.do(t,
		"ip link set lo up; ip netns add right && ip link add eth0 type veth peer name eth0 netns right && ip "+
			"address add 192.0.2.1/24 dev eth0 && ip link set eth0 up")
	s.do(t,
		"ip -n right address add 192.0.2.2/24 dev eth0 && ip -n right link set eth0 up && ip -n right link set lo up")
	s.do(t, "systemctl start "+agentSocket)
	if out := s.do(t, "stat -c '%a %U' /run/linerate-agent.sock"); out != "600 root" {
		t.Errorf("the socket is %q, want 600 root", out)
	}
	state := func() string {
		return s.do(t,
			"ip -o -4 address show eth0; ip neighbour show nud permanent; ip route; ip link show eth0; tc qdisc "+
				"show dev eth0; sysctl net.ipv4.conf.eth0.rp_filter net.ipv4.tcp_slow_start_after_idle")
	}
	before := state()

	out, status := s.run(t, "cd /root && linerate run --trust --json --quiet unit.yaml 2>errors")
	if status != ExitOK && status != ExitDoubt {
		t.Fatalf("exit status %d\n%s\n%s", status, out, s.do(t, "cat /root/errors; journalctl --no-pager --lines=40"))
	}
	var run record.Run
	if err := json.Unmarshal([]byte(out), &run); err != nil || len(run.Trials) != 4 {
		t.Fatalf("%v, %d trials\n%s", err, len(run.Trials), out)
	}
	if after := state(); after != before {
		t.Errorf("the host is not as it was:\n%s\nbefore:\n%s", after, before)
	}

	// begin starts a run and waits until it has changed the host: the agent's process, and
	// its unit.
	begin := func() (pid, unit string) {
		s.do(t,
			"cd /root && linerate run --trust --quiet --set workload.duration=60s --only all unit.yaml >/run/run "+
				"2>&1 &")
		for end := time.Now().Add(2 * time.Minute); !strings.Contains(state(), "mtu 1400") ||
			!strings.Contains(state(), "qdisc tbf"); time.Sleep(500 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("nothing was ever changed\n%s", s.do(t, "cat /run/run"))
			}
		}
		unit = strings.Fields(s.do(t, "systemctl list-units --plain --no-legend 'linerate-agent@*.service'"))[0]
		return s.property(t, unit, "MainPID"), unit
	}
	restored := func(how string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); state() != before; time.Sleep(500 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s, and the host is not as it was:\n%s\nbefore:\n%s", how, state(), before)
			}
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
			if out, _ := s.run(t, "pgrep -x linerate"); out == "" {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s, and processes are left:\n%s", how, s.do(t, "ps -ef"))
			}
		}
		if out := s.do(t, "ls /var/lib/linerate"); out != "" {
			t.Errorf("%s, and a journal is left: %s", how, out)
		}
	}
	pid, unit := begin()
	// CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK, CAP_SYS_ADMIN,
	// CAP_SYS_NICE (include/uapi/linux/capability.h).
	s.confined(t, pid, fmt.Sprintf("%016x", 1<<10|1<<12|1<<13|1<<14|1<<21|1<<23))
	if status := s.statusOf(t, pid); status["Uid"] != "0 0 0 0" {
		t.Errorf("user %s, want root", status["Uid"])
	}
	s.readOnly(t, pid, "/usr", "/etc", "/var/log", "/run", "/sys/fs/cgroup")
	s.group(t, pid, map[string]string{"pids.max": "4096", "memory.max": fmt.Sprint(2 << 30)})
	if out := s.do(t, "ls /var/lib/linerate"); !strings.HasPrefix(out, "journal-left-") {
		t.Errorf("journals %q, want one of left", out)
	}
	s.do(t, "systemctl stop "+unit)
	restored("the unit was stopped")

	pid, _ = begin()
	s.do(t, "kill -KILL "+pid)
	restored("the agent was killed")
	s.do(t, "systemctl stop "+agentSocket)
}
