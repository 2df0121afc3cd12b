package reach

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	refuse := func(format string, args ...any) (*carried, error) {
		return nil, &Error{Reason: Architecture, Err: fmt.Errorf(format, args...)}
	}
	if system != "Linux" {
		return refuse("its system is %s (%s), and agents need Linux", plain.Short(system, 20), plain.Short(machine, 20))
	}
	arch := architectures[machine]
	if arch == "" {
		return refuse("its architecture is %s, for which linerate is not made", plain.Short(machine, 20))
	}
	carriedOf.mu.Lock()
	defer carriedOf.mu.Unlock()
	if c := carriedOf.list[arch]; c != nil {
		return c, nil
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := "linerate-linux-" + arch
	files := []string{filepath.Join(filepath.Dir(own), name)}
	if dir := os.Getenv(AgentsVariable); dir != "" {
		files = slices.Insert(files, 0, filepath.Join(dir, name))
	}
	if runtime.GOOS == "linux" && arch == runtime.GOARCH {
		files = []string{"/proc/self/exe"} // also after the file has been replaced
	}
	for _, file := range files {
		c, err := carriedIn(file, arch)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return refuse("its architecture is %s, and %s: %w", arch, file, err)
		}
		lists.Put(&carriedOf.list, arch, c)
		return c, nil
	}
	return refuse("its architecture is %s, and there is no %s beside linerate or in $%s", arch, name, AgentsVariable)
}

// carriedIn returns the program in a file: what is attached to a program of linerate, or else that program.
func carriedIn(file, arch string) (*carried, error) {
	packed, err := attached.Packed(file)
	if err != nil {
		return nil, err
	}
	var program []byte
	if packed == nil {
		if program, err = os.ReadFile(file); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // fails only for a level that does not exist
		_, err = w.Write(program)
		err, packed = errors.Join(err, w.Close()), b.Bytes()
	} else {
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			program, err = io.ReadAll(io.LimitReader(r, largestProgram))
		}
	}
	if err == nil && file != "/proc/self/exe" {
		err = isAgentFor(arch, program)
	}
	sum := sha256.Sum256(program)
	return &carried{sum: hex.EncodeToString(sum[:]), size: len(program), packed: packed}, err
}

// largestProgram bounds the program that an attached one unpacks to, in bytes.
const largestProgram = 256 << 20

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
