package lab

import (
	"strings"
	"testing"
)

// TestErrorsHaveNoArguments: an error is kept and shown, and a via may have a password.
func TestErrorsHaveNoArguments(t *testing.T) {
	for _, script := range []string{"echo no route >&2; exit 1", "exit 127"} {
		r, err := startRemote("nas", []string{"sh", "-c", script, "sshpass", "-p", "hunter2", "token=hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.out.Close()
		r.in.Close()
		<-r.ended
		for _, text := range []string{r.detail(), r.exitDetail(), r.end().Error()} {
			if strings.Contains(text, "hunter2") || !strings.Contains(text, "sh") {
				t.Errorf("%q: expected the program without its arguments", text)
			}
		}
	}
}
