package web

import (
	"bytes"
	"net/http"
	"strconv"

	"linerate/internal/host/application"
)

// codec is the client's end of HTTP/1.1.
type codec struct {
	request []byte // the flow's request, which is always the same
	body    int64  // bytes of its body
}

func newCodec(d *application.Dialer) (*codec, error) {
	c := &codec{body: int64(d.Spec().Request)}
	method, header := http.MethodGet, http.Header{"User-Agent": {agent}}
	if c.body > 0 {
		method = http.MethodPost
		header.Set("Content-Length", strconv.FormatInt(c.body, 10))
	}
	request, err := http.NewRequest(method, address(d), http.NoBody)
	if err != nil {
		return nil, err
	}
	b := bytes.Buffer{}
	b.WriteString(method + " " + request.URL.RequestURI() + " HTTP/1.1\r\nHost: " + request.Host + "\r\n")
	_ = header.Write(&b) // to memory
	b.WriteString("\r\n")
	c.request = b.Bytes()
	return c, nil
}

func (c *codec) Append(b []byte, _ application.Request) []byte { return append(b, c.request...) }

func (c *codec) Payload() int64 { return c.body }

func (c *codec) Ordered() bool { return true }

func (c *codec) Parser() application.Parser {
	p := &parser{}
	p.reset()
	return p
}
