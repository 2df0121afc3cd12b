package machinetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// argumentsVariable has arguments of go test, for tests that one wants to see in user-mode
// Linux (script/machines ARGUMENT…).
const argumentsVariable = "LINERATE_MACHINE_TEST"

// TestUserModeLinuxPackages tests this repository's packages in user-mode Linux: with make
// machines all, otherwise some that take seconds.
func TestUserModeLinuxPackages(t *testing.T) {
	kernel := UserMode(t)
	packages := []string{"./internal/kernel/file", "./internal/kernel/proc", "./internal/kernel/sock"}
	if os.Getenv(machinesVariable) == "1" {
		packages = []string{"./..."}
	}
	testPackages(t, Machine{Name: "uml", Kernel: kernel, Memory: 2048}, packages)
}

// TestQEMUPackages tests the packages that are closest to the kernel on Debian's kernel.
func TestQEMUPackages(t *testing.T) {
	testPackages(t, Machine{Name: "qemu", Kernel: Debian(t), Memory: 2048, CPUs: 2}, closest)
}

// closest are packages that the kernel decides about, and no speed. Without KVM
// internal/host/apply takes over half an hour; user-mode Linux has it.
var closest = []string{"./internal/kernel/netlink", "./internal/kernel/proc", "./internal/kernel/sock",
	"./internal/host/counters"}

// TestUserModeLinuxArguments is go test with any arguments in user-mode Linux.
func TestUserModeLinuxArguments(t *testing.T) {
	arguments := os.Getenv(argumentsVariable)
	if arguments == "" {
		t.Skip("nothing to test: script/machines ARGUMENT…")
	}
	m := bootTree(t, Machine{Name: "uml", Kernel: UserMode(t), Memory: 2048})
	command := goTest(t, m, strings.Fields(arguments)...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		t.Error(err)
	}
}

func bootTree(t *testing.T, m Machine) *Running {
	t.Helper()
	m.Tree = true
	for _, module := range []string{"ipv6", "tun", "tls"} { // which udev and sockets would load
		if _, err := m.Kernel.closure([]string{module}); err == nil { // not built in
			m.Modules = append(m.Modules, module)
		}
	}
	return Boot(t, m)[0]
}

// goTest is a command that tests packages in a machine.
func goTest(t *testing.T, m *Running, arguments ...string) *exec.Cmd {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go",
		append([]string{"test", "-vet=off", "-count=1", "-p=1", "-exec=" + strings.Join(m.Exec(), " ")},
			arguments...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "LINERATE_REQUIRE_NETNS=1", machinesVariable+"=",
		requireMachines+"=")
	return command
}

// tally counts a package's tests by their outcome.
type tally struct {
	name                            string
	passed, failed, skipped, absent int
	elapsed                         time.Duration
}

// testPackages tests packages in a machine, each as a test of its own, and logs a list of
// outcomes.
func testPackages(t *testing.T, machine Machine, patterns []string) {
	packages := testedPackages(t, patterns)
	m := bootTree(t, machine)
	var list []tally
	for _, name := range packages {
		t.Run(name, func(t *testing.T) {
			result := testPackage(t, m, name)
			list = append(list, result)
			t.Log(result)
		})
	}
	var table strings.Builder
	for _, r := range list {
		fmt.Fprintln(&table, r)
	}
	t.Logf("tests on Linux %s:\n%s", m.Kernel.Release, table.String())
}

func (r tally) String() string {
	return fmt.Sprintf("%-36s %4d passed %2d failed %2d skipped %2d left out  %6.1f s",
		r.name, r.passed, r.failed, r.skipped, r.absent, r.elapsed.Seconds())
}

// testedPackages are the packages that have tests and do not depend on speed.
func testedPackages(t *testing.T, patterns []string) (names []string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go",
		append([]string{"list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}`}, patterns...)...)
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(output)) {
		name := strings.TrimPrefix(path, "linerate/")
		if why, ok := packagesLeftOut[name]; ok {
			t.Logf("%s is left out: %s", name, why)
			continue
		}
		names = append(names, name)
	}
	return names
}

// testPackage tests a package in a machine without the tests that are left out there.
func testPackage(t *testing.T, m *Running, name string) tally {
	t.Helper()
	result := tally{name: name}
	arguments := []string{"-json", "-timeout=55m"}
	var leftOut []string
	for test, why := range testsLeftOut[name] {
		if !m.Kernel.userMode && slices.Contains(onlyUserMode, why) {
			continue
		}
		t.Logf("%s is left out: %s", test, why)
		leftOut = append(leftOut, test)
	}
	result.absent = len(leftOut)
	if len(leftOut) > 0 {
		arguments = append(arguments, "-skip=^("+strings.Join(leftOut, "|")+")$")
	}
	command := goTest(t, m, append(arguments, "./"+name)...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	command.Stderr = &messages
	began := time.Now()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	outputs := make(map[string]*strings.Builder) // by test, nested ones on their own
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var event struct{ Action, Test, Output string }
		if err != nil || json.Unmarshal(line, &event) != nil {
			t.Errorf("%s", line)
			continue
		}
		if outputs[event.Test] == nil {
			outputs[event.Test] = new(strings.Builder)
		}
		outputs[event.Test].WriteString(event.Output)
		count := new(int)
		switch event.Action {
		case "fail":
			count = &result.failed
			t.Errorf("%s", outputs[event.Test])
		case "pass":
			count = &result.passed
		case "skip":
			count = &result.skipped
			t.Logf("%s", outputs[event.Test])
		}
		if event.Test != "" && !strings.Contains(event.Test, "/") {
			*count++
		}
	}
	result.elapsed = time.Since(began)
	if err := command.Wait(); err != nil && !t.Failed() {
		t.Errorf("%v\n%s", err, messages.String())
	}
	return result
}
