package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"linerate/internal/bus/greeting"
)

// tokenVariable holds the token where no file is named.
const tokenVariable = "LINERATE_TOKEN"

const tokenUsage = "file with the token (default: the token in $" + tokenVariable + ")"

// readToken finds the token: never on the command line, where every user of the
// machine can see it.
func readToken(file string) (string, error) {
	if file == "" {
		token := os.Getenv(tokenVariable)
		if token == "" {
			return "", nil
		}
		return token, checkToken("$"+tokenVariable, token)
	}
	data, err := readSmall("--token", file)
	token := strings.TrimSpace(string(data))
	if err == nil && token == "" {
		err = usageError(fmt.Errorf("--token %s: expected a file with a token", file))
	}
	if err == nil {
		err = checkToken("--token "+file, token)
	}
	return token, err
}

// checkToken refuses a token that can be guessed. Whether a long one is random is not
// checked.
func checkToken(where, token string) error {
	if len(token) >= greeting.LeastToken {
		return nil
	}
	return usageError(fmt.Errorf("%s: a token of %d characters can be guessed; expected at least %d random ones, as openssl rand -hex 32 writes",
		where, len(token), greeting.LeastToken))
}

// readSmall reads a file that a flag names, which is neither empty nor large.
func readSmall(flag, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", flag, err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, usageError(fmt.Errorf("%s %s: a directory; expected a file", flag, file))
	}
	defer f.Close()
	const longest = 64 << 10
	data, err := io.ReadAll(io.LimitReader(f, longest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", flag, err)
	case len(data) == 0 || len(data) > longest:
		return nil, usageError(fmt.Errorf("%s %s: expected a file with 1 to %d bytes", flag, file, longest))
	}
	return data, nil
}
