package flow

// Protocols of servers that keep values in memory.
const (
	Redis     = "redis"
	Memcached = "memcached"
)

var cacheProtocols = []Protocol{
	{
		Name: Redis, Transport: TCP, Application: true, Doc: "PING or GET",
		Responses: byTransactions, Transaction: "commands of Redis with replies", Answers: true, Pipelines: true,
		Threads: true, Reconnects: true, Encrypts: true,
		URLs: []URL{{Scheme: "redis", Port: 6379}, {Scheme: "rediss", Port: 6379, TLS: true}},
	},
	{
		Name: Memcached, Transport: TCP, Application: true, Doc: "get",
		Responses: byTransactions, Transaction: "commands of memcached with replies", Answers: true, Pipelines: true,
		Threads: true, Reconnects: true, Encrypts: true, URLs: []URL{{Scheme: "memcached", Port: 11211}},
	},
}
