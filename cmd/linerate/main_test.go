package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostInitBytes and mostInits bound what linerate's own packages allocate before main begins. Each host of a lab is
// a process that does so. A table that costs more is made when it is first used: sync.OnceValue, package pattern.
const (
	mostInitBytes = 300_000
	mostInits     = 3_000
)

// TestInitAllocations: the variables of packages are initialised with few allocations (inittrace in the
// documentation of GODEBUG).
func TestInitAllocations(t *testing.T) {
	program, err := os.Executable() // has the packages of the program
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	row := regexp.MustCompile(`(?m)^init (linerate/\S+) @.* (\d+) bytes, (\d+) allocs$`)
	bytes, allocations := 0, 0
	var costly []string
	for _, m := range row.FindAllStringSubmatch(string(out), -1) {
		b, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		bytes, allocations = bytes+b, allocations+n
		if b > mostInitBytes/10 {
			costly = append(costly, m[1]+" "+m[2])
		}
	}
	if bytes == 0 || bytes > mostInitBytes || allocations > mostInits {
		t.Errorf("%d bytes in %d allocations, want at most %d in %d; the most: %s", bytes, allocations, mostInitBytes,
			mostInits, strings.Join(costly, ", "))
	}
}
