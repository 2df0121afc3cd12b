/* Connect, request, response, close: one transaction at a time with blocking
 * calls, as netperf's TCP_CRR makes them, whose package Debian does not have in
 * main. The server answers one connection after another.
 *
 *   crr server PORT
 *   crr client ADDRESS PORT SECONDS     prints transactions per second
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) { perror(what); exit(1); }

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int tcp(void)
{
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
	if (s < 0)
		die("socket");
	if (setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
		die("TCP_NODELAY");
	return s;
}

static void serve(int port) /* does not return */
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, l = tcp();
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(l, (struct sockaddr *)&a, sizeof a) < 0 || listen(l, 128) < 0)
		die("listen");
	for (;;) {
		char c;
		int s = accept(l, NULL, NULL);
		if (s < 0)
			die("accept");
		if (recv(s, &c, 1, 0) == 1)
			send(s, &c, 1, MSG_NOSIGNAL);
		/* The client closes first, and then this end: the port waits there. */
		recv(s, &c, 1, 0);
		close(s);
	}
}

static int ask(const char *address, int port, double seconds)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct linger none = { 1, 0 };
	long done = 0;
	double begin = now(), end = begin + seconds;
	if (inet_pton(AF_INET, address, &a.sin_addr) != 1)
		die(address);
	while (now() < end) {
		char c = 'x';
		int s = tcp();
		/* No TIME_WAIT: 28,000 ports would be used up within two seconds. */
		setsockopt(s, SOL_SOCKET, SO_LINGER, &none, sizeof none);
		if (connect(s, (struct sockaddr *)&a, sizeof a) < 0)
			die("connect");
		if (send(s, &c, 1, MSG_NOSIGNAL) != 1 || recv(s, &c, 1, 0) != 1)
			die("transaction");
		close(s);
		done++;
	}
	printf("%.1f\n", done / (now() - begin));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "server"))
		serve(atoi(argv[2]));
	if (argc == 5 && !strcmp(argv[1], "client"))
		return ask(argv[2], atoi(argv[3]), atof(argv[4]));
	fprintf(stderr, "usage: crr server PORT | crr client ADDRESS PORT SECONDS\n");
	return 2;
}
