package reach

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"linerate/internal/kernel/attached"
	"linerate/internal/model/lists"
	"linerate/internal/model/plain"
	"linerate/internal/version"
)

// AgentsVariable names the environment variable with the directory of agents for other architectures.
const AgentsVariable = "LINERATE_AGENTS"

// carried is a program for hosts that do not have linerate.
type carried struct {
	sum    string // SHA-256, as hexadecimal digits
	size   int    // in bytes
	packed []byte // by gzip
}

var carriedOf struct {
	mu   sync.Mutex
	list map[string]*carried // by architecture
}

// architectures are GOARCH by the machine of uname(1).
var architectures = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
	"armv7l": "arm", "armv6l": "arm", "i686": "386", "i386": "386", "riscv64": "riscv64", "ppc64le": "ppc64le",
	"s390x": "s390x", "loongarch64": "loong64"}

// carriedFor returns the program for a host with a system and machine as uname(1) names them. It is made once.
func carriedFor(system, machine string) (*carried, error) {
	if system != "Linux" {
		return nil, &Error{Reason: Architecture, Err: fmt.Errorf("its system is %s (%s), and agents need Linux",
			plain.Short(system, 20), plain.Short(machine, 20))}
	}
	arch := architectures[machine]
	if arch == "" {
		return nil, &Error{Reason: Architecture, Err: fmt.Errorf("its architecture is %s, for which linerate is not made",
			plain.Short(machine, 20))}
	}
	carriedOf.mu.Lock()
	defer carriedOf.mu.Unlock()
	if c := carriedOf.list[arch]; c != nil {
		return c, nil
	}
	program, err := agentFor(arch)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	c := &carried{sum: hex.EncodeToString(sum[:]), size: len(program)}
	var packed bytes.Buffer
	// 19 MB become 8.1 MB in 0.25 s; the best compression saves a tenth more, and zstd no more than that (0060).
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(program)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	c.packed = packed.Bytes()
	lists.Put(&carriedOf.list, arch, c)
	return c, nil
}

// agentFor returns the program that is an agent on Linux with an architecture: what is attached to a program of
// linerate, or else that program.
func agentFor(arch string) ([]byte, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" && arch == runtime.GOARCH {
		return agentIn("/proc/self/exe") // also after the file has been replaced
	}
	name := "linerate-linux-" + arch
	var places []string
	if dir := os.Getenv(AgentsVariable); dir != "" {
		places = append(places, dir)
	}
	for _, dir := range append(places, filepath.Dir(own)) {
		program, err := agentIn(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = isAgentFor(arch, program)
		}
		if err != nil {
			return nil, &Error{Reason: Architecture, Err: fmt.Errorf("its architecture is %s, and %s: %w", arch,
				filepath.Join(dir, name), err)}
		}
		return program, nil
	}
	return nil, &Error{Reason: Architecture, Err: fmt.Errorf(
		"its architecture is %s, and there is no %s beside linerate or in $%s", arch, name, AgentsVariable)}
}

// agentIn returns the agent in a file.
func agentIn(file string) ([]byte, error) {
	if program, err := attached.Find(file); program != nil || err != nil {
		return program, err
	}
	return os.ReadFile(file)
}

// isAgentFor returns an error unless a program is linerate of this version for an architecture. The version that
// a linker was told is not in the description of a program, and is looked for in all of it: an agent of another
// version is found out by its first message as well.
func isAgentFor(arch string, program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	is := map[string]string{}
	for _, s := range info.Settings {
		is[s.Key] = s.Value
	}
	if !strings.HasPrefix(info.Path, "linerate/cmd/") || is["GOOS"] != "linux" || is["GOARCH"] != arch {
		return fmt.Errorf("it is %s for %s/%s", info.Path, is["GOOS"], is["GOARCH"])
	}
	if v := version.Version; v != "" && !bytes.Contains(program, []byte(v)) ||
		v == "" && version.FromBuild(info) != version.String() {
		return fmt.Errorf("it is not of version %s", version.String())
	}
	return nil
}
