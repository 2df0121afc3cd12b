package cli

import (
	"os"
	"runtime/debug"
)

// memoryLimit is the soft limit of the memory of commands that read documents or runs, in bytes.
const memoryLimit = 384 << 20

// saveMemory sets memoryLimit, near which garbage is collected more often, unless the environment has GOMEMLIMIT.
func saveMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
