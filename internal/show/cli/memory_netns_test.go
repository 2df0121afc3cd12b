//go:build linux

package cli

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/application"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestMemoryOfConnections: a connection of each application protocol, with a request that waits for its answer, takes
// no more of the server's memory than is charged for it. What the runtime has not yet collected is included.
func TestMemoryOfConnections(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for _, p := range flow.Protocols {
			if !p.Application || p.Transport == flow.UDP && !p.Encrypted {
				continue // DNS over UDP has no connections
			}
			levels := []string{""}
			if p.Encrypts {
				levels = []string{"", flow.TLSFull}
			}
			for _, tls := range levels {
				t.Run(strings.TrimSpace(p.Name+" "+tls), func(t *testing.T) {
					s := startServer(t, "--max-clients", "1")
					request := message.FlowRequest{Spec: flow.Spec{Protocol: p.Name, TLS: tls, Pipeline: 1}}
					each := application.Memory(request)
					connections := min(60, int(16<<20/each-16)/2) // as many as are opened at a time
					arguments := []string{"measure", "127.0.0.1:" + hostilePort, "--protocol", p.Name, "--connections",
						strconv.Itoa(connections), "--think", "4s", "--duration", "9s", "--warmup", "1s", "--no-save",
						"--quiet"}
					if tls != "" {
						arguments = append(arguments, "--tls", tls)
					}
					ctx, cancel := context.WithCancel(t.Context())
					client := exec.CommandContext(ctx, "linerate", arguments...)
					said := &transcript{}
					client.Stdout, client.Stderr = said, said
					if err := kerneltest.Start(client); err != nil {
						t.Fatal(err)
					}
					defer func() { cancel(); _ = client.Wait() }()
					// The other connections are opened once the first has its answer.
					time.Sleep(3 * time.Second)
					before := s.reading(t)
					time.Sleep(4 * time.Second)
					now := s.reading(t)
					took := int64(now.memory-before.memory) / int64(connections)
					t.Logf("%d connections take %d bytes each, %d are charged", connections, took, each)
					if p.Transport == flow.TCP && now.descriptors < before.descriptors+connections*9/10 {
						t.Errorf("%d descriptors, before %d: the test shows nothing\n%s", now.descriptors,
							before.descriptors, said)
					}
					if took <= 0 || took > each {
						t.Errorf("a connection takes %d bytes, and %d are charged\n%s", took, each, said)
					}
				})
			}
		}
	})
}
