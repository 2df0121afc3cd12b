package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/conformance"
	"linerate/internal/kernel/kerneltest"
)

var background = context.Background()

// mounted is a command prefix that runs what follows with a small file system
// of its own at dir, in a mount namespace.
func mounted(t *testing.T, dir, options string) []string {
	t.Helper()
	prefix := []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
		`mount -t tmpfs -o "$0" linerate-test "$1"; shift; exec "$@"`, options, dir}
	if out, err := exec.Command(prefix[0], append(prefix[1:], "true")...).CombinedOutput(); err != nil {
		kerneltest.Skip(t, fmt.Sprintf("no mount namespace here: %v: %s", err, out))
	}
	return prefix
}

// onSmallDisk has a child do its job on a file system of its own.
func onSmallDisk(t *testing.T, job, options string) {
	t.Helper()
	dir := t.TempDir()
	command, words := child(t, job, filepath.Join(dir, "notebook.db"), mounted(t, dir, options)...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for words.Scan() {
		last = words.Text()
		t.Log(last)
	}
	if err := command.Wait(); err != nil || last != "all held" {
		t.Errorf("the child: %v", err)
	}
}

// TestFullDisk saves trials until the disk is full, and reads them back there.
func TestFullDisk(t *testing.T) {
	kerneltest.Slow(t)
	onSmallDisk(t, "full", "size=1m")
}

// TestReadOnlyDisk reads a notebook that cannot be written.
func TestReadOnlyDisk(t *testing.T) { onSmallDisk(t, "read-only", "size=8m") }

// readOnlyDisk is the child of TestReadOnlyDisk.
func readOnlyDisk(path string) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	run := conformance.Run("arp-flux", 7)
	err = errors.Join(s.Begin(background, run), s.SaveTrial(background, run.ID, big(1)), s.Close())
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if out, err := exec.Command("mount", "-o", "remount,bind,ro", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("remount: %w: %s", err, out)
	}
	reader, err := OpenReadOnly(background, path)
	if err != nil {
		return err
	}
	got, err := reader.Run(background, run.ID)
	if err != nil {
		return err
	}
	if len(got.Trials) != 1 || got.Status != notebook.Interrupted {
		return fmt.Errorf("%d trials, status %s, want 1, %s", len(got.Trials), got.Status, notebook.Interrupted)
	}
	for _, path := range []string{path, filepath.Join(dir, "new.db"), filepath.Join(dir, "below", "new.db")} {
		_, err := Open(background, path)
		fmt.Println(err)
		if !errors.Is(err, notebook.ErrReadOnly) || !strings.Contains(err.Error(), path) {
			return fmt.Errorf("open %s for writing: %w, want ErrReadOnly that names it", path, err)
		}
	}
	fmt.Println("all held")
	return reader.Close()
}

// fillDisk is the child of TestFullDisk.
func fillDisk(path string) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	run := conformance.Run("arp-flux", 7)
	if err := s.Begin(background, run); err != nil {
		return err
	}
	saved := 0
	for err == nil && saved < 1000 {
		if err = s.SaveTrial(background, run.ID, big(saved+1)); err == nil {
			saved++
		}
	}
	fmt.Println(saved, "saved:", err)
	if saved == 0 || !errors.Is(err, notebook.ErrFull) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), fmt.Sprintf("trial %d of run arp-flux-7", saved+1)) {
		return fmt.Errorf("want some trials saved and ErrFull that names the file and the trial: %w", err)
	}

	count := func(when string, s *Store) error {
		got, err := s.Run(background, run.ID)
		if err != nil {
			return fmt.Errorf("%s: %w", when, err)
		}
		if len(got.Trials) != saved {
			return fmt.Errorf("%s: %d trials, want %d", when, len(got.Trials), saved)
		}
		return nil
	}
	if err := count("at once", s); err != nil {
		return err
	}
	reader, err := OpenReadOnly(background, path)
	if err != nil {
		return err
	}
	if err := errors.Join(count("for a reader", reader), reader.Close()); err != nil {
		return err
	}
	// The holder leaves, and with it the last that kept the log open.
	fmt.Println("close:", s.Close())
	// Whatever closing made free is taken again.
	ballast, err := os.Create(filepath.Join(filepath.Dir(path), "ballast"))
	if err != nil {
		return err
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	ballast.Close()
	reader, err = OpenReadOnly(background, path)
	if err != nil {
		return fmt.Errorf("opened anew: %w", err)
	}
	if err := errors.Join(count("opened anew", reader), reader.Close()); err != nil {
		return err
	}
	_, err = Open(background, filepath.Join(filepath.Dir(path), "second", "notebook.db"))
	fmt.Println("another:", err)
	if !errors.Is(err, notebook.ErrFull) {
		return fmt.Errorf("a new notebook on the full disk: %w", err)
	}

	// Room is made: the run is carried on.
	if err := os.Remove(ballast.Name()); err != nil {
		return err
	}
	writer, err := Open(background, path)
	if err != nil {
		return err
	}
	again, err := writer.Resume(background, run.ID, false)
	if err != nil {
		return err
	}
	fmt.Println("resumed with", len(again.Trials))
	if err := count("carried on", writer); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	fmt.Println("all held")
	return nil
}
