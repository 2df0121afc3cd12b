package flow

// SMTP is the name of the protocol that delivers mails.
const SMTP = "smtp"

var smtpProtocols = []Protocol{{
	Name: SMTP, Transport: TCP, Application: true, Doc: "mails", Responses: byTransactions,
	Transaction: "mails delivered to the server", Requests: true, Threads: true, Reconnects: true, Encrypts: true,
	URLs: []URL{{Scheme: "smtp", Port: 25}},
}}
