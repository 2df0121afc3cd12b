package recipes

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// change is a file that a recipe changes: new stands for old, which is there once, or is a whole file if old is empty.
type change struct{ file, old, new string }

// recipe adds one of a kind.
type recipe struct {
	row     string // of CONTRIBUTING.md
	most    int    // how many files that were there before it changes at most
	changes []change
	shows   []show
}

// show is a command of the program and what it prints.
type show struct {
	args, want string
	env        string // further variable
}

var recipes = []recipe{
	{
		row: "an option of flows", most: 3,
		changes: []change{
			{"internal/model/flow/spec.go", "type Spec struct {",
				"type Spec struct {\n\tTTL int `yaml:\"ttl\" json:\"ttl,omitempty\"`"},
			{"internal/model/flow/option.go", "fieldsOf(slices.Concat([]*Option{",
				"fieldsOf(slices.Concat(ttlOptions, []*Option{"},
			{"internal/model/flow/ttl.go", "", `package flow

var ttlOptions = []*Option{{Key: "ttl", Doc: "time to live of packets (IP_TTL)", Protocols: []string{UDP}, Least: 1,
	Most: 255, Type: "number"}}
`},
			{"internal/host/socket/options.go", "	if d := request.DSCP; d != nil {", `	if request.TTL != 0 {
		if err := sock.SetTTL(fd, request.TTL); err != nil {
			return fmt.Errorf("setting IP_TTL: %w", err)
		}
	}
	if d := request.DSCP; d != nil {`},
			{"internal/kernel/sock/ttl.go", "", `package sock

import "golang.org/x/sys/unix"

// SetTTL sets IP_TTL.
func SetTTL(fd, hops int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, hops) }
`},
		},
		shows: []show{
			{args: "measure --help", want: "--ttl number"},
			{args: "schema", want: `"ttl": {`},
			{args: "measure 127.0.0.1 --protocol udp --ttl 256", want: "--ttl 256: expected 1 to 255"},
			{args: "measure 127.0.0.1 --ttl 3", want: "--ttl is for udp, and --protocol is tcp"},
		},
	},
	{
		row: "a protocol", most: 2,
		changes: []change{
			{"internal/model/flow/protocol.go", "cacheProtocols)", "cacheProtocols, echoProtocols)"},
			{"internal/model/flow/echo.go", "", `package flow

const Echo = "echo"

var echoProtocols = []Protocol{{
	Name: Echo, Transport: TCP, Application: true, Doc: "lines that come back", Responses: byTransactions,
	Transaction: "lines that came back", Reconnects: true, URLs: []URL{{Scheme: "echo", Port: 7}},
}}
`},
			{"internal/host/traffic/traffic.go", "\t_ \"linerate/internal/host/application/mail\"\n",
				"\t_ \"linerate/internal/host/application/mail\"\n\t_ \"linerate/internal/host/application/echo\"\n"},
			{"internal/host/application/echo/echo.go", "", echo},
		},
		shows: []show{
			{args: "measure --help", want: "echo lines that come back"},
			{args: "schema", want: `"echo"`},
			{args: "measure gopher://127.0.0.1", want: "echo://"},
			{args: "measure echo://ECHO --duration 300ms --warmup 100ms --no-save --json", want: `"echoed"`},
			{args: "measure echo://ECHO --pipeline 4", want: "--pipeline is for dns"},
		},
	},
	{
		row: "a kind of qdisc", most: 3,
		changes: []change{
			{"internal/model/setting/qdisc.go", "\t{Name: \"bfifo\"",
				"\t{Name: \"pfifo_head_drop\", Limit: \"packets\"},\n\t{Name: \"bfifo\""},
			{"internal/model/hostconfig/qdisc.go", "\t\"bfifo\": {",
				"\t\"pfifo_head_drop\": {section: \"PFIFOHeadDrop\", keys: map[string]string{\"limit\": " +
					"\"PacketLimit\"}},\n\t\"bfifo\": {"},
			{"internal/kernel/netlink/qdisckinds_linux.go", "\t\"bfifo\": {",
				"\t\"pfifo_head_drop\": {options: fifoOptions, read: readFIFO},\n\t\"bfifo\": {"},
		},
		shows: []show{{args: "schema", want: `"pfifo_head_drop"`}},
	},
	{
		row: "a rule of hosts", most: 3,
		changes: []change{
			{"internal/science/diagnose/parameter/parameter.go", "var parametersOf = []parameter{",
				"var parametersOf = []parameter{\n\t{cause: cause.FinTimeoutShort, key: " +
					"\"net.ipv4.tcp_fin_timeout\", " +
					"wrong: below(5), confidence: record.Likely, value: \"60\"},"},
			{"internal/model/cause/parameter.go", "\tSACKOff ",
				"\tFinTimeoutShort = one[None](\"fin-timeout-short\")\n\tSACKOff "},
			{"internal/show/wording/parameter.go", "\tparameter(cause.SACKOff,",
				"\tparameter(cause.FinTimeoutShort, \"net.ipv4.tcp_fin_timeout\", \"connections are forgotten " +
					"early\", " +
					"ipSysctl)\n\tparameter(cause.SACKOff,"},
		},
		shows: []show{
			{args: "doctor --explain fin-timeout-short", want: "net.ipv4.tcp_fin_timeout: connections are " +
				"forgotten early."},
			{args: "doctor SNAPSHOT", want: "sysctl -w net.ipv4.tcp_fin_timeout=60"},
		},
	},
	{
		row: "a kind of device", most: 1,
		changes: []change{
			{"internal/model/device/device.go", "\tVXLAN   *VXLAN ",
				"\tIPVLAN *IPVLAN `yaml:\"ipvlan\" json:\"ipvlan,omitempty\" doc:\"true: a further host on link, " +
					"with its MAC address\"`\n" +
					"\tVXLAN   *VXLAN "},
			{"internal/model/device/device.go", "\tadd(d.VXLAN,", "\tadd(d.IPVLAN, d.IPVLAN != nil)\n\tadd(d.VXLAN,"},
			{"internal/model/device/device.go", "new(MACVLAN), new(VXLAN)", "new(MACVLAN), new(IPVLAN), new(VXLAN)"},
			{"internal/model/device/ipvlan.go", "", `package device

// IPVLAN is true.
type IPVLAN bool

// Shape implements Kind.
func (i *IPVLAN) Shape(on Device, name string) Shape {
	return Shape{Kind: "ipvlan", Key: "ipvlan", Config: "CONFIG_IPVLAN", Module: "ipvlan",
		Beneath: []string{on.beneath(name)}, OnLink: true, SharesMAC: true,
		Attributes: []Attribute{{Type: 1, Value: uint16(1)}}}
}

// Check implements Kind.
func (i *IPVLAN) Check(report func(key, format string, args ...any)) {
	if !*i {
		report("", "expected true, or no ipvlan")
	}
}
`},
		},
		shows: []show{{args: "schema", want: `"ipvlan"`}, {args: "check STUDY", want: "expected true, or no ipvlan"}},
	},
	{
		row: "a service", most: 1,
		changes: []change{
			{"internal/model/topology/service_program.go", "var ServicePrograms = []ServiceProgram{",
				"var ServicePrograms = []ServiceProgram{\n\t{Name: \"lighttpd\", Package: \"lighttpd\", Protocols: " +
					"[]string{flow.HTTP}, Port: 8080},"},
			{"internal/host/service/lighttpd.go", "", `package service

import (
	"linerate/internal/host/daemon"
	"linerate/internal/model/topology"
)

func init() { descriptors["lighttpd"] = lighttpd }

func lighttpd(topology.Service) daemon.Descriptor {
	return daemon.Descriptor{VersionBy: []string{"lighttpd", "-v"}}
}
`},
		},
		shows: []show{{args: "schema", want: `"lighttpd"`}, {args: "schema", want: "absent: lighttpd 8080, nginx 80"}},
	},
	{
		row: "a store for the notebook", most: 1,
		changes: []change{
			{"internal/show/cli/notebook.go", "\t_ \"linerate/internal/control/notebook/sqlite\"",
				"\t_ \"linerate/internal/control/notebook/postgres\"\n\t_ " +
					"\"linerate/internal/control/notebook/sqlite\""},
			{"internal/control/notebook/postgres/postgres.go", "", `package postgres

import (
	"context"
	"errors"

	"linerate/internal/control/notebook"
)

func init() { notebook.Register("postgres", notebook.Opener{Open: open, OpenReadOnly: open}) }

func open(context.Context, string) (notebook.Store, error) {
	return nil, errors.New("postgres: no server answers")
}
`},
		},
		shows: []show{
			{env: "LINERATE_NOTEBOOK=postgres://nas/runs", args: "runs", want: "postgres: no server answers"},
			{env: "LINERATE_NOTEBOOK=mysql://nas/runs", args: "runs", want: "a URL with postgres://"},
		},
	},
}

const echo = `package echo

import (
	"bufio"
	"context"
	"errors"
	"net"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

func init() { application.Register(Protocol{}, flow.Echo) }

type Protocol struct{}

func (Protocol) Session(d *application.Dialer) application.Session { return application.NewCoded(d, codec{}) }

func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	return s.Each(ctx, func(c net.Conn) {
		for lines := bufio.NewScanner(c); lines.Scan() && s.Think(ctx, c); s.Answered() {
			if _, err := c.Write(append(lines.Bytes(), '\n')); err != nil {
				return
			}
		}
	})
}

type codec struct{}

func (codec) Append(b []byte, _ application.Request) []byte { return append(b, "hello\n"...) }
func (codec) Payload() int64                                { return 0 }
func (codec) Ordered() bool                                 { return true }
func (codec) Parser() application.Parser                    { return &parser{} }

type parser struct {
	application.Whole
	lines application.Lines
}

func (p *parser) Next(b []byte, pending *application.Pending) (int, application.Event, error) {
	line, n, whole := p.lines.Next(b)
	call := pending.Oldest()
	switch {
	case call == nil:
		return n, application.Event{Last: true}, nil
	case !whole:
		return n, application.Event{Call: call}, nil
	case string(line) != "hello":
		return n, application.Event{}, errors.New("another line than the one that was sent")
	}
	return n, application.Event{Call: call, Done: true, Outcome: "echoed"}, nil
}
`

// TestRecipesFit: the recipes name the files that they change, which compile with the changes.
func TestRecipesFit(t *testing.T) {
	changed := apply(t)
	packages := map[string]bool{}
	for file := range changed {
		packages["./"+filepath.Dir(file)] = true
	}
	build(t, t.TempDir(), changed, slices.Sorted(maps.Keys(packages))...)
}

// TestRecipes: what each recipe says is enough: the help, the schema and the checks of the program have what was added.
func TestRecipes(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "linerate")
	build(t, dir, apply(t), "-gcflags=linerate/...=-N -l", "-o", program, "./cmd/linerate")
	inputs := strings.NewReplacer("ECHO", echoing(t), "SNAPSHOT", write(t, dir, "host.json", snapshot),
		"STUDY", write(t, dir, "study.yaml", study))
	for _, r := range recipes {
		for _, s := range r.shows {
			out := output(t, program, inputs.Replace(s.args), s.env, "HOME="+dir)
			if !strings.Contains(out, s.want) {
				t.Errorf("%s: linerate %s: no %q in\n%s", r.row, s.args, s.want, out)
			}
		}
	}
}

// root is the directory of the module.
const root = "../../.."

// apply returns the texts of the files that the recipes change.
func apply(t *testing.T) map[string]string {
	t.Helper()
	contributing := read(t, filepath.Join(root, "CONTRIBUTING.md"))
	changed := map[string]string{}
	for _, r := range recipes {
		_, row, found := strings.Cut(contributing, "\n| **"+r.row+"**")
		if row, _, _ = strings.Cut(row, "\n"); !found {
			t.Errorf("CONTRIBUTING.md has no recipe for %s", r.row)
		}
		edited := map[string]bool{}
		for _, c := range r.changes {
			if !strings.Contains(row, filepath.Base(c.file)) && !strings.Contains(row, filepath.Dir(c.file)) &&
				!strings.Contains(row, filepath.Dir(filepath.Dir(c.file))) {
				t.Errorf("%s: the recipe names neither %s nor its directory", r.row, c.file)
			}
			if c.old == "" {
				changed[c.file] = c.new
				continue
			}
			edited[c.file] = true
			text, has := changed[c.file]
			if !has {
				text = read(t, filepath.Join(root, c.file))
			}
			if n := strings.Count(text, c.old); n != 1 {
				t.Fatalf("%s: %s has %q %d times, want once", r.row, c.file, c.old, n)
			}
			changed[c.file] = strings.Replace(text, c.old, c.new, 1)
		}
		if len(edited) > r.most {
			t.Errorf("%s takes changes of %d files, want at most %d", r.row, len(edited), r.most)
		}
	}
	return changed
}

const snapshot = `{"schema": "linerate.snapshot/v1", "environment": {"host": "nas"},
	"state": {"parameters": {"net.ipv4.tcp_fin_timeout": "1"}, "parts": [{"part": "parameters"}]},
	"reading": {"host": "nas", "snapshot": {"host": "nas", "sysctls": {"net.ipv4.tcp_fin_timeout": "1"}}}}
`

const study = `study: sub
topology:
  hosts:
    a: {interfaces: {eth0: {}, eth0.1: {ipvlan: false, addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b}]
workload: {flows: [{from: a, to: b}]}
`

func write(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// build compiles packages of the module with some files changed.
func build(t *testing.T, dir string, changed map[string]string, arguments ...string) {
	t.Helper()
	replace := map[string]string{}
	for file, text := range changed {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = write(t, dir, strings.ReplaceAll(file, "/", "_"), text)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := write(t, dir, "overlay.json", string(text))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay}, arguments...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
}

// output is what a command of the program prints, whatever its exit status.
func output(t *testing.T, program, args string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, strings.Fields(args)...)
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	return strings.Join(strings.Fields(string(out)), " ")
}

// echoing is a server of the echo protocol (RFC 862).
func echoing(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}
