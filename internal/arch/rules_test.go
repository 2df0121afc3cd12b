package arch

// A room is a directory whose packages share a floor. A package may import its
// own room and the rooms named in may, nothing else of this module.
type room struct {
	dir string // below the module's root
	may []string
	why string
}

// everywhere may be imported by every room.
var everywhere = []string{"internal/version"}

var rooms = []room{
	{"internal/model", nil,
		"model is what is said, on disk and on the bus: it must mean the same to everybody, so it leans on nobody"},
	{"internal/science", []string{"internal/model"},
		"conclusions follow from records alone, so that they can be tested on stored ones and drawn again later"},
	{"internal/kernel", []string{"internal/model"},
		"the kernel's raw interfaces know nothing of agents or runs"},
	{"internal/bus", []string{"internal/model"},
		"the bus carries messages and does not know what they cause"},
	{"internal/host", []string{"internal/bus", "internal/kernel", "internal/science", "internal/model"},
		"what runs on a host must work there alone: it meets control only through messages, because the two may be different machines"},
	{"internal/control", []string{"internal/bus", "internal/kernel", "internal/science", "internal/model"},
		"the conductor reaches every host, its own included, through messages: otherwise a lab would work where a real host does not"},
	{"internal/show", []string{"internal/control", "internal/host", "internal/bus", "internal/kernel", "internal/science", "internal/model", "studies"},
		"what people see stands on everything and nothing stands on it"},
	{"studies", nil,
		"the built-in studies are data"},
	{"cmd/linerate", []string{"internal/show"},
		"main hands over and returns the exit status"},
	{"script/bench", nil,
		"a benchmark looks at the program from outside, as at any other tool"},
	{"script/manual", []string{"internal/show"},
		"manual pages and completions are made from the command tree"},
	{"script/release", nil,
		"a release builds the program as anybody would; it is a module of its own, whose libraries are not the program's"},
	{"script/undisturbed", []string{"internal/kernel", "internal/model"},
		"it judges a machine while tests run, and knows nothing of what they test"},
	{"internal/version", nil,
		"everybody names the version, so it may lean on nobody"},
	{"internal/arch", nil,
		"the rules stand beside the house, not in it"},
}

// crossings are the test files that may leave their floor, because they put
// the whole together.
var crossings = []struct{ dir, to, why string }{
	{"internal/control", "internal/host",
		"a lab or a run without an agent at the other end tests nothing; production code still starts it as a process"},
}

// keepers say which rooms may import a package from outside the module.
// A path ending in / stands for everything below it. The reason is printed with
// a violation.
var keepers = []struct {
	paths []string
	rooms []string
	why   string
}{
	{[]string{"unsafe", "golang.org/x/sys/", "github.com/vishvananda/", "github.com/cilium/ebpf", "github.com/cilium/ebpf/"},
		[]string{"internal/kernel"},
		"one room holds every raw call to the kernel, so that it can be read, faked and ported there"},
	{[]string{"github.com/nats-io/"},
		[]string{"internal/bus"},
		"above the bus nobody can tell an embedded server from a cluster"},
	{[]string{"modernc.org/", "database/sql", "database/sql/"},
		[]string{"internal/control/notebook"},
		"other stores must be able to stand in for SQLite"},
	{[]string{"github.com/goccy/go-yaml", "github.com/goccy/go-yaml/"},
		[]string{"internal/model"},
		"files are read in one place, which knows the line and column of everything"},
	{[]string{"github.com/spf13/", "golang.org/x/term"},
		[]string{"internal/show/cli", "script/manual"},
		"flags and terminals end at the command line"},
	{[]string{"os/exec"},
		[]string{"internal/control/lab", "internal/control/run", "internal/host/program", "internal/host/foreign", "internal/host/transaction", "internal/show/cli", "script/bench", "script/release", "script/undisturbed"},
		"foreign commands are started only to reach a host (via, a lab's processes), as the tool or the routing daemon that a study names, on the user's word (lab exec, lab shell), or by a script; this program itself also where a flow has more connections than a process may have descriptors"},
	{[]string{"C"}, nil,
		"one static binary that cross-builds"},
	{[]string{"testing", "testing/"}, nil,
		"test code stays in test files and test kits"},
	{[]string{"log"}, nil,
		"what there is to say is returned, recorded, or shown by the command line"},
	{[]string{"math/rand"}, nil,
		"the order of trials comes from a printed seed: math/rand/v2 makes the source explicit"},
	{[]string{"io/ioutil"}, nil, "deprecated"},
}

// pure rooms do no I/O and have no clock and no chance: the same values in give
// the same values out.
var pureRooms = []string{"internal/model", "internal/science", "internal/version"}

const pureWhy = "model and science are pure: a stored record must give the same answer on any machine, at any time"

// pureDenied are standard packages that reach outside the program.
var pureDenied = []string{
	"os", "os/", "net", "net/", "syscall", "io/fs", "path/filepath", "embed", "log/", "crypto/rand",
	"runtime", "runtime/", "plugin", "context",
}

// pureAllowed are exceptions to pureDenied: values, not I/O.
var pureAllowed = []string{"net/netip", "net/url", "runtime/debug"}

// pureOnly are packages of which only these names may be used.
var pureOnly = map[string][]string{"net": {"ParseMAC", "HardwareAddr"}}

// pureSelectors are the parts of allowed packages that are a clock or chance.
var pureSelectors = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"},
	"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN", "Uint",
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

const syscallWhy = "system calls belong to internal/kernel; elsewhere package syscall gives names of signals, errors and process attributes"

// ownFiles are files of /proc that say something about this very process, the
// same under any root.
var ownFiles = []string{"/proc/self/exe"}
