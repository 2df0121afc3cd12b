package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// reachAddress is the command that tests run inside a lab: `reach serve` answers on any
// address until it is killed, `reach ADDRESS [TIMES]` asks for an answer.
func reachAddress() {
	const service = "7007"
	if os.Args[1] == "serve" {
		l, err := net.Listen("tcp", ":"+service)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("ready")
		for {
			conn, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			fmt.Fprintln(conn, "here")
			conn.Close()
		}
	}
	times := 1
	if len(os.Args) > 2 {
		times, _ = strconv.Atoi(os.Args[2])
	}
	for range times {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(os.Args[1], service), 20*time.Second)
		var answer []byte
		if err == nil {
			answer, err = io.ReadAll(conn)
			conn.Close()
		}
		if err != nil || string(answer) != "here\n" {
			fmt.Fprintf(os.Stderr, "%q, %v\n", answer, err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// stranger is a program of the tests: it listens as something else than linerate
// would, at the address it is given.
func stranger() {
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		fmt.Fprint(conn, "SSH-2.0-OpenSSH_10.0p2 Debian-7\r\n") // and it waits, as sshd does
	}
}
