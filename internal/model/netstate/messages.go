package netstate

import (
	"cmp"
	"strings"

	"linerate/internal/model/pattern"
)

// Message is a message of the kernel's log with a known meaning.
type Message struct {
	// Code names the message in findings (cause.Logged). It is never renamed.
	Code string
	// Sure is how sure it is that such a line means a fault that concerns the network: Likely or
	// Possible as in package record. Empty: it means no fault.
	Sure string
	// Least is the number of lines about one subject from which they mean a fault. 0: one does. The
	// subject is the first submatch of the pattern.
	Least int
	// Elsewhere reports whether the message has nothing to do with the network, although it has
	// words of such messages.
	Elsewhere bool
	// Example is a line as the kernel logs it.
	Example string
	// Means says in a clause what has happened, Do what to do about it, and Source which file of
	// the kernel's source, or which document, has the message.
	Means, Do, Source string

	words   []string // a line has at least one of them
	pattern *pattern.Pattern
}

const likely, possible = "likely", "possible"

// fault returns a message that means a fault. Words are separated by |; a line without any of them
// is not matched with the expression, which would take longer.
func fault(code, sure, words, expression, example, means, do, source string) Message {
	return Message{Code: code, Sure: sure, words: strings.Split(words, "|"), pattern: pattern.MustCompile(expression),
		Example: example, Means: means, Do: do, Source: source}
}

// repeated returns a message that means a fault if it is logged several times about one subject.
func repeated(least int, m Message) Message {
	m.Least = least
	return m
}

// normal returns a message that means no fault.
func normal(code, words, expression, example, means, source string) Message {
	return fault(code, "", words, expression, example, means, "", source)
}

// elsewhere returns a message of other parts of the kernel.
func elsewhere(code, words, expression, example, means, source string) Message {
	m := normal(code, words, expression, example, means, source)
	m.Elsewhere = true
	return m
}

// MessageOf returns the message that the text of a line of the kernel's log has, without its time
// stamp. Nil: it is not known.
func MessageOf(text string) *Message { return messageIn(Messages, text) }

// MessageWith returns the message with a code. Nil: there is none.
func MessageWith(code string) *Message {
	for i := range Messages {
		if Messages[i].Code == code {
			return &Messages[i]
		}
	}
	return nil
}

func messageIn(list []Message, text string) *Message {
	for i := range list {
		m := &list[i]
		for _, word := range m.words {
			if strings.Contains(text, word) {
				if m.pattern.MatchString(text) {
					return m
				}
				break
			}
		}
	}
	return nil
}

// Subject returns what a line with the message is about, such as an interface. Empty: the message
// does not tell.
func (m *Message) Subject(text string) string {
	parts := m.pattern.FindStringSubmatch(text)
	return cmp.Or(parts[min(1, len(parts)):]...)
}

// networkMessages matches further messages of the kernel's log that concern the network, in small
// letters. The texts are from net/ and drivers/net/ in the kernel source.
var networkMessages = []Message{
	normal("", `link`, `\blink (?:is |becomes )?(?:up|down|ready|not ready)\b`, "", "", ""), // drivers, addrconf
	normal("", `carrier`, `\bcarrier\b`, "", "", ""),
	normal("", ` mode| state`, // net/core/dev.c, net/bridge
		`(?:promiscuous|allmulticast|blocking|forwarding|listening|learning|disabled) (?:mode|state)\b`, "", "", ""),
	normal("", `tcp: request_sock`, `\btcp: request_sock`, "", "", ""), // net/ipv4
	normal("", `nf_conntrack: `, `\bnf_conntrack: .*(?:full|dropping)`, "", "", ""),
	normal("", `dad`, `\bdad\b`, "", "", ""),
	normal("", `bond|team|br|lan|eth|en`,
		`\b(?:bond|team|br|vlan|vxlan|veth|macvlan|wlan|eth|en[opsx])\d+\S*:|\bbonding:`, "", "", ""),
	normal("", `reset`, `reset(?:ting)? adapter`, "", "", ""), normal("", `tx `, `\btx (?:hang|timeout)`, "", "", ""),
	normal("", `stall`, `\brcu.*stall`, "", "", ""),
	normal("", `firmware|nvm|phy`, `(?:firmware|nvm|phy).*(?:fail|error)`, "", "", ""),
	normal("", `pci`, `\bpcie? .*(?:bandwidth|width|speed)`, "", "", ""),
}

// AboutNetwork reports whether the text of a message of the kernel's log concerns the network.
func AboutNetwork(text string) bool {
	if m := MessageOf(text); m != nil {
		return !m.Elsewhere
	}
	return messageIn(networkMessages, strings.ToLower(text)) != nil
}
