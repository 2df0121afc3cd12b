package machinetest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Variables of the environment. The first lets tests take minutes, as those do that boot QEMU
// machines; the second also turns a skipped test of this package into a failed one.
const (
	machinesVariable = "LINERATE_MACHINES"
	requireMachines  = "LINERATE_REQUIRE_MACHINES"
)

// What the Debian packages user-mode-linux, qemu-system-x86 and busybox-static install.
const (
	umlPath     = "/usr/bin/linux.uml"
	umlModules  = "/usr/lib/uml/modules"
	qemuPath    = "/usr/bin/qemu-system-x86_64"
	busyboxPath = "/bin/busybox"
)

// A Kernel is a Linux kernel that a machine can boot.
type Kernel struct {
	Release  string // as of uname -r
	image    string
	modules  string // the directory with kernel/ and modules.dep
	userMode bool
}

// skip skips the test, or fails it where LINERATE_REQUIRE_MACHINES is 1.
func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(requireMachines) == "1" {
		t.Fatalf("%s=1 but this test cannot run: %s", requireMachines, why)
	}
	t.Skip(why)
}

// Needs skips the test if the program at path is missing, or fails it if
// LINERATE_REQUIRE_MACHINES is 1. debian is the name of the Debian package that has the
// program.
func Needs(t testing.TB, path, debian string) {
	t.Helper()
	if _, err := exec.LookPath(path); err != nil {
		skip(t, fmt.Sprintf("%s is missing: install the package %s (script/setup machines)", path, debian))
	}
}

// needsBusybox skips the test without a busybox that runs in an initramfs: the package
// busybox has one that wants libraries.
func needsBusybox(t testing.TB) {
	t.Helper()
	Needs(t, busyboxPath, "busybox-static")
	file, err := elf.Open(busyboxPath)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		skip(t, fmt.Sprintf("%s needs the libraries %v: install the package busybox-static", busyboxPath, libraries))
	}
}

// UserMode returns the kernel of the Debian package user-mode-linux. A machine with it has one
// CPU, no ports, and no agent by Via. It boots within a few seconds.
func UserMode(t testing.TB) Kernel {
	t.Helper()
	Needs(t, umlPath, "user-mode-linux")
	needsBusybox(t)
	releases, _ := filepath.Glob(filepath.Join(umlModules, "*", "modules.dep"))
	if len(releases) == 0 {
		skip(t, "no modules below "+umlModules)
	}
	dir := filepath.Dir(releases[0])
	return Kernel{Release: filepath.Base(dir), image: umlPath, modules: dir, userMode: true}
}

// Debian returns the oldest kernel of Debians.
func Debian(t testing.TB) Kernel {
	t.Helper()
	return Debians(t)[0]
}

// TakesMinutes skips a test unless LINERATE_MACHINES is 1 (make machines).
func TakesMinutes(t testing.TB) {
	t.Helper()
	if os.Getenv(machinesVariable) != "1" && os.Getenv(requireMachines) != "1" {
		t.Skip("takes minutes: make machines")
	}
}

// Debians returns the kernels that script/kernel has unpacked, for QEMU on x86-64, the oldest
// first. It skips the test unless LINERATE_MACHINES is 1 (make machines).
func Debians(t testing.TB) (kernels []Kernel) {
	t.Helper()
	TakesMinutes(t)
	Needs(t, qemuPath, "qemu-system-x86")
	needsBusybox(t)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	images, _ := filepath.Glob(filepath.Join(root, ".cache", "kernels", "linux-image-*", "boot", "vmlinuz-*"))
	if len(images) == 0 {
		skip(t, "no kernel below .cache/kernels: script/kernel downloads one")
	}
	for _, image := range images {
		release := strings.TrimPrefix(filepath.Base(image), "vmlinuz-")
		modules := filepath.Join(filepath.Dir(filepath.Dir(image)), "lib", "modules", release)
		kernels = append(kernels, Kernel{Release: release, image: image, modules: modules})
	}
	slices.SortFunc(kernels, func(a, b Kernel) int { return slices.Compare(numbers(a.Release), numbers(b.Release)) })
	return kernels
}

// An Emulator is the QEMU of another Debian suite. The zero value is this machine's own QEMU.
type Emulator struct {
	root string // empty: this machine's own
}

// EmulatorOf returns the QEMU of a Debian suite that script/emulator has unpacked. It skips the
// test if there is none.
func EmulatorOf(t testing.TB, suite string) Emulator {
	t.Helper()
	TakesMinutes(t)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	e := Emulator{filepath.Join(root, ".cache", "qemu", suite)}
	if _, err := os.Stat(e.root); err != nil {
		skip(t, "no QEMU of "+suite+" below .cache/qemu: script/emulator "+suite+" downloads it")
	}
	return e
}

// program is how it is executed: another suite's with its own dynamic linker and files.
func (e Emulator) program() []string {
	if e.root == "" {
		return []string{qemuPath}
	}
	usr := filepath.Join(e.root, "usr")
	return []string{filepath.Join(usr, "lib64/ld-linux-x86-64.so.2"), "--library-path",
		filepath.Join(usr, "lib/x86_64-linux-gnu"),
		filepath.Join(usr, "bin/qemu-system-x86_64"), "-L", filepath.Join(usr, "share/qemu"), "-L",
		filepath.Join(usr, "share/seabios")}
}

// numbers are those in a release, by which releases are ordered.
func numbers(release string) (list []int) {
	for _, word := range strings.FieldsFunc(release, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(word)
		list = append(list, n)
	}
	return list
}

// closure returns the files of modules and of all that they depend on.
func (k Kernel) closure(names []string) ([]string, error) {
	table, err := os.ReadFile(filepath.Join(k.modules, "modules.dep"))
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)          // by name
	dependencies := make(map[string][]string) // by file
	for line := range strings.Lines(string(table)) {
		file, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		files[moduleName(file)] = file
		dependencies[file] = strings.Fields(rest)
	}
	builtin, err := os.ReadFile(filepath.Join(k.modules, "modules.builtin"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(builtin)) {
		files[moduleName(strings.TrimSpace(line))] = ""
	}
	var needed []string
	var add func(file string)
	add = func(file string) {
		if file == "" || slices.Contains(needed, file) {
			return
		}
		needed = append(needed, file)
		for _, other := range dependencies[file] {
			add(other)
		}
	}
	for _, module := range names {
		name, _, _ := strings.Cut(module, " ") // before its parameters
		file, ok := files[moduleName(name)]
		if !ok {
			return nil, fmt.Errorf("kernel %s has no module %s", k.Release, name)
		}
		add(file)
	}
	return needed, nil
}

// moduleName returns the name of a module in a file, or as modprobe(8) takes it.
func moduleName(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".ko"), "-", "_")
}

// moduleRoot returns the directory of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
