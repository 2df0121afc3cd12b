//go:build !portable

package traffic

import (
	"context"
	"os"
	"testing"
	"time"

	"linerate/internal/host/transaction"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestMain makes the test's program a worker process when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == transaction.WorkerCommand {
		if err := transaction.RunWorker(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestProcessesCPU: the CPU time of worker processes is the generator's, which did
// next to nothing itself.
func TestProcessesCPU(t *testing.T) {
	kerneltest.Descriptors(t, 512) // for more connections than half of that there are processes
	client, server := New(), New()
	t.Cleanup(client.Close)
	t.Cleanup(server.Close)
	request := message.FlowRequest{ID: "f1", Local: loopback, Spec: flow.Spec{Protocol: flow.RR, Connections: 600}}
	l := server.Listen(context.Background(), []message.FlowRequest{request})[0]
	if l.Error != nil || len(l.Ports) < 2 {
		t.Fatalf("listening: %+v", l)
	}
	request.Remote, request.Ports = l.Local, l.Ports
	if o := client.Connect(context.Background(), []message.FlowRequest{request}, patience)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	w := soon()
	server.Start(w)
	client.Start(w)
	for _, e := range []*Engine{client, server} {
		eventually(t, "worker processes have used CPU time", func() bool { e.Read(); return e.Outside() > 0 })
		eventually(t, "it is the generator's", func() bool {
			own, from := proc.TotalCPUTime(), sched.Now()
			e.GeneratorCPU()
			time.Sleep(100 * time.Millisecond)
			share := e.GeneratorCPU()
			own, passed := proc.TotalCPUTime()-own, sched.Now()-from
			return share > 2*float64(own)/float64(passed)
		})
	}
}
