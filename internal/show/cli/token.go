package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/proc"
)

// tokenVariable is the environment variable with the token, if no file is named.
const tokenVariable = proc.TokenVariable

const tokenUsage = "`file` with the token (default: the token in $" + tokenVariable + ")"

// readToken reads the token from a file or the environment, never from the command line, where
// every user of the machine can see it.
func readToken(path string) (string, error) {
	if path == "" {
		token := os.Getenv(tokenVariable)
		if token == "" {
			return "", nil
		}
		return token, checkToken("$"+tokenVariable, token)
	}
	data, err := readSecret("--token", path)
	token := strings.TrimSpace(string(data))
	if err == nil && token == "" {
		err = usageError(fmt.Errorf("--token %s: expected a file with a token", path))
	}
	if err == nil {
		err = checkToken("--token "+path, token)
	}
	return token, err
}

// checkToken returns an error if a token is short enough to be guessed. It does not check whether a
// long one is random.
func checkToken(where, token string) error {
	if len(token) >= greeting.LeastToken {
		return nil
	}
	return usageError(fmt.Errorf(
		"%s: a token of %d characters can be guessed; expected at least %d random ones, as openssl rand -hex 32 writes",
		where, len(token), greeting.LeastToken))
}

// readSecret reads a file that a flag names and that other users may not read.
func readSecret(flag, path string) ([]byte, error) {
	data, err := file.ReadPrivate(path, longestFile)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s: expected a file that is not empty", path)
	}
	if _, named := errors.AsType[*fs.PathError](err); named {
		return nil, usageError(fmt.Errorf("%s: %w", flag, err))
	}
	if err != nil {
		return nil, usageError(fmt.Errorf("%s %w", flag, err))
	}
	return data, nil
}

// longestFile is the largest size of a file of secrets, users or keys, in bytes.
const longestFile = 64 << 10

// readSmall reads a file that a flag names, which must be neither empty nor large.
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
	data, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", flag, err)
	case len(data) == 0 || len(data) > longestFile:
		return nil, usageError(fmt.Errorf("%s %s: expected a file with 1 to %d bytes", flag, file, longestFile))
	}
	return data, nil
}
