//go:build !linux

package server

import (
	"errors"
	"os"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
)

// Elsewhere than on Linux, package net moves the bytes, one call for each
// datagram.

func (s *stream) writer() func([]byte) (int, error) { return s.conn.Write }

func (s *stream) reader() func(int) (int, error) {
	buffer := make([]byte, 128<<10)
	return func(most int) (int, error) { return s.conn.Read(buffer[:min(most, len(buffer))]) }
}

// lastReader reads what is there already.
func (s *stream) lastReader() func(int) (int, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(remains))
	return s.reader()
}

func (s *stream) sendDatagrams(p pace) error {
	data, c := append([]byte(nil), chunk()[:p.block]...), p.begin()
	for n := int64(1); !s.quit.Load(); n++ {
		if due := c.next(socket.Now()); c.rate > 0 {
			s.rest(due)
		}
		iperf3.Header{Sent: socket.Now() / 1000, Sequence: n}.Put(data, s.wide)
		_, err := s.conn.Write(data)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
		s.packets.Store(n)
		s.bytes.Add(int64(len(data)))
		c.moved += int64(len(data))
	}
	return nil
}

func (s *stream) receiveDatagrams() error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.conn.Read(buffer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
		s.mu.Lock()
		s.arrive(buffer[:n], max(n, 1), socket.Now()/1000)
		s.mu.Unlock()
	}
}
