package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"linerate/internal/control/notebook"
)

// TestURLByName: a server is asked by its name in the URL, also where a family or a port is
// chosen beside it.
func TestURLByName(t *testing.T) {
	t.Setenv(notebook.Variable, filepath.Join(t.TempDir(), "n.db"))
	var mu sync.Mutex
	asked := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Host] = true
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	var errs strings.Builder
	status := Main([]string{"measure", "http://localhost:" + port + "/", "-4", "--pace", "100", "--duration", "100ms", "--warmup", "10ms", "--no-save", "--quiet"}, strings.NewReader(""), io.Discard, &errs)
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || !asked["localhost:"+port] {
		t.Errorf("status %d, asked of %v: %s", status, asked, errs.String())
	}
}
