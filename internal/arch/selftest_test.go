package arch

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestRulesBite shows each rule a file that breaks it, and one that does not:
// a rule that never complains protects nothing.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		name, path, body string
		check            func(source) []string
		want             string // part of the complaint; empty: none
	}{
		{"control imports host", "internal/control/run/x.go", `import "linerate/internal/host/agent"`, layerViolations,
			"internal/control may not import"},
		{"host imports control", "internal/host/agent/x.go", `import _ "linerate/internal/control/lab"`,
			layerViolations, "internal/host may not import"},
		{"a lab's test starts an agent", "internal/control/lab/x_test.go", `import "linerate/internal/host/agent"`,
			layerViolations, ""},
		{"host's test imports control", "internal/host/agent/x_test.go", `import "linerate/internal/control/lab"`,
			layerViolations, "internal/host may not import"},
		{"model imports science", "internal/model/unit/x.go", `import "linerate/internal/science/limits"`,
			layerViolations, "internal/model may not import"},
		{"bus imports kernel", "internal/bus/x.go", `import "linerate/internal/kernel"`, layerViolations,
			"internal/bus may not import"},
		{"main imports model", "cmd/linerate/x.go", `import "linerate/internal/model/unit"`, layerViolations,
			"cmd/linerate may not import"},
		{"siblings", "internal/science/trust/x.go", `import "linerate/internal/science/limits"`, layerViolations, ""},
		{"a new layer", "internal/attic/x.go", ``, layerViolations, "belongs to no layer"},
		{"import from a new layer", "internal/show/cli/x.go", `import "linerate/internal/attic"`, layerViolations,
			"belongs to no layer"},
		{"version from anywhere", "internal/model/record/x.go", `import "linerate/internal/version"`,
			layerViolations, ""},

		{"a test kit in the program", "internal/control/run/x.go",
			`import "linerate/internal/control/notebook/conformance"`, layerViolations, "only tests may import it"},
		{"a test kit in a test", "internal/control/run/x_test.go",
			`import "linerate/internal/control/notebook/conformance"`, layerViolations, ""},
		{"a test kit of control imports host", "internal/control/controltest/x.go",
			`import "linerate/internal/host/agent"`, layerViolations, ""},
		{"unsafe above the kernel", "internal/host/traffic/x.go", `import "unsafe"`, importViolations, `"unsafe"`},
		{"x/sys above the kernel", "internal/host/counters/x_linux.go", `import "golang.org/x/sys/unix"`,
			importViolations, "x/sys/unix"},
		{"netlink in the kernel", "internal/kernel/x_linux.go", `import "github.com/vishvananda/netlink"`,
			importViolations, ""},
		{"NATS above the bus", "internal/host/agent/x.go", `import "github.com/nats-io/nats.go"`, importViolations,
			"nats.go"},
		{"exec in science", "internal/science/stats/x.go", `import "os/exec"`, importViolations, "os/exec"},
		{"exec in the lab", "internal/control/lab/x.go", `import "os/exec"`, importViolations, ""},
		{"standard error above main", "internal/control/run/x.go", "import \"os\"\nvar _ = os.Stderr", streamViolations,
			"os.Stderr"},
		{"standard output by fmt", "internal/show/cli/x.go", "import \"fmt\"\nfunc f() { fmt.Println() }",
			streamViolations, "fmt.Println"},
		{"a path beside a shared directory", "internal/control/x/x.go",
			"import \"os\"\nvar d = os.TempDir()\nfunc f() { os.Remove(d) }", pathViolations, "os.Remove"},
		{"a path in a shared directory", "internal/control/x/x.go", "const at = \"/tmp/x\"", pathViolations, "/tmp/x"},
		{"a descriptor in a shared directory", "internal/control/x/x.go",
			"import \"os\"\nvar d = os.TempDir()\nvar f = os.NewFile", pathViolations, ""},
		{"standard error of a lab's process", "internal/control/lab/links.go", "import \"os\"\nvar _ = os.Stderr",
			streamViolations, ""},
		{"a sentence of a rule", "internal/science/diagnose/x.go", "var a = \"it is so\"", sentences, "a sentence"},
		{"an error of a rule", "internal/science/diagnose/x.go",
			"import \"errors\"\nvar a = errors.New(\"it is so\")", sentences, ""},
		{"a child with secrets", "internal/host/program/x.go", "import \"os/exec\"\nvar a = exec.Command(\"x\")",
			childViolations, "exec.Command"},
		{"an environment with secrets", "internal/control/lab/x.go", "import \"os\"\nvar a = os.Environ()",
			childViolations, "os.Environ"},
		{"a child in a test", "internal/host/program/x_test.go", "import \"os/exec\"\nvar a = exec.Command(\"x\")",
			childViolations, ""},
		{"a sleep", "internal/host/serve/x.go", "import \"time\"\nfunc f() { time.Sleep(1) }",
			waitViolations, "sleeps"},
		{"a wait under a lock", "internal/host/serve/x.go",
			"func (s s) f() { s.mu.Lock(); defer s.mu.Unlock(); s.all.Wait() }", waitViolations,
			"calls Wait under a lock"},
		{"a receive under a lock", "internal/bus/x.go", "func (s s) f() { s.mu.Lock(); <-s.done; s.mu.Unlock() }",
			waitViolations, "receives from a channel"},
		{"a wait after a lock", "internal/host/serve/x.go",
			"func (s s) f() { s.mu.Lock(); s.mu.Unlock(); s.all.Wait(); <-s.done }", waitViolations, ""},
		{"another goroutine's wait", "internal/host/serve/x.go",
			"func (s s) f() { s.mu.Lock(); go func() { s.all.Wait() }(); s.mu.Unlock() }", waitViolations, ""},
		{"cgo", "internal/kernel/x.go", `import "C"`, importViolations, `"C"`},
		{"cgo in a test", "internal/kernel/x_test.go", `import "C"`, importViolations, `"C"`},

		{"os in model", "internal/model/study/x.go", `import "os"`, purityViolations, `"os"`},
		{"net in science", "internal/science/limits/x.go", "import \"net\"\nvar a, b = net.Dial(\"tcp\", \"\")",
			purityViolations, "no more of net than"},
		{"a MAC address in model", "internal/model/topology/x.go", "import \"net\"\nvar a, b = net.ParseMAC(\"\")",
			purityViolations, ""},
		{"HTTP in science", "internal/science/limits/x.go", `import "net/http"`, purityViolations, `"net/http"`},
		{"netip in model", "internal/model/topology/x.go", `import "net/netip"`, purityViolations, ""},
		{"a clock in science", "internal/science/stats/x.go", "import \"time\"\nvar a = time.Now()", purityViolations,
			"time.Now"},
		{"a renamed clock", "internal/science/stats/x.go", "import clock \"time\"\nvar a = clock.Now()",
			purityViolations, "time.Now"},
		{"a duration in science", "internal/science/stats/x.go", "import \"time\"\nvar a = time.Second",
			purityViolations, ""},
		{"a field called Now", "internal/science/stats/x.go",
			"import \"time\"\ntype s struct{ Now int }\nfunc f(time s) int { return time.Now }", purityViolations, ""},
		{"chance in science", "internal/science/stats/x.go", "import \"math/rand/v2\"\nvar a = rand.IntN(4)",
			purityViolations, "rand/v2.IntN"},
		{"a seeded source", "internal/science/stats/x.go",
			"import \"math/rand/v2\"\nvar a = rand.New(rand.NewPCG(1, 2))", purityViolations, ""},
		{"a clock in control", "internal/control/run/x.go", "import \"time\"\nvar a = time.Now()",
			purityViolations, ""},

		{"a verb by its name", "internal/control/run/x.go",
			"import \"linerate/internal/model/message\"\nvar a = message.Verb[int, int]{Name: \"x\"}", verbViolations,
			"a Verb"},
		{"a handler by its name", "internal/host/agent/x.go",
			"import \"linerate/internal/bus\"\nvar a = bus.Handling{Name: \"x\"}", verbViolations, "a Handling"},
		{"a verb by its value", "internal/control/run/x.go",
			"import \"linerate/internal/model/message\"\nvar a = message.Window", verbViolations, ""},

		{"a system call in show", "internal/show/cli/x.go", "import \"syscall\"\nvar a, b = syscall.Socket(1, 2, 3)",
			kernelViolations, "syscall.Socket"},
		{"a signal in show", "internal/show/cli/x.go", "import \"syscall\"\nvar a = syscall.SIGTERM",
			kernelViolations, ""},
		{"/proc in host", "internal/host/counters/x.go", "const root = \"/proc/net/snmp\"", kernelViolations,
			"/proc/net/snmp"},
		{"/sys in the kernel", "internal/kernel/x.go", "const root = \"/sys/class/net\"", kernelViolations, ""},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, c.path, "package x\n"+c.body, parser.ParseComments)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s := source{path: c.path, dir: c.path[:strings.LastIndex(c.path, "/")],
			test: strings.HasSuffix(c.path, "_test.go"), file: file, fset: fset}
		got := strings.Join(c.check(s), "\n")
		switch {
		case c.want == "" && got != "":
			t.Errorf("%s: complains without cause: %s", c.name, got)
		case c.want != "" && !strings.Contains(got, c.want):
			t.Errorf("%s: complaint %q, want one with %q", c.name, got, c.want)
		}
	}
}
