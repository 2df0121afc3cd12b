package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestLinks: where another user can write, neither a notebook nor a file that SQLite has beside it is a link to a file
// of this user's. Root makes the links, as fs.protected_hardlinks=0 lets that user.
func TestLinks(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		const nobody = 65534
		links := map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link}
		for kind, link := range links {
			for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
				for mode, owner := range map[os.FileMode]int{0o755: nobody, 0o777 | os.ModeSticky: 0} {
					for _, content := range []string{"", "precious"} {
						dir := t.TempDir()
						theirs, canary := filepath.Join(dir, "theirs"), filepath.Join(dir, "canary")
						path := filepath.Join(theirs, "notebook.db")
						err := errors.Join(os.Mkdir(theirs, 0o755), os.WriteFile(canary, []byte(content), 0o600))
						if ending != "" {
							err = errors.Join(err, open(t, path).Close())
						}
						err = errors.Join(err, link(canary, path+ending), os.Chmod(theirs, mode),
							os.Chown(theirs, owner, -1))
						if err != nil {
							t.Fatal(err)
						}
						s, err := Open(t.Context(), path)
						if err == nil {
							s.Close()
							t.Errorf("%s link of notebook.db%s, mode %v: opened", kind, ending, mode)
						}
						if s, err := OpenReadOnly(t.Context(), path); err == nil {
							s.Close()
							t.Errorf("%s link of notebook.db%s, mode %v: opened for reading", kind, ending, mode)
						}
						if text, err := os.ReadFile(canary); err != nil || string(text) != content {
							t.Errorf("%s link of notebook.db%s, mode %v: a file is %.40q, %v", kind, ending, mode, text, err)
						}
					}
				}
			}
		}
	})
}
