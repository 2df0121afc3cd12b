package machinetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// orphanVariable is set in the test process that is killed.
const orphanVariable = "LINERATE_TEST_ORPHAN"

func TestKilledParentLeavesNothingOfUserModeLinux(t *testing.T) {
	m := Machine{Name: "uml", Kernel: UserMode(t), Tree: true}
	if os.Getenv(orphanVariable) == "" {
		Boot(t, m) // or the test is skipped
	}
	testKilledParent(t, m)
}

func TestKilledParentLeavesNothingOfQEMU(t *testing.T) {
	testKilledParent(t, Machine{Name: "qemu", Kernel: Debian(t), Modules: []string{"e1000e"},
		Ports: []Port{{Model: "e1000e"}}})
}

// testKilledParent kills a test process while it boots a machine, and when it has: no
// process, file or socket is left.
func testKilledParent(t *testing.T, m Machine) {
	if os.Getenv(orphanVariable) != "" {
		linerate(t)
		fmt.Println("boots")
		Boot(t, m)
		fmt.Println("booted")
		time.Sleep(time.Hour)
	}
	for kill := range 4 {
		booted := kill == 3
		dir := t.TempDir() // of the killed process
		mark := fmt.Sprintf("%s=%d-%d", orphanVariable, os.Getpid(), rand.Uint64())
		orphan := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=10m")
		orphan.Env = append(os.Environ(), mark, "TMPDIR="+dir)
		out, err := orphan.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := orphan.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(out)
		awaitLine(t, in, "boots\n")
		if booted {
			awaitLine(t, in, "booted\n")
			if processes, files := left(t, mark, dir); len(processes) < 3 || len(files) == 0 {
				t.Fatalf(
					"processes %q, files %q: want the test, the supervisor, the machine and its directory, or "+
						"there is nothing to test", processes, files)
			}
		} else {
			time.Sleep(time.Duration(rand.Int64N(int64(1500 * time.Millisecond))))
		}
		_ = orphan.Process.Kill()
		_ = orphan.Wait()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			processes, files := left(t, mark, dir)
			if len(processes) == 0 && len(files) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("kill %d, booted %t: processes %q and files %q are left", kill+1, booted, processes, files)
			}
		}
	}
}

func awaitLine(t *testing.T, in *bufio.Reader, want string) {
	t.Helper()
	line, err := in.ReadString('\n')
	if err != nil || line != want {
		rest, _ := io.ReadAll(in)
		t.Fatalf("%q, %v, want %q\n%s", line, err, want, rest)
	}
}

// left returns the processes with a mark in their environment and the files in a directory.
func left(t *testing.T, mark, dir string) (processes, files []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(environment, []byte(mark)) {
			words, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			processes = append(processes, strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	entries, err = os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return processes, files
}
