package cli

import (
	"os"
	"runtime/debug"
)

// memoryAimed is the memory in bytes from which on saveMemory has effect.
const memoryAimed = 384 << 20

// saveMemory has a command that reads documents or runs collect garbage more often once it takes much memory, unless
// GOMEMLIMIT says how much.
func saveMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAimed)
	}
}
