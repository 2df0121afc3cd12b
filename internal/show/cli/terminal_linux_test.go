package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/file"
	"linerate/internal/model/plain"
)

// TestFilesDoNotActOnTheTerminal: a file that is printed as it is, is so in a pipe alone.
func TestFilesDoNotActOnTheTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evil.yaml")
	const text = "# a comment \x1b]0;owned\x07 and \u009b2J\nstudy: evil\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	controller, terminal, err := file.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer controller.Close()
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(controller) // EIO once the terminal is closed
		shown <- string(all)
	}()
	status := Main([]string{"show", path}, strings.NewReader(""), terminal, io.Discard)
	terminal.Close()
	got := strings.ReplaceAll(<-shown, "\r\n", "\n")
	if want := plain.Text(text); status != ExitOK || got != want {
		t.Errorf("status %d, on the terminal: %q, want %q", status, got, want)
	}
	var pipe strings.Builder
	if Main([]string{"show", path}, strings.NewReader(""), &pipe, io.Discard); pipe.String() != text {
		t.Errorf("in a pipe: %q, want the file", pipe.String())
	}
}
