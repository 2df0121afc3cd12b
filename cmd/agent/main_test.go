package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostInitBytes bounds what all packages of the program allocate before main begins: each host of a lab does so. A
// table that costs more is made when it is first used (sync.OnceValue, package pattern); a library that costs more
// belongs behind a package that this program does not import.
const mostInitBytes = 500_000

// keptOut are packages that only other commands of linerate need.
var keptOut = []string{"github.com/nats-io/nats-server/", "golang.org/x/net/html", "mvdan.cc/", "modernc.org/",
	"github.com/prometheus/client_golang/", "charm.land/", "linerate/internal/show/", "linerate/internal/control/"}

// TestInitAllocations: the variables of packages are initialised with few allocations (inittrace in the
// documentation of GODEBUG).
func TestInitAllocations(t *testing.T) {
	program, err := os.Executable() // has the packages of the program, and package testing
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bytes := 0
	var costly []string
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(
		string(out), -1) {
		n, _ := strconv.Atoi(m[2])
		if bytes += n; n > mostInitBytes/20 {
			costly = append(costly, m[1]+" "+m[2])
		}
		if slices.ContainsFunc(keptOut, func(path string) bool { return strings.HasPrefix(m[1], path) }) {
			t.Errorf("the program initialises %s", m[1])
		}
	}
	if bytes == 0 || bytes > mostInitBytes {
		t.Errorf("%d bytes, want at most %d; the most: %s", bytes, mostInitBytes, strings.Join(costly, ", "))
	}
}
