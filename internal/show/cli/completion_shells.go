package cli

import (
	"embed"
	"io"

	"github.com/spf13/cobra"
)

// shellScripts make the shells complete linerate's arguments. They are not cobra's scripts, because
// these evaluate the whole line including quotes (docs/decisions/0028-completion-without-eval.md).
//
//go:embed completion/linerate.*
var shellScripts embed.FS

// shells lists the shells that have a script, and how each loads it.
var shells = []struct{ name, load string }{
	{"bash", "source <(linerate completion bash)      # in ~/.bashrc"},
	{"zsh", "source <(linerate completion zsh)       # in ~/.zshrc, after compinit"},
	{"fish", "linerate completion fish | source       # in ~/.config/fish/config.fish"},
}

// WriteCompletion writes the completion script of a shell: bash, zsh or fish.
func WriteCompletion(w io.Writer, shell string) error {
	text, err := shellScripts.ReadFile("completion/linerate." + shell)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func newCompletionCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the script that completes words in bash, zsh or fish",
		Long: `Print the script that has a shell complete verbs, flags, runs, studies, hosts and
interfaces. Packages install it.`,
		Args: knownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, shell := range shells {
		cmd.AddCommand(&cobra.Command{
			Use:     shell.name,
			Short:   "Print the script for " + shell.name,
			Example: "  " + shell.load,
			Args:    noArgs,
			RunE:    func(*cobra.Command, []string) error { return WriteCompletion(s.out, shell.name) },
		})
	}
	return cmd
}
