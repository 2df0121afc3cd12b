//go:build !portable

package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// Two hosts that are processes in network namespaces of their own, joined by a
// veth pair: the near one sends, the far one receives.

const (
	nearIn = "LINERATE_TEST_PAIR_NEAR" // set in the near process: what to do
	farIn  = "LINERATE_TEST_PAIR_FAR"  // set in the far process
)

var farAddress = netip.MustParseAddr("10.77.0.2")

// pairTask is what the near host is to do, pairResult what it finds.
type pairTask struct {
	Flows    []message.FlowRequest
	Duration time.Duration // of the window
	Shape    []string      // arguments of tc for the near port; none: not shaped
}

type pairResult struct {
	BitsPerSecond float64
	CPUSeconds    float64 // both processes, in the window
	Sent          []message.FlowEnd
	Received      []message.FlowEnd // after the end of the streams
}

const warmup = 500 * time.Millisecond

// pair carries a task out in namespaces.
func pair(t testing.TB, task pairTask) (result pairResult) {
	t.Helper()
	kerneltest.RequireNamespaces(t)
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPairNear$")
	cmd.Env = append(os.Environ(), nearIn+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err = kerneltest.Start(cmd); err == nil {
		err = cmd.Wait()
	}
	for line := range bytes.Lines(out.Bytes()) {
		if json.Unmarshal(line, &result) == nil && result.Received != nil {
			return result
		}
	}
	t.Fatalf("the pair of hosts: %v\n%s", err, &out)
	return result
}

// TestPairNear is the near host of a pair.
func TestPairNear(t *testing.T) {
	text := os.Getenv(nearIn)
	if text == "" {
		return // only in a process that pair has started
	}
	var task pairTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		t.Fatal(err)
	}
	far := startFar(t)
	network(t, "link", "add", "name", "near", "type", "veth", "peer", "name", "far", "netns",
		strconv.Itoa(far.cmd.Process.Pid))
	network(t, "address", "add", "10.77.0.1/24", "dev", "near")
	network(t, "link", "set", "dev", "near", "up")
	if len(task.Shape) > 0 {
		kerneltest.Do(t, "tc", append([]string{"qdisc", "add", "dev", "near", "root"}, task.Shape...)...)
	}
	var listening []message.Listening
	far.send(t, farRequest{Listen: task.Flows})
	far.answer(t, &listening)
	opening := make([]message.FlowRequest, len(task.Flows))
	for i, request := range task.Flows {
		if listening[i].Error != nil {
			t.Fatal(listening[i].Error)
		}
		opening[i] = request
		opening[i].Sends, opening[i].Remote = true, listening[i].Local
	}
	e := engine(t, platform)
	for _, o := range e.Connect(context.Background(), opening, patience) {
		if o.Error != nil {
			t.Fatal(o.Error)
		}
	}
	at := sched.Now() + int64(50*time.Millisecond)
	begin := at + int64(warmup)
	end := begin + int64(task.Duration)
	stop := end + int64(100*time.Millisecond)
	far.send(t, farRequest{At: at, Begin: begin, End: end, Stop: stop})
	e.Start(message.WindowRequest{StartNs: at, StopNs: stop})
	sched.SleepUntil(begin)
	cpu := proc.TotalCPUTime()
	sched.SleepUntil(end)
	cpu = proc.TotalCPUTime() - cpu
	var window farWindow
	far.answer(t, &window)
	result := pairResult{CPUSeconds: cpu.Seconds() + window.CPU.Seconds(), Received: window.Final, Sent: e.Read()}
	for i := range window.End {
		got := window.End[i].ReceivedBytes - window.Begin[i].ReceivedBytes
		result.BitsPerSecond += 8e9 * float64(got) / float64(window.End[i].AtNs-window.Begin[i].AtNs)
	}
	e.Close() // then the notes of all modes are complete
	for i, final := range e.Read() {
		result.Sent[i].ModeNote = final.ModeNote
	}
	said, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s\n", said)
}

type farRequest struct {
	Listen               []message.FlowRequest
	At, Begin, End, Stop int64
}

type farWindow struct {
	Begin, End, Final []message.FlowEnd
	CPU               time.Duration
}

// far is the other host's process.
type far struct {
	cmd  *exec.Cmd
	to   *json.Encoder
	from *json.Decoder
}

func startFar(t *testing.T) *far {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPairFar$")
	cmd.Env = append(os.Environ(), farIn+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := kerneltest.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &far{cmd, json.NewEncoder(in), json.NewDecoder(out)}
}

func (f *far) send(t *testing.T, request farRequest) {
	t.Helper()
	if err := f.to.Encode(request); err != nil {
		t.Fatal(err)
	}
}

func (f *far) answer(t *testing.T, reply any) {
	t.Helper()
	if err := f.from.Decode(reply); err != nil {
		t.Fatalf("the far host does not answer: %v", err)
	}
}

// TestPairFar is the far host of a pair.
func TestPairFar(t *testing.T) {
	if os.Getenv(farIn) == "" {
		return // only in a process that TestPairNear has started
	}
	e := engine(t, platform)
	from, to := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var request farRequest
	if err := from.Decode(&request); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the port comes", func() bool {
		return exec.Command("ip", "link", "show", "dev", "far").Run() == nil
	})
	network(t, "address", "add", farAddress.String()+"/24", "dev", "far")
	network(t, "link", "set", "dev", "far", "up")
	for i := range request.Listen {
		request.Listen[i].Local = farAddress
	}
	if err := to.Encode(e.Listen(context.Background(), request.Listen)); err != nil {
		t.Fatal(err)
	}
	if err := from.Decode(&request); err != nil {
		t.Fatal(err)
	}
	e.Start(message.WindowRequest{StartNs: request.At, StopNs: request.Stop})
	var w farWindow
	sched.SleepUntil(request.Begin)
	w.CPU, w.Begin = proc.TotalCPUTime(), e.Read()
	sched.SleepUntil(request.End)
	w.CPU, w.End = proc.TotalCPUTime()-w.CPU, e.Read()
	sched.SleepUntil(request.Stop + int64(200*time.Millisecond))
	w.Final = e.Read()
	if err := to.Encode(w); err != nil {
		t.Fatal(err)
	}
}
