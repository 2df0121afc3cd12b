package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestMistakes: every command reports what is wrong with the value of any flag that takes
// every text.
func TestMistakes(t *testing.T) {
	arguments := map[string]string{"measure": "192.0.2.1", "run": "arp-flux", "tune": "linux-10g", "up": "arp-flux",
		"fix": "latest"}
	tried := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Value.(interface{ mistake() error }); !ok {
				return
			}
			tried++
			words := append(strings.Fields(cmd.CommandPath())[1:], "--"+f.Name+"=?!\x01")
			if argument := arguments[cmd.Name()]; argument != "" {
				words = append(words, argument)
			}
			var errs strings.Builder
			if status := Main(words, strings.NewReader(""), io.Discard, &errs); status != ExitUsage ||
				!strings.Contains(errs.String(), "--"+f.Name+" ") {
				t.Errorf("%q: status %d, %q", words, status, errs.String())
			}
		})
		for _, verb := range cmd.Commands() {
			visit(verb)
		}
	}
	if visit(Command()); tried < 20 {
		t.Errorf("%d flags were tried", tried)
	}
}
