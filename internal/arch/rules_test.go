package arch

// A layer is a directory with packages below it. A package may import its own
// layer and the layers named in may, nothing else of this module.
type layer struct {
	dir string // below the module's root
	may []string
	why string
}

// everywhere lists packages that every layer may import.
var everywhere = []string{"internal/version"}

var layers = []layer{
	{"internal/model", nil,
		"model is the values of files, messages and documents: every other layer uses them, so it depends on none"},
	{"internal/science", []string{"internal/model"},
		"conclusions are functions of records alone, so that they can be tested on stored ones and repeated later"},
	{"internal/kernel", []string{"internal/model"},
		"access to the kernel is independent of agents and runs"},
	{"internal/bus", []string{"internal/model"},
		"the bus carries messages and is independent of their meaning"},
	{"internal/host", []string{"internal/bus", "internal/kernel", "internal/science", "internal/model"},
		"an agent may run on another machine than the conductor: it communicates with control only by messages"},
	{"internal/control", []string{"internal/bus", "internal/kernel", "internal/science", "internal/model"},
		"the conductor communicates with every host, also a local one, by messages only: otherwise a lab would " +
			"work where a real host does not"},
	{"internal/show", []string{"internal/control", "internal/host", "internal/bus", "internal/kernel",
		"internal/science", "internal/model", "studies"},
		"commands and reports may use everything, and nothing may use them"},
	{"studies", nil,
		"the built-in studies are data"},
	{"cmd/agent", []string{"internal/host", "internal/bus", "internal/model"},
		"the agent of a lab is linked without the commands, whose packages it would initialise"},
	{"cmd/linerate", []string{"internal/show"},
		"main calls the command line and returns its exit status"},
	{"script/attach", []string{"internal/kernel"},
		"one package knows how a program is attached to another"},
	{"script/bench", nil,
		"a benchmark runs the program as a process, like any other tool"},
	{"script/manual", []string{"internal/show"},
		"manual pages and completions are made from the command tree"},
	{"script/release", nil,
		"a release builds the program as anybody would; it is a module of its own, whose libraries are not the " +
			"program's"},
	{"script/types", nil,
		"the types of all packages on other systems: the program itself is not run"},
	{"script/undisturbed", []string{"internal/kernel", "internal/model"},
		"it checks the load of a machine while tests run, independently of what they test"},
	{"internal/version", nil,
		"every layer uses the version, so it depends on none"},
	{"internal/arch", nil,
		"the rules read source files and depend on no package"},
}

// testExceptions are layers whose test files may import one more layer.
var testExceptions = []struct{ dir, to, why string }{
	{"internal/control", "internal/host",
		"tests of a lab or a run need an agent at the other end; production code starts it as a process"},
	{"internal/control", "internal/show", "tests of a run or a measurement look at what a user sees of it"},
	{"internal/host/hoststate", "internal/show", "tests of a diagnosis look at what a user sees of it"},
	{"internal/host/hoststate", "internal/control", "a test reads what sos report collects of a lab"},
}

// restricted lists packages from outside the module that only the given layers may
// import. A path ending in / stands for everything below it. The reason is printed
// with a violation.
var restricted = []struct {
	paths  []string
	layers []string
	why    string
}{
	{[]string{"unsafe", "golang.org/x/sys/", "github.com/vishvananda/", "github.com/cilium/ebpf",
		"github.com/cilium/ebpf/"},
		[]string{"internal/kernel"},
		"one layer holds every system call, so that it can be read, faked and ported there"},
	{[]string{"github.com/nats-io/"},
		[]string{"internal/bus"},
		"above the bus an embedded server and a cluster look the same"},
	{[]string{"modernc.org/", "database/sql", "database/sql/"},
		[]string{"internal/control/notebook"},
		"SQLite must be replaceable by another store"},
	{[]string{"github.com/goccy/go-yaml", "github.com/goccy/go-yaml/"},
		[]string{"internal/model"},
		"files are decoded in one place, which keeps the line and column of every value"},
	{[]string{"mvdan.cc/sh/v3/", "github.com/BurntSushi/toml", "go.yaml.in/yaml/v3",
		"golang.org/x/net/html", "golang.org/x/net/html/"},
		[]string{"internal/model"},
		"files of other programs are parsed in one place, which bounds the work and executes nothing"},
	{[]string{"github.com/spf13/", "golang.org/x/term"},
		[]string{"internal/show/cli", "script/manual"},
		"flags and terminals belong to the command line"},
	{[]string{"github.com/prometheus/client_golang/"},
		[]string{"internal/host/openmetrics"},
		"every metric is in one package, whose table the document has"},
	{[]string{"github.com/gosnmp/"},
		[]string{"internal/control/snmp"},
		"what switches say is bounded and filtered in one place, which keeps their credentials"},
	{[]string{"charm.land/", "github.com/charmbracelet/"},
		[]string{"internal/show/top"},
		"the live screen is a function of its model; the library only shows it"},
	{[]string{"os/exec"},
		[]string{"internal/kernel/proc", "internal/control/reach", "internal/control/lab", "internal/control/run",
			"internal/host/program",
			"internal/host/foreign", "internal/host/transaction", "internal/show/cli", "script/bench", "script/release",
			"script/undisturbed"},
		"programs are started only to reach a host (control/reach), as a lab's processes, as the tool or the " +
			"routing daemon that a study names, as the user's command (lab exec, lab shell), to ask lldpd for its " +
			"neighbours, or by a script; this program itself also where a flow has more connections than " +
			"RLIMIT_NOFILE allows one process"},
	{[]string{"C"}, nil,
		"one static binary that cross-builds"},
	{[]string{"testing", "testing/"}, nil,
		"test code stays in test files and test kits"},
	{[]string{"log"}, nil,
		"messages are returned, recorded, or printed by the command line"},
	{[]string{"math/rand"}, nil,
		"the order of trials comes from a printed seed: math/rand/v2 makes the source explicit"},
	{[]string{"io/ioutil"}, nil, "deprecated"},
}

// pureLayers do no I/O and use neither clock nor random numbers: the same input gives
// the same output.
var pureLayers = []string{"internal/model", "internal/science", "internal/version"}

const pureWhy = "model and science are pure: a stored record must give the same answer on any machine, at any time"

// pureDenied are standard packages that reach outside the program.
var pureDenied = []string{
	"os", "os/", "net", "net/", "syscall", "io/fs", "path/filepath", "log/", "crypto/rand",
	"runtime", "runtime/", "plugin", "context",
}

// pureAllowed are exceptions to pureDenied: values, not I/O.
var pureAllowed = []string{"net/netip", "net/url", "runtime/debug"}

// pureOnly are packages of which only these names may be used.
var pureOnly = map[string][]string{"net": {"ParseMAC", "HardwareAddr"}}

// pureSelectors are the parts of allowed packages that are a clock or a source of random numbers.
var pureSelectors = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local",
		"LoadLocation"},
	"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint32", "Uint32N", "Uint64", "Uint64N",
		"UintN", "Uint",
		"N", "Float32", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle"},
	"fmt": {"Print", "Println", "Printf", "Scan", "Scanln", "Scanf"},
}

// syscallValues are the parts of package syscall that are values or that only
// describe a process; the rest are calls, which belong to internal/kernel.
// A name ending in * stands for all constants (in capitals) with that beginning.
var syscallValues = []string{
	"SIG*", "Signal", "E*", "Errno", "SysProcAttr", "SysProcIDMap", "Credential", "CLONE_*", "WaitStatus", "O_*",
	"RawConn", "Conn",
}

const syscallWhy = "system calls belong to internal/kernel; elsewhere package syscall gives names of signals, " +
	"errors and process attributes"

// ownFiles are the file of /proc about this process itself, the same under any root, and
// directories that hostconfig writes into commands for other hosts.
var ownFiles = []string{"/proc/self/exe", "/sys/class/net/", "/proc/irq/"}

// streamFiles may name the standard streams: a lab's processes are this program, whose own
// command line filters what they write, and an agent's standard streams are its connection.
var streamFiles = []string{
	"internal/control/lab/init.go", "internal/control/lab/links.go", "internal/control/lab/start.go",
	"internal/show/cli/agent.go", "cmd/agent/main.go",
}

const streamsWhy = "text from files and other hosts must not act on a terminal: write to the streams of cli.Main, " +
	"which filters them"
