package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// tokenVariable holds the token where no file is named.
const tokenVariable = "LINERATE_TOKEN"

const tokenUsage = "file that holds the token (default: what is in $" + tokenVariable + ")"

// readToken finds the token: never on the command line, where every user of the
// machine can see it.
func readToken(file string) (string, error) {
	if file == "" {
		return os.Getenv(tokenVariable), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", usageError(fmt.Errorf("--token: %w", err))
	}
	defer f.Close()
	const longest = 4 << 10
	data, err := io.ReadAll(io.LimitReader(f, longest+1))
	token := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return "", fmt.Errorf("--token: %w", err)
	case token == "" || len(data) > longest:
		return "", usageError(fmt.Errorf("--token %s: expected a file with 1 to %d bytes", file, longest))
	}
	return token, nil
}
