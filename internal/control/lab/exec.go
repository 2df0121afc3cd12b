package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/plain"
)

// `lab exec` connects to a unix socket in the abstract namespace (unix(7)), which has no
// file and ends with the lab. It passes its standard streams through it (SCM_RIGHTS),
// and the init process runs the command in the host with them.

// DefaultName is the name of a lab that was not given one.
const DefaultName = "lab"

func execAddress(name string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "@" + ownSockets() + name}
}

// ownSockets is what the names of the sockets of this user's labs begin with.
func ownSockets() string { return fmt.Sprintf("linerate/lab/%d/", os.Getuid()) }

// notUp says that no lab has a name, and which labs there are.
func notUp(name string) error {
	up, _ := proc.Proc{}.AbstractSockets(ownSockets()) // without it the list is left out
	for i := range up {
		up[i] = plain.Short(up[i], 64) // any user may have made the socket
	}
	switch {
	case len(up) == 1:
		return fmt.Errorf("no lab named %s is up; up is %s: --lab %[2]s", name, up[0])
	case len(up) > 1:
		return fmt.Errorf("no lab named %s is up; up are %s: name one with --lab", name,
			strings.Join(up[:min(len(up), 8)], ", "))
	case name == DefaultName:
		return errors.New("no lab is up: start one with linerate lab up FILE")
	}
	return fmt.Errorf("no lab named %s is up: start it with linerate lab up FILE --lab %[1]s", name)
}

// listenExec returns the listening socket for the init process to inherit, or /dev/null
// if the lab has no name.
func listenExec(name string) (*os.File, error) {
	if name == "" {
		return os.Open(os.DevNull)
	}
	listener, err := net.ListenUnix("unix", execAddress(name))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("a lab named %s is up already: take it down, or choose another name with --lab", name)
	}
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	return listener.File()
}

// execRequest is a command to run in a host.
type execRequest struct {
	List     bool     `json:"list,omitempty"` // no command: the hosts' names are asked for
	Host     string   `json:"host"`
	Argv     []string `json:"argv"`
	Env      []string `json:"env"`
	Dir      string   `json:"dir"`
	Terminal bool     `json:"terminal"` // the streams are a terminal, which becomes the controlling one
}

type execReply struct {
	Status int      `json:"status"`
	Error  string   `json:"error,omitempty"`
	Hosts  []string `json:"hosts,omitempty"`
	// Switches are those of Hosts that are switches.
	Switches []string `json:"switches,omitempty"`
}

func serveExec(listener net.Listener, p plan, nodes []*netlink.Namespace) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			reply := handleExec(conn.(*net.UnixConn), p, nodes)
			_ = json.NewEncoder(conn).Encode(reply)
		}()
	}
}

func handleExec(conn *net.UnixConn, p plan, nodes []*netlink.Namespace) execReply {
	var v execRequest
	files, err := file.ReceiveFiles(conn, &v)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	var names, switches []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
		if n.Switch {
			switches = append(switches, n.Name)
		}
	}
	if err == nil && v.List {
		return execReply{Hosts: names, Switches: switches}
	}
	if err == nil && (len(files) != 3 || len(v.Argv) == 0) {
		err = errors.New("expected a command and three files")
	}
	if err != nil {
		return execReply{Status: 1, Error: err.Error()}
	}
	i := slices.Index(names, v.Host)
	if i < 0 {
		return execReply{Status: 2, Error: fmt.Sprintf("no host %q in this lab; it has %s", v.Host,
			strings.Join(names, ", "))}
	}
	var cmd *exec.Cmd
	err = nodes[i].DoAsHost(func() error {
		cmd = proc.Command(v.Argv[0], v.Argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
		cmd.Env, cmd.Dir = v.Env, v.Dir
		cmd.SysProcAttr = execAttributes(v.Terminal)
		return cmd.Start()
	})
	if err != nil {
		return execReply{Status: 127, Error: err.Error()}
	}
	ended := make(chan struct{})
	go func() {
		// Each byte is the number of a signal to pass on. When the connection ends the
		// command's process group is killed; after the command has ended by itself,
		// processes that it leaves behind may stay.
		var signal [1]byte
		for {
			_, err := conn.Read(signal[:])
			select {
			case <-ended:
				return
			default:
			}
			if err != nil {
				_ = proc.SignalGroup(cmd.Process, syscall.SIGKILL)
				return
			}
			_ = proc.SignalGroup(cmd.Process, syscall.Signal(signal[0]))
		}
	}()
	_ = cmd.Wait()
	close(ended)
	return execReply{Status: exitStatus(cmd.ProcessState)}
}

// exitStatus is the command's status, or 128 + n if signal n ended it, as in a shell.
func exitStatus(state *os.ProcessState) int {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return signalStatus(w.Signal())
	}
	return state.ExitCode()
}

func signalStatus(s syscall.Signal) int { return 128 + int(s) }

// Hosts lists the hosts and switches of a lab that another process has brought up under
// this name.
func Hosts(name string) (all, switches []string, _ error) {
	conn, err := net.DialUnix("unix", nil, execAddress(name))
	if err != nil {
		return nil, nil, fmt.Errorf("no lab named %s is up: %w", name, err)
	}
	defer conn.Close()
	if err := file.SendFiles(conn, execRequest{List: true}); err != nil {
		return nil, nil, err
	}
	var reply execReply
	if err := json.NewDecoder(conn).Decode(&reply); err != nil {
		return nil, nil, fmt.Errorf("ask lab %s for its hosts: %w", name, err)
	}
	return reply.Hosts, reply.Switches, nil
}

// Exec runs a command on a host of a lab that another process has brought up under this
// name, and returns the exit status of the command. streams are its standard input,
// output and error. terminal says that they are one terminal, which becomes the
// controlling terminal of the command.
//
// Exec passes signals on to the command. With a terminal, whose keys can send signals, a
// signal ends the connection instead, because an interactive shell would ignore it.
func Exec(name, host string, argv []string, streams [3]*os.File, terminal bool, signals <-chan os.Signal) (int, error) {
	conn, err := net.DialUnix("unix", nil, execAddress(name))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return 1, notUp(name)
	case err != nil:
		return 1, fmt.Errorf("reaching the lab named %s: %w", name, err)
	}
	defer conn.Close()
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	v := execRequest{Host: host, Argv: argv, Env: proc.ChildEnvironment(), Dir: dir, Terminal: terminal}
	// Any user can bind the name: the streams are passed to a lab of this user only.
	if err := file.SendFiles(conn, v, streams[0], streams[1], streams[2]); err != nil {
		return 1, err
	}
	over := make(chan struct{})
	defer close(over)
	var hungUp atomic.Int32
	go func() {
		for {
			select {
			case s := <-signals:
				number, ok := s.(syscall.Signal)
				switch {
				case !ok:
				case terminal:
					hungUp.Store(int32(signalStatus(number)))
					conn.Close()
				default:
					_, _ = conn.Write([]byte{byte(number)}) // the lab may have ended
				}
			case <-over:
				return
			}
		}
	}()
	var reply execReply
	if err := json.NewDecoder(conn).Decode(&reply); err != nil {
		if status := hungUp.Load(); status != 0 {
			return int(status), nil
		}
		return 1, fmt.Errorf("the lab ended: %w", err)
	}
	if reply.Error != "" {
		return reply.Status, fmt.Errorf("%s: %s", host, reply.Error)
	}
	return reply.Status, nil
}
