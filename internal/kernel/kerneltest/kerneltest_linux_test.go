package kerneltest

import (
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestOtherThreadsEnd: processes of Start live on when other threads of the program end. Without a
// thread of its own about one in a hundred of them was killed.
func TestOtherThreadsEnd(t *testing.T) {
	for range 8 {
		go func() {
			for t.Context().Err() == nil {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
					time.Sleep(time.Millisecond)
				}()
				<-ended
			}
		}()
	}
	var processes sync.WaitGroup
	for range 8 {
		processes.Go(func() {
			for range 30 {
				command := exec.Command("sleep", "0.1")
				err := Start(command)
				if err == nil {
					err = command.Wait()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	processes.Wait()
}
