package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
)

// inspectAt names the variable with the path of a unix socket at which this test program,
// when it is a linerate, tells what its runtime has.
const inspectAt = "LINERATE_TEST_INSPECT"

// runtimeState is what the runtime of a linerate has.
type runtimeState struct {
	Goroutines int
	Heap       uint64 // bytes in use
}

// inspect answers at the socket until the program ends. A client sends one byte: 1 has
// the heap collected, and what is free returned to the kernel, before it is measured.
func inspect() {
	path := os.Getenv(inspectAt)
	if path == "" {
		return
	}
	os.Unsetenv(inspectAt) // not for its children
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "inspect:", err)
		os.Exit(1)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				continue // no descriptor is left, for now
			}
			how := make([]byte, 1)
			if _, err := conn.Read(how); err == nil {
				if how[0] == 1 {
					debug.FreeOSMemory()
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				_ = json.NewEncoder(conn).Encode(runtimeState{runtime.NumGoroutine(), m.HeapAlloc})
			}
			conn.Close()
		}
	}()
}
