package cli

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// blocked is standard input from which nothing comes. Its first reader sends the process SIGTERM.
type blocked struct{ reading chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	close(b.reading)
	select {}
}

// TestInterruptedInput: SIGTERM ends every command that waits for its standard input.
func TestInterruptedInput(t *testing.T) {
	for _, line := range []string{
		"doctor -", "diff - -", "check -", "run -", "show -", "lab up -", "tune - --lint",
		"tune x.conf --on -", "replay - --interface lo",
		"top --replay - --once", // which shows what there was until then
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("x.conf", []byte("net.core.rmem_max = 4194304\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		in := blocked{make(chan struct{})}
		go func() {
			<-in.reading
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
		}()
		var errs strings.Builder
		if status := Main(strings.Fields(line), in, io.Discard, &errs); status != ExitInterrupted &&
			(status != ExitOK || !strings.HasPrefix(line, "top")) {
			t.Errorf("%s: status %d, %q", line, status, errs.String())
		}
	}
}
